"""A consumer in a process of its own, for rows that kill it: it tells the ledger what it began and what it finished."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import socket
import sys
from typing import Any

from duly.consuming import Consumer, Delivery, Source

TAKES = 0.02
"""Seconds that each message takes, so that a kill meets one in the middle."""


def make_source(kind: str, url: str, name: str) -> Source:
    if kind == "rabbitmq":
        from duly.consuming.rabbitmq import RabbitSource

        return RabbitSource(url, name)
    if kind == "nats":
        from duly.consuming.nats import NatsSource

        return NatsSource(url, name, durable="receiver", idle_for=2)
    from duly.consuming.redis import RedisSource

    return RedisSource(url, name, group="receivers", name=str(os.getpid()), idle_for=2)


async def main(place: str, kind: str, url: str, name: str) -> None:
    way = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    def note(event: str, delivery: Delivery) -> None:
        line: dict[str, Any] = {"event": event, "instance": "receiver", "pid": os.getpid(), "message": delivery.id}
        line["body"] = hashlib.sha256(delivery.body).hexdigest()
        way.sendto(json.dumps(line).encode(), place)

    consumer = Consumer(make_source(kind, url, name))

    @consumer.on()
    async def handle(delivery: Delivery) -> None:
        note("received", delivery)
        await asyncio.sleep(TAKES)
        note("handled", delivery)

    await consumer.run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
