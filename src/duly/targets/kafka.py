"""Kafka: the schedule's key is the message's key, so that a partition keeps a schedule's messages in order.

``kafka://host1:9092,host2:9092?topic=reports`` writes to that topic (default: the one with the target's name). The
producer is idempotent and every replica in step must have a message before it counts as delivered. ``kafkas://`` is
the same over TLS.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, TopicAuthorizationFailedError

from duly.core.errors import ConfigurationError

from .address import TLS_WORDS, read_address
from .envelope import prefixed
from .line import CONFIRM_WITHIN, CONNECT_WITHIN, Line
from .target import Confirmed, Message, Refused, TryAgain, Verdict

WORDS = frozenset({"topic", "sasl", "largest"}) | TLS_WORDS
MECHANISMS = frozenset({"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"})

_ATTRIBUTES = "ce_"
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}", re.ASCII)
_LARGEST = 1024 * 1024
_PORT = 9092


class KafkaTarget:
    """Writes to one topic of a Kafka."""

    def __init__(self, name: str, url: str) -> None:
        self._address = read_address(name, url, WORDS)
        self._topic = self._address.word("topic", name)
        if not _TOPIC.fullmatch(self._topic):
            raise ConfigurationError(
                f"target {name!r}: topic is {self._topic!r}; expected 1 to 249 letters, digits, dots, dashes and"
                " underscores"
            )
        self._mechanism = self._address.choice("sasl", MECHANISMS, "PLAIN")
        self._largest = self._address.count("largest") or _LARGEST
        self._trust = self._address.trust("kafkas")
        self._line: Line[AIOKafkaProducer] = Line(self._connect, _stop)

    async def open(self) -> None:
        """Nothing to do: the first message connects."""

    async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
        """Write a batch, and answer as the brokers report."""
        if not messages:
            return []
        try:
            producer = await self._line.get()
        except (KafkaError, OSError, TimeoutError) as error:
            return [TryAgain(f"Kafka cannot be reached: {self._address.tell(error)}", away=True)] * len(messages)
        verdicts = await asyncio.gather(*(self._write(producer, message) for message in messages))
        if any(isinstance(verdict, TryAgain) and verdict.away for verdict in verdicts):
            await self._line.drop(producer)
        return verdicts

    async def close(self) -> None:
        """Close the connections."""
        await self._line.close()

    async def _write(self, producer: AIOKafkaProducer, message: Message) -> Verdict:
        try:
            async with asyncio.timeout(CONFIRM_WITHIN):
                await producer.send_and_wait(
                    self._topic,
                    message.body,
                    key=message.key.encode() if message.key else None,
                    headers=_headers(message),
                    timestamp_ms=round(message.time.timestamp() * 1000),
                )
        except MessageSizeTooLargeError:
            return Refused(f"its {len(message.body)} bytes are more than the topic {self._topic!r} takes")
        except TopicAuthorizationFailedError:
            return Refused(f"not allowed to write to the topic {self._topic!r}")
        except TimeoutError:
            return TryAgain(f"Kafka did not report it written to {self._topic!r} in time", away=True)
        except (KafkaError, OSError) as error:
            return TryAgain(f"Kafka did not take it: {self._address.tell(error)}", away=True)
        return Confirmed()

    async def _connect(self) -> AIOKafkaProducer:
        place = urlsplit(self._address.server)
        user, _, hosts = place.netloc.rpartition("@")
        login, _, password = user.partition(":")
        producer = AIOKafkaProducer(
            bootstrap_servers=[host if ":" in host else f"{host}:{_PORT}" for host in hosts.split(",")],
            client_id="duly",
            acks="all",
            enable_idempotence=True,
            max_request_size=self._largest,
            # Less than ours: the driver closes what it gives up by itself, and leaves open what is taken from it.
            request_timeout_ms=round(CONNECT_WITHIN * 500),
            security_protocol=("SASL_" if user else "") + ("SSL" if self._trust else "PLAINTEXT"),
            ssl_context=self._trust,
            sasl_mechanism=self._mechanism,
            sasl_plain_username=unquote(login) or None,
            sasl_plain_password=unquote(password) or None,
        )
        try:
            await producer.start()
        except BaseException:
            await _stop(producer)
            raise
        return producer


async def _stop(producer: AIOKafkaProducer) -> None:
    try:
        await producer.stop()
    finally:
        # A stop that was cut short while it waited for a broker has left its connections open.
        await producer.client.close()


def _headers(message: Message) -> list[tuple[str, bytes]]:
    words = {**message.headers, **prefixed(message.attributes, _ATTRIBUTES), "content-type": message.content_type}
    return [(name, value.encode()) for name, value in words.items()]
