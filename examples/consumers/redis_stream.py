"""A consumer in Python: `python -m examples.consumers.redis_stream` prints what comes in until it is told to end."""

import asyncio
import os
import signal

from duly.consuming import Consumer, Delivery
from duly.consuming.redis import RedisSource

SOURCE = RedisSource(
    os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0"),
    os.environ.get("STREAM", "reports"),
    group="printers",
    name=f"printer-{os.getpid()}",
)

consumer = Consumer(SOURCE)


@consumer.on("schedule.reports.nightly.arrived")
async def nightly(delivery: Delivery) -> None:
    event = delivery.data
    print("report", event["id"], event["data"]["userPayload"], flush=True)  # noqa: T201


async def main() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, consumer.stop)
    await consumer.run()


if __name__ == "__main__":
    asyncio.run(main())
