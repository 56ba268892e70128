"""Fires, claims and settles, bound to their programs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from duly.core.errors import StoreError
from duly.core.policy import Retry
from duly.core.rules.firing import FireRules
from duly.core.rules.suspects import ONE, Room
from duly.core.run import Claim, Outcome
from duly.store.methods import answering, claiming, firing, reporting, settling, tracing
from duly.store.values import NO_RETRIES, Claimed, Fired, Grab, Report, Settled, Settlement, Term, Tried

from .base import Bound


class BoundTracing(Bound):
    """What a claim's run, or its schedule, was asked for in: looked up where somebody traces, and only there."""

    def tell_traces(self, wanted: bool) -> None:
        """Whether claims are to come with their traces."""
        self._whole._tells_traces = wanted

    async def _add_traces(self, claims: Sequence[Claim]) -> None:
        if not claims or not self._whole._tells_traces:
            return
        ids = {id for claim in claims for id in (claim.id, claim.schedule_id) if id is not None}
        try:
            traces = await self._read(partial(tracing.read_traces, ids=sorted(ids)), engine=True)
        except StoreError:
            return  # the runs are claimed, and nobody waits for their traces
        for claim in claims:
            claim.trace = traces.get(claim.id) or traces.get(claim.schedule_id or "")


class BoundFiring(BoundTracing):
    """``protocol.Firing`` on a driver."""

    async def fire_due(
        self,
        *,
        limit: int,
        rules: FireRules,
        grab: Grab | None = None,
        expected: tuple[float, float] | None = None,
        term: Term | None = None,
        due: int | None = None,
    ) -> Fired:
        tried: list[Tried] = []
        fire = partial(
            firing.fire_due,
            limit=limit,
            rules=rules,
            definitions=self._definitions,
            tried=tried,
            grab=grab,
            expected=expected,
            term=term,
        )
        try:
            fired = await self._write(fire, engine=True, due=due)
        except StoreError as error:
            error.details["tried"] = tried
            raise
        if fired.runs > len(fired.claims):
            self.driver.hint("runs")
        if fired.cancels:
            self.driver.hint("cancels")
        await self._add_traces(fired.claims)
        return fired

    async def set_aside(self, tried: Tried, error: str) -> bool:
        return await self._write(partial(firing.set_aside, tried=tried, error=error), engine=True)


class BoundClaiming(BoundTracing):
    """``protocol.Claiming`` on a driver."""

    async def claim_runs(
        self,
        session: int,
        *,
        jobs: Sequence[str],
        limit: int,
        suspects: Room = ONE,
        queues: Collection[str] | None = None,
    ) -> Claimed:
        claimed = await self._write(
            partial(
                claiming.claim_runs,
                session=session,
                jobs=jobs,
                limit=limit,
                suspects=suspects,
                definitions=self._definitions,
                floors=self._floors,
                queues=queues,
            ),
            engine=True,
        )
        await self._add_traces(claimed.claims)
        return claimed

    async def settle(self, settlements: Sequence[Settlement]) -> Settled:
        settled = await self._write(partial(settling.settle, settlements=settlements), engine=True)
        self._let_go(settled)
        if settled.released or any(settlement.claim.capped for settlement in settlements):
            self.driver.hint("runs")
        return settled

    async def settle_reported(
        self, session: int, reports: Sequence[Report], *, rules: FireRules, retries: Mapping[str, Retry] = NO_RETRIES
    ) -> Settled:
        settled = await self._write(
            partial(
                reporting.settle_reported,
                session=session,
                reports=reports,
                rules=rules,
                retries=retries,
                definitions=self._definitions,
            )
        )
        self._let_go(settled)
        self.driver.hint("runs")  # nobody here knows whether its queue was full
        return settled

    async def settle_answer(
        self, run_id: str, fence: int, outcome: Outcome, *, rules: FireRules, retries: Mapping[str, Retry] = NO_RETRIES
    ) -> Settled:
        settled = await self._write(
            partial(
                answering.settle_answer,
                run_id=run_id,
                fence=fence,
                outcome=outcome,
                rules=rules,
                retries=retries,
                definitions=self._definitions,
            )
        )
        self._let_go(settled)
        self.driver.hint("runs")
        return settled

    def _let_go(self, settled: Settled) -> None:
        if settled.released:
            self._floors.forget()

    async def begin_answer(self, run_id: str, fence: int) -> bool:
        return await self._write(
            partial(answering.begin_answer, run_id=run_id, fence=fence, definitions=self._definitions)
        )
