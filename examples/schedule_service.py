"""A schedule service for other parts of a program: they ask for an event at a time, and listeners hear of it.

Whoever asks authorises first; owner and tenant are for looking things up. Run it with ``python
examples/schedule_service.py``.
"""

import asyncio
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import duly
from duly import Retry, Schedule, ScheduleArrived

heard: list[ScheduleArrived] = []


class ScheduleService:
    """What the rest of the program knows of duly."""

    def __init__(self, app: duly.Duly) -> None:
        self._app = app

    async def schedule_at(
        self, topic: str, run_at: datetime, payload: Mapping[str, Any], metadata: Mapping[str, str], attempts: int = 5
    ) -> Schedule:
        """Once. The same ``client_request_id`` a second time is refused, with the id of the first."""
        return await self._app.schedules.create(
            timing=duly.Once(run_at),
            topic=topic,
            payload=payload,
            retry=Retry(max_attempts=attempts),
            metadata=metadata,
        )

    async def schedule_repeat(
        self, topic: str, every_ms: int, payload: Mapping[str, Any], metadata: Mapping[str, str]
    ) -> Schedule:
        return await self._app.schedules.create(
            timing=duly.Every(milliseconds=every_ms), topic=topic, payload=payload, metadata=metadata
        )

    async def reschedule(self, id: str, run_at: datetime) -> Schedule:
        """Only what has not fired yet; the old one ends and the new one knows its id."""
        return await self._app.schedules.reschedule(id, timing=duly.Once(run_at))

    async def cancel(self, id: str) -> None:
        """As often as you like: the second time changes nothing."""
        await self._app.schedules.cancel(id)

    async def of_owner(self, owner: str) -> list[Schedule]:
        return [schedule async for schedule in self._app.schedules.iterate(owner=owner)]


def listen(app: duly.Duly, arrived: asyncio.Event) -> None:
    """Hear of one topic, and of all of them."""

    @app.on("schedule.notifications.task-reminder.arrived")
    async def remind(event: ScheduleArrived) -> None:
        heard.append(event)

    @app.on("schedule.arrived")
    async def tell(event: ScheduleArrived) -> None:
        arrived.set()


async def main() -> None:
    app = duly.Duly("sqlite:///duly.db")
    arrived = asyncio.Event()
    listen(app, arrived)
    async with app:
        soon = datetime.now(UTC) + timedelta(seconds=2)
        service = ScheduleService(app)
        asked = await service.schedule_at(
            "notifications.task-reminder", soon, {"task": "call Ann"}, {"owner_id": "user-7"}
        )
        await arrived.wait()
        sys.stdout.write(f"{heard[0].user_payload['task']}, as {asked.id} asked\n")


if __name__ == "__main__":
    asyncio.run(main())
