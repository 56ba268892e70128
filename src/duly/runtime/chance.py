"""The only file that draws random values."""

from __future__ import annotations

import random
import secrets

from duly.core.ids import uuid7

from .clock import Clock


class Chance:
    """Random ids and spreads. A seed makes every draw repeatable, for tests and simulation."""

    def __init__(self, seed: int | None = None) -> None:
        self._random: random.Random = random.SystemRandom() if seed is None else random.Random(seed)
        self._seeded = seed is not None

    def id(self, clock: Clock, at: int | None = None) -> str:
        """A new UUIDv7, of now or of an instant in epoch ms that it is to be sorted by."""
        return uuid7(clock.now() if at is None else at, self.entropy(10))

    def entropy(self, size: int) -> bytes:
        """So many bytes that nobody can guess, unless a seed was given."""
        return self._random.randbytes(size) if self._seeded else secrets.token_bytes(size)

    def session(self) -> int:
        """A number for a worker session: positive, 63 bits, never drawn twice."""
        return self._random.getrandbits(62) + 1

    def spread(self, least: float, most: float) -> float:
        return self._random.uniform(least, most)
