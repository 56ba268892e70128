"""What tests of duly need, ours and yours: a clock that moves when told, the replay of recorded runs,
and the contract every store keeps.

``duly.testing.contract`` needs pytest; nothing else here does.
"""

from __future__ import annotations

from duly.testing.clock import ManualClock, NeverAtRest, Watched
from duly.testing.replaying import assert_replayable, history_of

__all__ = ["ManualClock", "NeverAtRest", "Watched", "assert_replayable", "history_of"]
