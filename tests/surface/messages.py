"""Derives delivered messages: real ones, captured where the client library of a protocol would send them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, MagicMock, patch

from duly.core.version import VERSION
from duly.core.webhook import EVENTS, Happening, Webhook, notification
from duly.targets.envelope import Departure, Format, message_of
from duly.targets.kafka import KafkaTarget
from duly.targets.nats import NatsTarget
from duly.targets.notifying import Notifier
from duly.targets.posting import Reply
from duly.targets.rabbitmq import RabbitTarget
from duly.targets.redis import RedisTarget
from duly.targets.target import Confirmed, Message
from duly.targets.webhook import Sender
from duly.testing import ManualClock
from tests.surface.diff import Tree

AT = datetime(2026, 3, 8, 18, tzinfo=UTC)
WINDOW = Departure(
    run_id="019cc9a0-0000-7000-8000-000000000001",
    payload='{"userId":"u-42"}',
    scheduled_at=AT,
    fired_at=datetime(2026, 3, 8, 18, 0, 0, 250_000, tzinfo=UTC),
    schedule_id="019cc9a0-0000-7000-9000-000000000000",
    key="u42-reminder",
    window_key="sched:u42-reminder:1772992800000",
    topic="notifications.reminder",
    timezone="America/New_York",
    metadata={"owner_id": "u-42", "tenant_id": "acme", "correlation_id": "c-1", "client_request_id": "q-1"},
    attempt=2,
    max_attempts=4,
    fence=7,
)
ENQUEUED = replace(WINDOW, schedule_id=None, key=None, window_key=None, topic=None, metadata={})
HAPPENING = Happening(
    event="run.failed", tenant="acme", owner="u-42", schedule_id=WINDOW.schedule_id, key=WINDOW.key,
    run_id=WINDOW.run_id, job="send-reminder", attempt=3, reason=None, error="no route", webhook_id="w-1",
    webhook_kind="events", webhook_tenant="acme", webhook_owner=None,
)  # fmt: skip
SECRET = "whsec_" + "A" * 43 + "="


def derive() -> Tree:
    """Return the message of each format, what each protocol adds, and the message that notifies a webhook."""
    tree: Tree = {}
    for format in Format:
        for what, departure in (("window", WINDOW), ("enqueued run", ENQUEUED)):
            tree[f"{format}, {what}"] = describe(_message(departure, format))
        tree[f"{format}, expect ack"] = describe(_message(WINDOW, format, expect="ack"))
    binary = _message(WINDOW, Format.CLOUDEVENTS_BINARY, expect="ack")
    for protocol, send in PROTOCOLS.items():
        tree[f"by {protocol}"] = asyncio.run(send(binary))
    tree["event, to a webhook"] = describe(asyncio.run(_notification()))
    return tree


def _message(departure: Departure, format: Format, **words: str) -> Message:
    return message_of(replace(departure, spec={"format": format.value, **words}))


def describe(message: Message) -> Tree:
    """Return every value of a message; they are reproducible because its input is fixed."""
    return {
        "content type": message.content_type,
        "body": dict(_flat(json.loads(message.body))),
        "header": dict(message.headers),
        "attribute": dict(message.attributes),
        "dedup id": message.dedup_id,
    }


def _flat(value: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        if isinstance(inner, dict):
            yield from _flat(inner, f"{path}{name}.")
        else:
            yield f"{path}{name}", inner


async def _webhook(message: Message) -> Tree:
    poster = AsyncMock()
    poster.post.return_value = Reply(200, None)
    sender = Sender(poster, ManualClock(AT))
    empty = replace(message, body=b"{}")  # so that the signature changes only if signing changes
    assert await sender.send("https://example.com/hook", [SECRET], empty) == Confirmed()
    _, headers, _ = poster.post.await_args.args
    return {"header": {name: value.replace(VERSION, "VERSION") for name, value in headers.items()}}


async def _redis(message: Message) -> Tree:
    with patch("redis.asyncio.Redis.from_url") as connect:
        pipeline = connect.return_value.pipeline.return_value = MagicMock(execute=AsyncMock(return_value=[b"1-0"]))
        assert await RedisTarget("mail", "redis://localhost").send([message]) == [Confirmed()]
    stream, fields = pipeline.xadd.call_args.args
    return {"stream": stream, "field": {**fields, "data": "the body" if fields["data"] == message.body else "other"}}


async def _kafka(message: Message) -> Tree:
    with patch("duly.targets.kafka.AIOKafkaProducer", return_value=AsyncMock()) as producer:
        assert await KafkaTarget("mail", "kafka://localhost").send([message]) == [Confirmed()]
    sent = producer.return_value.send_and_wait.await_args
    headers = {name: value.decode() for name, value in sent.kwargs["headers"]}
    return {"topic": sent.args[0], "key": sent.kwargs["key"].decode(), "header": headers}


async def _nats(message: Message) -> Tree:
    client = AsyncMock(is_connected=True, new_inbox=lambda: "_INBOX")

    async def acknowledge(*_: object, reply: str, **__: object) -> None:
        await client.subscribe.await_args.kwargs["cb"](MagicMock(subject=reply, headers=None, data=b"{}"))

    client.publish.side_effect = acknowledge
    with patch("nats.connect", AsyncMock(return_value=client)):
        assert await NatsTarget("mail", "nats://localhost").send([message]) == [Confirmed()]
    sent = client.publish.await_args
    return {"subject": sent.args[0], "header": dict(sent.kwargs["headers"])}


async def _rabbitmq(message: Message) -> Tree:
    channel = MagicMock(is_closed=False)
    channel.declare_queue = AsyncMock()
    exchange = channel.default_exchange = AsyncMock()
    connection = MagicMock(is_closed=False, channel=AsyncMock(return_value=channel), close=AsyncMock())
    with patch("aio_pika.connect", AsyncMock(return_value=connection)):
        assert await RabbitTarget("mail", "amqp://localhost").send([message]) == [Confirmed()]
    sent, key = exchange.publish.await_args.args
    words = ("message_id", "type", "content_type", "app_id")
    return {
        "routing key": key,
        "property": {word: getattr(sent, word) for word in words} | {"delivery_mode": int(sent.delivery_mode)},
        "header": dict(sent.headers),
    }


async def _notification() -> Message:
    """Return the message that notifies a webhook of an event."""
    run = notification(round(AT.timestamp() * 1000), HAPPENING)
    store, sender = AsyncMock(), AsyncMock()
    store.get_webhook.return_value = Webhook(id="w-1", url="https://example.com/hook", events=EVENTS)
    sender.send.return_value = Confirmed()
    handler = Notifier(store, ManualClock(AT), sender, with_errors=True).handler
    attempt = SimpleNamespace(id=run.id, payload=json.loads(run.payload or ""), scheduled_at=AT, attempt=1, fence=1)
    await handler.function(attempt)
    message: Message = sender.send.await_args.args[2]
    return message


PROTOCOLS: Mapping[str, Callable[[Message], Coroutine[Any, Any, Tree]]] = {
    "kafka": _kafka, "nats": _nats, "rabbitmq": _rabbitmq, "redis": _redis, "webhook": _webhook,
}  # fmt: skip
