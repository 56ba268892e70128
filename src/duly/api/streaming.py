"""Answers that do not end by themselves: server-sent events, heartbeats, and an end for whoever does not read.

A stream holds nothing but its reader's place and the part that is being sent: who reads slowly is sent less often.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TypedDict

import msgspec
from msgspec import Meta

from duly.app.events import Reader
from duly.core.errors import DulyError
from duly.core.event import Event

from .answers import at
from .problems import TOO_MANY
from .replies import Refused
from .shapes import Instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .http import Receive, Send

MEDIA_TYPE = "text/event-stream"
RETRY_MS = 2000
HEARTBEAT = 15.0
"""Seconds of silence after which a line is sent that says nothing: proxies close what is silent."""

SEND_WITHIN = 30.0
"""Seconds that a client may leave what was sent to it unread before it is cut off."""

LONGEST = 600.0
"""Seconds after which a stream ends, so that who may not listen any more does not; its client comes back by itself."""

RETRY_AFTER = 10
MOST = 200
MOST_EACH = 20
_encode = msgspec.json.Encoder().encode


class EventAnswer(TypedDict):
    """The ``data`` of one event; what does not apply is null."""

    id: Annotated[str, Meta(description="grows from event to event; send the last one as Last-Event-ID")]
    type: str
    at: Instant
    scheduleId: str | None
    scheduleKey: str | None
    runId: str | None
    jobType: str | None
    attemptNumber: int | None
    reason: str | None
    errorMessage: str | None
    ownerId: str | None
    tenantId: str | None


class Streams:
    """The streams of a process; there may be so many, and so many of each caller."""

    def __init__(self, most: int = MOST, most_each: int = MOST_EACH) -> None:
        self._most = most
        self._most_each = most_each
        self._open: Counter[str | None] = Counter()

    @contextmanager
    def place(self, caller: str | None) -> Iterator[None]:
        """A place for one more, or a refusal."""
        if self._open.total() >= self._most:
            raise _too_many(f"this server has {self._most} streams open; try again later")
        if caller is not None and self._open[caller] >= self._most_each:
            raise _too_many(f"this key has {self._most_each} streams open; close one, or read from one for all")
        self._open[caller] += 1
        try:
            yield
        finally:
            self._open[caller] -= 1


def _too_many(detail: str) -> Refused:
    refused = Refused(TOO_MANY, "TOO_MANY_STREAMS", detail)
    refused.problem["retryAfterSeconds"] = RETRY_AFTER
    return refused


async def event_parts(reader: Reader) -> AsyncIterator[bytes]:
    """The bytes of a stream of events, part by part; a heartbeat carries the place, so that it never gets too old."""
    yield b"retry: %d\n\n" % RETRY_MS
    over_at = reader.clock.steady() + LONGEST
    while reader.clock.steady() < over_at:
        try:
            events = await reader.next(HEARTBEAT)
        except DulyError:  # the store does not answer, or the app was closed
            yield b": nothing can be read now; come back with Last-Event-ID\n\n"
            return
        yield b"".join(map(event_bytes, events)) or b": nothing new\nid: %d\n\n" % reader.position


def event_bytes(event: Event) -> bytes:
    """One event as the protocol has it."""
    data = _encode(event_answer(event))
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.number or 0, event.name.encode(), data)


def event_answer(event: Event) -> EventAnswer:
    return {
        "id": str(event.number),
        "type": event.name,
        "at": at(event.at),
        "scheduleId": event.schedule_id,
        "scheduleKey": event.schedule_key,
        "runId": event.run_id,
        "jobType": event.job,
        "attemptNumber": event.attempt,
        "reason": event.reason,
        "errorMessage": event.error,
        "ownerId": event.owner,
        "tenantId": event.tenant or None,
    }


async def send_parts(parts: AsyncIterator[bytes], receive: Receive, send: Send) -> None:
    """Send part after part until the client leaves, the server stops, or there is no more."""
    leaving = asyncio.ensure_future(_left(receive))
    try:
        while True:
            coming = asyncio.ensure_future(_next(parts))
            try:
                await asyncio.wait([coming, leaving], return_when=asyncio.FIRST_COMPLETED)
                part = coming.result() if coming.done() and not leaving.done() else None
            finally:
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)
            async with asyncio.timeout(SEND_WITHIN):
                if part is None:
                    await send({"type": "http.response.body", "body": b": the stream ends\n\n"})
                    return
                await send({"type": "http.response.body", "body": part, "more_body": True})
    finally:
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _next(parts: AsyncIterator[bytes]) -> bytes | None:
    return await anext(parts, None)
