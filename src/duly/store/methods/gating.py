"""Gates: what one claim may take from the queues that somebody limited.

A limit holds for the whole fleet because the claims of a queue pass through its row one after another. The row is
locked first and the running runs are counted by a later statement, so the count sees every claim that was made under
the lock before. Nothing is counted up or down, so nothing can drift: a place is free as soon as its run is settled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from duly.core.queue import QueueState
from duly.core.rules.flow import after_starts, allowance, is_full, opens_at
from duly.store.codec import read_queue
from duly.store.statements import Program, batch, columns, group, query

SPENT = ("name", "window_at", "used", "served")


class Gate:
    """One governed queue during one claim."""

    def __init__(self, queue: QueueState, running: int, now: int) -> None:
        self.queue = queue
        self._running = running
        self._now = now
        self._taken = 0
        self.served = queue.served

    @property
    def capped(self) -> bool:
        """Whether the end of a run may let another one start."""
        return self.queue.max_running is not None

    @property
    def full(self) -> bool:
        """Whether runs that are left have to wait for the end of another one."""
        return is_full(self.queue, self._running + self._taken)

    @property
    def opens_at(self) -> int | None:
        return opens_at(self.after, self._now)

    @property
    def after(self) -> QueueState:
        """The queue as this claim leaves it."""
        after = after_starts(self.queue, self._taken, self._now)
        return after if after.served == self.served else replace(after, served=self.served)

    def room(self, wanted: int) -> int:
        """How many of the runs that are wanted may be taken."""
        most = allowance(self.after, self._running + self._taken, self._now)
        return wanted if most is None else min(wanted, most)

    def take(self, count: int) -> None:
        self._taken += count


def open_gates(now: int, names: Sequence[str]) -> Program[dict[str, Gate]]:
    """Lock governed queues, then count what is running in them."""
    if not names:
        return {}
    locked, counted = yield group(query("lock_queues", names=names), query("count_running", names=names))
    running = dict(counted)
    queues = [read_queue(row) for row in locked]
    return {queue.name: Gate(queue, running.get(queue.name, 0), now) for queue in queues}


def close_gates(gates: Mapping[str, Gate]) -> Program[None]:
    """Write down what was started in each window of a rate, and whose turn it was."""
    changed = [gate.after for gate in gates.values() if gate.after != gate.queue]
    if changed:
        rows = [(queue.name, queue.window_at, queue.used, queue.served) for queue in changed]
        yield batch("spend_queues", columns(SPENT, rows))
