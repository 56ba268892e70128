"""How much may be on its way to one host: a slow one keeps its own messages waiting, and nobody else's."""

from __future__ import annotations

from collections import OrderedDict

from duly.runtime.clock import Clock

AT_ONCE = 8
"""Messages on their way to one host from one process."""

_REMEMBERED = 10_000
_QUICK = 0.05
_LONGEST_WAIT = 300.0
_FAILURES = 5
"""Times in a row that nobody was there, after which one message at a time is sent."""


class Gate:
    """The way to one host. What finds no room is told when to come again, each at a time of its own.

    So a host that answers nothing costs every message one wait, however many there are, and no place of a worker.
    """

    __slots__ = ("_busy", "_clock", "_failures", "_next_at", "_takes")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._busy = 0
        self._failures = 0
        self._takes = _QUICK
        self._next_at = 0.0

    @property
    def idle(self) -> bool:
        return self._busy == 0 and self._next_at <= self._clock.steady()

    def enter(self) -> float | None:
        """Take a place (None), or answer after how many seconds there may be one."""
        room = 1 if self._failures >= _FAILURES else AT_ONCE
        if self._busy < room:
            self._busy += 1
            return None
        now = self._clock.steady()
        self._next_at = min(max(now, self._next_at) + self._takes / room, now + _LONGEST_WAIT)
        return max(self._next_at - now, _QUICK)

    def leave(self, took: float, *, reached: bool) -> None:
        """Give the place back; ``reached`` says whether anybody was there."""
        self._busy -= 1
        self._failures = 0 if reached else self._failures + 1
        self._takes = max(_QUICK, (self._takes + took) / 2)


class Gates:
    """The gates of all hosts that messages go to."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._gates: OrderedDict[str, Gate] = OrderedDict()

    def of(self, host: str) -> Gate:
        gate = self._gates.get(host)
        if gate is None:
            gate = self._gates[host] = Gate(self._clock)
            self._forget()
        self._gates.move_to_end(host)
        return gate

    def _forget(self) -> None:
        """Drop the ones that have not been used for longest, if nothing is on its way through them."""
        for host in list(self._gates)[: max(0, len(self._gates) - _REMEMBERED)]:
            if self._gates[host].idle:
                del self._gates[host]
