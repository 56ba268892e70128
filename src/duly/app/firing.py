"""``app.firing``: the switch that stops all firing of the fleet, and lets it go on."""

from __future__ import annotations

from collections.abc import Callable

from duly.core.errors import Conflict
from duly.core.operation import Operation
from duly.core.policy import choose
from duly.core.switch import Backlog, FiringState
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.orders import NewOperation, PauseAllOrder, ResumeAllOrder
from duly.store.sql import SqlStore

from .checking import check_id, check_text
from .operations import Operations, Progress


class Firing:
    """Stop all firing, on every instance at once, and let it go on. What fell due meanwhile is not lost."""

    def __init__(
        self,
        store: SqlStore,
        clock: Clock,
        chance: Chance,
        operations: Operations,
        *,
        on_schedules: Callable[[], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._chance = chance
        self._operations = operations
        self._on_schedules = on_schedules

    async def state(self) -> FiringState:
        """Whether anything fires; if not, since when, by whom and why."""
        return await self._store.firing_state()

    async def pause(self, *, reason: str | None = None, by: str | None = None, id: str | None = None) -> FiringState:
        """Stop all firing. Runs that exist go on, and a trigger still makes one; windows stay due."""
        order = PauseAllOrder(reason=check_text(reason, "reason", 1000))
        return await self._store.pause_firing(self._new(order, by, id))

    async def resume(
        self,
        backlog: Backlog | str | None = None,
        *,
        by: str | None = None,
        id: str | None = None,
        on_progress: Progress | None = None,
    ) -> Operation:
        """Fire again. ``backlog`` says what becomes of the windows that fell due meanwhile: fire, skip or latest.

        ``fire`` (which it is unless told) lets each schedule's catch-up policy decide. After a restore from a backup it
        must be told: what the store has forgotten may have fired before.
        """
        operation = await self.begin_resume(backlog, by=by, id=id)
        if not operation.finished:
            operation = await self._operations.drive(operation.id, on_progress)
        self._on_schedules()
        return operation

    async def begin_resume(
        self, backlog: Backlog | str | None = None, *, by: str | None = None, id: str | None = None
    ) -> Operation:
        """Begin to resume; the backlog is dealt with by whoever drives the operation, else by a janitor."""
        if backlog is None and (await self.state()).restored_at is not None:
            raise Conflict(
                "the store was restored from a backup: choose what becomes of the windows since then, 'fire' (each"
                " schedule's catch-up policy), 'skip' or 'latest'; some of them may have fired before the restore"
            )
        choice = Backlog.FIRE if backlog is None else choose(Backlog, backlog, "backlog")
        return await self._store.resume_firing(self._new(ResumeAllOrder(backlog=choice), by, id))

    async def restored(self, *, reason: str | None = None, by: str | None = None) -> FiringState:
        """Say that the store was restored from a backup: its epoch rises, and nothing fires until ``resume``.

        Some restores are noticed without being told; a copy of the disk, or one back in time, cannot always be.
        """
        state = await self._store.firing_state()
        reason = check_text(reason, "reason", 1000) or "restored from a backup"
        return await self._store.mark_restored(epoch=state.epoch, reason=reason, by=check_text(by, "by", 100))

    def _new(self, order: PauseAllOrder | ResumeAllOrder, by: str | None, id: str | None) -> NewOperation:
        id = self._chance.id(self._clock) if id is None else check_id(id)
        return NewOperation(id=id, order=order, by=check_text(by, "by", 100))
