"""Short words for what the tests of the rules are about."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from duly.core.instants import to_ms
from duly.core.rules.firing import FireRules, Plan, plan
from duly.core.rules.starting import first_cursor
from duly.core.run import Hold, OpenRun, RunKind
from duly.core.schedule import Cursor, Definition, Facts, Schedule, Target, TargetKind
from duly.core.timing import Cron, Every

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
SCHEDULE_ID = "0197f0a0-0000-7000-8000-000000000001"
RULES = FireRules()
T0 = to_ms(datetime(2026, 1, 5, 12, tzinfo=UTC))  # a Monday noon, on the grid of every timing used here

EVERY_MINUTE = Cron("* * * * *")
EVERY_SECOND = Every("1s")


def define(timing: Any = EVERY_MINUTE, **fields: Any) -> Definition:
    return Definition(key="k", timing=timing, target=Target(TargetKind.JOB, "job"), **fields)


def cursor_at(next_window: int, **fields: Any) -> Cursor:
    """A cursor that has dealt with the minute before."""
    fields = {"window_at": next_window - MINUTE, "fire_at": next_window} | fields
    return Cursor(schedule_id=SCHEDULE_ID, next_window_at=next_window, **fields)


def created(definition: Definition, now: int = T0, paused: bool = False) -> Cursor:
    return first_cursor(SCHEDULE_ID, definition, now=now, slot=7, paused=paused)


def fire(cursor: Cursor, definition: Definition, now: int, *open_runs: OpenRun, **options: Any) -> Plan:
    return plan(cursor, definition, open_runs, now=now, **{"rules": RULES} | options)


def open_run(run_id: str, window_at: int = T0, **fields: Any) -> OpenRun:
    """A run that was fired on time and waits to be claimed, unless the fields say otherwise."""
    plain: dict[str, Any] = {"hold": Hold.NONE, "claimed": False, "cancel_requested": False, "kind": RunKind.WINDOW}
    return OpenRun(run_id, window_at=window_at, **plain | {"due_at": window_at, "fired_at": window_at} | fields)


def claimed(run_id: str = "running", cancel_requested: bool = False, **fields: Any) -> OpenRun:
    return open_run(run_id, claimed=True, cancel_requested=cancel_requested, **fields)


def ready(run_id: str = "ready") -> OpenRun:
    return open_run(run_id)


def held(run_id: str = "held", window_at: int = T0, **fields: Any) -> OpenRun:
    return open_run(run_id, window_at, hold=Hold.LANE, **fields)


def windows_of(made: Plan) -> list[int]:
    return [run.window_at for run in made.runs if run.window_at is not None]


def skips_of(made: Plan) -> list[tuple[str, int, int, int]]:
    return [(str(row.reason), row.since, row.window_at, row.windows) for row in made.skips]


def schedule_of(definition: Definition, cursor: Cursor, **facts: Any) -> Schedule:
    return Schedule(Facts(id=SCHEDULE_ID, key="k", name="k", **facts), definition, cursor)
