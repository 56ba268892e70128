"""RabbitMQ as a target: the contract, and what only RabbitMQ can refuse."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from urllib.parse import urlsplit

import aio_pika
import pytest
import pytest_asyncio
from pamqp.common import FieldTable

from duly.consuming.rabbitmq import RabbitSource
from duly.core.errors import ConfigurationError
from duly.targets.rabbitmq import RabbitTarget
from duly.targets.registering import make_target
from duly.targets.target import Confirmed, Refused, TryAgain
from duly.testing.contract.target import Received, TestTarget, TestTargetAway, message, until_confirmed
from tests.acceptance.rules import rule
from tests.broker_servers import RabbitServer
from tests.store.postgres.proxy import Fault, proxy_before
from tests.targets.consuming import MakeSource, TestConsumer
from tests.targets.limits import PATIENCE, be_as_shipped, be_patient
from tests.targets.relay import Relay

__all__ = ["TestConsumer", "TestTarget", "TestTargetAway"]

pytestmark = pytest.mark.timeout(300)  # whoever comes first waits for RabbitMQ to start

_numbers = itertools.count(1)


class RabbitPlace:
    """One queue of a RabbitMQ behind a relay."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.relay = Relay(url)
        self.queue = f"reports-{next(_numbers)}"
        self._seen: list[Received] = []

    def make(self) -> RabbitTarget:
        return self.make_with(f"queue={self.queue}&declare=classic")

    def make_with(self, words: str) -> RabbitTarget:
        return RabbitTarget("reports", f"{self.relay.url}?{words}")

    async def received(self) -> list[Received]:
        return [Received(one.message_id or "", one.type or "", one.body) for one in await self.messages()]

    async def messages(self) -> list[aio_pika.abc.AbstractIncomingMessage]:
        async with await aio_pika.connect(self.url) as connection:
            channel = await connection.channel()
            try:
                queue = await channel.get_queue(self.queue)
            except aio_pika.exceptions.ChannelNotFoundEntity:
                return []  # nothing was ever sent
            found = []
            while (one := await queue.get(fail=False, no_ack=False, timeout=PATIENCE)) is not None:
                found.append(one)
            return found  # given back to the queue when the connection ends

    async def stop(self) -> None:
        be_as_shipped()
        await self.relay.stop()

    async def start(self) -> None:
        await self.relay.start()
        be_patient()


@pytest_asyncio.fixture
async def place(rabbitmq: RabbitServer) -> AsyncIterator[RabbitPlace]:
    place = RabbitPlace(rabbitmq.url)
    await place.start()
    yield place
    await place.stop()


@pytest.fixture
def make_source(place: RabbitPlace) -> MakeSource:
    return lambda: RabbitSource(place.url, place.queue)


async def test_a_message_carries_its_ids_where_amqp_has_a_place_for_them(place: RabbitPlace):
    target = place.make()
    assert await target.send([message(format="cloudevents-binary")]) == [Confirmed()]
    await target.close()
    [one] = await place.messages()
    assert (one.message_id, one.type) == (message().id, "schedule.reports.nightly.arrived")
    assert (one.content_type, one.delivery_mode, one.app_id) == ("application/json", 2, "duly")
    assert one.timestamp == message().time
    assert one.headers["duly-window-key"] == "sched:report:1"
    assert one.headers["cloudEvents:source"] == "/duly/schedules/report"


async def test_what_no_queue_takes_is_refused_with_the_reason(place: RabbitPlace):
    target = place.make_with("queue=nobody-made-this")
    assert (
        await target.send([message(1), message(2)])
        == [Refused("no queue takes it: the default exchange has no route for the routing key 'nobody-made-this'")] * 2
    )
    await target.close()


async def test_one_message_without_a_way_does_not_hold_up_the_others(place: RabbitPlace):
    exchange = f"{place.queue}-x"
    async with await aio_pika.connect(place.url) as connection:
        channel = await connection.channel()
        made = await channel.declare_exchange(exchange, aio_pika.ExchangeType.TOPIC, durable=True)
        queue = await channel.declare_queue(place.queue, durable=True)
        await queue.bind(made, "reports.nightly")
    target = place.make_with(f"exchange={exchange}")
    known, unknown = message(1), replace(message(2), topic="elsewhere")
    verdicts = await target.send([known, unknown, message(3)])
    await target.close()
    assert [type(verdict) for verdict in verdicts] == [Confirmed, Refused, Confirmed]
    assert [one.id for one in await place.received()] == [message(1).id, message(3).id]


async def test_a_missing_exchange_is_named(place: RabbitPlace):
    target = place.make_with("exchange=not-there")
    [verdict] = await target.send([message()])
    assert isinstance(verdict, TryAgain)
    assert "exchange 'not-there' cannot be used" in verdict.reason
    assert "NOT_FOUND" in verdict.reason


async def test_a_declared_exchange_and_quorum_queue_keep_messages(place: RabbitPlace):
    queue = f"{place.queue}-quorum"
    target = place.make_with(f"exchange={queue}-x&queue={queue}&declare=quorum")
    assert await target.send([message()]) == [Confirmed()]
    await target.close()
    async with await aio_pika.connect(place.url) as connection:
        channel = await connection.channel()
        declared = await channel.declare_queue(queue, durable=True, arguments={"x-queue-type": "quorum"})
        one = await declared.get(timeout=PATIENCE)
        assert (one.message_id, one.routing_key) == (message().id, "reports.nightly")


async def test_a_full_queue_is_tried_again(place: RabbitPlace):
    full: FieldTable = {"x-max-length": 1, "x-overflow": "reject-publish"}
    async with await aio_pika.connect(place.url) as connection:
        await (await connection.channel()).declare_queue(place.queue, durable=True, arguments=full)
    target = place.make_with(f"queue={place.queue}")
    verdicts = [*await target.send([message(1)]), *await target.send([message(2)])]
    await target.close()
    assert verdicts[0] == Confirmed()
    assert isinstance(verdicts[1], TryAgain)
    assert not verdicts[1].away


async def test_a_wrong_password_is_told_and_not_shown(place: RabbitPlace):
    target = RabbitTarget("reports", place.relay.url.replace("guest:guest", "guest:hunter2"))
    [verdict] = await target.send([message()])
    assert isinstance(verdict, TryAgain)
    assert "ACCESS_REFUSED" in verdict.reason
    assert "hunter2" not in verdict.reason


@pytest.mark.parametrize(
    "words, said",
    [("colour=red", "'colour', which is not known"), ("declare=maybe", "declare is 'maybe'; expected one of classic")],
)
def test_words_that_are_not_known_are_refused(words: str, said: str):
    with pytest.raises(ConfigurationError, match=said):
        make_target("reports", f"amqp://localhost/?{words}")


async def test_a_confirm_that_is_lost_is_not_taken_for_one(place: RabbitPlace, rabbitmq: RabbitServer):
    """B06: RabbitMQ has the message and its confirm is lost; it goes again under the same id."""
    with proxy_before(rabbitmq.url) as proxy:
        port = urlsplit(proxy.url).port
        target = RabbitTarget("reports", f"amqp://guest:guest@127.0.0.1:{port}/?queue={place.queue}&declare=classic")
        assert await target.send([message(1)]) == [Confirmed()]
        proxy.set(Fault.LOSE_REPLY, at=message(2).id.encode())
        [verdict] = await target.send([message(2)])
        assert isinstance(verdict, TryAgain)
        assert verdict.away
        assert await target.send([message(2)]) == [Confirmed()]
        await target.close()
    assert [one.id for one in await place.received()] == [message(n).id for n in (1, 2, 2)]


async def test_a_blocked_broker_is_waited_for(
    place: RabbitPlace, rabbitmq: RabbitServer, monkeypatch: pytest.MonkeyPatch
):
    """B02: RabbitMQ has no memory left and stops reading; nothing is confirmed and nothing is lost."""
    target = place.make()
    assert await target.send([message(1)]) == [Confirmed()]
    rabbitmq.evaluate("vm_memory_monitor set_vm_memory_high_watermark [0.000001]")
    try:
        with monkeypatch.context() as hurry:
            hurry.setattr("duly.targets.rabbitmq.CONFIRM_WITHIN", 1.0)
            [verdict] = await target.send([message(2)])
    finally:
        rabbitmq.evaluate("vm_memory_monitor set_vm_memory_high_watermark [0.4]")
    assert isinstance(verdict, TryAgain)
    assert verdict.away
    assert await until_confirmed(target, [message(2)])
    await target.close()
    assert {one.id for one in await place.received()} == {message(1).id, message(2).id}


@rule("S4.40")
@pytest.mark.timeout(600)  # RabbitMQ starts twice
async def test_a_broker_that_is_killed_loses_nothing_that_it_confirmed(place: RabbitPlace, rabbitmq: RabbitServer):
    """B01: SIGKILL in the middle of many batches."""
    target = RabbitTarget("reports", f"{rabbitmq.url}?queue={place.queue}&declare=quorum")
    assert await target.send([message(1)]) == [Confirmed()]
    rabbitmq.keep_quorum_queues()
    batches = [[message(20 * batch + n, payload=f"{batch}") for n in range(2, 22)] for batch in range(40)]
    waiting = list(batches)
    for number, batch in enumerate(batches):
        if number == 3:
            killing = asyncio.create_task(asyncio.to_thread(rabbitmq.kill))
        if number == 20:
            await killing
        if list(await target.send(batch)) == [Confirmed()] * 20:
            waiting.remove(batch)
    assert len(waiting) >= 20, "the last ones were sent to nobody"
    await asyncio.to_thread(rabbitmq.start)
    assert await until_confirmed(target, [one for batch in waiting for one in batch], tries=100)
    await target.close()
    received = await place.received()
    sent = {(one.id, one.body) for batch in batches for one in batch} | {(message(1).id, message(1).body)}
    assert {(one.id, one.body) for one in received} == sent
