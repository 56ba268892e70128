"""NATS JetStream: the message's type is its subject, the run id its ``Nats-Msg-Id``, and the stream acknowledges it.

``nats://user:password@host:4222`` publishes to ``schedule.<topic>.arrived`` (``duly.run`` without a topic), or to the
subject that ``?subject=`` names. A stream must hold that subject: NATS alone forgets what nobody listens to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import nats
from nats.aio.client import Client
from nats.errors import Error, MaxPayloadError
from nats.js import JetStreamContext
from nats.js.errors import APIError, NoStreamResponseError

from .address import read_address
from .envelope import prefixed
from .line import CONFIRM_WITHIN, CONNECT_WITHIN, Line
from .target import Confirmed, Message, Refused, TryAgain, Verdict

WORDS = frozenset({"subject", "stream"})

_ATTRIBUTES = "ce-"
_MESSAGE_ID = "Nats-Msg-Id"
_GONE = (Error, OSError, TimeoutError)


class _Way(NamedTuple):
    """An open way into NATS, and the patience of those who wait for an acknowledgement on it."""

    client: Client
    stream: JetStreamContext
    waiting: set[asyncio.Timeout]


class NatsTarget:
    """Publishes to JetStream."""

    def __init__(self, name: str, url: str) -> None:
        self._address = read_address(name, url, WORDS)
        self._subject = self._address.word("subject")
        self._stream = self._address.word("stream") or None
        self._line: Line[_Way] = Line(
            self._connect, lambda way: way.client.close(), lambda way: way.client.is_connected
        )

    async def open(self) -> None:
        """Nothing to do: the first message connects."""

    async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
        """Publish a batch, and answer as the stream acknowledges."""
        if not messages:
            return []
        try:
            way = await self._line.get()
        except _GONE as error:
            return [TryAgain(f"NATS cannot be reached: {self._address.tell(error)}", away=True)] * len(messages)
        # Begun in order, and each is written before the next one begins: so they arrive in order.
        return await asyncio.gather(*(self._publish(way, message) for message in messages))

    async def close(self) -> None:
        """Close the connection."""
        await self._line.close()

    async def _publish(self, way: _Way, message: Message) -> Verdict:
        subject = self._subject or message.type
        try:
            async with asyncio.timeout(CONFIRM_WITHIN) as patience:
                way.waiting.add(patience)
                await way.stream.publish(subject, message.body, stream=self._stream, headers=_headers(message))
        except NoStreamResponseError:
            return TryAgain(f"no stream holds the subject {subject!r}: make one with that subject", away=True)
        except MaxPayloadError:
            return Refused(f"its {len(message.body)} bytes are more than this NATS takes")
        except APIError as error:
            return TryAgain(f"the stream did not take it: {error.description}")
        except _GONE as error:
            return TryAgain(f"NATS did not acknowledge it: {self._address.tell(error)}", away=True)
        finally:
            way.waiting.discard(patience)
        return Confirmed()

    async def _connect(self) -> _Way:
        waiting: set[asyncio.Timeout] = set()

        async def lose_patience() -> None:
            for patience in waiting:
                patience.reschedule(asyncio.get_running_loop().time())

        # It connects anew by our own hand: a client that waits for a server would keep a batch past its time.
        client = await nats.connect(
            self._address.server,
            name="duly",
            allow_reconnect=False,
            reconnect_time_wait=0,
            connect_timeout=round(CONNECT_WITHIN),
            error_cb=_ignore,
            closed_cb=lose_patience,
        )
        return _Way(client, client.jetstream(timeout=CONFIRM_WITHIN), waiting)


async def _ignore(error: Exception) -> None:
    """What goes wrong shows in the verdicts; the driver would write it to its log as well."""


def _headers(message: Message) -> dict[str, str]:
    return {
        **message.headers,
        **prefixed(message.attributes, _ATTRIBUTES),
        "Content-Type": message.content_type,
        _MESSAGE_ID: message.id,
    }
