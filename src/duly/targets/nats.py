"""NATS JetStream: the message's type is its subject, the run id its ``Nats-Msg-Id``, and the stream acknowledges it.

Where an answer is expected the fence follows the run id there, so that the stream does not drop the next attempt.
``nats://user:password@host:4222`` publishes to ``schedule.<topic>.arrived`` (``duly.run`` without a topic), or to the
subject that ``?subject=`` names. A stream must hold that subject: NATS alone forgets what nobody listens to.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Sequence
from contextlib import suppress

import msgspec
import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error, MaxPayloadError

from .address import TLS_WORDS, read_address
from .envelope import prefixed
from .line import CONFIRM_WITHIN, CONNECT_WITHIN, Line
from .target import Confirmed, Message, Refused, TryAgain, Verdict

WORDS = frozenset({"subject", "stream"}) | TLS_WORDS

_ATTRIBUTES = "ce-"
_MESSAGE_ID = "Nats-Msg-Id"
_EXPECTED_STREAM = "Nats-Expected-Stream"
_NOBODY = "503"
_GONE = (Error, OSError, TimeoutError)


class _Batch:
    """The acknowledgements that are awaited together, by the place of their message."""

    def __init__(self, size: int) -> None:
        self.acks: list[Msg | None] = [None] * size
        self.left = size
        self.done = asyncio.Event()

    def take(self, place: int, ack: Msg | None) -> None:
        self.acks[place] = ack
        self.left -= 1
        if not self.left:
            self.done.set()


class _Way:
    """An open way into NATS, and who waits on it for which acknowledgement.

    The driver's own request makes a task, a timer and two random names for each message. One subscription takes all
    acknowledgements, and one timer is for a batch.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self._inbox = client.new_inbox()
        self._waiting: dict[str, tuple[_Batch, int]] = {}
        self._numbers = itertools.count()

    async def listen(self) -> None:
        await self.client.subscribe(f"{self._inbox}.*", cb=self._acknowledged)

    def ask(self, batch: _Batch, place: int) -> str:
        """Where the acknowledgement of a message is to go."""
        reply = f"{self._inbox}.{next(self._numbers)}"
        self._waiting[reply] = batch, place
        return reply

    def forget(self, replies: Iterable[str]) -> None:
        for reply in replies:
            self._waiting.pop(reply, None)

    def broke(self) -> None:
        """Nothing more will be acknowledged."""
        waiting, self._waiting = self._waiting, {}
        for batch, _ in waiting.values():
            batch.done.set()

    async def _acknowledged(self, ack: Msg) -> None:
        batch, place = self._waiting.pop(ack.subject, (None, 0))
        if batch is not None:
            batch.take(place, ack)


class NatsTarget:
    """Publishes to JetStream."""

    def __init__(self, name: str, url: str) -> None:
        self._address = read_address(name, url, WORDS)
        self._subject = self._address.word("subject")
        self._stream = self._address.word("stream") or None
        self._trust = self._address.trust("tls")
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
        batch = _Batch(len(messages))
        replies = [way.ask(batch, place) for place in range(len(messages))]
        unsent: dict[int, Verdict] = {}
        for place, message in enumerate(messages):  # one after another, so they arrive in order
            try:
                await way.client.publish(
                    self._subject or message.type, message.body, reply=replies[place], headers=self._headers(message)
                )
            except MaxPayloadError:
                unsent[place] = Refused(f"its {len(message.body)} bytes are more than this NATS takes")
                batch.take(place, None)
            except _GONE as error:
                unsent[place] = TryAgain(f"NATS went away: {self._address.tell(error)}", away=True)
                batch.take(place, None)
        with suppress(TimeoutError):
            async with asyncio.timeout(CONFIRM_WITHIN):
                await batch.done.wait()
        way.forget(replies)
        return [unsent.get(place) or self._verdict(ack, messages[place]) for place, ack in enumerate(batch.acks)]

    async def close(self) -> None:
        """Close the connection."""
        await self._line.close()

    def _verdict(self, ack: Msg | None, message: Message) -> Verdict:
        if ack is None:
            return TryAgain("NATS did not acknowledge it", away=True)
        if ack.headers is not None and ack.headers.get("Status") == _NOBODY:
            subject = self._subject or message.type
            return TryAgain(f"no stream holds the subject {subject!r}: make one with that subject", away=True)
        error = msgspec.json.decode(ack.data).get("error")
        return Confirmed() if error is None else TryAgain(f"the stream did not take it: {error.get('description')}")

    def _headers(self, message: Message) -> dict[str, str]:
        headers = {
            **message.headers,
            **prefixed(message.attributes, _ATTRIBUTES),
            "Content-Type": message.content_type,
            _MESSAGE_ID: message.dedup_id,
        }
        return headers if self._stream is None else {**headers, _EXPECTED_STREAM: self._stream}

    async def _connect(self) -> _Way:
        ways: list[_Way] = []

        async def broke() -> None:
            for way in ways:
                way.broke()

        # It connects anew by our own hand: a client that waits for a server would keep a batch past its time.
        client = await nats.connect(
            self._address.server,
            name="duly",
            allow_reconnect=False,
            reconnect_time_wait=0,
            connect_timeout=round(CONNECT_WITHIN),
            tls=self._trust,
            error_cb=_ignore,
            closed_cb=broke,
        )
        way = _Way(client)
        ways.append(way)
        await way.listen()
        return way


async def _ignore(error: Exception) -> None:
    """What goes wrong shows in the verdicts; the driver would write it to its log as well."""
