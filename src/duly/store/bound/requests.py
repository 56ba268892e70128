"""Requests, bound to their programs."""

from __future__ import annotations

from functools import partial

from duly.store.methods import requests
from duly.store.values import Request

from .base import Bound


class BoundRequests(Bound):
    """``protocol.Requests`` on a driver."""

    async def begin_request(self, tenant: str, key: str, hash: str, *, keep_ms: int) -> Request:
        return await self._write(partial(requests.begin_request, tenant=tenant, key=key, hash=hash, keep_ms=keep_ms))

    async def end_request(self, request: Request, status: int, answer: str) -> None:
        await self._write(partial(requests.end_request, request=request, status=status, answer=answer))

    async def drop_request(self, request: Request) -> None:
        await self._write(partial(requests.drop_request, request=request))

    async def purge_requests(self, *, limit: int) -> int:
        return await self._write(partial(requests.purge_requests, limit=limit))
