"""What was seen of a store, kept beside it: an older copy that takes its place is noticed by it."""

from __future__ import annotations

from dataclasses import dataclass

from duly.core.switch import FiringState


@dataclass(frozen=True, slots=True)
class Remembered:
    """Which store it was, and how far it had come."""

    store_id: str
    epoch: int
    ticks: int

    def is_ahead_of(self, state: FiringState) -> bool:
        """Whether the store was further once than it is now."""
        return self.store_id == state.store_id and (self.epoch, self.ticks) > (state.epoch, state.ticks)
