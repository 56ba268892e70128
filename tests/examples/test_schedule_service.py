"""S2's schedule service: events at a time, asked for once, moved, cancelled, looked up."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from duly import Duly, DulyError
from duly.testing import ManualClock
from examples.schedule_service import ScheduleService, heard, listen

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
TOPIC = "notifications.task-reminder"
ASKED = {"owner_id": "user-7", "client_request_id": "request-1", "correlation_id": "c-9"}


@pytest.mark.duly_start(NOON)
async def test_an_event_arrives_once_with_what_was_asked(duly_app: Duly, duly_clock: ManualClock) -> None:
    heard.clear()
    arrived = asyncio.Event()
    listen(duly_app, arrived)
    service = ScheduleService(duly_app)
    async with duly_app:
        first = await service.schedule_at(TOPIC, NOON + timedelta(hours=1), {"task": "call Ann"}, ASKED)
        with pytest.raises(DulyError, match="request-1") as again:
            await service.schedule_at(TOPIC, NOON + timedelta(hours=2), {"task": "again"}, ASKED)
        assert again.value.code == "SCHEDULE_CLIENT_REQUEST_ID_IN_USE"

        moved = await service.reschedule(first.id, NOON + timedelta(hours=3))
        assert (moved.status, moved.replaces) == ("pending", first.id)
        other = await service.schedule_repeat(TOPIC, 60_000, {"task": "breathe"}, {"owner_id": "user-8"})
        await service.cancel(other.id)
        await service.cancel(other.id)
        assert {schedule.id for schedule in await service.of_owner("user-7") if schedule.status == "pending"} == {
            moved.id
        }

        await duly_clock.advance(hours=3)
        (event,) = heard
        assert arrived.is_set()
        with pytest.raises(DulyError) as late:
            await service.reschedule(moved.id, NOON + timedelta(hours=4))
    assert late.value.code == "SCHEDULE_JOB_NOT_CANCELLABLE"
    assert (event.scheduled_job_id, event.topic) == (moved.id, TOPIC)
    assert event.user_payload == {"task": "call Ann"}
    assert event.metadata["owner_id"] == "user-7"
    assert event.original_scheduled_at == NOON + timedelta(hours=3)
    assert (event.attempt, event.max_attempts) == (1, 5)
