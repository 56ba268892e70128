"""The switch of the whole fleet: whether anything fires, and if not, since when, by whom and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Backlog(StrEnum):
    """What becomes of the windows that fell due while nothing fired.

    ``fire``: each schedule's own catch-up policy decides, as after an outage. ``skip``: none of them fires.
    ``latest``: of each schedule the newest one fires. What does not fire is recorded as skipped.
    """

    FIRE = "fire"
    SKIP = "skip"
    LATEST = "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringState:
    """How the store stands. ``epoch`` rises with each restore from a backup; ``ticks`` grow as long as somebody runs.

    ``restored_at`` is set from a restore until an operator has chosen what becomes of the backlog.
    """

    paused_at: datetime | None = None
    by: str | None = None
    reason: str | None = None
    restored_at: datetime | None = None
    epoch: int = 1
    ticks: int = 0
    store_id: str = ""

    @property
    def paused(self) -> bool:
        return self.paused_at is not None
