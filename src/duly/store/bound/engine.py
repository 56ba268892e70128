"""Fires, claims and settles, bound to their programs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from duly.core.rules.firing import FireRules
from duly.core.rules.suspects import ONE, Room
from duly.store.methods import claiming, firing, settling
from duly.store.values import Claimed, Fired, Grab, Settled, Settlement

from .base import Bound


class BoundFiring(Bound):
    """``protocol.Firing`` on a driver."""

    async def fire_due(
        self, *, limit: int, rules: FireRules, grab: Grab | None = None, expected: tuple[float, float] | None = None
    ) -> Fired:
        fired = await self._write(
            partial(
                firing.fire_due,
                limit=limit,
                rules=rules,
                definitions=self._definitions,
                grab=grab,
                expected=expected,
            )
        )
        if fired.runs > len(fired.claims):
            self.driver.hint("runs")
        return fired

    async def set_aside_next(self, error: str) -> None:
        await self._write(partial(firing.set_aside_next, error=error))


class BoundClaiming(Bound):
    """``protocol.Claiming`` on a driver."""

    async def claim_runs(self, session: int, *, jobs: Sequence[str], limit: int, suspects: Room = ONE) -> Claimed:
        return await self._write(
            partial(
                claiming.claim_runs,
                session=session,
                jobs=jobs,
                limit=limit,
                suspects=suspects,
                definitions=self._definitions,
            )
        )

    async def settle(self, settlements: Sequence[Settlement]) -> Settled:
        settled = await self._write(partial(settling.settle, settlements=settlements))
        if settled.released or any(settlement.claim.capped for settlement in settlements):
            self.driver.hint("runs")
        return settled
