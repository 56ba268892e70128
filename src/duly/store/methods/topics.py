"""Topics that nobody listens to: their runs end, and say so."""

from __future__ import annotations

from collections.abc import Sequence

from duly.core.run import Hold, Reason, RunStatus
from duly.store.statements import Program, query

from .ending import end_waiting_runs
from .lanes import lock_lanes_of, release_lines
from .moving import Ended, lock_cursors, move_schedules


def end_unheard_topics(now: int, patience_ms: int, limit: int) -> Program[Sequence[tuple[str, str]]]:
    """Complete runs whose topic has had no listener for a while; see ``Keeping.end_unheard_topics``."""
    asked = {"now": now, "due_before": now - patience_ms, "limit": limit}
    rows = yield query("unheard_topics", **asked)
    if not rows:
        return []
    cursors = yield from lock_cursors(sorted({row[1] for row in rows if row[1] is not None}))
    lanes = yield from lock_lanes_of([row[0] for row in rows if row[1] is None])
    ids = [row[0] for row in rows]
    # Somebody may have begun to listen since we looked: then it was let go.
    ended = set((yield from end_waiting_runs(now, ids, RunStatus.COMPLETED, Reason.NO_LISTENER, Hold.UNKNOWN_JOB)))
    ends = [Ended(row[1], row[2], RunStatus.COMPLETED) for row in rows if row[0] in ended and row[1] in cursors]
    if ends:
        yield from move_schedules(now, ends, cursors, known={})
    yield from release_lines(lanes)
    return [(row[0], row[3].partition(":")[2]) for row in rows if row[0] in ended]
