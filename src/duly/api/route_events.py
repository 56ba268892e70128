"""``GET /events``: what happens in the whole fleet, as it happens."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope

from . import queries
from .http import Call
from .operations.events import reader_of
from .problems import BAD_HEADER
from .replies import Refused, Reply
from .route import Route
from .streaming import EventAnswer, event_parts


async def _events(app: Duly, call: Call) -> Reply:
    reader = reader_of(app, call.query, _position(call.last_event_id), call.caller.whose)
    await reader.begin()
    return Reply(stream=event_parts(reader))


def _position(given: str | None) -> int | None:
    if not given:
        return None
    if given.isascii() and given.isdecimal() and len(given) <= 18:
        return int(given)
    raise Refused(BAD_HEADER, "INVALID_HEADER", "Last-Event-ID is not the id of an event; expected a whole number")


EVENTS = Route(
    method="GET",
    path="/events",
    name="streamEvents",
    summary="Follow what happens, as server-sent events",
    said="Never ends by itself; a comment comes at least every 15 seconds. Reconnect with `Last-Event-ID` and nothing "
    "is missed or doubled. `stream.reset` says that something before it was not told, and why (`began`, `too_old`, "
    "`unknown`): read again what you show. Events are kept for five minutes, and only while somebody listens.",
    run=_events,
    scope=Scope.READ,
    query=queries.EVENTS,
    answer=EventAnswer,
    streams=True,
    codes=("INVALID_HEADER", "TOO_MANY_STREAMS"),
)
