"""Runs that go on as others: there is always one of them, and it is what the first one was."""

from __future__ import annotations

from typing import Any

from duly.core.instants import to_datetime
from duly.core.lane import Singleton
from duly.core.policy import Overlap
from duly.core.run import Continued, RunStatus
from duly.core.schedule import Schedule, ScheduleStatus, Target, TargetKind
from duly.core.steps import StepKind
from duly.core.timing import Every, Once, Timing
from duly.store.publishing import NewEvent
from tests.contract.suite.steps import FLOW, Flow, begin, step
from tests.contract.suite.trial import Trial

TO_FLOW = Target(TargetKind.WORKFLOW, "flow")
EVERY_SECOND = Every(seconds=1)


class TestHeirs:
    async def test_it_goes_where_the_first_one_went(self, trial: Trial) -> None:
        worker = await trial.worker(FLOW)
        await trial.enqueue(FLOW, queue="slow", priority=7, max_attempts=5, timeout_ms=9000, tenant="acme")
        heir = await Flow(trial, worker, await worker.claim_one()).go_on('{"n":1}')
        run = await trial.run(heir)
        assert (run.queue, run.priority, run.max_attempts, run.tenant, run.payload) == ("slow", 7, 5, "acme", {"n": 1})
        assert (await worker.claim_one()).timeout_ms == 9000

    async def test_what_nobody_has_taken_is_left_to_it(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.record(step(kind=StepKind.EVENT, name="door"))
        for body in ("1", "2", "3"):
            await trial.store.signal_run(flow.id, "go", body)
        await trial.store.publish_event(NewEvent(name="door", body="1", id="1"))
        await flow.record(step(2, kind=StepKind.SIGNAL, result="1"), seen=1, taken=[1])
        heir = await flow.go_on()
        assert [(m.name, m.body) for m in (await trial.store.read_journal(heir)).messages] == [("go", "2"), ("go", "3")]
        assert [m.kind for m in (await trial.store.read_journal(flow.id)).messages] == [StepKind.EVENT]
        await trial.store.signal_run(heir, "go", "4")
        assert [m.body for m in (await trial.store.read_journal(heir)).messages] == ["2", "3", "4"]

    async def test_it_is_told_to_undo_if_the_first_one_was(self, trial: Trial) -> None:
        flow = await begin(trial)
        await trial.store.cancel_softly(flow.id)
        heir = await flow.go_on()
        assert (await trial.run(heir)).status is RunStatus.CANCELLING
        assert [m.kind for m in (await trial.store.read_journal(heir)).messages] == [StepKind.CANCEL]

    async def test_there_is_none_if_a_cancel_came_first(self, trial: Trial) -> None:
        flow = await begin(trial)
        await trial.store.request_cancel(flow.id)
        heir = await flow.go_on()
        assert (await trial.run(flow.id)).status is RunStatus.CANCELLED
        assert await trial.store.get_run(heir) is None

    async def test_it_keeps_the_place_in_the_lane_of_a_key(self, trial: Trial) -> None:
        worker = await trial.worker(FLOW)
        key = Singleton(key="shop")
        first, second = [await trial.enqueue(FLOW, singleton=key) for _ in range(2)]
        flow = Flow(trial, worker, await worker.claim_one())
        assert flow.id == first.id
        heir = await flow.go_on()
        third = await trial.enqueue(FLOW, singleton=key)
        for id in (heir, second.id, third.id):
            (claim,) = await worker.claim()
            assert claim.id == id
            await worker.complete(claim)

    async def test_it_is_a_run_of_the_schedule_and_the_next_window_heeds_it(self, trial: Trial) -> None:
        put, flow = await self._fired(trial, EVERY_SECOND, overlap=Overlap.SKIP)
        await flow.go_on()
        trial.clock.move(seconds=1)
        await trial.fire()
        assert {(run.kind.value, run.status.value, run.reason) for run in await trial.runs(put)} == {
            ("window", "completed", None),
            ("child", "pending", None),
            ("window", "skipped", "overlap"),
        }
        await flow.worker.complete(await flow.worker.claim_one())
        trial.clock.move(seconds=1)
        await trial.fire()
        assert (await flow.worker.claim_one()).kind == "window"

    async def test_those_that_wait_in_line_go_when_the_last_one_has_ended(self, trial: Trial) -> None:
        _, flow = await self._fired(trial, EVERY_SECOND, overlap=Overlap.QUEUE)
        trial.clock.move(seconds=1)
        await trial.fire()
        heir = await flow.go_on()
        (claim,) = await flow.worker.claim()
        assert claim.id == heir
        await flow.worker.complete(claim)
        (claim,) = await flow.worker.claim()
        assert claim.kind == "window"

    async def test_its_end_is_that_of_a_one_shot(self, trial: Trial) -> None:
        at = to_datetime(trial.clock.now() + 1000)
        put, flow = await self._fired(trial, Once(at))
        await flow.go_on()
        assert (await trial.schedule(put)).status is ScheduleStatus.ACTIVE
        await flow.worker.fail(await flow.worker.claim_one(), fatal=True)
        assert (await trial.schedule(put)).status is ScheduleStatus.FAILED

    async def test_an_interval_counts_from_its_end(self, trial: Trial) -> None:
        put, flow = await self._fired(trial, Every(seconds=1, after_completion=True))
        await flow.go_on()
        assert (await trial.schedule(put)).cursor.next_window_at is None
        trial.clock.move(seconds=5)
        await flow.worker.complete(await flow.worker.claim_one())
        assert (await trial.schedule(put)).cursor.next_window_at == trial.clock.now() + 1000

    async def test_failures_in_a_row_are_counted_over_it(self, trial: Trial) -> None:
        put, flow = await self._fired(trial, EVERY_SECOND, pause_after_failures=2)
        await flow.worker.fail(flow.claim, fatal=True)
        trial.clock.move(seconds=1)
        await trial.fire()
        (flow.claim,) = await flow.worker.claim()
        await flow.go_on()
        await flow.worker.fail(await flow.worker.claim_one(), fatal=True)
        assert not (await trial.schedule(put)).enabled

    async def test_two_that_were_believed_one_make_one(self, trial: Trial) -> None:
        zombie = await begin(trial)
        await zombie.worker.close()
        worker = await trial.worker(FLOW)
        flow = Flow(trial, worker, await worker.claim_one())
        late = Continued(trial.id(), FLOW, "1")
        assert (await zombie.worker.settle(zombie.claim, late)).lost == [flow.id]
        assert await trial.store.get_run(late.heir) is None
        await trial.run(await flow.go_on())

    async def _fired(self, trial: Trial, timing: Timing, **words: Any) -> tuple[Schedule, Flow]:
        """A schedule of a workflow, and the run of its first window in the hands of a worker."""
        put = await trial.put(timing=timing, target=TO_FLOW, **words)
        trial.clock.move(seconds=1)
        await trial.fire()
        worker = await trial.worker(FLOW)
        return put, Flow(trial, worker, await worker.claim_one())
