"""The only file that draws random values."""

from __future__ import annotations

import random
import secrets

from duly.core.ids import uuid7, uuid7s

from .clock import Clock


class Chance:
    """Random ids and spreads. A seed makes every draw repeatable, for tests and simulation."""

    def __init__(self, seed: int | None = None) -> None:
        self._random: random.Random = random.SystemRandom() if seed is None else random.Random(seed)
        self._seeded = seed is not None

    def id(self, clock: Clock, at: int | None = None) -> str:
        """A new UUIDv7, of now or of an instant in epoch ms that it is to be sorted by."""
        return uuid7(clock.now() if at is None else at, self.entropy(10))

    def ids(self, clock: Clock, count: int) -> list[str]:
        """So many new UUIDv7 of now, in ascending order: what is made together is found in the order it was given."""
        return uuid7s(clock.now(), self.entropy(10 * count))

    def entropy(self, size: int) -> bytes:
        """So many bytes that nobody can guess, unless a seed was given."""
        return self._random.randbytes(size) if self._seeded else secrets.token_bytes(size)

    def session(self) -> int:
        """A number for a worker session: positive, 63 bits, never drawn twice."""
        return self._random.getrandbits(62) + 1

    def spread(self, least: float, most: float) -> float:
        return self._random.uniform(least, most)
