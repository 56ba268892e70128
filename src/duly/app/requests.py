"""Requests that come with a key of the client's own, so that asking again does nothing again."""

from __future__ import annotations

from dataclasses import dataclass

from duly.core.ids import asked_id
from duly.store.protocol import Requests as Store
from duly.store.values import Request

from .owning import ANYBODYS, Owning

KEEP_MS = 24 * 3600 * 1000
"""How long an answer is kept, from when it was first asked for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known of a request: the id that whatever it makes is to have, and the answer, if it had one."""

    id: str
    request: Request


class Requests:
    """Remembers them in the store, for all instances."""

    def __init__(self, store: Store, owning: Owning = ANYBODYS) -> None:
        self._store = store
        whose = owning.whose
        self.space = "" if whose is None else f"{len(whose.tenant)} {whose.tenant} {whose.owner}"
        """Each owner has keys of their own."""

    async def begin(self, key: str, asked: str, hash: str) -> Asked:
        """Write down that it begins; ``asked`` is the method and the path, ``hash`` tells it from others.

        The id is the same whenever the request is made again: also after a crash between the effect and the answer.
        """
        request = await self._store.begin_request(self.space, key, hash, keep_ms=KEEP_MS)
        return Asked(asked_id(self.space, asked, key, request.expires_at - KEEP_MS), request)

    async def answered(self, asked: Asked, status: int, answer: str) -> None:
        await self._store.end_request(asked.request, status, answer)

    async def refused(self, asked: Asked) -> None:
        """It did nothing: the key is free for a better try."""
        await self._store.drop_request(asked.request)
