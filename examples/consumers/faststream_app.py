"""A FastStream consumer: `python -m examples.consumers.faststream_app` prints what comes in until it is told to end.

The target is a Redis stream (`redis://host:6379/0?stream=reports`), whose entries have the fields `id`, `type` and
`data`; FastStream gives the handler what is in `data`, which is the event, and acknowledges it when that has returned.
"""

import asyncio
import os
from contextlib import suppress
from typing import Any

from faststream import FastStream
from faststream.redis import RedisBroker, StreamSub
from redis.asyncio import Redis
from redis.exceptions import ResponseError

REDIS = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
STREAM = os.environ.get("STREAM", "reports")
GROUP = "printers"

broker = RedisBroker(REDIS, logger=None)  # which would write to where we print
app = FastStream(broker, logger=None)
seen: set[str] = set()
"""Ids that were handled; keep them in a database where a message must not be handled twice across restarts."""


@app.on_startup
async def read_from_the_beginning() -> None:
    """FastStream would make the group at the stream's end: what came before its first start would be passed over."""
    async with Redis.from_url(REDIS) as redis:
        with suppress(ResponseError):  # it is there already
            await redis.xgroup_create(STREAM, GROUP, id="0", mkstream=True)


@broker.subscriber(stream=StreamSub(STREAM, group=GROUP, consumer=f"printer-{os.getpid()}", last_id=">"))
async def report(event: dict[str, Any]) -> None:
    if event["id"] in seen:
        return
    print("report", event["id"], event["data"]["userPayload"], flush=True)  # noqa: T201
    seen.add(event["id"])


if __name__ == "__main__":
    asyncio.run(app.run())
