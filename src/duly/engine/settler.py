"""Writes the ends of attempts in batches that form by themselves, and does not forget one while the store is away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from duly.core.errors import DulyError, OutcomeUnknown, StoreUnavailable
from duly.core.rules.settling import INTERRUPTION_ALERT
from duly.core.run import Failed, RunStatus
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.runtime.events import Observer
from duly.store.protocol import Claiming
from duly.store.values import Settlement

LARGEST_BATCH = 500
LONGEST_BACKOFF = 5.0
STRANGE_TRIES = 5
UNWRITABLE = "the store refused to keep how the attempt ended"


class Settler:
    """One flush in flight; what ends meanwhile is the next batch. A failed flush is repeated: a settle may be."""

    def __init__(
        self,
        store: Claiming,
        clock: Clock,
        chance: Chance,
        observer: Observer,
        on_ended: Callable[[dict[str, RunStatus]], None],
        on_released: Callable[[], None],
        on_written: Callable[[Sequence[Settlement]], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._chance = chance
        self._observer = observer
        self._on_ended = on_ended
        self._on_released = on_released
        self._on_written = on_written
        self._waiting: list[Settlement] = []
        self._flushing: asyncio.Task[None] | None = None
        self._in_flight: list[Settlement] = []
        self._written = asyncio.Event()
        self._written.set()

    @property
    def backlog(self) -> int:
        """Settlements not yet written."""
        return len(self._waiting) + len(self._in_flight)

    def run_ids(self) -> set[str]:
        """The runs whose end is on its way to the store."""
        return {s.claim.id for s in (*self._in_flight, *self._waiting)}

    def add(self, settlement: Settlement) -> None:
        self._waiting.append(settlement)
        self._written.clear()
        if self._flushing is None:
            self._flushing = asyncio.get_running_loop().create_task(self._flush())

    async def drain(self, patience: float) -> bool:
        """Wait up to ``patience`` seconds until everything added so far is written; True if it is."""
        return await self._clock.wait(self._written, patience)

    def abandon(self) -> list[str]:
        """Give up what is not written, because the instance ends; return the runs."""
        given_up = sorted(self.run_ids())
        self._waiting = []
        if self._flushing is not None:
            self._flushing.cancel()
        if given_up:
            self._observer.settlements_abandoned(given_up)
        return given_up

    async def _flush(self) -> None:
        try:
            while self._waiting:
                taken, self._waiting = self._waiting[:LARGEST_BATCH], self._waiting[LARGEST_BATCH:]
                self._in_flight = taken
                await self._write(taken)
                self._in_flight = []
                self._on_written(taken)
        finally:
            self._in_flight = []
            self._flushing = None
            self._written.set()

    async def _write(self, taken: list[Settlement]) -> None:
        backoff, strange = 0.05, 0
        never = asyncio.Event()
        while True:
            try:
                settled = await self._store.settle(taken)
            except Exception as error:  # noqa: BLE001 - whatever it is, no end of an attempt may be forgotten
                self._observer.loop_failed("settle", error)
                refused = isinstance(error, DulyError) and not isinstance(error, StoreUnavailable | OutcomeUnknown)
                strange += not isinstance(error, DulyError)
                if refused or strange > STRANGE_TRIES:
                    await self._isolate(taken)
                    return
                await self._clock.wait(never, self._chance.spread(backoff / 2, backoff))
                backoff = min(LONGEST_BACKOFF, backoff * 2)
                continue
            if settled.lost:
                self._observer.settlements_lost(settled.lost)
            self._observer.attempts_settled(taken, settled.ended, settled.lost)
            for run_id, times in settled.interruptions.items():
                if times % INTERRUPTION_ALERT == 0:
                    self._observer.run_interrupted_often(run_id, times)
            if settled.ended:
                self._on_ended(settled.ended)
            if settled.released:
                self._on_released()
            return

    async def _isolate(self, taken: list[Settlement]) -> None:
        """The database refuses the batch: halve it until the one bad end stands alone, and write that as a failure."""
        if len(taken) > 1:
            await self._write(taken[: len(taken) // 2])
            await self._write(taken[len(taken) // 2 :])
            return
        (bad,) = taken
        if isinstance(bad.outcome, Failed) and bad.outcome.error == UNWRITABLE:
            return  # nothing of it can be written: the heartbeat finds the run and gives it back
        await self._write([replace(bad, outcome=Failed(UNWRITABLE, fatal=True))])
