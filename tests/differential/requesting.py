"""Requests with a key, as the model keeps them."""

from dataclasses import replace

from duly.runtime.clock import Clock
from duly.store.values import Request


class RequestsModel:
    """The part of the model that remembers answers."""

    _clock: Clock
    requests: dict[tuple[str, str], Request]

    async def begin_request(self, tenant: str, key: str, hash: str, *, keep_ms: int) -> Request:
        now = self._clock.now()
        known = self.requests.get((tenant, key))
        if known is None or known.expires_at <= now:
            self.requests[tenant, key] = Request(tenant, key, hash, now + keep_ms)
        return self.requests[tenant, key]

    async def end_request(self, request: Request, status: int, answer: str) -> None:
        known = self.requests.get((request.tenant, request.key), request)
        if known.status is None and known.hash == request.hash:
            self.requests[request.tenant, request.key] = replace(known, status=status, answer=answer)

    async def drop_request(self, request: Request) -> None:
        known = self.requests.get((request.tenant, request.key))
        if known is not None and known.status is None and known.hash == request.hash:
            del self.requests[request.tenant, request.key]

    async def purge_requests(self, *, limit: int) -> int:
        old = [key for key, one in self.requests.items() if one.expires_at <= self._clock.now()][:limit]
        for key in old:
            del self.requests[key]
        return len(old)
