"""What the contract asks for beyond the protocol: to look behind a store, and to hurt it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from duly.store.protocol import Store
from duly.testing.clock import ManualClock
from tests.contract.suite.tables import Dump


class Crash(Exception):
    """The process is gone in the middle of a transaction."""


class Access(Protocol):
    """The back door to one database; tests that need it are skipped for a store that has none."""

    async def another(self, clock: ManualClock | None = None) -> Store:
        """Open a second store on the same database, as another process would; by default on the same clock."""
        ...

    async def dump(self) -> Dump:
        """Everything that is committed; see ``tests.contract.suite.tables``."""
        ...

    async def damage(self, schedule_id: str) -> None:
        """Make the stored definition of a schedule unreadable."""
        ...

    async def rewind(self, schedule_id: str, window_at: int) -> None:
        """Set the cursor of a schedule back, so that a window that it has dealt with is due once more."""
        ...

    async def stop_firing(self, at: int | None) -> None:
        """Throw the switch that stops every fire since an instant, or with None let them go on."""
        ...

    async def crash_after(self, statements: int, call: Callable[[Store], Awaitable[Any]]) -> bool:
        """Make a call and cut its transaction off after so many statements; False if it was over before that."""
        ...
