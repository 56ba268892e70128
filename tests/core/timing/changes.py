"""Offset changes of the zones, found straight from zoneinfo, for tests that should not trust our own search."""

from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib import resources
from zoneinfo import ZoneInfo

from duly.core.timing.zone import _allowed_names
from tests.counting import at_least

ZONES = at_least(("UTC", *sorted(_allowed_names())), 554, "zones")
DAY = 86_400


@cache
def tz(name: str) -> ZoneInfo:
    """The zone as the tzdata package has it, whatever the machine has."""
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)


def offset(name: str, t: int) -> int:
    shift = datetime.fromtimestamp(t, tz(name)).utcoffset()
    assert shift is not None
    return int(shift.total_seconds())


@lru_cache(maxsize=4096)
def changes(name: str, year: int) -> tuple[int, ...]:
    """The first seconds of every new offset in a year."""
    first = int(datetime(year, 1, 1, tzinfo=UTC).timestamp())
    found = []
    for low in range(first, first + 366 * DAY, 5 * DAY):
        high = low + 5 * DAY
        if offset(name, low) != (after := offset(name, high)):
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if offset(name, middle) == after else (middle, high)
            found.append(high)
    return tuple(found)


def utc(text: str) -> datetime:
    """RFC 3339 text as an aware datetime."""
    return datetime.fromisoformat(text)


def ms(text: str) -> int:
    """RFC 3339 text as milliseconds."""
    return (utc(text) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
