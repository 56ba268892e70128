"""What a stint needs from the outside: the record, the clock, the functions that can be called."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from duly.config import Settings
from duly.core.errors import OutcomeUnknown, StoreUnavailable
from duly.core.hooks import PATH, SECRET
from duly.core.run import Run
from duly.core.schedule import DEFAULT_QUEUE, DEFAULT_TIMEOUT_MS
from duly.core.steps import Journal, Limits, Recorded
from duly.engine.context import RunContext
from duly.engine.registry import Registry
from duly.runtime.batcher import Batcher
from duly.runtime.clock import Clock
from duly.store.journal import Record
from duly.store.protocol import Stepping
from duly.store.values import Instance

from .residents import Residents

T = TypeVar("T")
MOST_RECORDS = 500
FIRST_BACKOFF = 0.05
LONGEST_BACKOFF = 2.0
log = logging.getLogger("duly.workflow")


class Steps(Stepping, Protocol):
    """What a stint asks of the store."""

    async def request_cancel(self, run_id: str) -> Run | None: ...
    async def list_instances(self) -> list[Instance]: ...
    def record_on(self, connection: Any, record: Record) -> Recorded | None: ...


class World:
    """Shared by all stints of an app: records of many runs become one transaction."""

    default_queue = DEFAULT_QUEUE
    timeout_ms = DEFAULT_TIMEOUT_MS

    def __init__(
        self,
        store: Steps,
        settings: Settings,
        clock: Clock,
        registry: Registry,
        on_children: Callable[[], None],
        transaction: Callable[[], AbstractContextManager[Any]],
    ) -> None:
        self._store = store
        self.clock = clock
        self.registry = registry
        self.result_limit = settings.result_limit
        self.max_attempts = settings.default_max_attempts
        self.limits = Limits(settings.history_steps, settings.history_bytes, settings.payload_limit)
        self.residents = Residents(settings.resident_workflows)
        self._on_children = on_children
        self.transaction = transaction
        self.hook_url = f"{settings.public_url.rstrip('/')}{PATH}"
        self._secret: str | None = None
        self._batcher: Batcher[Record, Recorded | None] = Batcher(self._flush, most=MOST_RECORDS)

    async def record(self, record: Record) -> Recorded | None:
        return await self._batcher.put(record)

    async def _flush(self, records: Sequence[Record]) -> Sequence[Recorded | Exception | None]:
        what = f"steps of {len(records)} runs wait to be recorded"
        recorded = await self._persistently(what, lambda: self._store.record_steps(records))
        if any(record.children for record in records):
            self._on_children()
        return recorded

    async def _persistently(self, what: str, call: Callable[[], Awaitable[T]]) -> T:
        """All of it may be repeated, so it is until the store answers; whose lease is gone is cancelled meanwhile."""
        backoff = FIRST_BACKOFF
        never = asyncio.Event()
        while True:
            try:
                return await call()
            except (StoreUnavailable, OutcomeUnknown) as error:
                log.warning("%s: %s", what, error)
                await self.clock.wait(never, backoff)
                backoff = min(LONGEST_BACKOFF, backoff * 2)

    def record_on(self, connection: Any, record: Record) -> Recorded | None:
        return self._store.record_on(connection, record)

    async def knows(self, handler: str) -> bool:
        """Whether this app, or a live worker, could execute runs of that name."""
        if self.registry.get(handler) is not None:
            return True
        instances = await self._persistently(f"who knows {handler} waits to be read", self._store.list_instances)
        return any(handler in instance.jobs for instance in instances)

    async def cancel(self, run_id: str) -> None:
        """Cancel a run and all below it; harmless when it has ended."""
        await self._store.request_cancel(run_id)

    async def read_journal(self, run_id: str) -> Journal:
        return await self._persistently(f"run {run_id} waits to be read", lambda: self._store.read_journal(run_id))

    async def secret(self) -> str:
        """What tokens of webhooks are signed with; asked for once."""
        if self._secret is None:
            self._secret = await self._persistently(
                "a secret waits to be read", lambda: self._store.read_secret(SECRET)
            )
        return self._secret

    def session(self, run: RunContext) -> int:
        return run._session

    def tenant(self, run: RunContext) -> str:
        return run._claim.tenant
