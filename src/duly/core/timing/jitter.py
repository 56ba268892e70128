"""``Jitter``: a delay that spreads the fires of many schedules, the same on every instance."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from duly.core.timing.refusal import refused

MAX_JITTER_MS: Final = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Jitter:
    """A delay of ``min_ms`` up to but not including ``max_ms`` for each window.

    It is drawn from a hash of the schedule's key and the window: new for each window, the same everywhere and after
    every restart. The window stays the run's identity; only the start moves.
    """

    min_ms: int
    max_ms: int

    def __post_init__(self) -> None:
        for name, value in (("min_ms", self.min_ms), ("max_ms", self.max_ms)):
            if type(value) is not int or not 0 <= value <= MAX_JITTER_MS:
                raise refused(f"jitter.{name}", value, f"whole milliseconds from 0 to {MAX_JITTER_MS}")
        if self.min_ms > self.max_ms:
            raise refused("jitter.min_ms", self.min_ms, f"at most max_ms, which is {self.max_ms}")

    def delay_ms(self, key: str, window_ms: int) -> int:
        """How long the window of the schedule ``key`` waits, in milliseconds."""
        digest = blake2b(f"{key}:{window_ms}".encode(), digest_size=8).digest()
        return self.min_ms + (int.from_bytes(digest, "big") * (self.max_ms - self.min_ms) >> 64)

    def fire_at_ms(self, key: str, window_ms: int, next_window_ms: int | None) -> int:
        """When the window fires: after its delay, but always before the next window."""
        fire_at = window_ms + self.delay_ms(key, window_ms)
        if next_window_ms is not None and fire_at >= next_window_ms:
            return max(window_ms, next_window_ms - 1)
        return fire_at
