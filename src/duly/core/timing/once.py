"""``Once``: a single instant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from duly.core.errors import MomentInPast
from duly.core.timing.base import TimingBase
from duly.core.timing.epoch import from_ms, in_range, not_an_instant, parse_datetime, to_ms
from duly.core.timing.fires import place
from duly.core.timing.refusal import refused, refused_as
from duly.core.timing.zone import check_zone, zone_named

OnPast = Literal["reject", "fire"]

_BOUNDS: Final = "an instant within the years 1 to 9999 of UTC"


@dataclass(frozen=True, slots=True, init=False)
class Once(TimingBase):
    """One window at an aware datetime, or at RFC 3339 text with an offset: ``Once("2027-03-15T14:00:00Z")``.

    ``on_past`` says what a schedule does with an instant that has gone by when it is created: ``"reject"`` refuses
    it, ``"fire"`` fires it at once. Parts of a millisecond are dropped. ``timezone`` moves nothing: it is the zone in
    which people are shown the instant.
    """

    at_ms: int
    on_past: OnPast
    timezone: str

    def __init__(self, at: datetime | str, *, on_past: OnPast = "reject", timezone: str = "UTC") -> None:
        instant = _datetime(at)
        if instant is None or instant.tzinfo is None:
            raise not_an_instant(at)
        if in_range(to_ms(instant)) is None:
            raise refused("instant", str(at), _BOUNDS)
        _fill(self, to_ms(instant), on_past, check_zone(timezone))

    @classmethod
    def local(cls, at: datetime | str, timezone: str, *, on_past: OnPast = "reject") -> Once:
        """The instant at which the zone's wall clock shows a naive datetime, or text without an offset.

        A time that the clock shows twice is the first one; a time that it leaves out is the first instant after it.
        """
        shown = _datetime(at)
        if shown is None or shown.tzinfo is not None:
            raise refused("local time", str(at), "a date and time without an offset, such as '2027-03-15T14:00:00'")
        zone = zone_named(timezone)
        second, part_ms = divmod(to_ms(shown.replace(tzinfo=UTC)), 1000)
        instant = place(zone, second)
        exists = instant + zone.offset_at(instant) == second
        if in_range(instant * 1000) is None:
            raise refused("local time", shown.isoformat(), _BOUNDS)
        return cls.at_instant(instant * 1000 + (part_ms if exists else 0), on_past, timezone)

    @classmethod
    def at_instant(cls, at_ms: int, on_past: OnPast = "reject", timezone: str = "UTC") -> Once:
        """One window at an instant in milliseconds."""
        if type(at_ms) is not int:
            raise not_an_instant(at_ms)
        self = object.__new__(cls)
        _fill(self, at_ms, on_past, timezone)
        return self

    @property
    def at(self) -> datetime:
        """The instant as an aware UTC datetime."""
        return from_ms(self.at_ms)

    def check_not_past(self, now_ms: int) -> None:
        """Raise ``MomentInPast`` if the instant is not after now and ``on_past`` is ``"reject"``."""
        if self.on_past == "reject" and self.at_ms <= now_ms:
            expected = f'an instant after {from_ms(now_ms).isoformat()}, or on_past "fire"'
            given = f"moment is {self.at.isoformat()}, which has gone by"
            raise refused_as(MomentInPast, given, "at", self.at.isoformat(), expected)

    def next_after_ms(self, t_ms: int) -> int | None:
        return self.at_ms if self.at_ms > t_ms else None

    def latest_at_ms(self, t_ms: int) -> int | None:
        return self.at_ms if self.at_ms <= t_ms else None


def _datetime(at: object) -> datetime | None:
    if isinstance(at, str):
        return parse_datetime(at)
    return at if isinstance(at, datetime) else None


def _fill(self: Once, at_ms: int, on_past: OnPast, timezone: str) -> None:
    if on_past not in ("reject", "fire"):
        raise refused("on_past", on_past, "'reject' or 'fire'")
    if in_range(at_ms) is None:
        raise refused("instant", at_ms, _BOUNDS)
    object.__setattr__(self, "at_ms", at_ms)
    object.__setattr__(self, "on_past", on_past)
    object.__setattr__(self, "timezone", timezone)
