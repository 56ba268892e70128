"""The app under measurement: its jobs do nothing but note when they began."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from duly import Duly, RunContext, Settings
from duly.core.run import RunStatus
from duly.runtime.events import Observer

DUE = "tick"
"""The job of what falls due while we measure."""
STOCK = "stock"
"""The job of what merely lies in the store."""


class Notes(Observer):
    """When handlers began, and when the store had confirmed how many ends."""

    def __init__(self, enough: int | None = None) -> None:
        self.starts: list[tuple[str, float]] = []
        self.ended = 0
        self.last_at = 0.0
        self.enough = asyncio.Event()
        self._wanted = enough

    def runs_ended(self, ended: Mapping[str, RunStatus]) -> None:
        self.ended += len(ended)
        self.last_at = time.time()
        if self._wanted is not None and self.ended >= self._wanted:
            self.enough.set()


def make_app(
    url: str,
    *,
    settings: Mapping[str, Any] | None = None,
    roles: Sequence[str] = ("scheduler", "worker"),
    notes: Notes | None = None,
) -> Duly:
    """An app with the two jobs; nothing is opened yet."""
    chosen = Settings(**{"ramp_up": 0, **(settings or {})})  # nothing here has to be spared after a start
    app = Duly(url, roles=roles, settings=chosen, observers=[notes] if notes else [])
    starts = notes.starts if notes else []

    @app.job(DUE)
    async def tick(run: RunContext) -> None:
        starts.append((run.id, time.time()))

    @app.job(STOCK)
    async def stock(run: RunContext) -> None: ...

    return app
