"""What a handler is given: the run it works for, and whether to stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from duly.core.errors import ConfigurationError
from duly.core.instants import to_datetime
from duly.core.run import Claim
from duly.core.sealed import readable

_decode = msgspec.json.Decoder().decode


class RunContext:
    """One attempt, as its handler sees it.

    ``id`` is the same on every attempt: use it as the idempotency key of what you call. ``fence`` grows with every
    attempt: a system that refuses lower fences is safe from a worker that was believed dead.
    """

    __slots__ = ("_cancelled", "_claim", "_payload", "_session", "_state", "_waiters")

    def __init__(self, claim: Claim, state: Any = msgspec.UNSET, session: int = 0) -> None:
        self._claim = claim
        self._session = session
        self._cancelled = False
        self._state = state
        self._payload: Any = msgspec.UNSET
        self._waiters: list[Callable[[], None]] = []

    @property
    def id(self) -> str:
        return self._claim.id

    @property
    def job(self) -> str:
        return self._claim.job

    @property
    def payload(self) -> Any:
        if self._payload is msgspec.UNSET:
            self._payload = _decode(readable(self._claim.payload or "null"))
        return self._payload

    @property
    def attempt(self) -> int:
        return self._claim.attempt

    @property
    def max_attempts(self) -> int:
        return self._claim.max_attempts

    @property
    def fence(self) -> int:
        return self._claim.fence

    @property
    def schedule_id(self) -> str | None:
        return self._claim.schedule_id

    @property
    def schedule_key(self) -> str | None:
        return self._claim.key

    @property
    def window_key(self) -> str | None:
        return self._claim.window_key

    @property
    def scheduled_at(self) -> datetime:
        """The window this run stands for; for a run without one, when it was due."""
        window_at = self._claim.window_at
        return to_datetime(self._claim.due_at if window_at is None else window_at)

    @property
    def fired_at(self) -> datetime:
        return to_datetime(self._claim.fired_at)

    @property
    def state(self) -> Any:
        """What the app's ``lifespan`` yielded: pools, clients. None without one."""
        if self._state is msgspec.UNSET:
            raise ConfigurationError(
                "run.state stays in the worker's process; a handler with process=True has its own: open there what"
                " it needs"
            )
        return self._state

    @property
    def cancelled(self) -> bool:
        """True once the run should stop: it was cancelled, timed out, or now belongs to another worker."""
        return self._cancelled

    async def wait_cancelled(self) -> None:
        """Wait until the run should stop; what the handler awaits after a cancel raises CancelledError."""
        if not self._cancelled:
            event = asyncio.Event()
            self._waiters.append(event.set)
            await event.wait()

    def sync_wait_cancelled(self, timeout: float | None = None) -> bool:
        """The same for a handler in a thread; False if ``timeout`` seconds pass first."""
        event = threading.Event()
        if self._cancelled:
            return True
        self._waiters.append(event.set)
        return True if self._cancelled else event.wait(timeout)

    def _cancel(self) -> None:
        self._cancelled = True
        waiters, self._waiters = self._waiters, []
        for wake in waiters:
            wake()
