"""What the server's clock shows, told without asking: a transaction need not wait for it before its first step."""

from __future__ import annotations

from threading import Lock

from duly.runtime.clock import Clock, SystemClock

_SLOWER = 0.0002
"""Our guess falls behind a clock by this share of the time that has passed: two clocks never run alike."""

_TOLD_FOR_S = 60.0


class ServerClock:
    """Guesses in microseconds from what was read before, never ahead of a clock that goes on as clocks do.

    A guess is not believed: the server compares it with its clock when the transaction begins.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._lock = Lock()
        self._showed: tuple[int, float] | None = None

    def guess(self) -> int | None:
        """What it shows at least by now; None where it was not read for long."""
        with self._lock:
            return self._guess(self._clock.steady())

    def read(self, shows: int) -> None:
        """It was read, a moment ago. The guess goes by the answer that came fastest, and never goes back."""
        at = self._clock.steady()
        with self._lock:
            guess = self._guess(at)
            if guess is None or shows > guess:
                self._showed = shows, at

    def forget(self) -> None:
        """The guess was wrong: the clock was set, or time has passed that we did not see."""
        with self._lock:
            self._showed = None

    def _guess(self, at: float) -> int | None:
        if self._showed is None:
            return None
        showed, read_at = self._showed
        passed = at - read_at
        return showed + int(passed * (1 - _SLOWER) * 1_000_000) if passed <= _TOLD_FOR_S else None
