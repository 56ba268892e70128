"""The API: people make, see, change and remove schedules of their own, and of nobody else."""

from typing import Any
from uuid import uuid4

from fastapi import APIRouter, Depends, HTTPException, Request, Response

import duly

from .bodies import Changes, NewSchedule, Timing
from .people import People, Person

QUEUE = "notification-queue"
SPREAD = (30_000, 50_000)
FOUR_SENDS = duly.Retry(max_attempts=4, backoff="fixed", delay=60, jitter=0)


def desk(scheduler: duly.Duly, people: People, *, job: str, retry: duly.Retry = FOUR_SENDS) -> APIRouter:
    """The routes. ``job`` is what takes the messages; ``retry`` how often it is tried."""
    routes = APIRouter(prefix="/notifications/schedules")

    def who(request: Request) -> Person:
        return people.who(request)

    async def own(id: str, person: Person) -> Any:
        found = await scheduler.schedules.get(id)
        if found is None or found.metadata["owner_id"] != person.id:
            raise HTTPException(404, "there is no such schedule")  # the same words for another's
        return found

    @routes.post("", status_code=201)
    async def create(body: NewSchedule, person: Person = Depends(who)) -> dict[str, Any]:  # noqa: B008
        id = f"ntf-{uuid4().hex}"
        timing = body.timing()
        made = await scheduler.schedules.create(
            key=id,
            timing=timing,
            job=job,
            payload=_message(id, body.type, person),
            queue=QUEUE,
            jitter=_spread(timing),
            retry=retry,
            pause_after_failures=1,
            enabled=body.is_active is not False,
            tags=[body.type],
            metadata={"owner_id": person.id},
        )
        return _answer(made)

    @routes.get("")
    async def mine(person: Person = Depends(who)) -> list[dict[str, Any]]:  # noqa: B008
        return [_answer(found) async for found in scheduler.schedules.iterate(owner=person.id)]

    @routes.get("/{id}")
    async def look(id: str, person: Person = Depends(who)) -> dict[str, Any]:  # noqa: B008
        return _answer(await own(id, person))

    @routes.put("/{id}")
    async def change(id: str, body: Changes, person: Person = Depends(who)) -> dict[str, Any]:  # noqa: B008
        before = await own(id, person)
        changes: dict[str, Any] = {}
        if body.ways or body.timezone is not None:
            timing = body.timing(before.timing)
            changes |= {"timing": timing, "jitter": _spread(timing)}
        if body.type is not None:
            changes |= {"payload": _message(id, body.type, person), "tags": [body.type]}
        if body.is_active is not None:
            changes["enabled"] = body.is_active
        return _answer(await scheduler.schedules.update(before.id, **changes) if changes else before)

    @routes.delete("/{id}", status_code=204)
    async def remove(id: str, person: Person = Depends(who)) -> Response:  # noqa: B008
        await scheduler.schedules.delete((await own(id, person)).id)
        return Response(status_code=204)

    return routes


def _spread(timing: Timing) -> tuple[int, int] | None:
    return None if isinstance(timing, duly.Once) else SPREAD


def _message(id: str, type: str, person: Person) -> dict[str, str]:
    """What the consumer is given, each time exactly so."""
    return {
        "type": "notification",
        "scheduleId": id,
        "userId": person.id,
        "userEmail": person.email,
        "notificationType": type,
        "title": f"{type} notification",
        "message": f"Your {type} is due, {person.email}",
    }


def _answer(schedule: Any) -> dict[str, Any]:
    timing = schedule.timing
    kind = "cron" if isinstance(timing, duly.Cron) else "interval" if isinstance(timing, duly.Every) else "once"
    return {
        "id": schedule.key,
        "type": schedule.tags[0],
        "scheduleType": kind,
        "cronExpression": timing.expr if isinstance(timing, duly.Cron) else None,
        "timezone": timing.timezone,
        "isActive": schedule.enabled and not schedule.status.ended,
        "nextRun": _shown(schedule.next_fire_at),
        "lastRun": _shown(schedule.last_fired_at),
        "createdAt": _shown(schedule.created_at),
        "updatedAt": _shown(schedule.updated_at),
    }


def _shown(moment: Any) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
