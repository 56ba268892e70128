"""``/worker``: what a worker says that only has HTTP. ``duly.RemoteWorker`` says it for you."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from .calls import Call

R = TypeVar("R")


class Worker(Generic[R]):
    """Every call but the first claim carries the ``session``; reports also carry ``runId`` and ``fence``."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def claim(self, body: Mapping[str, Any]) -> R:
        """Take runs: jobs, limit, waitSeconds, queues; without a ``session`` one begins.

        Not sent twice by itself: what an answer that was lost gave away, the next heartbeat tells.
        """
        return self._ask("claim", body, repeatable=False)

    def heartbeat(self, body: Mapping[str, Any]) -> R:
        """Stay alive, and hear what was cancelled and what is lost."""
        return self._ask("heartbeat", body)

    def complete(self, body: Mapping[str, Any]) -> R:
        """Report success, with a ``result``."""
        return self._ask("complete", body)

    def fail(self, body: Mapping[str, Any]) -> R:
        """Report an ``error``; ``fatal`` if it must not be tried again."""
        return self._ask("fail", body)

    def release(self, body: Mapping[str, Any]) -> R:
        """Give a run back untried, after ``snoozeSeconds`` if wished; with the session alone all, and end it."""
        return self._ask("release", body)

    def _ask(self, verb: str, body: Mapping[str, Any], *, repeatable: bool = True) -> R:
        return self._send(Call(method="POST", path=f"/api/v1/worker/{verb}", body=dict(body), repeatable=repeatable))
