"""What is done to one schedule among many: like a change of it alone, but None where there is nothing to do.

Many are matched by a filter, so the one at hand may have ended, or be paused for a reason of its own already.
"""

from __future__ import annotations

from duly.core.errors import Conflict
from duly.core.rules import editing
from duly.core.rules.editing import Change
from duly.core.schedule import Schedule, ScheduleStatus


def pause(schedule: Schedule, now: int, *, reason: str | None, until: int | None, by: str | None) -> Change | None:
    """Pause a schedule that fires; one that is paused keeps the reason and the end it has."""
    if schedule.status.ended or not schedule.enabled:
        return None
    return editing.pause(schedule, now, reason=reason, until=until, by=by)


def resume(schedule: Schedule, now: int, *, reason: str | None, catch_up: bool, by: str | None) -> Change | None:
    """Resume a schedule; with ``reason`` only if it was paused for exactly that one."""
    if schedule.status.ended or schedule.enabled:
        return None
    if reason is not None and schedule.facts.pause_reason != reason:
        return None
    return editing.resume(schedule, now, by=by, catch_up=catch_up)


def cancel(schedule: Schedule, now: int, *, by: str | None) -> Change | None:
    """Cancel a schedule that has not ended."""
    return None if schedule.status.ended else editing.cancel(schedule, now, by)


def check_trigger(schedule: Schedule) -> None:
    """Refuse to trigger a schedule that was ended for good."""
    if schedule.status is ScheduleStatus.CANCELLED:
        raise Conflict(f"schedule {schedule.key!r} is cancelled and cannot be triggered", id=schedule.id)


def delete(schedule: Schedule, now: int, *, cancel_running: bool, by: str | None) -> Change:
    return editing.delete(schedule, now, by, cancel_running)
