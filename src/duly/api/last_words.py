"""What a client hears of a connection that ends: problems that no request was ever made of."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from .limits import HEADERS_LIMIT
from .problems import CROWDED, HEADERS_TOO_LARGE, MEDIA_TYPE, NOT_READY, RETRY_AFTER, Kind, given_id, occurred, problem

_refused = itertools.count(1)
"""What never became a request may have no id of its own; in this process it is told apart by its number."""


def head_too_large() -> tuple[Kind, str, str]:
    """The problem of a head over the limit."""
    return HEADERS_TOO_LARGE, "HEADERS_TOO_LARGE", f"the headers have more than {HEADERS_LIMIT} bytes; send fewer"


def _document(kind: Kind, code: str, detail: str, given: str | None = None) -> tuple[list[tuple[bytes, bytes]], bytes]:
    extra = {"retryAfterSeconds": RETRY_AFTER} if kind.status == 503 else {}
    request_id = given or f"refused-{next(_refused)}"
    body = msgspec.json.encode(occurred(problem(kind, code, detail, **extra), request_id))
    headers = [
        (b"x-request-id", request_id.encode()),
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *([(b"retry-after", str(RETRY_AFTER).encode())] if extra else []),
        (b"connection", b"close"),
    ]
    return headers, body


def answer(kind: Kind, code: str, detail: str) -> bytes:
    """A problem as the bytes of an answer after which nothing comes."""
    headers, body = _document(kind, code, detail)
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return STATUS_LINE[kind.status] + lines + b"\r\n" + body


async def crowded(scope: Any, receive: Any, send: Any) -> None:
    """The application of a connection that is one too many."""
    await _refuse(scope, send, CROWDED, "TOO_MANY_CONNECTIONS", "the server has all the clients it can take; try again")


async def starting(scope: Any, receive: Any, send: Any) -> None:
    """The application until there is one."""
    await _refuse(scope, send, NOT_READY, "NOT_READY", "the server is starting; try again in a moment")


async def _refuse(scope: Any, send: Any, kind: Kind, code: str, detail: str) -> None:
    headers, body = _document(kind, code, detail, given_id(scope["headers"]))
    await send({"type": "http.response.start", "status": kind.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
