"""What an open page hears: which topics changed since it last heard, at most once in a while, and never what it was.

However much happens, a page gets a few bytes a second, and asks for its parts itself, as whoever looks at it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from duly.api.http import Gone
from duly.api.replies import Refused
from duly.api.streaming import HEARTBEAT, LONGEST, MEDIA_TYPE, RETRY_MS, Streams, send_parts
from duly.app.events import EventFilter, Reader
from duly.core import credential
from duly.core.errors import DulyError
from duly.core.event import RESET, Event

from .page import RUNS, SCHEDULES
from .serving import Desk

PACE: Final = 1.0
"""Seconds between two messages."""

MOST_NAMED: Final = 50
"""Schedules and runs that one message names; when there are more it names none, and everything may have changed."""


class Live:
    """The stream, as an ASGI application."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._streams = Streams()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            view = await self._desk.view(request, credential.Scope.READ)
            reader = view.app.events.reader(EventFilter(whose=view.caller.whose))
            with self._streams.place(view.caller.name):
                await reader.begin()
                headers = [(b"content-type", MEDIA_TYPE.encode()), (b"x-accel-buffering", b"no")]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
                await send_parts(changes(reader), receive, send)
        except (Refused, DulyError) as error:
            # A browser does not come back by itself after a 4xx; the page asks again when it is looked at.
            await Response(status_code=error.problem["status"] if isinstance(error, Refused) else 503)(
                scope, receive, send
            )
        except TimeoutError:
            raise Gone from None


async def changes(reader: Reader) -> AsyncIterator[bytes]:
    """The bytes of the stream."""
    yield b"retry: %d\n\n" % RETRY_MS
    over_at = reader.clock.steady() + LONGEST
    while reader.clock.steady() < over_at:
        try:
            events = await reader.next(HEARTBEAT)
        except DulyError:
            return
        yield _message(events) if events else b": nothing new\n\n"
        await reader.clock.wait(asyncio.Event(), PACE)


def _message(events: Sequence[Event]) -> bytes:
    topics = {topic for event in events for topic in _topics(event)}
    named = {
        SCHEDULES: {event.schedule_id for event in events if event.schedule_id is not None},
        RUNS: {event.run_id for event in events if event.run_id is not None},
    }
    data = {"topics": sorted(topics), **{topic: sorted(ids) for topic, ids in named.items() if len(ids) <= MOST_NAMED}}
    return b"event: changed\ndata: %s\n\n" % msgspec.json.encode(data)


def _topics(event: Event) -> tuple[str, ...]:
    if event.name == RESET:
        return (SCHEDULES, RUNS)
    return (RUNS,) if event.name.startswith("run.") else (SCHEDULES,)
