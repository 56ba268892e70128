"""Runs below runs: who hears of an end, whom a cancel reaches, and what goes again with a redriven parent."""

from __future__ import annotations

from duly.core.run import Completed, RunStatus
from duly.core.steps import Step, StepKind, StepStatus
from duly.store.dead import DeadRef, Redrive
from duly.store.journal import Child
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.steps import FLOW, Flow, begin, step
from tests.contract.suite.trial import Trial


class TestChildren:
    @rule("H13")
    async def test_h13_of_a_child_that_goes_on_as_another_run_the_last_end_is_heard(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.record(children=[flow.child(4)])
        await flow.suspend()
        first = Flow(trial, flow.worker, await flow.worker.claim_one())
        await first.go_on()
        assert (await trial.run(flow.id)).status is RunStatus.SUSPENDED
        await flow.worker.complete(await flow.worker.claim_one(), '"the last"')
        messages = (await trial.store.read_journal(flow.id)).messages
        assert [(m.name, m.body) for m in messages] == [("4", '"the last"')]

    async def test_h13_who_knows_the_first_id_finds_the_newest(self, trial: Trial, access: Access) -> None:
        flow = await begin(trial)
        first = flow.id
        assert await trial.store.read_heir(first) is None
        for _ in range(3):
            heir = await flow.go_on()
            assert await trial.store.read_heir(first) == heir
            flow = Flow(trial, flow.worker, await flow.worker.claim_one())
            trial.clock.move(seconds=1)
        await flow.worker.complete(flow.claim)
        assert await trial.store.read_heir(first) == flow.id, "the newest, when none lives"
        await trial.store.purge_history(finished_before=trial.clock.now() + 1, limit=10)
        assert (await access.dump())["children"] == []

    @rule("H11")
    async def test_a_parent_hears_of_each_end_exactly_once(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.record(children=[flow.child(1, "work"), flow.child(2, "work")])
        await flow.suspend()
        first, second = await flow.worker.claim()
        ends = [flow.worker.ending(first, Completed('"one"'))]
        await trial.store.settle(ends)
        await trial.store.settle(ends)
        flow.claim = await flow.worker.claim_one()
        assert flow.claim.id == flow.id
        await flow.worker.fail(second, "broken", fatal=True)
        messages = (await trial.store.read_journal(flow.id)).messages
        assert sorted((m.kind.value, m.name, m.body, m.error) for m in messages) == [
            ("child", "1", '"one"', None),
            ("child", "2", None, "broken"),
        ]
        assert await flow.suspend(seen=1) == "pending"

    @rule("S0d.55", "S0d.56")
    async def test_a_child_that_is_lost_for_good_is_heard_of(self, trial: Trial) -> None:
        flow = await begin(trial)
        request = trial.request("other", max_attempts=1)
        await flow.record(children=[Child(position=3, request=request)])
        await flow.suspend()
        worker = await trial.worker("other")
        await worker.claim_one()
        trial.clock.move(seconds=16)
        await flow.worker.open()
        await trial.take_lost()
        assert [m.name for m in (await trial.store.read_journal(flow.id)).messages] == ["3"]

    @rule("S0d.45")
    async def test_the_same_child_is_made_once(self, trial: Trial, access: Access) -> None:
        flow = await begin(trial)
        child = flow.child(1, "work")
        await flow.record(children=[child])
        before = await access.dump()
        await flow.record(children=[child])
        assert await access.dump() == before
        await flow.worker.complete(await flow.worker.claim_one())
        await flow.record(children=[child])
        assert await flow.worker.claim() == []

    async def test_nobody_hears_of_a_child_that_nobody_waits_for(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.record(children=[flow.child(1, "work", awaited=False)])
        await flow.suspend()
        await flow.worker.complete(await flow.worker.claim_one())
        assert (await trial.run(flow.id)).status is RunStatus.SUSPENDED

    @rule("S0d.46", "I7")
    async def test_i7_a_cancel_reaches_all_below_and_not_what_has_ended(self, trial: Trial) -> None:
        flow = await begin(trial)
        below = [flow.child(1), flow.child(2, "work", awaited=False), flow.child(3, "work")]
        await flow.record(children=below)
        await flow.suspend()
        claims = {claim.id: claim for claim in await flow.worker.claim()}
        deeper = flow.child(1, "other")
        child = Flow(trial, flow.worker, claims[below[0].request.id])
        await child.record(children=[deeper])
        await child.suspend()
        await flow.worker.complete(claims[below[2].request.id])
        cancelled = await trial.store.request_cancel(flow.id)
        assert cancelled is not None
        statuses = [(await trial.run(id)).status.value for id in (flow.id, child.id, deeper.request.id)]
        assert statuses == ["cancelled"] * 3
        running = await trial.run(below[1].request.id)
        assert (running.status.value, running.cancel_requested) == ("running", True)
        assert (await trial.run(below[2].request.id)).status.value == "completed"

    @rule("I8")
    async def test_i8_a_cancel_of_runs_in_a_circle_ends(self, trial: Trial) -> None:
        """No body can ask for its own parent; should rows ever say so, whoever walks down still comes to an end."""
        flow = await begin(trial)
        below = flow.child(1)
        await flow.record(children=[below])
        await flow.suspend()
        child = Flow(trial, flow.worker, await flow.worker.claim_one())
        for back in (trial.request(FLOW, id=flow.id), trial.request(FLOW, id=child.id)):
            await child.record(children=[Child(position=2, request=back)])
        await child.suspend()
        await trial.store.request_cancel(flow.id)
        statuses = [(await trial.run(id)).status.value for id in (flow.id, child.id)]
        assert statuses == ["cancelled"] * 2

    @rule("I6")
    async def test_i6_nothing_brings_a_cancelled_run_back(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.record(step(kind=StepKind.TASK), children=[flow.child(2, "work")])
        await flow.suspend(trial.clock.now() + 1000)
        child = await flow.worker.claim_one()
        await trial.store.request_cancel(flow.id)
        await flow.worker.complete(child)
        assert await trial.store.end_task(flow.id, 1, result=None, error=None) is False
        assert await flow.record(step(result="1")) is None
        trial.clock.move(seconds=2)
        assert await flow.worker.claim() == []
        assert (await trial.run(flow.id)).status is RunStatus.CANCELLED

    async def test_a_child_belongs_to_whom_its_parent_belongs(self, trial: Trial, access: Access) -> None:
        worker = await trial.worker(FLOW, "work")
        await trial.enqueue(FLOW, owner="ann")
        flow = Flow(trial, worker, await worker.claim_one())
        child = flow.child(1, "work")
        await flow.record(children=[child])
        assert (child.request.id, "ann") in (await access.dump())["owners"]

    @rule("F7")
    async def test_f7_a_redriven_run_takes_the_child_along_whose_failure_killed_it(self, trial: Trial) -> None:
        flow = await begin(trial)
        child = await self._dies_of_its_child(flow)
        await trial.store.redrive([Redrive(dead=DeadRef(flow.id))])
        assert [(await trial.run(id)).status.value for id in (flow.id, child)] == ["pending", "pending"]
        assert await flow.steps() == [(1, "asked", None)]
        claims = {claim.id: claim for claim in await flow.worker.claim()}
        await flow.worker.complete(claims[child], '"at last"')
        messages = (await trial.store.read_journal(flow.id)).messages
        assert [(m.name, m.body, m.error) for m in messages] == [("1", '"at last"', None)]

    @rule("F7")
    async def test_f7_a_child_that_was_redriven_before_its_parent_is_heard_when_that_goes_again(
        self, trial: Trial
    ) -> None:
        flow = await begin(trial)
        child = await self._dies_of_its_child(flow)
        await trial.store.redrive([Redrive(dead=DeadRef(child))])
        await flow.worker.complete(await flow.worker.claim_one(), '"before"')
        await trial.store.redrive([Redrive(dead=DeadRef(flow.id))])
        messages = (await trial.store.read_journal(flow.id)).messages
        assert [(m.name, m.body, m.error) for m in messages] == [("1", '"before"', None)]

    async def test_f7_a_child_that_ended_while_its_parent_was_dead_is_heard_when_that_goes_again(
        self, trial: Trial
    ) -> None:
        flow = await begin(trial)
        await flow.record(
            step(1, kind=StepKind.CHILD),
            step(2, kind=StepKind.CHILD),
            children=[flow.child(1, "work"), flow.child(2, "work")],
        )
        await flow.suspend()
        claims = await flow.worker.claim()
        await flow.worker.fail(claims[0], "broken", fatal=True)
        flow.claim = await flow.worker.claim_one()
        heard = step(1, kind=StepKind.CHILD, status=StepStatus.FAILED, seq=1, error="broken", done_at=5)
        await flow.record(heard, seen=1, taken=[1])
        await flow.worker.fail(flow.claim, "a child failed", fatal=True)
        await flow.worker.complete(claims[1], '"alone"')
        await trial.store.redrive([Redrive(dead=DeadRef(flow.id))])
        messages = (await trial.store.read_journal(flow.id)).messages
        assert [(m.name, m.body, m.error) for m in messages] == [("2", '"alone"', None)]
        assert await flow.steps() == [(1, "asked", None), (2, "asked", None)]

    async def test_a_child_whose_failure_the_body_went_on_from_stays_dead(self, trial: Trial) -> None:
        flow = await begin(trial)
        child = await self._dies_of_its_child(flow, step(2, asked_at=trial.clock.now()))
        await trial.store.redrive([Redrive(dead=DeadRef(flow.id))])
        assert (await trial.run(child)).status is RunStatus.FAILED

    async def _dies_of_its_child(self, flow: Flow, *later: Step) -> str:
        child = flow.child(1, "work")
        await flow.record(step(kind=StepKind.CHILD), children=[child])
        await flow.worker.fail(await flow.worker.claim_one(), "broken", fatal=True)
        heard = step(kind=StepKind.CHILD, status=StepStatus.FAILED, seq=1, error="broken", done_at=5)
        await flow.record(heard, *later, seen=1, taken=[1])
        await flow.worker.fail(flow.claim, "a child failed", fatal=True)
        return child.request.id
