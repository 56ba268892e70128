"""What an outage leaves behind: which windows are due, which were missed, and which of those still fire."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from duly.core.policy import Missed, Overlap
from duly.core.rules.windows import Windows
from duly.core.run import Reason
from duly.core.schedule import Definition


class Dropped(NamedTuple):
    """Neighbouring windows that do not fire, for one reason; both ends are windows and counted."""

    reason: Reason
    since: int
    until: int
    windows: int
    detail: str | None = None


class Kept(NamedTuple):
    """A window that is to fire, if overlap lets it."""

    window: int
    missed: bool


Step = Dropped | Kept


@dataclass(slots=True)
class Backlog:
    """The windows whose instant has come, oldest first: dropped ones, then missed ones that fire, then due ones."""

    dropped: list[Dropped] = field(default_factory=list)
    missed: list[int] = field(default_factory=list)
    due: list[int] = field(default_factory=list)

    @property
    def kept(self) -> list[Kept]:
        return [*(Kept(window, True) for window in self.missed), *(Kept(window, False) for window in self.due)]

    @property
    def steps(self) -> list[Step]:
        return [*self.dropped, *self.kept]


def sort_out(windows: Windows, definition: Definition, *, now: int, grace_ms: int, limit: int) -> Backlog:
    """Sort the windows whose instant has come; list at most ``limit`` that are to fire, the oldest of them.

    Less than ``grace_ms`` late is due. What was missed is counted, not walked through, unless it is to fire.
    """
    backlog = Backlog()
    newest = windows.newest_at(now)
    if newest is None:
        return backlog
    newest_missed = windows.newest_at(now - grace_ms)
    if newest_missed is None:
        backlog.due = windows.walk(windows.first, newest, limit)
        return backlog
    start = _drop_too_late(windows, newest_missed, now, definition.catch_up.max_lateness_ms, backlog)
    first_due = windows.following(newest_missed) if newest > newest_missed else None
    if start is not None:
        due = 0 if first_due is None else windows.count(first_due, newest)
        _apply_policy(windows, definition, start, newest_missed, due, limit, backlog)
    if first_due is not None:
        backlog.due = windows.walk(first_due, newest, limit - len(backlog.missed))
    return backlog


def _drop_too_late(windows: Windows, newest_missed: int, now: int, max_ms: int | None, backlog: Backlog) -> int | None:
    """Drop the missed windows that are more than ``max_ms`` late; return the oldest one left, if any is."""
    first = windows.first
    if max_ms is None or first >= now - max_ms:
        return first
    since = now - max_ms
    until = min(windows.newest_until(since - 1), newest_missed)
    backlog.dropped.append(Dropped(Reason.TOO_LATE, first, until, windows.count(first, until)))
    return windows.following(until) if until < newest_missed else None


def _apply_policy(
    windows: Windows, definition: Definition, start: int, newest: int, due: int, limit: int, backlog: Backlog
) -> None:
    """Choose from the missed windows ``start`` to ``newest``, beside which so many are ``due``."""
    kept = _oldest_kept(windows, definition, start, newest, due)
    if kept is None:
        backlog.dropped.append(Dropped(Reason.MISSED, start, newest, windows.count(start, newest)))
        return
    if kept > start:
        until = windows.newest_until(kept - 1)
        backlog.dropped.append(Dropped(Reason.MISSED, start, until, windows.count(start, until)))
    backlog.missed = windows.walk(kept, newest, limit)


def _oldest_kept(windows: Windows, definition: Definition, start: int, newest: int, due: int) -> int | None:
    """The oldest missed window that still fires, or None when none does."""
    catch_up = definition.catch_up
    if catch_up.policy is Missed.SKIP:
        return None
    if catch_up.policy is Missed.LATEST:
        # Where runs may not overlap, a due window is the catch-up: it would only be skipped for the missed one.
        served = due and definition.overlap in (Overlap.SKIP, Overlap.CANCEL_PREVIOUS)
        return None if served else newest
    # Due windows that go in the same line are the newest of those that are caught up.
    most = catch_up.max_runs - (due if joins_line(definition) else 0)
    if most <= 0:
        return None
    if windows.count(start, newest) <= most:
        return start
    kept = newest
    for _ in range(most - 1):
        kept = windows.newest_until(kept - 1)
    return kept


def joins_line(definition: Definition) -> bool:
    """Whether windows that come at once run one after another, where the overlap policy would refuse all but the first.

    So nothing of an outage is lost to the runs that it left itself.
    """
    return definition.catch_up.policy is Missed.ALL and definition.overlap in (Overlap.SKIP, Overlap.QUEUE)
