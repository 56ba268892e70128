"""The Python consumer: on a real Redis, and what it does with each message whatever the broker."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from duly.consuming import Consumer, Delivery, Remembered, payload_type
from duly.consuming.redis import RedisSource
from tests.acceptance.rules import rule
from tests.servers import Server
from tests.targets.consuming import MakeSource, TestConsumer
from tests.targets.redis_place import RedisPlace

__all__ = ["TestConsumer"]


@pytest_asyncio.fixture
async def place(durable_redis: Server) -> AsyncIterator[RedisPlace]:
    place = RedisPlace(durable_redis)
    await place.empty()
    yield place


@pytest.fixture
def make_source(place: RedisPlace) -> MakeSource:
    return lambda: RedisSource(place.server.url, "events", group="readers", name="one", idle_for=0.05)


class Hand:
    """A source that is fed by hand, and tells what became of each message."""

    errors: tuple[type[BaseException], ...] = (ConnectionError,)

    def __init__(self, *batches: Sequence[Delivery] | ConnectionError) -> None:
        self.batches = list(batches)
        self.told: list[str] = []

    async def open(self) -> None:
        self.told.append("opened")

    async def take(self) -> Sequence[Delivery]:
        batch = self.batches.pop(0)
        if isinstance(batch, ConnectionError):
            raise batch
        return batch

    async def finish(self, delivery: Delivery) -> None:
        self.told.append(f"finished {delivery.id}")

    async def give_back(self, delivery: Delivery) -> None:
        self.told.append(f"gave back {delivery.id}")

    async def refuse(self, delivery: Delivery) -> None:
        self.told.append(f"refused {delivery.id}")

    async def close(self) -> None:
        self.told.append("closed")


class NoWaiting:
    """A clock for which every wait is over."""

    slack = 0.0

    def now(self) -> int:
        return 0

    def steady(self) -> float:
        return 0.0

    def until(self, instant: int) -> float:
        return instant / 1000

    async def wait(self, event: asyncio.Event, timeout: float | None) -> bool:
        return event.is_set()


def delivery(id: str, type: str = "report", body: bytes = b"{}") -> Delivery:
    return Delivery(id, type, body)


async def test_what_a_handler_raises_gives_the_message_back_and_the_next_is_handled():
    source = Hand([delivery("1"), delivery("2")])
    consumer = Consumer(source)

    @consumer.on("report")
    async def handle(one: Delivery) -> None:
        if one.id == "1":
            raise RuntimeError("the printer is on fire")

    await consumer.run_once()
    assert source.told == ["gave back 1", "finished 2"]


async def test_a_type_without_a_handler_is_refused_unless_one_takes_every_type():
    source = Hand([delivery("1", "invoice")], [delivery("2", "invoice")])
    consumer = Consumer(source)
    await consumer.run_once()

    @consumer.on()
    async def handle(one: Delivery) -> None: ...

    await consumer.run_once()
    assert source.told == ["refused 1", "finished 2"]


@rule("S4.41")
async def test_a_raw_message_is_dispatched_by_the_type_in_its_payload():
    bodies = [b'{"type": "data_sync"}', b"[]", b"no json"]
    source = Hand([delivery(str(n), "duly.run", body) for n, body in enumerate(bodies)])
    consumer = Consumer(source, type_of=payload_type)

    @consumer.on("data_sync")
    async def handle(one: Delivery) -> None: ...

    await consumer.run_once()
    assert source.told == ["finished 0", "refused 1", "refused 2"]


async def test_a_stop_finishes_the_message_at_hand_and_gives_back_the_rest():
    source = Hand([delivery("1"), delivery("2"), delivery("3")])
    consumer = Consumer(source)

    @consumer.on()
    async def handle(one: Delivery) -> None:
        consumer.stop()

    await consumer.run()
    assert source.told == ["opened", "finished 1", "gave back 2", "gave back 3", "closed"]


async def test_messages_of_somebody_else_s_without_an_id_are_handled_each():
    source = Hand([delivery(""), delivery(""), Delivery("", "report", b"{}", {"duly-expect": "ack"})])
    consumer = Consumer(source)
    handled: list[Delivery] = []

    @consumer.on()
    async def handle(one: Delivery) -> None:
        handled.append(one)

    await consumer.run_once()
    assert len(handled) == 3


async def test_an_entry_that_is_no_message_is_kept_aside_and_the_next_is_handled(
    place: RedisPlace, make_source: MakeSource
):
    redis: Any
    async with Redis.from_url(place.server.url) as redis:
        await redis.xadd("events", {"foo": "bar"})
        await redis.xadd("events", {"id": b"\xff", "type": "report", "data": "{}"})
        await redis.xadd("events", {"id": "1", "type": "report", "data": "{}", "fence": "3"})
        source = make_source()
        consumer = Consumer(source)

        @consumer.on("other")
        async def handle(one: Delivery) -> None: ...

        await source.open()
        while not await consumer.run_once():
            pass
        await source.close()
        refused = [fields for _, fields in await redis.xrange("events:refused")]
        left = await redis.xpending("events", "readers")
    assert refused == [
        {b"foo": b"bar"},
        {b"id": b"\xff", b"type": b"report", b"data": b"{}"},
        {b"id": b"1", b"type": b"report", b"data": b"{}", b"fence": b"3"},
    ]
    assert left["pending"] == 0


async def test_a_broker_that_went_away_is_opened_again():
    source = Hand(ConnectionError("gone"), [delivery("1")])
    consumer = Consumer(source, clock=NoWaiting())

    @consumer.on()
    async def handle(one: Delivery) -> None:
        consumer.stop()

    await consumer.run()
    assert source.told == ["opened", "closed", "opened", "finished 1", "closed"]


async def test_the_memory_of_ids_has_a_bound():
    seen = Remembered(limit=2)
    for id in ("1", "2", "3"):
        await seen.add(id)
    assert [await seen.has(id) for id in ("1", "2", "3")] == [False, True, True]


def test_two_handlers_for_one_type_are_refused():
    consumer = Consumer(Hand())
    consumer.on("report")(_nothing)
    with pytest.raises(ValueError, match="'report' has a handler already"):
        consumer.on("report")(_nothing)


async def _nothing(one: Delivery) -> None: ...
