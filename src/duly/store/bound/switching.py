"""The fleet's switch, bound to its programs; and the look, when a store is opened, whether it is a restored one."""

from __future__ import annotations

from functools import partial

from duly.core.operation import Operation
from duly.core.switch import FiringState
from duly.store.methods import switching
from duly.store.orders import NewOperation
from duly.store.remembering import Remembered

from .base import Bound

MOVED = "these tables were made anew from a dump"
WENT_BACK = "the store is at tick {found}, and tick {seen} has been seen of it"


class BoundSwitching(Bound):
    """``protocol.Switching`` on a driver."""

    async def open(self) -> None:
        await super().open()
        try:
            await self._look_for_restore()
        except BaseException:
            await self.close()
            raise

    async def firing_state(self) -> FiringState:
        return await self._read(switching.firing_state)

    async def pause_firing(self, new: NewOperation) -> FiringState:
        return await self._write(partial(switching.pause_firing, new=new))

    async def resume_firing(self, new: NewOperation) -> Operation:
        return await self._write_and_hint("schedules", partial(switching.resume_firing, new=new), None)

    async def mark_restored(self, *, epoch: int, reason: str | None, by: str | None) -> FiringState:
        return await self._write(partial(switching.mark_restored, epoch=epoch, reason=reason, by=by))

    async def notice_restore(self, state: FiringState, seen: int) -> FiringState:
        reason = f"restored: {WENT_BACK.format(found=state.ticks, seen=seen)}"
        return await self.mark_restored(epoch=state.epoch, reason=reason, by="duly")

    def remember(self, state: FiringState) -> None:
        """Keep, beside the store where that is possible, how far it has come: an older copy will be noticed."""
        self.driver.remember(Remembered(state.store_id, state.epoch, state.ticks))

    async def _look_for_restore(self) -> None:
        state, before, home = await self._read(lambda now: switching.find_home())
        seen = self.driver.remembered()
        if home is not None and before is None:
            await self._write(partial(switching.settle_home, home=home))
        elif home != before:
            reason = f"restored: {MOVED}"
            mark = partial(switching.mark_restored, epoch=state.epoch, reason=reason, by="duly", home=home)
            await self._write(mark)
        elif seen is not None and seen.is_ahead_of(state):
            await self.notice_restore(state, seen.ticks)
