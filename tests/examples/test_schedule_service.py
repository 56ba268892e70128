"""S2's schedule service: events at a time, asked for once, moved, cancelled, looked up."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from duly import Duly, DulyError, Settings
from duly.testing import ManualClock
from examples.schedule_service import ScheduleService, heard, listen
from tests.app.conftest import until

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
TOPIC = "notifications.task-reminder"
ASKED = {"owner_id": "user-7", "client_request_id": "request-1", "correlation_id": "c-9"}


async def test_an_event_arrives_once_with_what_was_asked(tmp_path: Path) -> None:
    heard.clear()
    clock = ManualClock(NOON)
    url = f"sqlite:////{str(tmp_path / 'duly.db').lstrip('/')}"
    app = Duly(url, clock=clock, settings=Settings(lease=3600, heartbeat=600))
    listen(app)
    service = ScheduleService(app)
    async with app:
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

        clock.move(hours=3)
        (event,) = await until(lambda: list(heard))
        with pytest.raises(DulyError) as late:
            await service.reschedule(moved.id, NOON + timedelta(hours=4))
    assert late.value.code == "SCHEDULE_JOB_NOT_CANCELLABLE"
    assert (event.scheduled_job_id, event.topic) == (moved.id, TOPIC)
    assert event.user_payload == {"task": "call Ann"}
    assert event.metadata["owner_id"] == "user-7"
    assert event.original_scheduled_at == NOON + timedelta(hours=3)
    assert (event.attempt, event.max_attempts) == (1, 5)
