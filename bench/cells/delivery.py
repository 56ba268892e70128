"""M: runs delivered to queues of others, beside the bare client of that queue in the same process.

A delivery is fired, claimed, sent, confirmed and settled; the bare client only sends and waits for the confirm.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import nats
from nats.js.api import StreamConfig

from bench.bench import Bench
from tests.broker_servers import nats_server, rabbitmq_server
from tests.servers import ServerAbsent, redis_server

SHOWN = ("per_s", "bare_per_s", "cpu_us")


def run(bench: Bench) -> None:
    n = bench.options.queue
    for name, queue in (("redis", _redis), ("rabbitmq", _rabbitmq), ("nats", _nats)):
        try:
            with queue() as target:
                for kind in bench.options.stores:
                    answers = bench.repeat(partial(deliver, bench, kind, target, n))
                    bench.report.add("M", f"duly/{kind}", f"deliver {n} to {name}", answers, *SHOWN)
        except ServerAbsent as absent:
            bench.report.say(f"M {name}: {absent}")


def deliver(bench: Bench, kind: str, target: str, n: int) -> dict[str, float]:
    with bench.stores.store(kind) as url:
        return bench.children.run("deliver", url=url, target=target, n=n)


@contextmanager
def _redis() -> Iterator[str]:
    """A Redis that syncs every confirmed message, as docs/targets.md asks for."""
    with redis_server(durable=True) as server:
        yield f"{server.url}?stream=bench&maxlen=100000"


@contextmanager
def _rabbitmq() -> Iterator[str]:
    """A RabbitMQ whose queue is a quorum queue, as docs/brokers.md asks for."""
    with rabbitmq_server() as server:
        yield f"{server.url}?queue=bench&declare=quorum"


@contextmanager
def _nats() -> Iterator[str]:
    """A NATS with a stream on file."""

    async def make_stream(url: str) -> None:
        async with await nats.connect(url) as client:
            await client.jetstream().add_stream(StreamConfig("BENCH", subjects=["bench"], max_msgs=100_000))

    with nats_server() as server:
        asyncio.run(make_stream(server.url))
        yield f"{server.url}?subject=bench"
