"""Which pages of other sites may ask from a browser: none, unless they are named."""

from __future__ import annotations

from collections.abc import Iterable

from duly.api.http import Headers, Scope, Send

_METHODS = b"GET, HEAD, POST, PUT, PATCH, DELETE"
_ASKED = b"authorization, content-type, if-match, if-none-match, idempotency-key, last-event-id, x-request-id"
_SHOWN = b"etag, location, retry-after, x-request-id, idempotency-replayed"


class Cors:
    """Answers preflights of the origins that are named, and lets their pages read the answers."""

    def __init__(self, origins: Iterable[str] = ()) -> None:
        self._origins = frozenset(origin.rstrip("/").lower().encode() for origin in origins)

    def allows(self, scope: Scope) -> bytes | None:
        """The origin of the request, if it is one of those."""
        if not self._origins:
            return None
        origin = next((bytes(value) for name, value in scope["headers"] if name == b"origin"), None)
        return origin if origin is not None and origin.lower() in self._origins else None

    def headers(self, origin: bytes) -> Headers:
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", _SHOWN),
            (b"vary", b"origin"),
        ]

    @staticmethod
    def is_preflight(scope: Scope) -> bool:
        named = {name for name, _ in scope["headers"]}
        return scope["method"] == "OPTIONS" and b"access-control-request-method" in named

    @staticmethod
    async def answer_preflight(send: Send) -> None:
        headers: Headers = [
            (b"access-control-allow-methods", _METHODS),
            (b"access-control-allow-headers", _ASKED),
            (b"access-control-max-age", b"600"),
        ]
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
