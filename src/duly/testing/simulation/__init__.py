"""A fleet in one process on virtual time: the real engine and the real SQL, every fault drawn from a seed.

``simulate(seed)`` runs some minutes of a fleet's life in a fraction of a second: instances crash, freeze, lose the
store, and nobody knows whether a commit was done; then everything heals and all must come to rest. What has to be in
the store in the end is worked out by an oracle that shares no code with the engine. The same seed is the same life, to
the last call: a failure is found again by its number.
"""

from __future__ import annotations

from .life import Life, Report, simulate
from .zombies import Zombies

__all__ = ["Life", "Report", "Zombies", "simulate"]
