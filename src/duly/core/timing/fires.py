"""From local times to instants: where a pattern fires in a zone, around changes of its UTC offset.

A change forward leaves a *gap*: local times that no clock shows. A change back makes a *fold*: local times shown
twice. Three ways to read a pattern follow; an instant at which several local times meet is one fire.

* ``FirstPass``: each local time once, in a fold at its first pass.
* ``SecondPass``: each local time once, in a fold at its second pass.
* ``EachPass``: whenever the clock shows it, so in a fold twice. An open hour is read this way, without gap times.

A local time in a gap fires at the first instant after the gap, unless gap times are skipped. All times are whole
seconds; local times and instants differ by the offset of their stretch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from duly.core.timing.pattern import Pattern
from duly.core.timing.zone import Stretch, Zone

_REACH: Final = 86_400  # more than any UTC offset
_HORIZON: Final = 60 * 366 * 86_400


def first_showing(zone: Zone, local: int) -> Stretch:
    """The first stretch that shows ``local``, or, if it lies in a gap, the stretch after that gap."""
    stretch = zone.stretch_at(local - _REACH)
    while local >= stretch.end + stretch.offset:
        stretch = zone.stretch_at(stretch.end)
    return stretch


def last_showing(zone: Zone, local: int) -> Stretch:
    """The last stretch that shows ``local``, or, if it lies in a gap, the stretch before that gap."""
    stretch = zone.stretch_at(local + _REACH)
    while local < stretch.start + stretch.offset:
        stretch = zone.stretch_at(stretch.start - 1)
    return stretch


def place(zone: Zone, local: int) -> int:
    """The instant of a local time: in a fold the first one, in a gap the first instant after it."""
    stretch = first_showing(zone, local)
    return max(local - stretch.offset, stretch.start)


class Fires(ABC):
    """The instants at which a pattern fires in a zone; no answer lies more than about 60 years away."""

    __slots__ = ("pattern", "skip_gap", "zone")

    def __init__(self, pattern: Pattern, zone: Zone, skip_gap: bool) -> None:
        self.pattern = pattern
        self.zone = zone
        self.skip_gap = skip_gap

    @abstractmethod
    def next_after(self, t: int) -> int | None:
        """The first fire after the instant ``t``."""

    @abstractmethod
    def latest_at(self, t: int) -> int | None:
        """The last fire at or before the instant ``t``."""

    def placed_in(self, stretch: Stretch) -> tuple[int, int]:
        """The local times that fire while a stretch shows them: from the first to before the second."""
        return stretch.start + stretch.offset, stretch.end + stretch.offset


class Unshifted(Fires):
    """Local times are instants: UTC."""

    __slots__ = ()

    def next_after(self, t: int) -> int | None:
        return self.pattern.first_from(t + 1)

    def latest_at(self, t: int) -> int | None:
        return self.pattern.last_to(t)


class FirstPass(Fires):
    __slots__ = ()

    def next_after(self, t: int) -> int | None:
        start, end, offset, before, _ = self.zone.stretch_at(t)
        floor = t + offset + 1
        # After a change back, the clock repeats times that were placed before the change.
        if floor < start + before:
            floor = start + before
        local = self.pattern.first_from(floor)
        if local is not None and local < end + offset:
            return local - offset
        limit = floor + _HORIZON
        while local is not None and local <= limit:
            stretch = first_showing(self.zone, local)
            if local >= stretch.start + stretch.offset:
                return local - stretch.offset
            if not self.skip_gap:
                return stretch.start
            local = self.pattern.first_from(stretch.start + stretch.offset)
        return None

    def latest_at(self, t: int) -> int | None:
        start, _, offset, before, _ = self.zone.stretch_at(t)
        ceiling = t + offset
        if ceiling < start + before:
            ceiling = start + before - 1
        local = self.pattern.last_to(ceiling)
        if local is not None and local >= start + offset and local >= start + before:
            return local - offset
        limit = ceiling - _HORIZON
        while local is not None and local >= limit:
            stretch = first_showing(self.zone, local)
            if local >= stretch.start + stretch.offset:
                return local - stretch.offset
            if not self.skip_gap:
                return stretch.start
            local = self.pattern.last_to(stretch.start + stretch.before - 1)
        return None

    def placed_in(self, stretch: Stretch) -> tuple[int, int]:
        return stretch.start + max(stretch.before, stretch.offset), stretch.end + stretch.offset


class SecondPass(Fires):
    __slots__ = ()

    def next_after(self, t: int) -> int | None:
        _, end, offset, _, after = self.zone.stretch_at(t)
        # Before a change back, the clock shows times that will be placed after the change.
        floor = min(t + offset + 1, end + after)
        local = self.pattern.first_from(floor)
        limit = floor + _HORIZON
        while local is not None and local <= limit:
            stretch = last_showing(self.zone, local)
            if local < stretch.end + stretch.offset:
                return local - stretch.offset
            if not self.skip_gap:
                return stretch.end
            local = self.pattern.first_from(stretch.end + stretch.after)
        return None

    def latest_at(self, t: int) -> int | None:
        _, end, offset, _, after = self.zone.stretch_at(t)
        ceiling = min(t + offset, end + after - 1)
        local = self.pattern.last_to(ceiling)
        limit = ceiling - _HORIZON
        while local is not None and local >= limit:
            stretch = last_showing(self.zone, local)
            if local < stretch.end + stretch.offset:
                return local - stretch.offset
            if not self.skip_gap:
                return stretch.end
            local = self.pattern.last_to(stretch.end + stretch.offset - 1)
        return None

    def placed_in(self, stretch: Stretch) -> tuple[int, int]:
        return stretch.start + stretch.offset, stretch.end + min(stretch.offset, stretch.after)


class EachPass(Fires):
    __slots__ = ()

    def next_after(self, t: int) -> int | None:
        at, limit = t + 1, t + _HORIZON
        while at <= limit:
            start, end, offset, before, after = self.zone.stretch_at(at)
            floor = at + offset
            if at == start and not self.skip_gap:
                floor = min(floor, start + before)
            local = self.pattern.first_from(floor)
            if local is None:
                return None
            if local < end + offset:
                return max(local - offset, start)
            # Only a change back shows earlier local times again; otherwise nothing fires until ``local`` comes near.
            at = end if after < offset else max(end, local - _REACH)
        return None

    def latest_at(self, t: int) -> int | None:
        at, limit = t, t - _HORIZON
        while at >= limit:
            start, _, offset, before, _ = self.zone.stretch_at(at)
            local = self.pattern.last_to(at + offset)
            if local is None:
                return None
            if local >= start + offset:
                return local - offset
            if local >= start + before and not self.skip_gap:
                return start
            at = start - 1 if before > offset else min(start - 1, local + _REACH)
        return None
