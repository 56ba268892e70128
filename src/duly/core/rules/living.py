"""Which windows a schedule has had: walked from its revisions, pauses and end, not from where its cursor went.

This is the auditor's own way to the windows. It shares the timings with the fire and nothing else: no cursor, no
planner, no catch-up. What a policy did with a window is for its row to say; that there is a row is what is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, pairwise, takewhile

from duly.core.audit import Life, Switched
from duly.core.schedule import Definition
from duly.core.timing import Once

SLACK_MS = 10_000
"""A fire may have read its clock a moment before a pause or an edit that it waited for, or that waited for it."""

_FOREVER = 1 << 62


@dataclass(frozen=True, slots=True)
class Reign:
    """A revision, and the windows that are its: those after ``after``, up to ``until``."""

    number: int
    definition: Definition
    made_at: int
    after: int
    until: int

    def allows(self, window: int) -> bool:
        """Whether it lies within the definition's own start and end."""
        start_at, end_at = self.definition.start_at, self.definition.end_at
        return (start_at is None or window >= start_at) and (end_at is None or window <= end_at)

    def yields(self, window: int) -> bool:
        """Whether the timing has this window."""
        return self.allows(window) and self.definition.timing.latest_at_ms(window) == window


@dataclass(frozen=True, slots=True)
class Pause:
    """From when to when a schedule was paused; ``until`` is None while it is, or where its end came first."""

    since: int
    until: int | None
    goes_on_from: int | None = None

    def holds(self, window: int) -> bool:
        """Whether the window came during the pause and was not taken up again after it."""
        if window <= self.since or (self.until is not None and window > self.until):
            return False
        return self.goes_on_from is None or window < self.goes_on_from


def reigns_of(life: Life) -> list[Reign]:
    """The revisions of a schedule in their order; each begins where the one before it had come to.

    An edit never goes back: where a clock lagged, the new one begins after the newest window that was dealt with.
    """
    reigns: list[Reign] = []
    made = sorted(life.revisions, key=lambda revision: revision.number)
    newest: dict[int, int] = {}
    for row in life.rows:
        newest[row.revision] = max(row.window_at, newest.get(row.revision, row.window_at))
    dealt = -_FOREVER
    for one, following in pairwise([*made, None]):
        assert one is not None
        assert isinstance(one.definition, Definition)
        after = one.made_at
        if one.number == 1 and one.definition.start_at == one.made_at and not one.definition.counts_from_completion:
            after -= 1  # a window at the start counts, one at the creation does not
        until = _FOREVER if following is None else following.made_at
        reigns.append(Reign(one.number, one.definition, one.made_at, max(after, dealt), until))
        dealt = max(dealt, newest.get(one.number, dealt))
    return reigns


def pauses_of(life: Life) -> list[Pause]:
    """The pauses of a schedule, oldest first."""
    pauses: list[Pause] = []
    switches = sorted(life.switches, key=lambda switch: switch.at)
    since = life.created_at if _begins_paused(life, switches) else None
    for switch in switches:
        if not switch.enabled:
            since = switch.at if since is None else since
        elif since is not None:
            # At the end it had, however late somebody noticed: what came since then was due, also before an edit.
            until = switch.at if switch.as_of is None else switch.as_of
            pauses.append(Pause(since, until, switch.goes_on_from))
            since = None
    if since is not None:
        pauses.append(Pause(since, None))
    return pauses


def _moves(definition: Definition) -> tuple[object, int | None]:
    """What moves a schedule where an edit changes it."""
    return definition.timing, definition.start_at


def _begins_paused(life: Life, switches: list[Switched]) -> bool:
    return switches[0].enabled if switches else life.paused_at is not None


def windows_of(life: Life, reigns: list[Reign], since: int, until: int) -> Iterator[tuple[int, Reign]]:
    """Every window from ``since`` to ``until`` that must have left a row, each with the revision it came under."""
    pauses = pauses_of(life)
    until = until if life.ended_at is None else min(until, life.ended_at)
    for place, reign in enumerate(reigns):
        if reign.definition.counts_from_completion:
            continue
        outlived_at, held = _outlived_at(life, reigns[place:]), _held_for(reigns[place:], pauses)
        prompt = (one for one in _prompt(reign, reigns[place - 1] if place else None) if since <= one <= until)
        for window in chain(prompt, _between(reign, since, until)):
            holding = [pause for pause in held if pause.holds(window)]
            if not holding or (_may_be_late(reign) and all(_ends_before(pause, outlived_at) for pause in holding)):
                yield window, reign


def _held_for(reigns: list[Reign], pauses: list[Pause]) -> list[Pause]:
    """The pauses as the windows of the first of these see them.

    A resume that went back takes up what the schedule had by then: not what an edit during the pause did away with.
    """
    first = reigns[0].definition
    same = takewhile(lambda reign: _moves(reign.definition) == _moves(first), reigns)
    until = max(reign.until for reign in same)
    return [one if one.until is None or one.until < until else replace(one, goes_on_from=None) for one in pauses]


def _between(reign: Reign, since: int, until: int) -> Iterator[int]:
    """The windows that come during a reign."""
    low, high = max(reign.after, since - 1), min(reign.until, until)
    start_at, end_at = reign.definition.start_at, reign.definition.end_at
    if start_at is not None:
        low = max(low, start_at - 1)
    if end_at is not None:
        high = min(high, end_at)
    return iter(()) if low >= high else reign.definition.timing.between_ms(low, high)


def _prompt(reign: Reign, before: Reign | None) -> Iterator[int]:
    """Windows of the past that a new timing makes due at once."""
    timing = reign.definition.timing
    if isinstance(timing, Once):
        changed = before is None or before.definition.timing != timing
        if changed and timing.on_past == "fire" and timing.at_ms <= reign.after and reign.allows(timing.at_ms):
            yield timing.at_ms
    elif before is None and reign.definition.fire_current_window:
        current = timing.latest_at_ms(reign.after)
        if current is not None and reign.allows(current):
            yield current


def _may_be_late(reign: Reign) -> bool:
    """A one-shot that may be late fires after the pause in which its time came, if it is there by then."""
    timing = reign.definition.timing
    return isinstance(timing, Once) and timing.on_past == "fire"


def _ends_before(pause: Pause, instant: int) -> bool:
    return pause.until is not None and pause.until < instant


def _outlived_at(life: Life, reigns: list[Reign]) -> int:
    """When the timing of the first of these ended: with its schedule, or with the edit that gave it another one."""
    first = reigns[0].definition
    same = takewhile(lambda reign: reign.definition.timing == first.timing, reigns)
    until = max(reign.until for reign in same)
    return until if life.ended_at is None else min(until, life.ended_at)


def explains(life: Life, reigns: list[Reign], window: int) -> bool:
    """Whether the schedule may have had this window, give or take a moment around each change."""
    if life.ended_at is not None and window > life.ended_at + SLACK_MS:
        return False
    held = any(
        pause.holds(window)
        and window > pause.since + SLACK_MS
        and (pause.until is None or window <= pause.until - SLACK_MS)
        for pause in pauses_of(life)
    )
    for place, reign in enumerate(reigns):
        if window in _prompt(reign, reigns[place - 1] if place else None):
            return True
        if reign.definition.counts_from_completion:
            if window > reign.made_at and reign.allows(window) and not held:
                return True
        elif held and not _may_be_late(reign):
            continue
        elif min(reign.after, reign.made_at) < window <= reign.until + SLACK_MS and reign.yields(window):
            return True
    return False
