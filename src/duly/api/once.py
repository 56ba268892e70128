"""``Idempotency-Key``: asked again, a request does nothing again and gets the answer of the first time.

A request is written down before it does anything, and what it makes has an id that follows from that: asked again after
a crash, it finds what is there. A request that was refused leaves its key free.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from typing import Any

import msgspec

from duly.app.requests import Requests
from duly.core.errors import DulyError, StoreError

from .problems import BAD_HEADER, CONFLICT, KEY_REUSED, problem_of
from .replies import Refused, Reply

_KEY = re.compile(r"[\x20-\x7e]{1,255}")
_REUSED = "this Idempotency-Key came with another request before; use a new key for a new request"
_BUSY = "the first request with this Idempotency-Key is still under way; ask again in a moment"
_log = logging.getLogger("duly.api")


class Kept(msgspec.Struct):
    """An answer as it is stored."""

    body: str
    revision: int | None = None
    location: str | None = None


class Once:
    """Answers each key once, and from the record after that."""

    def __init__(self) -> None:
        self._busy: dict[tuple[str, str], str] = {}

    async def __call__(
        self, requests: Requests, header: bytes, asked: str, body: Any, run: Callable[[str], Awaitable[Reply]]
    ) -> Reply:
        """Answer a request; ``asked`` is its method and path, ``run`` does it, making what it makes under an id."""
        key = header.decode("latin-1")
        if not _KEY.fullmatch(key):
            raise Refused(
                BAD_HEADER, "INVALID_HEADER", "Idempotency-Key is expected to be 1 to 255 printable ASCII characters"
            )
        told = asked.encode() + b"\n" + msgspec.json.encode(body, order="deterministic")
        hash = blake2b(told, digest_size=16).hexdigest()
        place = (requests.space, key)
        if place in self._busy:
            raise _busy() if self._busy[place] == hash else _reused()
        self._busy[place] = hash
        try:
            return await _answer(requests, key, asked, hash, run)
        finally:
            del self._busy[place]


async def _answer(requests: Requests, key: str, asked: str, hash: str, run: Callable[[str], Awaitable[Reply]]) -> Reply:
    begun = await requests.begin(key, asked, hash)
    if begun.request.hash != hash:
        raise _reused()
    if begun.request.status is not None:
        return _replay(begun.request.status, begun.request.answer or "")
    try:
        reply = await run(begun.id)
    except DulyError as error:
        if problem_of(error)[0] < 500:
            await requests.refused(begun)
        raise
    reply = reply.encoded()
    kept = Kept((reply.raw or b"").decode(), reply.revision, reply.location)
    try:
        await requests.answered(begun, reply.status, msgspec.json.encode(kept).decode())
    except StoreError as error:
        # It is done, and says so. Asked again, it is found by its id.
        _log.warning("the answer to a request with an Idempotency-Key was not kept: %s", error)
    return reply


def _replay(status: int, answer: str) -> Reply:
    kept = msgspec.json.decode(answer, type=Kept)
    return Reply(None, status, kept.revision, kept.location, raw=kept.body.encode(), replayed=True)


def _busy() -> Refused:
    return Refused(CONFLICT, "IDEMPOTENCY_KEY_IN_USE", _BUSY)


def _reused() -> Refused:
    return Refused(KEY_REUSED, "IDEMPOTENCY_KEY_REUSED", _REUSED)
