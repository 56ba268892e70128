"""Faults between duly and a real Redis: every committed run is received at least once, same id, same body; no other.

The store is real, the server is real and is killed, the clock is moved by hand.
"""

import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest_asyncio

from duly import Cron, Every
from duly.config import Settings
from duly.core.run import RunStatus
from duly.core.schedule import Schedule
from duly.targets.target import Message, Target, TryAgain, Verdict
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.engine.lab import Lab
from tests.servers import Server
from tests.store_choice import postgres_too
from tests.targets.conftest import Outside
from tests.targets.redis_place import RedisPlace

pytestmark = postgres_too("several instances compete")

PATIENT = Settings(lease=7200, heartbeat=2400, poll=30, concurrency=100)
DAYS = Settings(lease=800_000, heartbeat=200_000, poll=7200)
QUEUE = "notification-queue"
RAW = {"kind": "queue", "name": QUEUE, "format": "raw"}


@pytest_asyncio.fixture
async def place(durable_redis: Server) -> AsyncIterator[RedisPlace]:
    place = RedisPlace(durable_redis)
    await place.empty()
    yield place


class Lossy:
    """A link that loses the next confirms: the server has the messages, and nobody says so."""

    def __init__(self, target: Target, confirms: int) -> None:
        self._target = target
        self._left = confirms

    async def open(self) -> None:
        await self._target.open()

    async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
        verdicts = await self._target.send(messages)
        if self._left == 0:
            return verdicts
        self._left -= 1
        return [TryAgain("the confirm was lost", away=True)] * len(messages)

    async def close(self) -> None:
        await self._target.close()


async def _check(lab: Lab, place: RedisPlace, *, repeated: bool) -> None:
    """I9: the ids received are those committed, each with its one body, and repeated ones only where that can be."""
    received = await place.received()
    runs = [run for run in await lab.runs() if run.status is not RunStatus.SKIPPED]
    assert {one.id for one in received} == {run.id for run in runs}
    assert len({(one.id, one.body) for one in received}) == len(runs)
    assert {run.status for run in runs} == {RunStatus.COMPLETED}
    assert (len(received) > len(runs)) is repeated


async def _every_ten_minutes(lab: Lab, schedules: int) -> list[Schedule]:
    return [
        await lab.create(
            f"s{n}", Every(minutes=10), job=None, target=RAW, payload={"n": n}, overlap="queue", max_queued=50
        )
        for n in range(schedules)
    ]


@rule("S4.40")
async def test_a_broker_that_is_killed_and_away_for_an_hour_loses_nothing(
    lab: Lab, clock: ManualClock, outside: Outside, place: RedisPlace
) -> None:
    """B01, B04: windows go on firing, their runs wait, and all of them arrive when it is back."""
    target = place.make()
    outside.add(QUEUE, target)
    await lab.start(settings=PATIENT)
    await _every_ten_minutes(lab, 3)
    await clock.advance(minutes=21)
    assert len(await place.received()) == 6
    await place.stop()
    try:
        await clock.advance(hours=1)
    finally:
        await place.start()
    assert {run.status for run in await lab.runs()} == {RunStatus.COMPLETED, RunStatus.PENDING}
    assert lab.recorder.count("target_away") == 1
    await clock.advance(minutes=16)
    assert lab.recorder.count("target_back") == 1
    await clock.advance(minutes=2)
    await target.close()
    await _check(lab, place, repeated=False)


@rule("S4.40")
async def test_a_confirm_that_is_lost_means_the_same_message_twice(
    lab: Lab, clock: ManualClock, outside: Outside, place: RedisPlace
) -> None:
    """B06."""
    target = Lossy(place.make(), confirms=2)
    outside.add(QUEUE, target)
    await lab.start(settings=PATIENT)
    await _every_ten_minutes(lab, 3)
    await clock.advance(minutes=18)
    await target.close()
    await _check(lab, place, repeated=True)


async def test_a_worker_that_is_killed_between_send_and_settle_sends_again(
    lab: Lab, clock: ManualClock, outside: Outside, place: RedisPlace
) -> None:
    """N01: cut from the store after the send, and dead; whoever comes next sends what was not settled."""
    target = place.make()
    outside.add(QUEUE, target)
    doomed = await lab.start()
    await lab.create("once", Every(minutes=1), job=None, target=RAW, max_runs=1)
    lab.store.down("settle")
    await clock.advance(seconds=61)
    assert len(await place.received()) == 1
    lab.crash(doomed)
    doomed._settler.abandon()
    lab.store.up()
    await lab.start()
    await clock.advance(seconds=40)
    await target.close()
    await _check(lab, place, repeated=True)


@rule("S4.19")
async def test_the_article_s_example_from_end_to_end_through_the_change_of_clocks(
    lab: Lab, clock: ManualClock, outside: Outside, place: RedisPlace
) -> None:
    """S4, part 7: at ten in New York, 2026-03-07, a notification for two in the afternoon is asked for.

    It comes at 19:00 UTC that day, and at 18:00 UTC the next, when the clocks have gone forward.
    """
    clock.move_to(datetime(2026, 3, 7, 15, tzinfo=UTC))
    target = place.make()
    outside.add(QUEUE, target)
    await lab.start(settings=DAYS)
    payload: dict[str, Any] = {
        "type": "notification",
        "scheduleId": "schedule-uuid-abc",
        "userId": "user-uuid-123",
        "userEmail": "alice@company.com",
        "notificationType": "stock_price",
        "title": "stock_price notification",
        "message": "Scheduled stock_price for alice@company.com",
    }
    made = await lab.create(
        "schedule-uuid-abc",
        Cron.daily("14:00", "America/New_York"),
        job=None,
        target=RAW,
        payload=payload,
        jitter=(30_000, 50_000),
        metadata={"owner_id": "user-uuid-123"},
    )
    assert made.cron_expression == "0 14 * * *"
    assert made.next_window_at == datetime(2026, 3, 7, 19, tzinfo=UTC)
    await clock.advance_to(datetime(2026, 3, 7, 19, 0, 29, tzinfo=UTC))
    assert await place.received() == []
    await clock.advance_to(datetime(2026, 3, 7, 19, 0, 51, tzinfo=UTC))
    await clock.advance_to(datetime(2026, 3, 8, 18, 0, 51, tzinfo=UTC))
    await target.close()
    runs = await lab.runs(made)
    windows = [run.window_at for run in runs]
    assert windows == [datetime(2026, 3, 7, 19, tzinfo=UTC), datetime(2026, 3, 8, 18, tzinfo=UTC)]
    received = await place.received()
    assert [one.id for one in received] == [run.id for run in runs]
    assert [one.body for one in received] == [json.dumps(payload, separators=(",", ":")).encode()] * 2
    await _check(lab, place, repeated=False)
