"""Webhooks are told by the transaction that did what they want to hear of: it makes the runs that tell them.

So what was done is told if and only if it was committed, and a webhook that is away gets it later. An event that nobody
wants costs nothing: which are wanted is known before anybody looks for webhooks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from duly.core.webhook import JOB, MISSED, Happening, notification
from duly.store.statements import Program, Row, batch, columns

from .firing import NEW_RUN, new_run_row

RUN_EVENT = ("name", "run_id", "attempt", "error")
SCHEDULE_EVENT = ("name", "schedule_id")
_HAPPENING = (
    "event", "tenant", "owner", "schedule_id", "key", "run_id", "job", "attempt", "reason", "error", "webhook_id",
    "webhook_kind", "webhook_tenant", "webhook_owner",
)  # fmt: skip


class Fact(NamedTuple):
    """Something that a statement has written; ``attempt`` and ``error`` where the run's row does not have them."""

    name: str
    id: str
    attempt: int | None = None
    error: str | None = None


def notify(now: int, of_runs: Sequence[Fact], of_schedules: Sequence[Fact], wanted: Collection[str]) -> Program[int]:
    """Make a run for each webhook that wants one of the facts; answer how many."""
    misses = [fact._replace(name=MISSED) for fact in of_runs if fact.name == "run.skipped"]
    runs = [fact for fact in (*of_runs, *misses) if fact.name in wanted]
    schedules = [fact[:2] for fact in of_schedules if fact.name in wanted]
    rows: list[Row] = []
    if runs:
        told = columns(RUN_EVENT, runs)
        rows += yield batch("interested_in_runs", told, job=JOB)
    if schedules:
        rows += yield batch("interested_in_schedules", columns(SCHEDULE_EVENT, schedules))
    if not rows:
        return 0
    happenings = [Happening(**dict(zip(_HAPPENING, row, strict=True))) for row in rows]
    made = {notification(now, told).id: told for told in happenings}
    yield batch("insert_runs", columns(NEW_RUN, [new_run_row(notification(now, told)) for told in made.values()]))
    owned = [(id, told.webhook_owner) for id, told in made.items() if told.webhook_owner is not None]
    if owned:
        yield batch("insert_owners", columns(("run_id", "owner"), owned))
    return len(made)
