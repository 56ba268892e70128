"""RabbitMQ: publisher confirms, persistent messages, and every message must reach a queue.

``amqp://user:password@host:5672/vhost?exchange=reports`` publishes to that exchange, with the topic as routing key;
``?queue=reports`` to that queue; with neither, to the queue that has the target's name. What is published to must be
there, unless ``declare`` says to make it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractExchange, AbstractQueue
from aio_pika.exceptions import CONNECTION_EXCEPTIONS, ChannelClosed, DeliveryError, PublishError

from .address import read_address
from .envelope import prefixed
from .line import CONFIRM_WITHIN, CONNECT_WITHIN, Line
from .target import Confirmed, Message, Refused, TryAgain, Verdict

WORDS = frozenset({"exchange", "queue", "routing_key", "declare"})
DRIVER_WORDS = frozenset({"heartbeat", "cafile", "capath", "cadata", "keyfile", "certfile", "no_verify_ssl", "auth"})
DECLARE = frozenset({"nothing", "quorum", "classic"})

_ATTRIBUTES = "cloudEvents:"
_LONGEST_KEY = 255


class _Way(NamedTuple):
    """An open way into RabbitMQ."""

    connection: AbstractConnection
    channel: AbstractChannel
    exchange: AbstractExchange


class RabbitTarget:
    """Publishes to one exchange of a RabbitMQ, or to one queue."""

    def __init__(self, name: str, url: str) -> None:
        self._address = address = read_address(name, url, WORDS, DRIVER_WORDS)
        self._exchange = address.word("exchange")
        self._queue = address.word("queue", "" if self._exchange else name)
        self._routing_key = address.word("routing_key")
        self._declare = address.choice("declare", DECLARE, "nothing")
        self._plain_key = name
        self._line: Line[_Way] = Line(self._connect, lambda way: way.connection.close(), _alive)

    async def open(self) -> None:
        """Nothing to do: the first message connects."""

    async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
        """Publish a batch, and answer as the confirms come in."""
        if not messages:
            return []
        try:
            way = await self._line.get()
        except ChannelClosed as error:
            return [TryAgain(f"{self._place} cannot be used: {self._address.tell(error)}", away=True)] * len(messages)
        except (*CONNECTION_EXCEPTIONS, TimeoutError) as error:
            return [TryAgain(f"RabbitMQ cannot be reached: {self._address.tell(error)}", away=True)] * len(messages)
        # Begun in order, and each writes before the next one does: so they arrive in order.
        verdicts = await asyncio.gather(*(self._publish(way.exchange, message) for message in messages))
        if any(isinstance(verdict, TryAgain) and verdict.away for verdict in verdicts):
            await self._line.drop(way)
        return verdicts

    async def close(self) -> None:
        """Close the connection."""
        await self._line.close()

    async def _publish(self, exchange: AbstractExchange, message: Message) -> Verdict:
        key = self._key_of(message)
        if len(key.encode()) > _LONGEST_KEY:
            return Refused(f"the routing key {key!r} is longer than {_LONGEST_KEY} bytes")
        try:
            await exchange.publish(_amqp(message), key, mandatory=True, timeout=CONFIRM_WITHIN)
        except PublishError:
            return Refused(f"no queue takes it: {self._place} has no route for the routing key {key!r}")
        except DeliveryError:
            return TryAgain("RabbitMQ did not take it: its queue is full, or cannot be written")
        except ChannelClosed as error:
            return TryAgain(f"RabbitMQ closed the channel: {self._address.tell(error)}", away=True)
        except TimeoutError:
            return TryAgain(f"RabbitMQ did not confirm within {CONFIRM_WITHIN:g} s", away=True)
        except CONNECTION_EXCEPTIONS as error:
            return TryAgain(f"RabbitMQ went away: {self._address.tell(error)}", away=True)
        return Confirmed()

    def _key_of(self, message: Message) -> str:
        if not self._exchange:
            return self._queue
        return self._routing_key or message.topic or self._plain_key

    @property
    def _place(self) -> str:
        return f"exchange {self._exchange!r}" if self._exchange else "the default exchange"

    async def _connect(self) -> _Way:
        connection = await aio_pika.connect(self._address.server, timeout=CONNECT_WITHIN)
        try:
            channel = await connection.channel(publisher_confirms=True, on_return_raises=True)
            if not self._exchange:
                exchange: AbstractExchange = channel.default_exchange
            elif self._declare == "nothing":
                exchange = await channel.get_exchange(self._exchange, ensure=True)
            else:
                exchange = await channel.declare_exchange(self._exchange, aio_pika.ExchangeType.TOPIC, durable=True)
            if self._queue and self._declare != "nothing":
                queue: AbstractQueue = await channel.declare_queue(
                    self._queue, durable=True, arguments={"x-queue-type": self._declare}
                )
                if self._exchange:
                    await queue.bind(exchange, self._routing_key or "#")
        except BaseException:
            await connection.close()
            raise
        return _Way(connection, channel, exchange)


def _alive(way: _Way) -> bool:
    return not way.connection.is_closed and not way.channel.is_closed


def _amqp(message: Message) -> aio_pika.Message:
    return aio_pika.Message(
        message.body,
        message_id=message.id,
        type=message.type,
        timestamp=message.time,
        content_type=message.content_type,
        delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
        app_id="duly",
        headers={**message.headers, **prefixed(message.attributes, _ATTRIBUTES)},
    )
