"""NATS JetStream as a target: the contract, and what only JetStream can refuse."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Any

import nats as driver
import pytest
import pytest_asyncio
from nats.aio.msg import Msg
from nats.js.api import ConsumerConfig, DiscardPolicy, StreamConfig

from duly.consuming import Consumer, Delivery
from duly.consuming.nats import NatsSource
from duly.core.errors import ConfigurationError
from duly.targets.nats import NatsTarget
from duly.targets.registering import make_target
from duly.targets.target import Confirmed, Refused, TryAgain
from duly.testing.contract.target import Received, TestTarget, TestTargetAway, message, until_confirmed
from tests.servers import Server
from tests.store.postgres.proxy import Fault, proxy_before
from tests.targets.consuming import MakeSource, TestConsumer, question
from tests.targets.limits import PATIENCE, be_as_shipped, be_patient

__all__ = ["TestConsumer", "TestTarget", "TestTargetAway"]

_numbers = itertools.count(1)


class NatsPlace:
    """One stream of a NATS, with a subject of its own."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.stream = f"REPORTS{next(_numbers)}"
        self.subject = f"reports.{self.stream}"

    def make(self) -> NatsTarget:
        return self.make_at(self.server.url)

    def make_at(self, url: str) -> NatsTarget:
        return NatsTarget("reports", f"{url}?subject={self.subject}")

    async def make_stream(self, **words: Any) -> None:
        async with await driver.connect(self.server.url) as client:
            await client.jetstream(timeout=PATIENCE).add_stream(
                StreamConfig(self.stream, subjects=[self.subject], **words)
            )

    async def received(self) -> list[Received]:
        return [
            Received(one.headers["Nats-Msg-Id"], one.headers["duly-type"], one.data)
            for one in await self.messages()
            if one.headers is not None
        ]

    async def messages(self) -> list[Msg]:
        async with await driver.connect(self.server.url) as client:
            stream = client.jetstream(timeout=PATIENCE)
            at_leisure = ConsumerConfig(ack_wait=3600, inactive_threshold=3600)
            reader = await stream.pull_subscribe(self.subject, stream=self.stream, config=at_leisure)
            waiting = (await stream.stream_info(self.stream)).state.messages
            found: list[Msg] = []
            while len(found) < waiting:
                found += await reader.fetch(waiting - len(found), timeout=PATIENCE)
            return found

    async def stop(self) -> None:
        be_as_shipped()
        self.server.kill()

    async def start(self) -> None:
        self.server.start()
        be_patient()


@pytest_asyncio.fixture
async def place(nats: Server) -> AsyncIterator[NatsPlace]:
    place = NatsPlace(nats)
    await place.make_stream()
    yield place


@pytest.fixture
def make_source(place: NatsPlace) -> MakeSource:
    return lambda: NatsSource(place.server.url, place.subject, durable="reader", idle_for=0.3)


async def test_a_message_carries_its_ids_where_nats_has_a_place_for_them(place: NatsPlace):
    target = place.make()
    assert await target.send([message(format="cloudevents-binary")]) == [Confirmed()]
    await target.close()
    [one] = await place.messages()
    assert one.headers is not None
    assert one.headers["Nats-Msg-Id"] == message().id
    assert one.headers["duly-window-key"] == "sched:report:1"
    assert one.headers["ce-source"] == "/duly/schedules/report"
    assert one.headers["Content-Type"] == "application/json"


async def test_the_subject_is_the_type_of_the_message(nats: Server):
    async with await driver.connect(nats.url) as client:
        await client.jetstream(timeout=PATIENCE).add_stream(StreamConfig("ARRIVED", subjects=["schedule.>"]))
    target = NatsTarget("reports", nats.url)
    assert await target.send([message()]) == [Confirmed()]
    await target.close()
    async with await driver.connect(nats.url) as client:
        stream = client.jetstream(timeout=PATIENCE)
        kept = await stream.get_last_msg("ARRIVED", "schedule.reports.nightly.arrived")
        assert kept.data == message().body
        await stream.delete_stream("ARRIVED")


async def test_nats_itself_drops_what_it_has_had(place: NatsPlace):
    """B06: the acknowledgement is lost, so it goes again; within the stream's window there is only one."""
    with proxy_before(place.server.url) as proxy:
        target = place.make_at(proxy.url.replace("None@", ""))
        proxy.set(Fault.LOSE_REPLY, at=message(1).id.encode())
        [verdict] = await target.send([message(1)])
        assert isinstance(verdict, TryAgain)
        assert verdict.away
        assert await target.send([message(1)]) == [Confirmed()]
        await target.close()
    assert [one.id for one in await place.received()] == [message(1).id]


async def test_nats_keeps_the_next_attempt_of_a_run_that_expects_an_answer(place: NatsPlace):
    target = place.make()
    for fence in (1, 2, 2):
        assert await target.send([question(1, fence=fence)]) == [Confirmed()]
    await target.close()
    assert [one.headers["duly-fence"] for one in await place.messages() if one.headers is not None] == ["1", "2"]


async def test_messages_of_somebody_else_s_are_handled_each(place: NatsPlace, make_source: MakeSource):
    async with await driver.connect(place.server.url) as client:
        for body in (b"1", b"2", b"3"):
            await client.jetstream(timeout=PATIENCE).publish(place.subject, body)
    source = make_source()
    consumer = Consumer(source)
    handled: list[bytes] = []

    @consumer.on()
    async def handle(delivery: Delivery) -> None:
        handled.append(delivery.body)
        if len(handled) == 3:
            consumer.stop()

    await consumer.run()
    assert handled == [b"1", b"2", b"3"]


async def test_beyond_the_window_it_comes_twice_under_one_id(nats: Server):
    place = NatsPlace(nats)
    await place.make_stream(duplicate_window=0.1)
    target = place.make()
    assert await target.send([message(1)]) == [Confirmed()]
    while len(await place.received()) < 2:
        assert await target.send([message(1)]) == [Confirmed()]
    await target.close()
    assert {one.id for one in await place.received()} == {message(1).id}


async def test_a_missing_stream_is_named(nats: Server):
    target = NatsTarget("reports", f"{nats.url}?subject=nobody.holds.this")
    verdicts = await target.send([message(1), message(2)])
    await target.close()
    expected = "no stream holds the subject 'nobody.holds.this': make one with that subject"
    assert verdicts == [TryAgain(expected, away=True)] * 2


async def test_another_stream_than_the_named_one_is_refused(place: NatsPlace):
    target = NatsTarget("reports", f"{place.server.url}?subject={place.subject}&stream=ANOTHER")
    [verdict] = await target.send([message()])
    await target.close()
    assert isinstance(verdict, TryAgain)
    assert "expected stream does not match" in verdict.reason


async def test_a_full_stream_is_tried_again(nats: Server):
    place = NatsPlace(nats)
    await place.make_stream(max_msgs=1, discard=DiscardPolicy.NEW)
    target = place.make()
    verdicts = await target.send([message(1), message(2)])
    await target.close()
    assert verdicts[0] == Confirmed()
    assert isinstance(verdicts[1], TryAgain)
    assert "maximum messages exceeded" in verdicts[1].reason
    assert not verdicts[1].away


async def test_a_message_that_is_too_large_is_refused_and_the_others_are_not(place: NatsPlace):
    target = place.make()
    large = message(2, payload=f'"{"x" * 1_100_000}"')
    verdicts = await target.send([message(1), large, message(3)])
    await target.close()
    assert [type(verdict) for verdict in verdicts] == [Confirmed, Refused, Confirmed]


async def test_a_broker_that_is_killed_loses_nothing_that_it_confirmed(place: NatsPlace):
    """B05: SIGKILL in the middle of many batches; the machine stays up, so what NATS wrote is there."""
    target = place.make()
    assert await target.send([message(1)]) == [Confirmed()]
    batches = [[message(20 * batch + n, payload=f"{batch}") for n in range(2, 22)] for batch in range(40)]
    waiting = list(batches)
    for number, batch in enumerate(batches):
        if number == 3:
            killing = asyncio.create_task(asyncio.to_thread(place.server.kill))
        if number == 20:
            await killing
        if list(await target.send(batch)) == [Confirmed()] * 20:
            waiting.remove(batch)
    assert len(waiting) >= 20, "the last ones were sent to nobody"
    place.server.start()
    assert await until_confirmed(target, [one for batch in waiting for one in batch])
    await target.close()
    sent = {(one.id, one.body) for batch in batches for one in batch} | {(message(1).id, message(1).body)}
    assert {(one.id, one.body) for one in await place.received()} == sent


def test_words_that_are_not_known_are_refused():
    with pytest.raises(ConfigurationError, match=r"'colour', which is not known; expected cafile, .*, stream, subject"):
        make_target("reports", "nats://localhost?colour=red")
