"""``Every``: a fixed interval, counted from an anchor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from duly.core.errors import IntervalTooShort
from duly.core.timing.base import TimingBase
from duly.core.timing.duration import MAX_DURATION_MS, parse_duration
from duly.core.timing.epoch import FIRST_MS, LAST_MS, from_ms, in_range, not_an_instant, to_ms
from duly.core.timing.refusal import refused, refused_as
from duly.core.timing.zone import check_zone

DEFAULT_MINIMUM_MS: Final = 1000
_UNIT_MS: Final = {"milliseconds": 1, "seconds": 1000, "minutes": 60_000, "hours": 3_600_000, "days": 86_400_000}

Anchor = Literal["epoch", "start"] | datetime


@dataclass(frozen=True, slots=True, init=False)
class Every(TimingBase):
    """Windows at ``anchor + k * every``, in whole milliseconds: ``Every("30m")`` or ``Every(minutes=30)``.

    The anchor is the epoch, so that any instance computes the same windows without any state: then 24 hours means
    00:00 UTC, and 7 days Thursday 00:00 UTC. ``anchor="start"`` counts from the schedule's own start, which
    ``anchored_at`` fills in; a datetime counts from that instant. A day is 24 hours, whatever the clocks do.

    With ``after_completion`` the grid gives the first window only; each later one is ``after_end_ms`` of the run
    before it. ``timezone`` moves nothing: it is the zone in which people are shown the windows.
    """

    every_ms: int
    anchor: Anchor
    anchor_ms: int | None
    after_completion: bool
    timezone: str

    def __init__(
        self,
        every: str | timedelta | None = None,
        /,
        *,
        milliseconds: int | None = None,
        seconds: int | None = None,
        minutes: int | None = None,
        hours: int | None = None,
        days: int | None = None,
        anchor: Anchor = "epoch",
        after_completion: bool = False,
        timezone: str = "UTC",
        minimum_ms: int = DEFAULT_MINIMUM_MS,
    ) -> None:
        named = {"milliseconds": milliseconds, "seconds": seconds, "minutes": minutes, "hours": hours, "days": days}
        units = {name: value for name, value in named.items() if value is not None}
        if every is None and not units:
            expected = f"at least {minimum_ms} ms, such as Every('30m') or Every(minutes=30)"
            raise refused_as(IntervalTooShort, "Every() has no length", "every", None, expected)
        every_ms = _from_units(units) if every is None else _from_value(every, units)
        if not isinstance(after_completion, bool):
            raise refused("after_completion", after_completion, "true or false")
        anchor_ms = _anchor_ms(anchor)
        zone = check_zone(timezone)
        _fill(self, every_ms, anchor_from(anchor_word(anchor), anchor_ms), anchor_ms, after_completion, zone)
        self.check_minimum(max(1, minimum_ms))

    @classmethod
    def described(
        cls, every_ms: int, anchor: Anchor, anchor_ms: int | None, after_completion: bool, timezone: str = "UTC"
    ) -> Every:
        """An interval as it was stored; the minimum was checked when it was made."""
        if type(every_ms) is not int or not 0 < every_ms <= MAX_DURATION_MS:
            raise refused("every_ms", every_ms, f"whole milliseconds from 1 to {MAX_DURATION_MS}")
        if type(anchor_ms) is not int and (anchor_ms is not None or anchor != "start"):
            raise refused("anchor_ms", anchor_ms, "whole milliseconds")
        self = object.__new__(cls)
        _fill(self, every_ms, anchor, anchor_ms, after_completion, timezone)
        return self

    def check_minimum(self, minimum_ms: int) -> None:
        """Raise ``IntervalTooShort`` if the interval is below the smallest one that the server allows."""
        if self.every_ms < minimum_ms:
            given = f"interval is {self.every_ms} ms"
            raise refused_as(IntervalTooShort, given, "every", self.every_ms, f"at least {minimum_ms} ms")

    def anchored_at(self, start_ms: int) -> Every:
        """The same interval with ``anchor="start"`` counted from ``start_ms``; other anchors stay as they are."""
        if self.anchor != "start":
            return self
        return Every.described(self.every_ms, "start", start_ms, self.after_completion, self.timezone)

    def after_end_ms(self, end_ms: int) -> int | None:
        """The window that follows a run which ended at ``end_ms``, in the mode ``after_completion``."""
        return in_range(end_ms + self.every_ms)

    def next_after_ms(self, t_ms: int) -> int | None:
        if not FIRST_MS <= t_ms <= LAST_MS:
            return None
        every_ms, anchor_ms = self.every_ms, self._origin()
        window = anchor_ms + ((t_ms - anchor_ms) // every_ms + 1) * every_ms
        return window if window <= LAST_MS else None

    def latest_at_ms(self, t_ms: int) -> int | None:
        if not FIRST_MS <= t_ms <= LAST_MS:
            return None
        window = t_ms - (t_ms - self._origin()) % self.every_ms
        return window if window >= FIRST_MS else None

    def between_ms(self, after_ms: int, until_ms: int) -> Iterator[int]:
        first = self.next_after_ms(after_ms)
        return iter(range(first, min(until_ms, LAST_MS) + 1, self.every_ms) if first is not None else ())

    def count_between_ms(self, after_ms: int, until_ms: int) -> int:
        first, last = self.next_after_ms(after_ms), self.latest_at_ms(until_ms)
        return 0 if first is None or last is None or last < first else (last - first) // self.every_ms + 1

    def _origin(self) -> int:
        if self.anchor_ms is None:
            raise refused("anchor", "start", "a known start; ask anchored_at(start_ms) first")
        return self.anchor_ms


def _fill(
    self: Every, every_ms: int, anchor: Anchor, anchor_ms: int | None, after_completion: bool, timezone: str
) -> None:
    object.__setattr__(self, "every_ms", every_ms)
    object.__setattr__(self, "anchor", anchor)
    object.__setattr__(self, "anchor_ms", anchor_ms)
    object.__setattr__(self, "after_completion", after_completion)
    object.__setattr__(self, "timezone", timezone)


def _from_units(units: dict[str, int]) -> int:
    for name, value in units.items():
        if type(value) is not int:
            raise refused(name, value, "a whole number; use milliseconds for parts of a second")
    return _checked(sum(value * _UNIT_MS[name] for name, value in units.items()))


def _from_value(every: object, units: dict[str, int]) -> int:
    if any(units.values()):
        given = ", ".join(name for name, value in units.items() if value)
        raise refused("every", every, f"either this or {given}, not both")
    if isinstance(every, timedelta):
        if every % timedelta(milliseconds=1):
            raise refused("every", str(every), "whole milliseconds")
        return _checked(every // timedelta(milliseconds=1))
    if not isinstance(every, str):
        raise refused("every", every, "text such as '30m', or units such as minutes=30")
    return parse_duration(every, least_ms=0)  # nothing at all is a duration, and too short an interval


def _checked(every_ms: int) -> int:
    if every_ms > MAX_DURATION_MS:
        raise refused("every", every_ms, f"at most {MAX_DURATION_MS} ms, about ten years")
    return every_ms


def _anchor_ms(anchor: object) -> int | None:
    if isinstance(anchor, datetime):
        if anchor.tzinfo is None:
            raise not_an_instant(anchor)
        anchor_ms = in_range(to_ms(anchor))
        if anchor_ms is None:
            raise not_an_instant(anchor)
        return anchor_ms
    if anchor == "epoch":
        return 0
    if anchor == "start":
        return None
    raise refused("anchor", anchor, "'epoch', 'start' or an aware datetime")


def anchor_word(anchor: object) -> str:
    """The word under which an anchor is stored, beside its milliseconds."""
    return anchor if isinstance(anchor, str) else "instant"


def anchor_from(word: str, anchor_ms: int | None) -> Anchor:
    """The anchor of a stored interval: one of the words, or the instant itself."""
    if word == "epoch":
        return "epoch"
    if word == "start":
        return "start"
    if word == "instant" and anchor_ms is not None:
        return from_ms(anchor_ms)
    raise refused("anchor", word, "'epoch', 'start' or 'instant' with its milliseconds")
