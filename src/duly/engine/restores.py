"""Notices that the store went back in time: it was restored from a backup while this instance lived.

Every store counts ticks as long as somebody runs. Whoever has seen more of them than the store has now knows that it is
an older one; it then fires nothing until an operator has chosen what becomes of the windows in between, because some of
them have fired already, in the time that the store has forgotten.
"""

from __future__ import annotations

from duly.core.switch import FiringState
from duly.runtime.events import Observer
from duly.store.protocol import Store


class RestoreWatch:
    """Remembers the furthest that this instance has seen of its store."""

    def __init__(self, store: Store, observer: Observer) -> None:
        self._store = store
        self._observer = observer
        self._seen: FiringState | None = None
        self._doubted = False

    def doubt(self) -> None:
        """The store was out of reach: it may be another one when it comes back."""
        self._doubted = True

    async def look_if_doubted(self) -> None:
        """Look before the first fire after the store was out of reach."""
        if self._doubted:
            await self.look()
            self._doubted = False

    async def look(self) -> FiringState:
        """Compare the store with what was seen of it; one that went back fires no more."""
        state, seen = await self._store.firing_state(), self._seen
        if seen is not None and state.epoch <= seen.epoch and state.ticks < seen.ticks:
            state = await self._store.notice_restore(state, seen.ticks)
            self._observer.store_restored(seen.ticks, state.ticks)
        if seen is None or state.paused != seen.paused:
            self._observer.firing_switched(state)
        self._seen = state
        return state
