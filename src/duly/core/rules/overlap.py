"""Overlap: what happens to one more run of a schedule while others have not ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from duly.core.policy import Missed, Overlap
from duly.core.rules.windows import fire_instant
from duly.core.run import Hold, OpenRun, Reason, RunKind
from duly.core.schedule import Definition


@dataclass(frozen=True, slots=True)
class Admission:
    """The answer: refused (and why), or let in, perhaps held in the lane, after these others are cancelled.

    ``cancel_waiting`` are unclaimed and end at once; ``cancel_running`` are asked to stop. ``release`` waited for what
    ends at once, and may go. ``outside_lane`` is set for a forced run: it waits for nobody and takes no place in the
    lane.
    """

    refused: Reason | None = None
    hold: Hold = Hold.NONE
    cancel_waiting: tuple[str, ...] = ()
    cancel_running: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    outside_lane: bool = False


MOST_REDRIVEN = 1000
"""How many open runs of a schedule a redriven run waits behind."""

_CLAIMABLE = Admission()
_HELD = Admission(hold=Hold.LANE)
_OVERLAPS = Admission(refused=Reason.OVERLAP)
_QUEUE_FULL = Admission(refused=Reason.QUEUE_FULL)
_FORCED = Admission(outside_lane=True)


def heeds_open_runs(definition: Definition) -> bool:
    """Whether runs that have not ended can change what becomes of a window: else nobody need look at them."""
    return definition.has_width or definition.catch_up.policy is Missed.ALL


def admit(definition: Definition, open_runs: Sequence[OpenRun], grace_ms: int) -> Admission:
    """Decide about one more run of a schedule; ``open_runs`` are all its runs that have not ended.

    Those of a backfill cost it nothing but a wait: it goes before those that wait, and after those that run.
    ``grace_ms`` is how late a window is that was missed.
    """
    if not open_runs:
        return _CLAIMABLE
    admission = _admit(definition, [run for run in open_runs if not run.backfill], grace_ms)
    if admission.refused or not definition.has_width:
        return admission
    left = [run for run in open_runs if run.id not in admission.cancel_waiting]
    if admission.hold is Hold.NONE:
        return admission if in_lane(left) < definition.lane_width else replace(admission, hold=Hold.LANE)
    if admission.cancel_waiting:
        return replace(admission, release=tuple(lane_release(definition, left)))
    return admission


def admit_backfill(definition: Definition, open_runs: Sequence[OpenRun], count: int, force: bool = False) -> list[Hold]:
    """Decide about ``count`` runs of a backfill, oldest first: none is refused, but they wait for their turn."""
    if force or not definition.has_width:
        return [Hold.NONE] * count
    free = min(count, max(0, definition.lane_width - in_lane(open_runs)))
    return [Hold.NONE] * free + [Hold.LANE] * (count - free)


def _admit(definition: Definition, open_runs: Sequence[OpenRun], grace_ms: int) -> Admission:
    if not open_runs:
        return _CLAIMABLE
    match definition.overlap:
        case Overlap.SKIP:
            return _OVERLAPS
        case Overlap.QUEUE:
            return _HELD if len(open_runs) <= definition.max_queued else _QUEUE_FULL
        case Overlap.CANCEL_PREVIOUS:
            return _after_cancelling(definition, open_runs, grace_ms)
        case Overlap.ALLOW:
            limit, busy = definition.max_concurrent, in_lane(open_runs)
            if limit is None or busy < limit:
                return _CLAIMABLE
            return _HELD if len(open_runs) - busy < definition.max_queued else _QUEUE_FULL
        case unknown:
            assert_never(unknown)


def admit_manual(definition: Definition, open_runs: Sequence[OpenRun], grace_ms: int, force: bool = False) -> Admission:
    """Decide about a manual run: it obeys the overlap policy like a window, unless it is forced.

    A refused one is ``RunActive`` to whoever asked for it.
    """
    return _FORCED if force else admit(definition, open_runs, grace_ms)


def admit_redriven(definition: Definition, open_runs: Sequence[OpenRun], force: bool = False) -> Admission:
    """Decide about a dead run that goes again: it cancels nobody and is not refused, but waits for its turn.

    Runs that must not overlap do not: it is held until the others have ended, unless it is forced. Only behind a
    thousand others it stays dead for now: every fire and every end looks at all open runs of its schedule.
    """
    if force:
        return _FORCED
    admission = admit(definition, open_runs, grace_ms=0) if definition.overlap is Overlap.ALLOW else _HELD
    if not open_runs or admission == _CLAIMABLE:
        return _CLAIMABLE
    return _HELD if len(open_runs) < MOST_REDRIVEN else _QUEUE_FULL


def in_lane(open_runs: Sequence[OpenRun]) -> int:
    """How many open runs have a place in the lane: all but those that wait for one."""
    return sum(run.hold != Hold.LANE for run in open_runs)


def lane_release(definition: Definition, open_runs: Sequence[OpenRun]) -> list[str]:
    """The held runs that become claimable now, oldest window first.

    ``open_runs`` are the schedule's runs that are open after a run has ended, also one outside the lane.
    """
    held = [run for run in open_runs if run.hold == Hold.LANE]
    if not held:
        return []
    in_the_way = open_runs
    if definition.overlap is Overlap.ALLOW and definition.max_concurrent is None:
        # Newer runs wait for nobody and never stop coming: only what is older can be waited for.
        oldest = min(map(_place, held))
        in_the_way = [run for run in open_runs if _place(run) < oldest]
    free = max(0, definition.lane_width - in_lane(in_the_way))
    return [run.id for run in sorted(held, key=_turn)[:free]]


def _turn(run: OpenRun) -> tuple[bool, tuple[int, str]]:
    # A backfill can wait: regular windows go before it.
    return run.backfill, _place(run)


def _place(run: OpenRun) -> tuple[int, str]:
    return run.window_at, run.id


def _after_cancelling(definition: Definition, open_runs: Sequence[OpenRun], grace_ms: int) -> Admission:
    give_way = [run for run in open_runs if not _in_line(definition, run, grace_ms)]
    claimed = [run for run in give_way if run.claimed]
    return Admission(
        hold=Hold.LANE if claimed or len(give_way) < len(open_runs) else Hold.NONE,
        cancel_waiting=tuple(run.id for run in give_way if not run.claimed),
        cancel_running=tuple(run.id for run in claimed if not run.cancel_requested),
    )


def _in_line(definition: Definition, run: OpenRun, grace_ms: int) -> bool:
    """Whether it is the run of a missed window, one of those that run one after another: nobody cancels them.

    By how late it was fired one knows it. Whoever tries it again moves ``due_at``, and then its window tells.
    """
    if definition.catch_up.policy is not Missed.ALL or run.kind != RunKind.WINDOW:
        return False
    due_at = run.due_at if run.due_at <= run.fired_at else fire_instant(definition, run.window_at)
    return run.fired_at - due_at >= grace_ms
