"""What the janitor does: in small batches, and never to what is still open."""

from __future__ import annotations

from collections.abc import Sequence

from duly.core.rules.editing import end_pause
from duly.core.run import ENDS, RunStatus
from duly.core.schedule import Schedule
from duly.store.statements import Program, group, query

from .changes import write_changes
from .moving import lock_cursors, move_schedules, open_runs_of
from .schedules import read_schedules
from .sessions import ADOPTED_AT_ONCE

OF_RUNS = ("purge_attempts", "purge_redrives", "purge_owners", "purge_traces", "purge_steps")
"""What forgets all that is kept beside ended runs."""

OF_SCHEDULES = ("purge_cursors", "purge_revisions", "purge_changes", "purge_traces", "purge_schedules")
"""What removes schedules with all that is theirs but their runs."""


def any_open(now: int) -> Program[bool]:
    rows = yield query("any_open")
    return bool(rows[0][0])


def hold_unknown_jobs(now: int) -> Program[Sequence[tuple[str, int]]]:
    """Set aside due runs of jobs that no live instance knows; they are reported, never deleted."""
    _, _, rows = yield group(
        query("hold_unknown_jobs", now=now),
        query("adopt_known_jobs", now=now, limit=ADOPTED_AT_ONCE),
        query("unknown_jobs", now=now),
        last=True,
    )
    return [(row[0], row[1]) for row in rows]


def release_stuck_lanes(now: int, limit: int) -> Program[int]:
    """Release held runs whose lane has a free place: an edit of the policy can leave such behind."""
    rows = yield query("held_lanes", limit=limit)
    cursors = yield from lock_cursors([row[0] for row in rows])
    return (yield from move_schedules(now, [], cursors, known={})) if cursors else 0


def purge_history(
    now: int, finished_before: int, limit: int, statuses: Sequence[RunStatus] | None = None
) -> Program[int]:
    wanted = [status.value for status in (ENDS if statuses is None else statuses)]
    rows = yield query("purge_history", finished_before=finished_before, limit=limit, statuses=wanted)
    if rows:
        yield from _forget([row[0] for row in rows], finished_before)
    return len(rows)


def purge_surplus(now: int, status: RunStatus, keep: int, limit: int) -> Program[int]:
    """Delete ended runs beyond the newest ``keep`` of a status; see ``Keeping.purge_surplus``."""
    rows = yield query("purge_surplus", status=status.value, keep=keep, limit=limit)
    if rows:
        yield from _forget([row[0] for row in rows], max(row[1] for row in rows) + 1)
    return len(rows)


def _forget(ids: Sequence[str], finished_before: int) -> Program[None]:
    """Delete what was kept beside ended runs, and note how far retention has come."""
    yield group(*(query(name, ids=ids) for name in OF_RUNS), query("note_purge", finished_before=finished_before))


def purge_schedules(now: int, ended_before: int, limit: int) -> Program[int]:
    rows = yield query("purgeable_schedules", ended_before=ended_before, limit=limit)
    if not rows:
        return 0
    # Now that they are locked: a dead run may have been let go again since the look that found none.
    busy = yield from open_runs_of([row[0] for row in rows])
    ids = [row[0] for row in rows if row[0] not in busy]
    if ids:
        yield group(*(query(name, ids=ids) for name in OF_SCHEDULES))
    return len(ids)


def resume_expired_pauses(now: int, limit: int) -> Program[int]:
    """Resume the schedules whose pause has reached its end; see ``Keeping.resume_expired_pauses``."""
    ids = [row[0] for row in (yield query("expired_pauses", now=now, limit=limit))]
    if not ids:
        return 0
    yield from lock_cursors(ids)
    schedules: list[Schedule] = yield from read_schedules(ids)
    over = [(schedule, end) for schedule in schedules if (end := end_pause(schedule, now)) is not None]
    if over:
        yield from write_changes(now, over)
    return len(over)


def next_pause_end(now: int) -> Program[int | None]:
    """Say in how many milliseconds the next pause ends; see ``Keeping.next_pause_end``."""
    ((ends_at,),) = yield query("next_pause_end", now=now)
    return None if ends_at is None else ends_at - now
