"""Brokers of the B rows: real servers behind a proxy, what they were sent, and the verdict over it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import aio_pika
import nats
from nats.js.api import ConsumerConfig, DiscardPolicy, StreamConfig
from redis.asyncio import Redis

from tests.broker_servers import RabbitServer, nats_server, rabbitmq_server
from tests.servers import Server, redis_server
from tests.store.postgres.proxy import Proxy

OUT = "out"
"""The target's name, and that of its stream or queue."""

PATIENCE = 60.0
"""Seconds that only a broker which hangs takes to answer."""

Came = tuple[str, bytes]
"""The id and the body of a message."""


class Broker:
    """A server that may be killed, and a proxy through which the instances reach it."""

    word = b""
    """What every message has in it on its way, and nothing else has."""
    dedups = False

    def __init__(self, server: Server) -> None:
        self.server = server
        self.proxy = Proxy(server.url)

    @property
    def way(self) -> str:
        """The server's URL, through the proxy."""
        parts = urlsplit(self.server.url)
        user, at, _ = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{user}{at}127.0.0.1:{urlsplit(self.proxy.url).port}"))

    @property
    def targets(self) -> dict[str, str]:
        return {OUT: self.way}

    async def prepare(self) -> None:
        """Make what must be there before the first message."""

    async def received(self) -> list[Came]:
        """Every message that it holds, in the order of arrival."""
        raise NotImplementedError

    async def kill(self) -> None:
        await asyncio.to_thread(self.server.kill)

    async def start(self) -> None:
        await asyncio.to_thread(self.server.start)


class RedisBroker(Broker):
    word = b"XADD"

    def client(self) -> Any:
        return Redis.from_url(self.server.url, socket_timeout=60)

    async def received(self) -> list[Came]:
        async with self.client() as redis:
            return [(fields[b"id"].decode(), fields[b"data"]) for _, fields in await redis.xrange(OUT)]


class RabbitBroker(Broker):
    word = b"duly-run-id"

    @property
    def targets(self) -> dict[str, str]:
        return {OUT: self.way, "nowhere": self.way}

    async def prepare(self) -> None:
        await self.declare(OUT)
        assert isinstance(self.server, RabbitServer)
        await asyncio.to_thread(self.server.keep_quorum_queues)

    async def declare(self, queue: str) -> None:
        async with await aio_pika.connect(self.server.url) as connection:
            channel = await connection.channel()
            await channel.declare_queue(queue, durable=True, arguments={"x-queue-type": "quorum"})

    async def received(self, queue: str = OUT) -> list[Came]:
        # A quorum queue is there a little later than the node that was killed.
        for _ in range(100):
            with suppress(aio_pika.exceptions.AMQPError, TimeoutError):
                return await self._all_of(queue)
            await asyncio.sleep(0.1)
        return await self._all_of(queue)

    async def _all_of(self, name: str) -> list[Came]:
        async with AsyncExitStack() as stack:
            connection = await stack.enter_async_context(await aio_pika.connect(self.server.url))
            queue = await (await connection.channel()).get_queue(name)
            found: list[Came] = []
            while (one := await queue.get(fail=False, timeout=PATIENCE)) is not None:
                found.append((one.message_id or "", one.body))
            return found  # given back to the queue when the connection ends


class NatsBroker(Broker):
    word = b"HPUB"
    dedups = True

    @property
    def targets(self) -> dict[str, str]:
        return {OUT: f"{self.way}?subject={OUT}"}

    async def prepare(self) -> None:
        async with await nats.connect(self.server.url) as client:
            await client.jetstream(timeout=PATIENCE).add_stream(self.config())

    async def change(self, **words: Any) -> None:
        async with await nats.connect(self.server.url) as client:
            await client.jetstream(timeout=PATIENCE).update_stream(self.config(**words))

    def config(self, **words: Any) -> StreamConfig:
        return StreamConfig("OUT", subjects=[OUT], discard=DiscardPolicy.NEW, **words)

    async def received(self) -> list[Came]:
        async with await nats.connect(self.server.url) as client:
            stream = client.jetstream(timeout=PATIENCE)
            waiting = (await stream.stream_info("OUT")).state.messages
            # Nothing is acknowledged, and nothing may come a second time while the rest is read.
            all_at_leisure = ConsumerConfig(ack_wait=3600, max_ack_pending=-1, inactive_threshold=3600)
            reader = await stream.pull_subscribe(OUT, stream="OUT", config=all_at_leisure)
            found: list[Came] = []
            while len(found) < waiting:
                came = await reader.fetch(min(500, waiting - len(found)), timeout=PATIENCE)
                found += [((one.headers or {})["Nats-Msg-Id"], one.data) for one in came]
            return found


KINDS = ("redis", "redis-everysec", "redis-forgetful", "rabbitmq", "nats")


@contextmanager
def open_broker(kind: str) -> Iterator[Broker]:
    with ExitStack() as stack:
        broker: Broker
        match kind:
            case "rabbitmq":
                broker = RabbitBroker(stack.enter_context(rabbitmq_server()))
            case "nats":
                broker = NatsBroker(stack.enter_context(nats_server()))
            case _:
                sync = {"redis": "always", "redis-everysec": "everysec"}.get(kind)
                broker = RedisBroker(stack.enter_context(redis_server(durable=sync is not None, sync=sync or "no")))
        stack.callback(broker.proxy.close)
        yield broker


def judge_messages(committed: Mapping[str, bytes | None], came: list[Came]) -> tuple[list[str], dict[str, int]]:
    """I9: what came is what was committed, each with one body; the figures say how often, and what is missing.

    ``committed`` has the body of each run, where it is known beforehand.
    """
    bodies: dict[str, set[bytes]] = defaultdict(set)
    for id, body in came:
        bodies[id].add(body)
    findings = [f"message {id} was not committed" for id in bodies if id not in committed]
    findings += [f"message {id} came with {len(told)} bodies" for id, told in bodies.items() if len(told) > 1]
    findings += [
        f"message {id} is {told!r}, not {wanted!r}"
        for id, wanted in committed.items()
        if wanted is not None and (told := bodies.get(id)) and told != {wanted}
    ]
    missing = [id for id in committed if id not in bodies]
    return findings, {"messages": len(bodies), "came again": len(came) - len(bodies), "did not come": len(missing)}
