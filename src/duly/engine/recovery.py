"""Takes runs from the dead: settles them as lost, through the same path as every other end."""

from __future__ import annotations

from collections.abc import Callable

from duly.config import Settings
from duly.runtime.clock import Clock
from duly.runtime.events import Observer
from duly.store.protocol import Store

from .jumps import JumpGuard
from .registry import Registry

BATCH = 200


class Recovery:
    """Finds sessions whose lease ran out and runs past their deadline."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        observer: Observer,
        guard: JumpGuard,
        registry: Registry,
        on_runs: Callable[[], None],
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._observer = observer
        self._guard = guard
        self._registry = registry
        self._on_runs = on_runs

    async def run_once(self) -> float:
        """Recover up to one batch; answer the seconds to the next look."""
        held = self._guard.held_for()
        if held > 0:
            return held
        asked_at, expected = self._clock.steady(), self._guard.expected()
        retries = {handler.name: handler.retry for handler in self._registry if handler.retry is not None}
        taken = await self._store.take_lost(
            limit=BATCH, rules=self._settings.fire_rules, retries=retries, expected=expected
        )
        for instance in taken.instances:
            self._observer.instance_lost(instance)
        if taken.sessions or taken.runs:
            self._observer.runs_recovered(taken.sessions, taken.runs)
        if taken.ended:
            self._observer.runs_ended(taken.ended)
        if taken.runs:
            self._on_runs()
        if self._guard.saw(taken.now, asked_at):
            return self._guard.held_for()
        return 0 if taken.more else self._settings.heartbeat / 2
