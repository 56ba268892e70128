"""One request in, one answer out: bytes, headers and limits. It speaks ASGI and knows no web framework."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import msgspec

from duly.app import Duly
from duly.core import credential
from duly.core.credential import ANYBODY, Caller
from duly.core.errors import DulyError, OutcomeUnknown, PayloadTooLarge, StoreError

from . import streaming
from .findings import Findings
from .matching import Match, asks_for_none, read_match
from .once import Once
from .problems import (
    BAD_HEADER,
    MEDIA_TYPE,
    NOT_ALLOWED,
    TOO_SLOW,
    UNSUPPORTED,
    internal,
    occurred,
    problem,
    problem_of,
)
from .queries import read_query
from .reading import BodyUnreadable, json_value
from .replies import Refused, Reply

if TYPE_CHECKING:
    from .auth.guard import Guard

BODY_LIMIT = 1024 * 1024
PARAMETERS_LIMIT = 100
REQUEST_ID = "duly.request_id"
PREFIX = "/api/v1"
TOO_SLOW_WORDS = "the body did not arrive in time; send it again"

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

_log = logging.getLogger("duly.api")
_encode = msgspec.json.Encoder().encode
_JSON_TYPE = re.compile(r"application/(?:[\w.-]+\+)?json\s*(?:;\s*charset=\"?utf-8\"?\s*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Call:
    """What a request says, read and not yet judged."""

    ref: str = ""
    name: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    if_match: Match | None = None
    if_absent: bool = False
    if_match_needed: bool = False
    root: str = ""
    id: str | None = None
    """What the request makes is to have this id, where the client named the request."""
    caller: Caller = ANYBODY
    last_event_id: str | None = None

    @property
    def by(self) -> str | None:
        """What the audit trail is to say."""
        return self.caller.name


Run = Callable[[Duly, Call], Awaitable[Reply]]


class Gone(Exception):
    """The client left before its request was complete."""


@dataclass(frozen=True, slots=True)
class Method:
    """How one method of a path is served."""

    run: Run
    takes_body: bool = False
    needs_body: bool = False
    takes_query: bool = False
    keyed: bool = False
    if_match: bool = False
    scope: credential.Scope | None = None
    waits: bool = False
    open: bool = False
    local_first: bool = False


class Endpoint:
    """One path with its methods, as an ASGI application."""

    def __init__(self, guard: Guard, methods: Mapping[str, Method], *, deadline: float, once: Once) -> None:
        self._guard = guard
        self._methods = dict(methods)
        self._allow = ", ".join(sorted({*methods, *(["HEAD"] if "GET" in methods else [])})).encode()
        self._deadline = deadline
        self._once = once
        self._streams = streaming.Streams()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = self._methods.get("GET" if scope["method"] == "HEAD" else scope["method"])
        if method is None:
            detail = f"{scope['method'][:20]} is not allowed here; expected {self._allow.decode()}"
            refusal = problem(NOT_ALLOWED, "METHOD_NOT_ALLOWED", detail)
            await send_problem(send, scope, refusal, [(b"allow", self._allow)])
            return
        call: Call | None = None
        try:
            async with asyncio.timeout(self._deadline):
                guard = self._guard
                if method.open:
                    caller = guard.stranger(scope)
                else:
                    caller = await guard.caller(scope, method.scope)
                if method.local_first:
                    guard.check_first_key(scope, caller)
                call = replace(await self._read(method, scope, receive), caller=caller)
                answer = self._answer(method, call, scope)
                reply = await (_unless_gone(receive, answer) if method.waits else answer)
        except Gone:
            return
        except Refused as refused:
            await send_problem(send, scope, refused.problem)
        except DulyError as error:
            await _send_error(send, scope, error)
        except TimeoutError:
            if call is None:
                await send_problem(send, scope, problem(TOO_SLOW, "REQUEST_TIMEOUT", TOO_SLOW_WORDS))
            else:
                await _send_error(send, scope, OutcomeUnknown("the request reached its deadline"))
        else:
            if reply.stream is None:
                await _send_reply(send, scope, reply)
            else:
                await self._stream(reply.stream, call.caller, scope, receive, send)

    async def _stream(
        self, parts: AsyncIterator[bytes], caller: Caller, scope: Scope, receive: Receive, send: Send
    ) -> None:
        headers = [(b"content-type", streaming.MEDIA_TYPE.encode()), (b"x-accel-buffering", b"no")]
        try:
            with self._streams.place(caller.name):
                await send({"type": "http.response.start", "status": 200, "headers": headers})
                if scope["method"] == "HEAD":
                    await send({"type": "http.response.body", "body": b""})
                else:
                    await streaming.send_parts(parts, receive, send)
        except Refused as refused:
            await send_problem(send, scope, refused.problem)
        except TimeoutError:
            _log.info("a client did not read its stream and was cut off, request %s", scope.get(REQUEST_ID))
            raise Gone from None

    async def _answer(self, method: Method, call: Call, scope: Scope) -> Reply:
        app = self._guard.app_for(call.caller)
        keys = [value for name, value in scope["headers"] if name == b"idempotency-key"] if method.keyed else []
        if len(keys) > 1:
            raise Refused(BAD_HEADER, "INVALID_HEADER", "Idempotency-Key is given twice; give it once")
        if not keys:
            return await method.run(app, call)
        asked = f"{scope['method']} {scope['path'].removeprefix(call.root)}"
        if call.query:
            asked += f"?{urlencode(sorted(call.query.items()))}"
        return await self._once(
            app.requests, keys[0], asked, call.body, lambda id: method.run(app, replace(call, id=id))
        )

    async def _read(self, method: Method, scope: Scope, receive: Receive) -> Call:
        headers = {name: value for name, value in scope["headers"] if name in _READ_HEADERS}
        body = None
        if method.takes_body:
            raw = await _read_body(headers, receive)
            if raw:
                _check_type(headers)
                body = json_value(raw)
            elif method.needs_body:
                raise BodyUnreadable("the body is empty; expected a JSON object")
        query = _query(scope["query_string"]) if scope["query_string"] else {}
        if query and not method.takes_query:
            read_query(query, {})
        match, none_match = _list(scope, b"if-match"), _list(scope, b"if-none-match")
        return Call(
            ref=scope.get("path_params", {}).get("ref", ""),
            name=scope.get("path_params", {}).get("name", ""),
            query=query,
            body=body,
            if_match=read_match(match) if match is not None and method.if_match else None,
            if_absent=none_match is not None and asks_for_none(none_match),
            if_match_needed=self._guard.policy.require_if_match,
            root=scope.get("root_path", ""),
            last_event_id=headers.get(b"last-event-id", b"").decode("latin-1"),
        )


async def _unless_gone(receive: Receive, answer: Coroutine[Any, Any, Reply]) -> Reply:
    """Make an answer as long as the client waits for it."""
    making, leaving = asyncio.create_task(answer), asyncio.ensure_future(receive())
    try:
        await asyncio.wait({making, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not making.done():
            raise Gone
        return making.result()
    finally:
        leaving.cancel()
        making.cancel()
        await asyncio.gather(making, leaving, return_exceptions=True)


async def send_problem(send: Send, scope: Scope, document: dict[str, Any], headers: Headers | None = None) -> None:
    """Answer a problem; it names the request, so that the log can be asked about it."""
    document = occurred(document, scope.get(REQUEST_ID))
    extra = list(headers or [])
    if document["status"] == 401:
        extra.append((b"www-authenticate", b'Bearer realm="duly"'))
    if "retryAfterSeconds" in document:
        extra.append((b"retry-after", str(document["retryAfterSeconds"]).encode()))
    await send_bytes(send, document["status"], _encode(document), MEDIA_TYPE.encode(), extra)


async def send_bytes(send: Send, status: int, body: bytes, media_type: bytes, headers: Headers) -> None:
    start = [(b"content-type", media_type), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})


async def _send_reply(send: Send, scope: Scope, reply: Reply) -> None:
    headers: Headers = []
    if reply.revision is not None:
        headers.append((b"etag", b'"%d"' % reply.revision))
    if reply.location is not None:
        headers.append((b"location", f"{scope.get('root_path', '')}{PREFIX}{reply.location}".encode()))
    if reply.replayed:
        headers.append((b"idempotency-replayed", b"true"))
    reply = reply.encoded()
    if reply.raw is None:
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    await send_bytes(send, reply.status, reply.raw, b"application/json", headers)


async def _send_error(send: Send, scope: Scope, error: DulyError) -> None:
    status, document = problem_of(error)
    if isinstance(error, StoreError):
        # One line: in an outage every request comes by here, and the stack says nothing new.
        _log.warning("the store did not answer, request %s: %s", scope.get(REQUEST_ID), error)
    elif status >= 500:
        _log.error("an error that nobody foresaw, request %s", scope.get(REQUEST_ID), exc_info=error)
    await send_problem(send, scope, document)


async def send_internal(send: Send, scope: Scope, error: BaseException) -> None:
    """Answer an error that nobody foresaw with its request id and nothing else; the log has the rest."""
    _log.error("an error that nobody foresaw, request %s", scope.get(REQUEST_ID), exc_info=error)
    await send_problem(send, scope, internal())


_READ_HEADERS = frozenset({b"content-type", b"content-length", b"content-encoding", b"last-event-id"})


def _list(scope: Scope, wanted: bytes) -> bytes | None:
    """A header that is a list: its lines are one, as HTTP has it."""
    lines = [value for name, value in scope["headers"] if name == wanted]
    return b", ".join(lines) if lines else None


async def _read_body(headers: Mapping[bytes, bytes], receive: Receive) -> bytes:
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise Refused(UNSUPPORTED, "UNSUPPORTED_MEDIA_TYPE", "the body is compressed; send it as it is")
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length[:20]) > BODY_LIMIT:
        raise _too_large()
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > BODY_LIMIT:
            raise _too_large()
        if chunk:
            chunks.append(chunk)
        if not message.get("more_body", False):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _too_large() -> PayloadTooLarge:
    return PayloadTooLarge(f"the body is larger than {BODY_LIMIT} bytes; send less, or a reference to it")


def _check_type(headers: Mapping[bytes, bytes]) -> None:
    given = headers.get(b"content-type", b"").decode("latin-1")
    if not _JSON_TYPE.fullmatch(given.strip()):
        shown = f"is {given[:60]!r}" if given else "is missing"
        detail = f"Content-Type {shown}; expected application/json, in UTF-8"
        raise Refused(UNSUPPORTED, "UNSUPPORTED_MEDIA_TYPE", detail)


def _query(raw: bytes) -> dict[str, str]:
    findings = Findings()
    try:
        pairs = parse_qsl(raw.decode("latin-1"), keep_blank_values=True, max_num_fields=PARAMETERS_LIMIT)
    except ValueError:
        findings.add(f"there are more than {PARAMETERS_LIMIT} query parameters", parameter="")
        pairs = []
    query: dict[str, str] = {}
    for name, value in pairs:
        if name in query:
            findings.add(f"query parameter {name[:60]!r} is given twice; give it once", parameter=name[:60])
        query[name] = value
    findings.check()
    return query
