"""What a dialect must offer: run a program inside one transaction, and read the store's clock in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .presence import Presence
from .remembering import Remembered
from .statements import T, Transaction


class Driver(Protocol):
    """Runs transactions. All answers are values; all failures are errors of ``duly.core.errors``.

    A transaction may be tried more than once; what its program does beside its steps must bear that.
    """

    name: str
    fires_at_once: int
    presence: Presence

    async def open(self) -> None:
        """Connect and migrate; refuse a newer or a foreign schema by name."""
        ...

    async def close(self) -> None: ...

    async def checks(self) -> list[str]:
        """Say what about this database weakens a promise; an empty list is good."""
        ...

    def open_sync(self) -> None:
        """The same as ``open`` for a caller that has no event loop; nobody is told hints."""
        ...

    def close_sync(self) -> None: ...

    async def write(self, transaction: Transaction[T], *, due: int | None = None, engine: bool = False) -> T:
        """Run a program in a read-write transaction and commit it; an error rolls back and is raised.

        Where the store's clock is only a moment short of ``due``, the program may begin exactly then, never before. One
        that is the ``engine``'s does not wait behind those of callers, who may all wait for a lock.
        """
        ...

    async def read(self, transaction: Transaction[T], *, engine: bool = False) -> T:
        """Run a program that only reads."""
        ...

    def write_sync(self, transaction: Transaction[T]) -> T:
        """The same as ``write`` for a caller that has no event loop; blocks the calling thread."""
        ...

    def read_sync(self, transaction: Transaction[T]) -> T: ...

    async def write_on(self, connection: Any, transaction: Transaction[T]) -> T:
        """Run a program on a connection the caller owns, inside the caller's transaction; commit nothing."""
        ...

    def write_on_sync(self, connection: Any, transaction: Transaction[T]) -> T:
        """The same as ``write_on`` for a caller that has no event loop."""
        ...

    def remembered(self) -> Remembered | None:
        """What was last kept beside the store by ``remember``; None where nothing can be."""
        ...

    def remember(self, seen: Remembered) -> None: ...

    def hint(self, topic: str) -> None:
        """Tell other instances, some time soon and at most a few times a second, that a topic changed."""
        ...

    def on_hint(self, listener: Callable[[str], None]) -> None:
        """Call the listener on the event loop for hints of other instances."""
        ...
