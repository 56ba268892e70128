"""Requests with a key of the client's own: what was asked, and what was answered."""

from __future__ import annotations

from duly.store.statements import Program, query
from duly.store.values import Request


def begin_request(now: int, tenant: str, key: str, hash: str, keep_ms: int) -> Program[Request]:
    """Write down that a request begins, or find what is known of it; see ``Requests.begin_request``."""
    yield query("begin_request", tenant=tenant, key=key, hash=hash, expires_at=now + keep_ms, now=now)
    rows = yield query("read_request", tenant=tenant, key=key)
    if not rows:  # another instance was refused it in this moment
        return Request(tenant, key, hash, now + keep_ms)
    found, status, answer, expires_at = rows[0]
    return Request(tenant, key, found, expires_at, status, answer)


def end_request(now: int, request: Request, status: int, answer: str) -> Program[None]:
    yield query(
        "end_request",
        tenant=request.tenant,
        key=request.key,
        hash=request.hash,
        status=status,
        answer=answer,
        expires_at=request.expires_at,
    )


def drop_request(now: int, request: Request) -> Program[None]:
    yield query("drop_request", tenant=request.tenant, key=request.key, hash=request.hash)


def purge_requests(now: int, limit: int) -> Program[int]:
    return len((yield query("purge_requests", now=now, limit=limit)))
