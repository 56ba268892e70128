"""Messages from a stream of NATS JetStream, pulled by a durable consumer."""

from __future__ import annotations

from collections.abc import Sequence

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error
from nats.errors import TimeoutError as NothingCame
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig

from .consumer import Delivery

TAKE_WITHIN = 1.0
BATCH = 100
GIVE_BACK_FOR = 5.0
"""Seconds before a message that was given back is delivered again."""


class NatsSource:
    """A durable consumer of one subject; what it leaves unacknowledged for ``idle_for`` seconds is delivered again."""

    errors: tuple[type[BaseException], ...] = (Error, OSError)

    def __init__(
        self, url: str, subject: str, *, durable: str, stream: str | None = None, idle_for: float = 60.0
    ) -> None:
        self._url = url
        self._subject = subject
        self._durable = durable
        self._stream = stream
        self._idle_for = idle_for
        self._client: Client | None = None
        self._reader: JetStreamContext.PullSubscription | None = None

    async def open(self) -> None:
        """Connect, and make the durable consumer where it is not there."""
        self._client = await nats.connect(self._url, allow_reconnect=False, reconnect_time_wait=0)
        self._reader = await self._client.jetstream().pull_subscribe(
            self._subject, durable=self._durable, stream=self._stream, config=ConsumerConfig(ack_wait=self._idle_for)
        )

    async def take(self) -> Sequence[Delivery]:
        """What is there, or nothing after a second."""
        assert self._reader is not None, "the source is not open"
        try:
            return [_delivery(message) for message in await self._reader.fetch(BATCH, timeout=TAKE_WITHIN)]
        except NothingCame:
            return []

    async def finish(self, delivery: Delivery) -> None:
        await delivery.receipt.ack()

    async def give_back(self, delivery: Delivery) -> None:
        await delivery.receipt.nak(delay=GIVE_BACK_FOR)

    async def refuse(self, delivery: Delivery) -> None:
        await delivery.receipt.term()

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()


def _delivery(message: Msg) -> Delivery:
    headers = message.headers or {}
    id = headers.get("duly-run-id") or headers.get("Nats-Msg-Id", "")
    return Delivery(id, headers.get("duly-type", ""), message.data, headers, message)
