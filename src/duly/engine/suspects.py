"""Runs that were lost before, tried few at a time: one of them may be what killed its process.

One at first; each that ends in order, or outlives its probation, lets one more be tried beside the next ones, so an
ordinary crash is worked off in ever larger groups. What died with the process has forgotten all that: the next one
begins with one again.
"""

from __future__ import annotations

from typing import NamedTuple

from duly.core.rules.suspects import NO_ROOM, Room, Suspect
from duly.core.run import Claim
from duly.runtime.clock import Clock


class _Trial(NamedTuple):
    until: float
    alone: bool


class Suspects:
    """The suspects in the hands of one instance. All calls are made on the event loop."""

    def __init__(self, clock: Clock, probation: float) -> None:
        self._clock = clock
        self._probation = probation
        self._width = 1
        self._trials: dict[str, _Trial] = {}
        self._touched_at = clock.steady()

    def room(self) -> Room:
        """How many more may be tried now."""
        now = self._clock.steady()
        for run_id in [id for id, trial in self._trials.items() if trial.until <= now]:
            self._acquit(run_id)
        if not self._trials and now - self._touched_at > self._probation:
            self._width = 1
        if any(trial.alone for trial in self._trials.values()):
            return NO_ROOM
        return Room(self._width - len(self._trials), alone=not self._trials)

    def begin(self, claim: Claim) -> None:
        alone = Suspect(claim.id, claim.attempt - 1, claim.max_attempts).goes_alone
        self._trials[claim.id] = _Trial(self._clock.steady() + self._probation, alone)

    def end(self, run_id: str) -> bool:
        """A run has ended and this process lives; True if that makes room for another suspect."""
        if run_id not in self._trials:
            return False
        self._acquit(run_id)
        return True

    def _acquit(self, run_id: str) -> None:
        del self._trials[run_id]
        self._width += 1
        self._touched_at = self._clock.steady()
