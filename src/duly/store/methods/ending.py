"""Ends that are not the end of an attempt: runs cancelled before or beside their worker.

Whoever calls these for runs of a schedule holds that schedule's cursor.
"""

from __future__ import annotations

from collections.abc import Sequence

from duly.core.rules.editing import Change
from duly.core.rules.overlap import lane_release
from duly.core.run import Hold, Reason, RunStatus
from duly.core.schedule import Definition
from duly.store.statements import Program, batch, query

from .moving import hold_runs_of, open_runs_of


def cancel_waiting_runs(now: int, ids: Sequence[str], reason: Reason | None) -> Program[list[str]]:
    """End runs that no session holds; one that is held is told to stop instead.

    All are told first: that waits for whoever is giving one back at this moment, and then it is found waiting.
    """
    yield from request_cancels(now, sorted(ids))
    return (yield from end_waiting_runs(now, ids, RunStatus.CANCELLED, reason))


def end_waiting_runs(
    now: int, ids: Sequence[str], status: RunStatus, reason: Reason | None, hold: Hold | None = None
) -> Program[list[str]]:
    """End those of the runs that no session holds and that wait for this, or for anything; answer them."""
    end = {"status": status.value, "reason": reason and reason.value, "hold": None if hold is None else int(hold)}
    rows = yield batch("end_waiting", {"id": ids}, now=now, **end)
    return [str(row[0]) for row in rows]


def request_cancels(now: int, ids: Sequence[str]) -> Program[None]:
    """Ask running runs to stop: from now on the store refuses their success."""
    yield batch("request_cancels", {"id": ids}, now=now)


def move_open_runs(now: int, schedule_id: str, change: Change, definition: Definition) -> Program[None]:
    """Do to the open runs of a schedule what a change of the schedule asks for."""
    stops = change.cancel_waiting or change.cancel_running or change.last_attempt
    found = yield from (hold_runs_of([schedule_id]) if stops else open_runs_of([schedule_id]))
    open_runs = found[schedule_id]
    waiting = [run.id for run in open_runs if not run.claimed]
    claimed = [run.id for run in open_runs if run.claimed]
    if change.cancel_waiting and waiting:
        yield from cancel_waiting_runs(now, waiting, change.reason)
    if change.cancel_running and claimed:
        yield from request_cancels(now, claimed)
    if change.last_attempt and claimed:
        yield query("spend_attempts", ids=claimed)
    if change.release_lane and not change.cancel_waiting:
        released = lane_release(definition, open_runs)
        if released:
            yield query("release_lane", ids=released, now=now)
