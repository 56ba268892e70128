"""Presence: what a dialect can tell about who is alive without waiting for a lease to run out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Presence(Protocol):
    """Signs of life of sessions. A hint that saves time: what it cannot tell, the lease decides."""

    def enter(self, session: int) -> None:
        """This process is about to open a session: from now on others see it alive while the process lives."""
        ...

    def leave(self, session: int) -> None:
        """The session was closed in order."""
        ...

    def dead(self) -> Sequence[int]:
        """Sessions whose process is gone for certain, until they are forgotten."""
        ...

    def forget(self, sessions: Sequence[int]) -> None:
        """The store has taken what these sessions held."""
        ...


class NoPresence:
    """Where nothing is known of other processes: leases decide alone."""

    def enter(self, session: int) -> None: ...

    def leave(self, session: int) -> None: ...

    def dead(self) -> Sequence[int]:
        return ()

    def forget(self, sessions: Sequence[int]) -> None: ...
