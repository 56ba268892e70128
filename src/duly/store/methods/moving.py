"""What the end of runs does to their schedules: one-shots end, lanes move up, failures are counted, intervals restart.

Whoever calls this holds the cursors of the schedules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from duly.core.rules.editing import pause
from duly.core.rules.overlap import lane_release
from duly.core.rules.settling import after_run
from duly.core.run import OpenRun, RunKind, RunStatus
from duly.core.schedule import Cursor, Definition
from duly.store.codec import CURSOR, cursor_columns, read_cursor, read_open_run
from duly.store.statements import Program, Row, batch, group, query

from .changes import end_pauses, write_changes
from .schedules import end_schedules, read_schedules


class Ended(NamedTuple):
    """The end of a run of a schedule."""

    schedule_id: str
    kind: str
    status: RunStatus


class FiredUnder(NamedTuple):
    """The revision under which a run was fired."""

    number: int | None
    definition: Definition


class _Present(NamedTuple):
    definition: Definition
    paused: bool


def lock_cursors(schedule_ids: Sequence[str]) -> Program[dict[str, Cursor]]:
    """Lock cursors in id order, so that nobody waits in a circle."""
    if not schedule_ids:
        return {}
    rows = yield query("lock_cursors", ids=sorted(schedule_ids))
    return {row[0]: read_cursor(row[: len(CURSOR)]) for row in rows}


def open_runs_of(schedule_ids: Sequence[str]) -> Program[dict[str, list[OpenRun]]]:
    """The runs of schedules that have not ended."""
    return by_schedule((yield batch("open_runs", {"schedule_id": schedule_ids})))


def hold_runs_of(schedule_ids: Sequence[str]) -> Program[dict[str, list[OpenRun]]]:
    """The same until the commit: who is claiming one or giving it back is waited for, and nobody does so meanwhile."""
    _, rows = yield group(
        query("lock_runs_of", ids=sorted(schedule_ids)), batch("open_runs", {"schedule_id": schedule_ids})
    )
    return by_schedule(rows)


def by_schedule(rows: Sequence[Row]) -> dict[str, list[OpenRun]]:
    """The rows of ``open_runs``; a schedule without any has an empty list."""
    found: dict[str, list[OpenRun]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(read_open_run(row))
    return found


def move_schedules(
    now: int, ends: Sequence[Ended], cursors: Mapping[str, Cursor], known: Mapping[str, FiredUnder]
) -> Program[int]:
    """Let ended runs move the schedules of ``cursors``, and release the runs that waited; answer how many.

    ``known`` are definitions that the caller has at hand; where one is not the present revision, that one is read.
    """
    present = yield from _present_definitions(cursors, known)
    still_open = yield from open_runs_of(sorted(cursors))
    moved = dict(cursors)
    pauses: dict[str, str] = {}
    # A window's own run first: of several that end together it decides.
    for schedule_id, kind, status in sorted(ends, key=lambda end: end.kind != RunKind.WINDOW):
        if schedule_id not in present:
            continue
        moved[schedule_id], asked = after_run(
            moved[schedule_id],
            present[schedule_id].definition,
            status=status,
            kind=RunKind(kind),
            still_open=len(still_open[schedule_id]),
            now=now,
            paused=present[schedule_id].paused,
        )
        if asked is not None:
            pauses[schedule_id] = asked.reason
    changed = [cursor for id, cursor in moved.items() if cursor != cursors[id]]
    if changed:
        yield batch("move_cursors", cursor_columns(changed))
    yield from end_schedules(
        now, [c.schedule_id for c in changed if c.status.ended and not cursors[c.schedule_id].status.ended]
    )
    for schedule_id, reason in sorted(pauses.items()):
        yield from _pause(now, schedule_id, reason)
    released = [
        id
        for schedule_id, (definition, _) in present.items()
        for id in lane_release(definition, still_open[schedule_id])
    ]
    if released:
        yield query("release_lane", ids=sorted(released), now=now)
    return len(released)


def _present_definitions(
    cursors: Mapping[str, Cursor], known: Mapping[str, FiredUnder]
) -> Program[dict[str, _Present]]:
    """The definition that holds now, for each cursor; read only where the caller's may be an old one."""
    present = {id: _Present(known[id].definition, paused=False) for id in cursors if id in known}
    wanted = [id for id, cursor in cursors.items() if _must_read(cursor, known.get(id))]
    if wanted:
        # Of what a newer version wrote, that which the run was fired under has to do.
        for schedule in (yield from read_schedules(wanted)):
            present[schedule.id] = _Present(schedule.definition, paused=not schedule.enabled)
    return present


def _must_read(cursor: Cursor, known: FiredUnder | None) -> bool:
    # An interval that restarts must know whether its schedule is paused.
    return known is None or known.number != cursor.revision or known.definition.counts_from_completion


def _pause(now: int, schedule_id: str, reason: str) -> Program[None]:
    for found in (yield from read_schedules([schedule_id])):
        (schedule,) = yield from end_pauses(now, [found])
        # The end of a pause forgets failures, but not those that ask for another one.
        schedule = replace(schedule, cursor=replace(schedule.cursor, failures=found.cursor.failures))
        change = pause(schedule, now, reason=reason, until=None, by="duly")
        yield from write_changes(now, [(schedule, change)])
