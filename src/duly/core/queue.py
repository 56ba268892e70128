"""A queue: a named line of runs, what limits it, and what is in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .instants import to_datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    """What is kept of a queue that somebody has set up or paused. Instants in epoch ms.

    At most ``max_running`` runs are claimed at once, and at most ``rate`` are claimed in each window of ``per_ms``;
    ``window_at`` and ``used`` are the present window and what was started in it. A ``fair`` queue serves its keys in
    turn; ``served`` is the one that was served last. ``newest_first`` turns the order of arrival round.
    """

    name: str
    max_running: int | None = None
    rate: int | None = None
    per_ms: int | None = None
    window_at: int | None = None
    used: int = 0
    fair: bool = False
    newest_first: bool = False
    served: str | None = None
    paused_at: int | None = None
    paused_by: str | None = None
    pause_reason: str | None = None
    updated_at: int = 0

    @property
    def paused(self) -> bool:
        return self.paused_at is not None

    @property
    def governed(self) -> bool:
        """Whether a claim has to ask before it takes from this queue; one that is not costs a claim nothing."""
        limited = self.max_running is not None or self.rate is not None
        return limited or self.paused or self.fair or self.newest_first


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue as people see it. ``waiting`` runs are due, ``scheduled`` ones are not yet."""

    state: QueueState
    running: int = 0
    waiting: int = 0
    scheduled: int = 0

    @property
    def name(self) -> str:
        return self.state.name

    @property
    def max_running(self) -> int | None:
        return self.state.max_running

    @property
    def rate(self) -> int | None:
        """How many runs may start in each period, or None."""
        return self.state.rate

    @property
    def per(self) -> float | None:
        """The seconds of a period of the rate."""
        return None if self.state.per_ms is None else self.state.per_ms / 1000

    @property
    def fair(self) -> bool:
        """Whether keys (tenants, unless a run has another key) are served in turn."""
        return self.state.fair

    @property
    def newest_first(self) -> bool:
        return self.state.newest_first

    @property
    def paused(self) -> bool:
        return self.state.paused

    @property
    def paused_at(self) -> datetime | None:
        return to_datetime(self.state.paused_at)

    @property
    def paused_by(self) -> str | None:
        return self.state.paused_by

    @property
    def paused_reason(self) -> str | None:
        return self.state.pause_reason
