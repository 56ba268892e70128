"""What a store promises: one method is one transaction.

Methods take and answer values of ``duly.core`` and ``duly.store.values``; no row, cursor or driver exception gets out.
They raise only errors of ``duly.core.errors``: ``StoreUnavailable`` when nothing was done, ``OutcomeUnknown`` when it
may have been done. Every method may be repeated with the same arguments after either; only a signal is then sent twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from .asking import Calendars, Changes, DeadLetters, Operations, Queues, Requests, Runs, Schedules, Switching
from .guarding import Keys, Seeing
from .notices import Webhooks
from .watching import Watching
from .working import Auditing, Claiming, Firing, Keeping, Sessions, Stepping

__all__ = [
    "Auditing",
    "Calendars",
    "Changes",
    "Claiming",
    "DeadLetters",
    "Firing",
    "Keeping",
    "Keys",
    "Operations",
    "Queues",
    "Requests",
    "Runs",
    "Schedules",
    "Seeing",
    "Sessions",
    "Stepping",
    "Store",
    "Switching",
    "Watching",
    "Webhooks",
]


class Store(
    Schedules,
    Changes,
    Calendars,
    Operations,
    Switching,
    Firing,
    Runs,
    Claiming,
    Stepping,
    Queues,
    DeadLetters,
    Requests,
    Keys,
    Seeing,
    Watching,
    Webhooks,
    Sessions,
    Keeping,
    Auditing,
    Protocol,
):
    """Everything the engine and the app need."""

    name: str
    fires_at_once: int
    """How many fires may usefully be under way at a time in one instance."""

    async def open(self) -> None:
        """Connect, and set up or check the schema."""
        ...

    async def close(self) -> None: ...

    async def now(self) -> int:
        """The store's clock, epoch ms: it decides what is due and whose lease has ended."""
        ...

    def on_change(self, listener: Callable[[str], None]) -> None:
        """Call ``listener`` (on the event loop) with what another instance changed: "schedules", "runs" or "events".

        A hint only: it may be late, doubled or lost, and polling is the guarantee.
        """
        ...
