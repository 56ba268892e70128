"""Instants as integers: milliseconds (or seconds) since 1970-01-01T00:00:00Z, within the years 1 to 9999.

Inside the engine a window is an integer, because integers are exact, small and quick to compare. Datetimes appear
only where people meet the code.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from duly.core.errors import ValidationFailed
from duly.core.timing.refusal import refused

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
EPOCH_ORDINAL: Final = EPOCH.toordinal()
FIRST_DAY: Final = 1 - EPOCH_ORDINAL
LAST_DAY: Final = date.max.toordinal() - EPOCH_ORDINAL
FIRST_SECOND: Final = FIRST_DAY * 86_400
LAST_SECOND: Final = LAST_DAY * 86_400 + 86_399
FIRST_MS: Final = FIRST_SECOND * 1000
LAST_MS: Final = LAST_SECOND * 1000 + 999

_RFC3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]"
    r"([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)"
    r"(?:[Zz]|[+-]([0-9]{2}:[0-9]{2}))?"
)
# Hours end at 23 and minutes at 59, also in the offset: datetime itself takes +14:60, and in newer Pythons 24:00.
_CLOCK = re.compile(r"(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){1,2}(?:\.[0-9]+)?")
_EXAMPLE = "'2027-03-15T14:00:00Z'"


def to_ms(instant: datetime) -> int:
    """Milliseconds of an aware datetime, rounded down; a naive one is refused, since it names no instant."""
    try:
        since = instant - EPOCH
    except TypeError:
        raise not_an_instant(instant) from None
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000


def from_ms(ms: int) -> datetime:
    """The aware UTC datetime of an instant within the years 1 to 9999."""
    return EPOCH + timedelta(0, ms // 1000, ms % 1000 * 1000)


def to_second(instant: datetime) -> int:
    """Seconds of an aware datetime, rounded down."""
    try:
        since = instant - EPOCH
    except TypeError:
        raise not_an_instant(instant) from None
    return since.days * 86_400 + since.seconds


def from_second(second: int) -> datetime:
    """The aware UTC datetime of a whole second within the years 1 to 9999."""
    return datetime.fromtimestamp(second, UTC)


def in_range(ms: int) -> int | None:
    """The instant itself, or None outside the years 1 to 9999."""
    return ms if FIRST_MS <= ms <= LAST_MS else None


def parse_datetime(text: str) -> datetime:
    """Read RFC 3339 text; the answer is naive exactly when the text has no offset."""
    if _shape(text) is None or expected_to_exist(text) is not None:
        raise not_an_instant(text)
    return datetime.fromisoformat(text.upper())


def expected_to_exist(text: str) -> str | None:
    """What was expected of text that reads like RFC 3339 but names a date, a time or an offset that there is not.

    None of any other text.
    """
    shape = _shape(text)
    if shape is None:
        return None
    day, time, offset = shape.groups()
    try:
        date.fromisoformat(day)
    except ValueError:
        return "a date that exists"
    if not _CLOCK.fullmatch(time):
        return "a time up to 23:59:59"
    return "an offset up to 23:59" if offset and not _CLOCK.fullmatch(offset) else None


def not_an_instant(got: object) -> ValidationFailed:
    """The refusal of a value that does not say when, or not in which offset."""
    shown = got.isoformat() if isinstance(got, datetime) else got
    expected = expected_to_exist(got) if isinstance(got, str) else None
    return refused(
        "instant", shown, expected or f"an aware datetime, or RFC 3339 text with an offset such as {_EXAMPLE}"
    )


def _shape(text: str) -> re.Match[str] | None:
    return _RFC3339.fullmatch(text) if len(text) <= 40 else None
