"""Tells listeners inside the process what happened to runs and schedules. A failing listener changes nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duly.core.errors import ConfigurationError
from duly.core.event import RUN_EVENTS, SCHEDULE_EVENTS, Event
from duly.core.instants import to_datetime
from duly.core.run import Claim, Failed, RunStatus, SkippedWindows
from duly.core.schedule import Schedule
from duly.engine.listening import call_listener, check_listener, is_arrival
from duly.runtime.clock import Clock
from duly.runtime.events import Attempted, Observer

log = logging.getLogger("duly.events")

MOST_WAITING = 10_000
"""A listener that is this far behind misses events, and the log says how many."""

_ENDS = {
    RunStatus.COMPLETED: "run.completed",
    RunStatus.FAILED: "run.failed",
    RunStatus.CANCELLED: "run.cancelled",
}


class _Line:
    """The events that wait for one listener; each listener is called for one at a time, in order."""

    def __init__(self, listener: Callable[[Event], Any]) -> None:
        self._listener = listener
        self._events: asyncio.Queue[Event] = asyncio.Queue(MOST_WAITING)
        self._missed = 0

    def put(self, event: Event) -> None:
        try:
            self._events.put_nowait(event)
        except asyncio.QueueFull:
            self._missed += 1

    async def run(self) -> None:
        while True:
            event = await self._events.get()
            try:
                await call_listener(self._listener, event)
            except Exception:
                log.exception("a listener of %s failed", event.name)
            finally:
                self._events.task_done()
            if self._missed and self._events.empty():
                log.error("a listener of %s was too slow and missed %d events", event.name, self._missed)
                self._missed = 0

    async def finish(self) -> None:
        await self._events.join()


def check_event(event: str) -> None:
    """Refuse what is no event that a process can listen to."""
    if callable(event):
        raise ConfigurationError("@app.on needs the name of an event: write @app.on('schedule.arrived')")
    if not isinstance(event, str) or (not is_arrival(event) and event not in Telling.NAMES):
        raise ConfigurationError(
            f"event is {event!r}; expected 'schedule.arrived', 'schedule.<topic>.arrived' or one of"
            f" {', '.join(sorted(Telling.NAMES))}"
        )


class Telling(Observer):
    """The lifecycle events of one app."""

    NAMES = RUN_EVENTS | SCHEDULE_EVENTS
    OF_RUNS = RUN_EVENTS

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lines: dict[str, list[_Line]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def add(self, name: str, listener: Callable[[Event], Any]) -> None:
        check_listener(name, listener)
        self._lines.setdefault(name, []).append(_Line(listener))

    def start(self) -> None:
        self._tasks = [asyncio.create_task(line.run()) for lines in self._lines.values() for line in lines]

    async def stop(self, patience: float) -> None:
        """Let listeners hear what has happened, up to ``patience`` seconds, and end."""
        waiting = [line.finish() for lines in self._lines.values() for line in lines]
        if waiting and self._tasks:
            await asyncio.wait([asyncio.ensure_future(one) for one in waiting], timeout=patience)
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def schedules_changed(self, name: str, *schedules: Schedule) -> None:
        if name in self._lines:
            for schedule in schedules:
                self._tell(name, schedule_id=schedule.id, reason=schedule.facts.pause_reason)

    def attempt_started(self, claim: Claim) -> None:
        self._tell_of("run.started", claim)

    def attempts_settled(
        self, attempts: Sequence[Attempted], ended: Mapping[str, RunStatus], lost: Sequence[str]
    ) -> None:
        for attempt in attempts:
            claim, outcome = attempt.claim, attempt.outcome
            error = outcome.error if isinstance(outcome, Failed) else None
            status = ended.get(claim.id)
            if status is not None:
                self._tell_of(_ENDS[status], claim, error)
            elif error is not None and claim.id not in lost:
                self._tell_of("run.retrying", claim, error)

    def windows_skipped(self, skips: Sequence[SkippedWindows]) -> None:
        for skip in skips:
            self._tell("run.skipped", schedule_id=skip.schedule_id, run_id=skip.id, job=skip.job, reason=skip.reason)

    def _tell_of(self, name: str, claim: Claim, error: str | None = None) -> None:
        self._tell(
            name,
            schedule_id=claim.schedule_id,
            run_id=claim.id,
            job=claim.job,
            attempt=claim.attempt,
            error=error,
        )

    def _tell(self, name: str, **what: Any) -> None:
        lines = self._lines.get(name)
        if lines:
            event = Event(name=name, at=to_datetime(self._clock.now()), **what)
            for line in lines:
                line.put(event)
