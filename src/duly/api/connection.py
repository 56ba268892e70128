"""One connection of a client, who may be slow, silent, or up to no good.

uvicorn's protocol waits for ever for a head, a body or a reader, takes heads of any size, and reads as many requests
ahead as are sent. This one has a time for each, a size for the head, reads a few requests ahead at most, and answers in
problem documents what is not HTTP. Whoever is cut off while still sending hears why: the connection stays half open for
a moment, because closing it would take back the answer.

When there are too many connections, the one that has kept us waiting longest makes room. If all are at work, a few more
are let in, to ask about health.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

import httptools
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from .last_words import answer, crowded, head_too_large
from .limits import HEADERS_LIMIT, SPARE, URL_LIMIT, Limits
from .problems import BAD_REQUEST, TOO_SLOW, URI_TOO_LONG, Kind

HEALTH: Final = frozenset({"/livez", "/readyz", "/healthz"})
PART_WITHIN: Final = 2.0
"""Seconds that a client has to take the last answer, before the connection is torn down."""

_PIECE: Final = 4096
"""So much is parsed before looking whether requests wait already; the smallest request has 18 bytes."""

_log = logging.getLogger("duly.api")


class ServerConfig(uvicorn.Config):
    """uvicorn's, with our limits and the connections that wait for their client, the longest first."""

    def __init__(self, app: Any, limits: Limits, **options: Any) -> None:
        super().__init__(app, http=Connection, timeout_keep_alive=0, **options)
        self.timeout_keep_alive = limits.keep_alive_timeout  # type: ignore[assignment]  # it takes fractions as well
        self.limits = limits
        self.waiting: dict[Connection, None] = {}


class Connection(HttpToolsProtocol):
    """uvicorn's protocol with an end to every wait."""

    def __init__(self, config: ServerConfig, *arguments: Any, **options: Any) -> None:
        super().__init__(config, *arguments, **options)
        self._limits = config.limits
        self._waiting = config.waiting
        self._reading = "nothing"  # or "head" or "body": what of a request has not arrived yet
        self._head_size = 0
        self._fields_size = 0
        self._unparsed = b""
        self._timer: asyncio.TimerHandle | None = None
        self._timed = ""
        self._send_timer: asyncio.TimerHandle | None = None
        self._refusal: tuple[Kind, str, str] | None = None
        self._deaf = False
        self._parting = False
        self._is_spare = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _Flow(transport)
        most = self._limits.max_connections
        if len(self.connections) > most:
            self._make_room()
            self._is_spare = len(self.connections) > most
            if len(self.connections) > most + SPARE:
                transport.abort()
                return
        self._reading = "head"
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._parting = self._deaf = True
        self._unparsed = b""
        self._stop_timer()
        self._stop_send_timer()
        self._waiting.pop(self, None)
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        self._unset_keepalive_if_required()
        self._parse(self._unparsed + data if self._unparsed else data)

    def _parse(self, data: bytes) -> None:
        """Parse until a request has to wait for the one before it; what is left waits unparsed, and no more is read."""
        self._unparsed = b""
        for start in range(0, len(data), _PIECE):
            if self.pipeline:
                self._unparsed = data[start:]
                break
            piece = data[start : start + _PIECE] if len(data) > _PIECE else data
            was = self.cycle, self._reading
            try:
                self.parser.feed_data(piece)
            except httptools.HttpParserUpgrade:
                # We speak nothing else: the request is answered, and whatever follows is not read as HTTP.
                self._answer_last()
                break
            except httptools.HttpParserError:
                self._refuse(
                    *(self._refusal or (BAD_REQUEST, "INVALID_REQUEST", "this is not HTTP/1.1 that means one thing"))
                )
                return
            if self._reading == "head" and was == (self.cycle, "head"):
                # One field without an end never comes by ``on_header``.
                self._head_size += len(piece)
                if self._head_size > HEADERS_LIMIT + _PIECE:
                    self._refuse(*head_too_large())
                    return
        self._hold()
        self._watch()

    def _hold(self) -> None:
        assert isinstance(self.flow, _Flow)
        self.flow.held = bool(self.pipeline or self._unparsed)
        if self.flow.held:
            self.flow.pause_reading()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._reading = "head"
        self._head_size = self._fields_size = 0

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > URL_LIMIT:
            self._refusal = (URI_TOO_LONG, "URI_TOO_LONG", f"the path and query have more than {URL_LIMIT} bytes")
            raise ValueError

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._fields_size += len(name) + len(value) + 4
        if self._fields_size > HEADERS_LIMIT:
            self._refusal = head_too_large()
            raise ValueError

    def on_headers_complete(self) -> None:
        if self.parser.get_http_version() not in ("1.0", "1.1"):
            raise ValueError
        if [name for name, _ in self.headers].count(b"host") > 1:
            self._refusal = (BAD_REQUEST, "INVALID_REQUEST", "the request has more than one Host; send one")
            raise ValueError
        self._reading = "body"
        self._stop_timer()
        self._waiting.pop(self, None)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._reading = "nothing"
        self._waiting.pop(self, None)
        super().on_message_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        if any(name in (b"content-length", b"transfer-encoding") for name, _ in cycle.scope["headers"]):
            cycle.transport = _Unhurried(self)  # type: ignore[assignment]  # the part of a transport that it uses
            app = _Closing(app, cycle)
        if self._is_spare:
            cycle.keep_alive = False
            app = app if cycle.scope["path"] in HEALTH else crowded
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        if self._parting:
            self.server_state.total_requests += 1
            return
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if not self.pipeline and self._unparsed:
            self.loop.call_soon(self._go_on)
        self._hold()
        self._watch()

    def _go_on(self) -> None:
        if not self._deaf and not self.transport.is_closing():
            self._unset_keepalive_if_required()
            self._parse(self._unparsed)

    def send_400_response(self, msg: str) -> None:
        self._refuse(BAD_REQUEST, "INVALID_REQUEST", msg)

    def timeout_keep_alive_handler(self) -> None:
        self.part(b"")

    def pause_writing(self) -> None:
        super().pause_writing()
        self._send_timer = self.loop.call_later(self._limits.send_timeout, self._stop_sending)

    def resume_writing(self) -> None:
        self._stop_send_timer()
        super().resume_writing()

    def part(self, last_words: bytes) -> None:
        """Say the last words, listen to nothing more, and be gone when they are read or the client had its time."""
        if self._parting or self.transport.is_closing():
            return
        self._parting = self._deaf = True
        self._unparsed = b""
        self._stop_timer()
        self._waiting.pop(self, None)
        if last_words:
            self.transport.write(last_words)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()  # to hear of its end, and to take in what would turn the answer into a reset
        self.loop.call_later(PART_WITHIN, self.transport.abort)

    def make_way(self) -> None:
        """Leave, for another."""
        _log.debug("too many connections: one that waited for its client was closed")
        self._waiting.pop(self, None)
        self.connections.discard(self)
        self.transport.abort()

    def _make_room(self) -> None:
        longest = next(iter(self._waiting), None)
        if longest is not None:
            longest.make_way()

    def _refuse(self, kind: Kind, code: str, detail: str) -> None:
        """Answer what never became a request, after what is being answered, and part."""
        _log.debug("a client was refused: %s", detail)
        if self.pipeline:
            self.part(b"")  # answers are owed in order, and this one would have to be the last of several
        elif self.cycle is None or self.cycle.response_complete:
            self.part(answer(kind, code, detail))
        elif self._reading == "body" and not self.cycle.response_started:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self.part(answer(kind, code, detail))
        else:
            self._answer_last()

    def _answer_last(self) -> None:
        """Let the request at hand be answered, hear nothing more, and part."""
        self._deaf = True
        self._unparsed = b""
        self._stop_timer()
        self.cycle.keep_alive = False
        self.cycle.transport = _Unhurried(self)  # type: ignore[assignment]  # the part of a transport that it uses

    def _watch(self) -> None:
        """Time what we wait for: a head or a body from its first byte on, however many bytes trickle in."""
        waits_for = "" if self.pipeline or self._deaf else self._reading
        if waits_for == "body" and self.cycle.response_complete:
            waits_for = ""
        if waits_for == "nothing":
            waits_for = ""
            if self.cycle.response_complete:
                self._waiting.setdefault(self)
        elif waits_for:
            self._waiting.setdefault(self)
        if waits_for == self._timed:
            return
        self._stop_timer()
        if waits_for:
            self._timed = waits_for
            limits = self._limits
            within = limits.header_timeout if waits_for == "head" else limits.body_timeout
            self._timer = self.loop.call_later(within, self._waited)

    def _waited(self) -> None:
        was, self._timed = self._timed, ""
        if was == "head" and self.cycle is not None and not self.cycle.response_complete:
            self._watch()  # the next request has begun, and the one before it is still being answered
        elif was == "head" and self.headers is None:
            self.part(b"")  # it never said a word
        else:
            what = "head" if was == "head" else "body"
            self._refuse(TOO_SLOW, "REQUEST_TIMEOUT", f"the {what} of the request did not arrive in time")

    def _stop_sending(self) -> None:
        _log.debug("a client that did not read its answer was cut off")
        self.transport.abort()

    def _stop_timer(self) -> None:
        self._timed = ""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_send_timer(self) -> None:
        if self._send_timer is not None:
            self._send_timer.cancel()
            self._send_timer = None


class _Flow(FlowControl):
    """Reads nothing more while it is held, whoever asks."""

    held = False

    def resume_reading(self) -> None:
        if not self.held:
            super().resume_reading()


class _Unhurried:
    """What a request with a body writes to: where it would close the connection, it parts."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.write = connection.transport.write
        self.is_closing = connection.transport.is_closing

    def close(self) -> None:
        self._connection.part(b"")


class _Closing:
    """An application whose answer is the last one if it comes before the body has."""

    def __init__(self, app: Any, cycle: RequestResponseCycle) -> None:
        self._app = app
        self._cycle = cycle

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def closing(message: Any) -> None:
            if self._cycle.more_body:
                self._cycle.keep_alive = False
            await send(message)

        await self._app(scope, receive, closing)
