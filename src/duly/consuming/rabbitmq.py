"""Messages from a queue of RabbitMQ."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import aio_pika
from aio_pika.abc import AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import CONNECTION_EXCEPTIONS

from .consumer import Delivery

TAKE_WITHIN = 1.0


class RabbitSource:
    """A queue that must be there. What is refused goes to its dead-letter exchange, if it has one."""

    errors: tuple[type[BaseException], ...] = CONNECTION_EXCEPTIONS

    def __init__(self, url: str, queue: str, *, ahead: int = 100) -> None:
        self._url = url
        self._queue = queue
        self._ahead = ahead
        self._connection: AbstractConnection | None = None
        self._came: asyncio.Queue[AbstractIncomingMessage] = asyncio.Queue()

    async def open(self) -> None:
        """Connect and begin to receive, ``ahead`` messages at most before they are acknowledged."""
        self._came = asyncio.Queue()
        self._connection = await aio_pika.connect(self._url)
        channel = await self._connection.channel()
        await channel.set_qos(prefetch_count=self._ahead)
        queue = await channel.get_queue(self._queue)
        await queue.consume(self._came.put)

    async def take(self) -> Sequence[Delivery]:
        """The next message, or nothing after a second."""
        if self._connection is None or self._connection.is_closed:
            raise ConnectionError("RabbitMQ has closed the connection")
        try:
            async with asyncio.timeout(TAKE_WITHIN):
                return [_delivery(await self._came.get())]
        except TimeoutError:
            return []

    async def finish(self, delivery: Delivery) -> None:
        await delivery.receipt.ack()

    async def give_back(self, delivery: Delivery) -> None:
        await delivery.receipt.nack(requeue=True)

    async def refuse(self, delivery: Delivery) -> None:
        await delivery.receipt.reject(requeue=False)

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


def _delivery(message: AbstractIncomingMessage) -> Delivery:
    headers = {name: str(value) for name, value in message.headers.items()}
    return Delivery(message.message_id or "", message.type or "", message.body, headers, message)
