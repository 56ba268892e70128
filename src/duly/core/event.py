"""What happens to runs and schedules, told to listeners inside the process and to whoever watches the fleet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

RUN_EVENTS = frozenset(
    {"run.started", "run.completed", "run.failed", "run.retrying", "run.cancelled", "run.skipped"}
)  # fmt: skip
SCHEDULE_EVENTS = frozenset(
    {
        "schedule.created",
        "schedule.updated",
        "schedule.paused",
        "schedule.resumed",
        "schedule.cancelled",
        "schedule.deleted",
    }
)
OVERDUE_EVENTS = frozenset({"schedule.overdue", "schedule.recovered"})
"""Told by whoever audits the fleet: a fire has been owed for a while, and is owed no more."""

NAMES = tuple(sorted(RUN_EVENTS | SCHEDULE_EVENTS | OVERDUE_EVENTS))
RESET = "stream.reset"
"""Something before this was not told: whoever shows what is should look again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened; what does not apply is None.

    ``run.failed`` is for good; a failed attempt that will be followed by another is ``run.retrying``. A ``run.skipped``
    stands for one row of the history, which may cover several windows. Only events of the fleet have a ``number``.
    """

    name: str
    at: datetime
    number: int | None = None
    schedule_id: str | None = None
    schedule_key: str | None = None
    run_id: str | None = None
    job: str | None = None
    attempt: int | None = None
    reason: str | None = None
    error: str | None = None
    owner: str | None = None
    tenant: str | None = None
