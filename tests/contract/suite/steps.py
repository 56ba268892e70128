"""The record of workflows: who may write it, what wins, what wakes a run, and who hears of an end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duly.core.credential import Whose
from duly.core.marks import make_marks, wanted_attributes, wanted_tag
from duly.core.on_event import Published
from duly.core.run import Cancelled, Claim, Continued, Reason, RunStatus, Suspended
from duly.core.steps import Message, Recorded, Step, StepKind, StepStatus
from duly.store.dead import DeadRef, Redrive
from duly.store.journal import Child, Record
from duly.store.publishing import NewEvent
from duly.store.values import RunFilter
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial, Worker

FLOW = "workflow:flow"


def step(position: int = 1, *, kind: StepKind = StepKind.STEP, result: str | None = None, **words: Any) -> Step:
    """A row that was asked for, or with a result one that has ended."""
    row: dict[str, Any] = {"position": position, "kind": kind, "name": "s", "asked_at": 1, "result": result}
    if result is not None:
        row |= {"status": StepStatus.DONE, "seq": position, "done_at": 5}
    return Step(**row | words)


def recorded(claim: Claim, session: int, *steps: Step, **words: Any) -> Record:
    return Record(run_id=claim.id, fence=claim.fence, session=session, steps=steps, **words)


class Flow:
    """A run of a workflow in the hands of a worker."""

    def __init__(self, trial: Trial, worker: Worker, claim: Claim) -> None:
        self.trial, self.store, self.worker, self.claim = trial, trial.store, worker, claim

    @property
    def id(self) -> str:
        return self.claim.id

    async def record(self, *steps: Step, **words: Any) -> Recorded | None:
        (answer,) = await self.store.record_steps([recorded(self.claim, self.worker.session, *steps, **words)])
        return answer

    async def suspend(self, wake_at: int | None = None, seen: int = 0) -> str:
        settled = await self.worker.settle(self.claim, Suspended(wake_at, seen))
        assert not settled.lost
        return (await self.trial.run(self.id)).status.value

    async def go_on(self, payload: str = "2") -> str:
        """Go on as a new run, said twice as after a lost answer; the new run's id."""
        goes = Continued(self.trial.id(), FLOW, payload)
        for _ in range(2):
            assert not (await self.worker.settle(self.claim, goes)).lost
        return goes.heir

    async def steps(self) -> list[tuple[int, str, str | None]]:
        return [(s.position, s.status.value, s.result) for s in (await self.store.read_journal(self.id)).steps]

    def child(self, position: int = 1, job: str = FLOW, *, awaited: bool = True) -> Child:
        return Child(position=position, request=self.trial.request(job), awaited=awaited)


async def begin(trial: Trial) -> Flow:
    worker = await trial.worker(FLOW, "work")
    await trial.enqueue(FLOW)
    return Flow(trial, worker, await worker.claim_one())


class TestRecording:
    async def test_a_record_is_kept_and_read_back_as_it_was(self, trial: Trial) -> None:
        flow = await begin(trial)
        done = step(result='{"a":"ä"}', attempt=2, error=None, log='[["info","x"]]', due_at=9)
        answer = await flow.record(done, step(2))
        assert answer == Recorded(now=trial.clock.now())
        assert (await flow.store.read_journal(flow.id)).steps == [done, step(2)]

    async def test_the_first_end_of_a_step_wins(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.record(step())
        await flow.record(step(result="1"))
        await flow.record(step(result="2"))
        await flow.record(step())
        assert await flow.steps() == [(1, "done", "1")]

    async def test_an_end_of_a_transaction_of_its_own_gets_its_place_and_nothing_else(self, trial: Trial) -> None:
        flow = await begin(trial)
        end = step(result="1", seq=None, attempt=1, log='[["info","x"]]')
        await flow.record(end)
        await flow.record(step(status=StepStatus.FAILED, seq=3, attempt=2, error="not confirmed", due_at=9, done_at=7))
        await flow.record(step(status=StepStatus.FAILED, seq=4, error="not confirmed", done_at=8))
        assert (await flow.store.read_journal(flow.id)).steps == [replace(end, seq=3)]

    @rule("S0d.65")
    async def test_nothing_is_kept_of_an_attempt_that_was_believed_dead(self, trial: Trial, access: Access) -> None:
        zombie = await begin(trial)
        await zombie.worker.close()
        worker = await trial.worker(FLOW)
        flow = Flow(trial, worker, await worker.claim_one())
        before = await access.dump()
        child = zombie.child()
        assert await zombie.record(step(result="1"), children=[child], published={"x": "1"}, job="workflow:z") is None
        assert await access.dump() == before
        assert await flow.record(step(result="2")) is not None
        assert await flow.steps() == [(1, "done", "2")]

    async def test_a_zombie_in_the_batch_of_its_successor_borrows_nothing(self, trial: Trial) -> None:
        zombie = await begin(trial)
        await zombie.worker.close()
        worker = await trial.worker(FLOW)
        claim = await worker.claim_one()
        both = [
            recorded(zombie.claim, zombie.worker.session, step(result="1")),
            recorded(claim, worker.session, step(result="2")),
        ]
        assert [answer is not None for answer in await trial.store.record_steps(both)] == [False, True]
        assert await zombie.steps() == [(1, "done", "2")]

    async def test_of_a_run_whose_cancel_was_asked_for_nothing_is_kept(self, trial: Trial) -> None:
        flow = await begin(trial)
        await trial.store.request_cancel(flow.id)
        answer = await flow.record(step(result="1"))
        assert answer is not None
        assert answer.cancelled
        assert await flow.steps() == []

    async def test_progress_forgives_what_was_lost_and_a_record_names_the_version(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.worker.fail(flow.claim)
        trial.clock.move(seconds=5)
        flow.claim = await flow.worker.claim_one()
        assert flow.claim.attempt == 2
        await flow.record(step(result="1"), progress=True, job="workflow:flow@2")
        run = await trial.run(flow.id)
        assert (run.attempt, run.job) == (1, "workflow:flow@2")

    async def test_shown_values_are_read_by_anybody_and_the_newest_counts(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.record(published={"x": "1"})
        await flow.record(published={"x": "2"})
        assert await trial.store.read_published(flow.id, "x") == "2"
        assert await trial.store.read_published(flow.id, "y") is None

    async def test_a_store_has_a_secret_that_stays(self, trial: Trial) -> None:
        secret = await trial.store.read_secret("hooks")
        assert len(secret) >= 32
        assert await trial.store.read_secret("hooks") == secret

    async def test_what_was_recorded_goes_when_its_run_is_purged(self, trial: Trial, access: Access) -> None:
        flow = await begin(trial)
        await flow.record(step(result="1"), published={"x": "1"}, children=[flow.child(job="other")])
        await trial.store.signal_run(flow.id, "go", None)
        await flow.worker.complete(flow.claim)
        trial.clock.move(seconds=1)
        await trial.store.purge_history(finished_before=trial.clock.now(), limit=10)
        dump = await access.dump()
        assert [dump["steps"], dump["inbox"], dump["published"]] == [[], [], []]

    async def test_a_redriven_run_goes_on_from_the_step_that_killed_it(self, trial: Trial) -> None:
        flow = await begin(trial)
        caught = step(1, status=StepStatus.FAILED, seq=1, error="caught")
        await flow.record(caught, step(2, result="1"), step(3, status=StepStatus.FAILED, seq=3, error="no luck"))
        await flow.worker.fail(flow.claim, "no luck", fatal=True)
        await trial.store.redrive([Redrive(dead=DeadRef(flow.id))])
        assert await flow.steps() == [(1, "failed", None), (2, "done", "1")]

    async def test_a_redriven_run_that_was_undone_keeps_its_record(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.record(step(1, status=StepStatus.FAILED, seq=1), step(-1, kind=StepKind.UNDO))
        await flow.worker.fail(flow.claim, "no luck", fatal=True)
        await trial.store.redrive([Redrive(dead=DeadRef(flow.id))])
        assert len(await flow.steps()) == 2

    @rule("S0d.26")
    async def test_runs_are_found_by_what_they_are_marked_with(self, trial: Trial, access: Access) -> None:
        flow = await begin(trial)
        await flow.record(step(), marks=make_marks(["vip"], {"amount": 5, "to": "ann"}))
        await flow.record(marks=make_marks([], {"amount": 7.0}))
        other = trial.request(FLOW, marks=make_marks(["vip"], {"amount": 3}))
        await trial.store.enqueue([other, other])

        async def found(tags: tuple[str, ...] = (), **attributes: Any) -> set[str]:
            marks = (*map(wanted_tag, tags), *wanted_attributes(attributes))
            return {run.id for run in (await trial.store.list_runs(RunFilter(marks=marks), limit=5)).items}

        assert await trial.store.read_marks(flow.id) == {"#vip": "null", "amount": "7", "to": '"ann"'}
        assert await found(("vip",)) == {flow.id, other.id}
        assert await found(("vip",), amount=7) == {flow.id}
        assert await found(("vi",)) == set()
        assert await found(amount=("gt", 3)) == {flow.id}
        assert await found(amount=("lte", 7.5)) == {flow.id, other.id}
        assert await found(amount=("ne", 3)) == {flow.id}
        assert await found(amount="7") == set()
        assert await found(to=("gte", "an")) == {flow.id}
        waiting = RunFilter(marks=(wanted_tag("vip"),), status=RunStatus.PENDING, workflow=FLOW)
        assert [run.id for run in (await trial.store.list_runs(waiting, limit=5)).items] == [other.id]
        first = await trial.store.list_runs(RunFilter(marks=(wanted_tag("vip"),)), limit=1)
        rest = await trial.store.list_runs(RunFilter(marks=(wanted_tag("vip"),)), limit=1, after=first.next_cursor)
        assert {run.id for run in first.items + rest.items} == {flow.id, other.id}
        assert rest.next_cursor is None

    async def test_marks_of_others_find_nothing_for_an_owner(self, trial: Trial) -> None:
        theirs = trial.request(FLOW, owner="ann", marks=make_marks(["vip"]))
        await trial.store.enqueue([theirs])
        marked = RunFilter(marks=(wanted_tag("vip"),))
        for owner, expected in (("bob", []), ("ann", [theirs.id])):
            page = await trial.store.seen_by(Whose("", owner)).list_runs(marked, limit=5)
            assert [run.id for run in page.items] == expected


class TestSuspending:
    @rule("S0d.38", "E12", "H8")
    async def test_a_suspended_run_holds_no_worker_and_is_woken_at_its_instant(self, trial: Trial) -> None:
        flow = await begin(trial)
        wake_at = trial.clock.now() + 7 * 86_400_000
        assert await flow.suspend(wake_at) == RunStatus.SUSPENDED
        assert await flow.worker.claim() == []
        for session_end in (3, 4):
            await flow.worker.close()
            trial.clock.move(days=session_end, milliseconds=-1)
            flow.worker = await trial.worker(FLOW)
            assert await flow.worker.claim() == []
            trial.clock.move(milliseconds=1)
        again = await flow.worker.claim_one()
        assert (again.id, again.attempt, again.due_at) == (flow.id, 1, wake_at)

    async def test_a_worker_is_told_when_the_next_sleeper_wakes(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.suspend(trial.clock.now() + 5000)
        claimed = await trial.store.claim_runs(flow.worker.session, jobs=[FLOW], limit=5)
        assert claimed.next_due_at == trial.clock.now() + 5000

    @rule("S0d.68", "H9")
    async def test_h9_a_signal_between_the_look_and_the_sleep_is_not_lost(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.record(step(kind=StepKind.SIGNAL))
        assert await trial.store.signal_run(flow.id, "s", "1")
        assert await flow.suspend(seen=0) == "pending"
        assert (await flow.worker.claim_one()).id == flow.id

    @rule("H9")
    async def test_h9_a_signal_wakes_a_sleeper_once_and_signals_keep_their_order(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.suspend()
        for body in ("1", "2"):
            assert await trial.store.signal_run(flow.id, "s", body)
        flow.claim = await flow.worker.claim_one()
        journal = await trial.store.read_journal(flow.id)
        assert journal.messages == [Message(n, StepKind.SIGNAL, "s", str(n)) for n in (1, 2)]
        answer = await flow.record(step(kind=StepKind.SIGNAL, result="1"), seen=2, taken=[1])
        assert answer is not None
        assert answer.messages == []
        assert [m.n for m in (await trial.store.read_journal(flow.id)).messages] == [2]
        assert await flow.suspend(seen=2) == RunStatus.SUSPENDED
        assert await flow.worker.claim() == []

    async def test_h9_a_message_that_was_taken_keeps_nobody_awake_who_has_not_heard_of_it(self, trial: Trial) -> None:
        flow = await begin(trial)
        await trial.store.signal_run(flow.id, "s", "1")
        await flow.record(step(kind=StepKind.SIGNAL, result="1"), seen=1, taken=[1])
        assert (await trial.store.read_journal(flow.id)).messages == []
        assert await flow.suspend(seen=0) == RunStatus.SUSPENDED
        await trial.store.signal_run(flow.id, "s", "2")
        flow.claim = await flow.worker.claim_one()
        assert [m.n for m in (await trial.store.read_journal(flow.id)).messages] == [2]
        assert await flow.suspend(seen=0) == "pending"

    async def test_signals_go_to_open_runs_of_workflows_only(self, trial: Trial, access: Access) -> None:
        flow = await begin(trial)
        job = await trial.enqueue()
        await flow.worker.complete(flow.claim)
        assert not await trial.store.signal_run(flow.id, "s", None)
        assert not await trial.store.signal_run(job.id, "s", None)
        assert not await trial.store.signal_run(trial.id(), "s", None)
        assert (await access.dump())["inbox"] == []

    async def test_an_event_wakes_all_who_wait_for_it_and_nobody_else(self, trial: Trial) -> None:
        flows = [await begin(trial) for _ in range(3)]
        for flow, name in zip(flows, ("door", "door", "bell"), strict=True):
            await flow.record(step(kind=StepKind.EVENT, name=name))
            await flow.suspend()
        published = await trial.store.publish_event(NewEvent(name="door", body="1", id="1"))
        assert published == Published(told=2)
        assert {claim.id for claim in await flows[0].worker.claim()} == {flows[0].id, flows[1].id}

    @rule("S0d.41")
    async def test_a_signal_starts_the_run_that_it_is_for_unless_it_is_there(self, trial: Trial) -> None:
        worker = await trial.worker(FLOW)
        request = trial.request(FLOW)
        for body in ("1", "2"):
            run, told = await trial.store.signal_with_start(request, "go", body)
            assert (run.id, told) == (request.id, True)
        assert [m.body for m in (await trial.store.read_journal(request.id)).messages] == ["1", "2"]
        await worker.complete(await worker.claim_one())
        run, told = await trial.store.signal_with_start(request, "go", "3")
        assert (run.status.value, told) == ("completed", False)

    async def test_a_signal_that_would_start_a_workflow_is_not_for_a_run_of_another(self, trial: Trial) -> None:
        flow = await begin(trial)
        run, told = await trial.store.signal_with_start(trial.request("workflow:other", id=flow.id), "go", "1")
        assert (run.job, told) == (FLOW, False)
        assert (await trial.store.read_journal(flow.id)).messages == []

    async def test_a_task_is_ended_once(self, trial: Trial) -> None:
        flow = await begin(trial)
        await flow.record(step(kind=StepKind.TASK))
        await flow.suspend()
        assert await trial.store.end_task(flow.id, 2, result="1", error=None) is None
        assert await trial.store.end_task(flow.id, 1, result="1", error=None) is True
        assert await trial.store.end_task(flow.id, 1, result="2", error=None) is False
        assert [m.body for m in (await trial.store.read_journal(flow.id)).messages] == ["1"]

    @rule("I5")
    async def test_i5_a_run_that_is_told_to_undo_is_cancelling_whatever_it_does_until_it_has_ended(
        self, trial: Trial, access: Access
    ) -> None:
        flow = await begin(trial)
        await flow.suspend()
        assert await trial.store.cancel_softly(flow.id)
        assert (await trial.run(flow.id)).status is RunStatus.CANCELLING
        before = await access.dump()
        assert await trial.store.cancel_softly(flow.id)
        assert await access.dump() == before
        flow.claim = await flow.worker.claim_one()
        assert [m.kind for m in (await trial.store.read_journal(flow.id)).messages] == [StepKind.CANCEL]
        assert (await trial.run(flow.id)).status is RunStatus.CANCELLING
        page = await trial.store.list_runs(RunFilter(status=RunStatus.CANCELLING), limit=5)
        assert [run.id for run in page.items] == [flow.id]
        ending = Cancelled(Reason.CANCEL_REQUESTED, "not undone: x")
        await flow.worker.settle(flow.claim, ending)
        run = await trial.run(flow.id)
        assert (run.status, run.reason, run.error_message) == ("cancelled", "cancel_requested", "not undone: x")
        assert not await trial.store.cancel_softly(flow.id)
        assert not await trial.store.cancel_softly((await trial.enqueue()).id)
