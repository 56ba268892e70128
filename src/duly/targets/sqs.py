"""Amazon SQS: standard queues and FIFO ones, in batches of ten, each message answered for by itself.

``sqs://eu-central-1/reports`` sends to that queue of that region; a name that ends in ``.fifo`` is a FIFO queue, whose
deduplication id is the run id (and the fence, where an answer is expected) and whose groups are the schedules. Who may
send is found as every AWS program finds it (environment, profile, role), or said in the URL:
``sqs://KEY:SECRET@region/queue``. ``?endpoint=`` is another server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from hashlib import blake2b
from typing import Any
from urllib.parse import unquote, urlsplit

from aiobotocore.config import AioConfig
from aiobotocore.session import get_session
from botocore.exceptions import BotoCoreError, ClientError

from duly.core.errors import ConfigurationError

from .address import read_address
from .envelope import EXPECT_HEADER, prefixed
from .line import CONFIRM_WITHIN, CONNECT_WITHIN
from .target import Confirmed, Message, Refused, TryAgain, Verdict

WORDS = frozenset({"endpoint"})

_ATTRIBUTES = "ce-"
_BATCH = 10
_BATCH_BYTES = 256 * 1024
_MOST_ATTRIBUTES = 10
_ROOM_FOR_ATTRIBUTES = 4 * 1024
_LONGEST_GROUP = 128


class SqsTarget:
    """Sends to one queue of SQS."""

    def __init__(self, name: str, url: str) -> None:
        self._address = read_address(name, url, WORDS)
        place = urlsplit(self._address.server)
        self._queue = place.path.strip("/")
        self._region = place.hostname or ""
        if not self._queue or not self._region or "/" in self._queue:
            raise ConfigurationError(f"target {name!r}: expected sqs://REGION/QUEUE, e.g. sqs://eu-central-1/{name}")
        self._login = unquote(place.username or "") or None
        self._password = unquote(place.password or "") or None
        self._fifo = self._queue.endswith(".fifo")
        self._name = name
        self._closing = AsyncExitStack()
        self._client: Any = None
        self._queue_url: str | None = None

    async def open(self) -> None:
        """Make the client, which takes a while and asks nobody; it connects with the first message."""
        if self._client is None:
            self._client = await self._closing.enter_async_context(
                get_session().create_client(
                    "sqs",
                    region_name=self._region,
                    endpoint_url=self._address.word("endpoint") or None,
                    aws_access_key_id=self._login,
                    aws_secret_access_key=self._password,
                    config=AioConfig(
                        connect_timeout=CONNECT_WITHIN, read_timeout=CONFIRM_WITHIN, retries={"total_max_attempts": 1}
                    ),
                )
            )

    async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
        """Send in batches of ten, one after another, as a FIFO queue wants it."""
        if not messages:
            return []
        await self.open()
        verdicts: dict[str, Verdict] = {}
        reason = ""
        try:
            async with asyncio.timeout(CONNECT_WITHIN + CONFIRM_WITHIN):
                queue = await self._find_queue()
                for batch in _batches(messages):
                    verdicts |= await self._send_batch(queue, batch)
        except ClientError as error:
            told = error.response.get("Error", {})
            reason = f"queue {self._queue!r} cannot be used: {told.get('Code', 'error')}: {told.get('Message', '')}"
        except (BotoCoreError, OSError, TimeoutError) as error:
            reason = f"SQS cannot be reached: {self._address.tell(error)}"
        return [verdicts.get(message.id, TryAgain(reason, away=True)) for message in messages]

    async def close(self) -> None:
        """Close the connections."""
        self._client = None
        await self._closing.aclose()

    async def _find_queue(self) -> str:
        if self._queue_url is None:
            answer = await self._client.get_queue_url(QueueName=self._queue)
            self._queue_url = str(answer["QueueUrl"])
        return self._queue_url

    async def _send_batch(self, queue: str, batch: Sequence[Message]) -> dict[str, Verdict]:
        entries = [self._entry(number, message) for number, message in enumerate(batch)]
        answer = await self._client.send_message_batch(QueueUrl=queue, Entries=entries)
        verdicts: dict[str, Verdict] = {batch[int(one["Id"])].id: Confirmed() for one in answer.get("Successful", ())}
        for one in answer.get("Failed", ()):
            words = f"{one.get('Code')}: {one.get('Message', 'no reason given')}"
            verdicts[batch[int(one["Id"])].id] = Refused(words) if one.get("SenderFault") else TryAgain(words)
        return verdicts

    def _entry(self, number: int, message: Message) -> dict[str, Any]:
        attributes = {
            name: {"DataType": "String", "StringValue": value} for name, value in _words_beside(message) if value
        }
        entry = {"Id": str(number), "MessageBody": message.body.decode(), "MessageAttributes": attributes}
        if self._fifo:
            entry["MessageDeduplicationId"] = message.dedup_id
            entry["MessageGroupId"] = _group(message.key or self._name)
        return entry


def _batches(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """In order, at most ten together, and no more bytes than a batch may have; a larger message goes alone."""
    batch: list[Message] = []
    size = 0
    for message in messages:
        bytes_more = len(message.body) + _ROOM_FOR_ATTRIBUTES
        if batch and (len(batch) == _BATCH or size + bytes_more > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(message)
        size += bytes_more
    if batch:
        yield batch


def _words_beside(message: Message) -> list[tuple[str, str]]:
    """SQS carries ten: who the message is, what CloudEvents wants, what the schedule asks for, then what is left."""
    headers = dict(message.headers)
    who = ("duly-run-id", "duly-type", *(("duly-fence", EXPECT_HEADER) if message.expects_answer else ()))
    first: dict[str, str] = {name: headers.pop(name) for name in who if name in headers}
    asked = {name: value for name, value in headers.items() if not name.startswith("duly-")}
    events = prefixed(message.attributes, _ATTRIBUTES)
    words = {**first, **events, "content-type": message.content_type, **asked, **headers}
    return list(words.items())[:_MOST_ATTRIBUTES]


def _group(key: str) -> str:
    """The group of a schedule; a key that is longer than SQS allows is told by its digest."""
    return key if len(key) <= _LONGEST_GROUP else blake2b(key.encode(), digest_size=32).hexdigest()
