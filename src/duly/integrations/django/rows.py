"""Schedules and runs as the admin's tables show them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.urls import reverse

from duly.core.run import Run
from duly.core.schedule import Schedule
from duly.core.timing.explain import explain


def schedule_row(schedule: Schedule) -> dict[str, Any]:
    return {
        "id": schedule.id,
        "url": reverse("admin:duly_schedule_change", args=[schedule.id]),
        "key": schedule.key,
        "name": schedule.name,
        "target": schedule.job or schedule.workflow or schedule.topic or schedule.definition.target.name,
        "timing": explain(schedule.timing),
        "status": "paused" if not schedule.enabled else schedule.status.value,
        "reason": schedule.paused_reason,
        "next": schedule.next_fire_at,
        "last": schedule.last_fired_at,
        "owner": schedule.metadata["owner_id"],
        "tags": ", ".join(schedule.tags),
    }


def run_row(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "url": reverse("admin:duly_run_change", args=[run.id]),
        "job": run.job,
        "schedule": run.schedule_key,
        "status": run.status.value,
        "reason": run.reason,
        "scheduled": run.scheduled_at,
        "started": run.started_at,
        "seconds": _seconds(run.started_at, run.completed_at),
        "attempt": run.attempt,
        "most": run.max_attempts,
        "error": run.error_message,
    }


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return None if start is None or end is None else (end - start).total_seconds()
