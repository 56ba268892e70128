"""Sessions: one lease per instance, and what becomes of its runs when it ends."""

from __future__ import annotations

import asyncio

import pytest

from duly.core.instants import to_datetime
from duly.core.policy import Backoff, Overlap, Retry
from duly.core.rules.suspects import Room
from duly.core.run import Hold
from duly.store.dead import DeadFilter
from duly.store.values import RunFilter
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import LEASE_MS, PLAIN_RETRY, Trial


class TestSessions:
    async def test_how_far_its_clock_is_off_is_kept_with_the_session(self, trial: Trial) -> None:
        worker = await trial.worker()
        for given, kept in ((None, None), (-3000, -3000), (None, -3000)):
            await trial.store.beat(worker.session, lease_ms=LEASE_MS, skew_ms=given)
            assert [one.skew_ms for one in await trial.store.list_instances()] == [kept]

    async def test_a_session_is_listed_while_its_lease_runs(self, trial: Trial) -> None:
        worker = await trial.worker(name="w1")
        (instance,) = await trial.store.list_instances()
        assert (instance.session, instance.name, instance.jobs, instance.roles) == (
            worker.session,
            "w1",
            ("work",),
            ("worker",),
        )
        assert (instance.started_at, instance.expires_at) == (trial.clock.now(), trial.clock.now() + LEASE_MS)
        trial.clock.move(milliseconds=LEASE_MS + 1)
        assert await trial.store.list_instances() == []

    async def test_a_heartbeat_extends_the_lease_and_tells_what_is_held(self, trial: Trial) -> None:
        kept, cancelled = await trial.enqueue(), await trial.enqueue()
        worker = await trial.worker()
        await worker.claim()
        trial.clock.move(seconds=10)
        await trial.store.request_cancel(cancelled.id)
        beat = await worker.beat()
        assert (beat.alive, beat.now) == (True, trial.clock.now())
        held = {run.id: (run.fence, run.cancel_requested) for run in beat.held}
        assert held == {kept.id: (1, False), cancelled.id: (1, True)}
        trial.clock.move(seconds=10)
        assert await trial.take_lost() == []

    async def test_a_heartbeat_costs_one_row_and_touches_no_run(self, trial: Trial, access: Access) -> None:
        await trial.enqueue()
        worker = await trial.worker()
        await worker.claim()
        before = await access.dump()
        trial.clock.move(seconds=5)
        await worker.beat()
        after = await access.dump()
        assert [table for table in before if before[table] != after[table]] == ["instances"]

    async def test_a_lease_that_ran_out_loses_the_runs_without_backoff(self, trial: Trial) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        await worker.claim_one()
        trial.clock.move(milliseconds=LEASE_MS)
        assert await trial.take_lost() == []
        trial.clock.move(milliseconds=1)
        recovered = await trial.store.take_lost(limit=10, rules=trial.rules)
        assert (list(recovered.sessions), list(recovered.runs), recovered.ended) == ([worker.session], [run.id], {})
        waiting = await trial.run(run)
        assert (waiting.status, waiting.attempt) == ("pending", 1)
        assert waiting.due_at is not None
        assert waiting.due_at.timestamp() * 1000 == trial.clock.now()

    async def test_nothing_is_taken_when_the_store_s_clock_has_leapt(self, trial: Trial, access: Access) -> None:
        await trial.enqueue()
        worker = await trial.worker()
        claim = await worker.claim_one()
        trial.clock.move(seconds=16)
        now = trial.clock.now()
        before = await access.dump()
        for expected in ((now - 5000, now - 1), (now + 1, now + 5000)):
            recovered = await trial.store.take_lost(limit=10, rules=trial.rules, expected=expected)
            assert (recovered.leapt, recovered.now, list(recovered.runs)) == (True, now, [])
            assert await access.dump() == before
        recovered = await trial.store.take_lost(limit=10, rules=trial.rules, expected=(now, now))
        assert (recovered.leapt, list(recovered.runs)) == (False, [claim.id])

    async def test_a_session_declared_dead_is_never_revived(self, trial: Trial) -> None:
        worker = await trial.worker()
        trial.clock.move(seconds=16)
        await trial.take_lost()
        assert not (await worker.beat()).alive
        assert await trial.store.list_instances() == []

    async def test_a_beat_that_comes_late_but_before_recovery_keeps_the_session(self, trial: Trial) -> None:
        await trial.enqueue()
        worker = await trial.worker()
        await worker.claim()
        trial.clock.move(seconds=20)
        assert (await worker.beat()).alive
        assert await trial.take_lost() == []

    async def test_two_recoveries_at_once_take_a_run_once(self, trial: Trial, access: Access) -> None:
        for _ in range(10):
            await trial.enqueue()
        worker = await trial.worker()
        await worker.claim()
        trial.clock.move(seconds=16)
        stores = [trial.store, await access.another()]
        recovered = await asyncio.gather(*(store.take_lost(limit=100, rules=trial.rules) for store in stores))
        taken = [id for answer in recovered for id in answer.runs]
        assert len(taken) == len(set(taken)) == 10
        claims = await (await trial.worker()).claim(suspects=Room(10))
        assert [claim.attempt for claim in claims] == [2] * 10

    async def test_a_run_that_kills_every_worker_ends_with_its_count_right(self, trial: Trial, access: Access) -> None:
        run = await trial.enqueue(max_attempts=3)
        for n in range(3):
            worker = await trial.worker(name=f"w{n}")
            assert (await worker.claim_one()).attempt == n + 1
            trial.clock.move(seconds=16)
            await trial.take_lost()
        ended = await trial.run(run)
        assert (ended.status, ended.reason, ended.attempt, ended.fence) == ("failed", "lost", 3, 3)
        assert await (await trial.worker()).claim() == []
        assert len((await access.dump())["attempts"]) == 3

    async def test_recovery_goes_in_batches(self, trial: Trial) -> None:
        for _ in range(5):
            await trial.enqueue()
        worker = await trial.worker()
        await worker.claim()
        trial.clock.move(seconds=16)
        sizes = []
        more = True
        while more:
            recovered = await trial.store.take_lost(limit=2, rules=trial.rules)
            sizes.append(len(recovered.runs))
            more = recovered.more
        assert sizes == [2, 2, 1]

    async def test_a_run_past_its_deadline_is_taken_from_a_live_worker(self, trial: Trial) -> None:
        run = await trial.enqueue(timeout_ms=60_000)
        worker = await trial.worker()
        await worker.claim_one()
        for _ in range(9):
            trial.clock.move(seconds=10)
            await worker.beat()
        assert await trial.take_lost() == []
        trial.clock.move(milliseconds=1)
        assert await trial.take_lost() == [run.id]
        assert (await trial.run(run)).status == "pending"
        assert list((await worker.beat()).held) == []

    async def test_a_direct_run_past_its_deadline_waits_as_its_job_s_policy_says(self, trial: Trial) -> None:
        run = await trial.enqueue(timeout_ms=1000)
        worker = await trial.worker()
        await worker.claim_one()
        for _ in range(4):
            trial.clock.move(seconds=10)
            await worker.beat()
        patient = Retry(max_attempts=3, backoff=Backoff.FIXED, delay=600, jitter=0)
        await trial.store.take_lost(limit=10, rules=trial.rules, retries={"work": patient, "other": PLAIN_RETRY})
        assert (await trial.run(run)).due_at == to_datetime(trial.clock.now() + 600_000)

    async def test_a_closed_session_gives_its_runs_back_without_spending_an_attempt(self, trial: Trial) -> None:
        run = await trial.enqueue(max_attempts=1)
        worker = await trial.worker()
        await worker.claim_one()
        assert await worker.close() == 1
        assert await worker.close() == 0
        assert not (await worker.beat()).alive
        again = await (await trial.worker()).claim_one()
        assert (again.id, again.attempt, again.fence) == (run.id, 1, 2)

    async def test_a_closed_session_s_cancelled_run_ends(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.CANCEL_PREVIOUS)
        worker = await trial.worker()
        for _ in range(2):
            trial.clock.move(minutes=1)
            await worker.beat()
            await trial.fire()
            await worker.claim()
        assert await worker.close() == 1
        assert await trial.statuses(put) == ["cancelled", "pending"]
        assert (await trial.runs(put))[1].hold == Hold.NONE

    @rule("E6")
    async def test_what_a_worker_held_is_not_taken_from_the_next_owner(self, trial: Trial) -> None:
        run = await trial.enqueue()
        old = await trial.worker(name="a")
        await old.claim_one()
        trial.clock.move(seconds=16)
        await trial.take_lost()
        new = await trial.worker(name="b")
        await new.claim_one()
        assert await old.close() == 0
        assert [held.id for held in (await new.beat()).held] == [run.id]


class TestLeases:
    async def test_one_session_at_a_time_holds_a_role(self, trial: Trial) -> None:
        take = trial.store.take_lease
        assert await take("janitor", 1, lease_ms=1000) == 1
        assert await take("janitor", 2, lease_ms=1000) is None
        assert await take("auditor", 2, lease_ms=1000) == 1
        trial.clock.move(milliseconds=600)
        assert await take("janitor", 1, lease_ms=1000) == 1
        trial.clock.move(milliseconds=1000)
        assert await take("janitor", 2, lease_ms=1000) is None
        trial.clock.move(milliseconds=1)
        assert await take("janitor", 2, lease_ms=1000) == 2
        assert await take("janitor", 1, lease_ms=1000) is None
        trial.clock.move(milliseconds=1001)
        assert await take("janitor", 1, lease_ms=1000) == 3

    async def test_racing_sessions_get_one_holder(self, trial: Trial, access: Access) -> None:
        stores = [trial.store, await access.another()]
        for _ in range(5):
            terms = await asyncio.gather(
                *(store.take_lease("janitor", n + 1, lease_ms=1000) for n, store in enumerate(stores))
            )
            assert sum(term is not None for term in terms) == 1
            trial.clock.move(seconds=2)


class TestEndedInstances:
    """The name of an instance outlives its process, for as long as a run or an attempt names it."""

    @pytest.mark.parametrize("way", ["closed", "lost"])
    async def test_runs_and_attempts_name_the_instance_after_it_has_gone(self, trial: Trial, way: str) -> None:
        done, tried = await trial.enqueue(), await trial.enqueue(max_attempts=1)
        worker = await trial.worker(name="web-1")
        claims = {claim.id: claim for claim in await worker.claim()}
        await worker.complete(claims[done.id])
        await worker.fail(claims[tried.id])
        if way == "closed":
            await worker.close()
        else:
            trial.clock.move(milliseconds=LEASE_MS + 1)
            recovered = await trial.store.take_lost(limit=10, rules=trial.rules)
            (lost,) = recovered.instances
            assert (lost.session, lost.name, lost.host, lost.pid) == (worker.session, "web-1", "here", 1)
            assert recovered.sessions == [worker.session]
        assert await trial.store.list_instances() == []
        for run in (done, tried):
            assert (await trial.run(run)).instance == "web-1"
            (attempt,) = await trial.store.read_attempts(run.id)
            assert attempt.instance == "web-1"
        listed = (await trial.store.list_runs(RunFilter(), limit=10)).items
        assert {run.instance for run in listed} == {"web-1"}
        assert [run.instance for run in (await trial.store.list_dead(DeadFilter(), limit=10)).items] == ["web-1"]

    async def test_a_session_is_forgotten_when_nothing_names_it(self, trial: Trial, access: Access) -> None:
        run = await trial.enqueue(max_attempts=2)
        first, second = await trial.worker(name="first"), await trial.worker(name="second")
        await first.fail(await first.claim_one())
        await first.close()
        trial.clock.move(minutes=1)
        await second.complete(await second.claim_one())
        await second.close()
        trial.clock.move(minutes=1)
        now = trial.clock.now()
        assert await trial.store.purge_instances(ended_before=now, limit=10) == 0, "an attempt and a run name them"
        assert await trial.store.purge_history(finished_before=now, limit=10) == 1
        assert await trial.store.purge_instances(ended_before=now - 120_000, limit=10) == 0, "too young"
        assert await trial.store.purge_instances(ended_before=now, limit=1) == 1
        assert await trial.store.purge_instances(ended_before=now, limit=10) == 1
        assert (await access.dump())["ended_instances"] == []
        assert await trial.store.get_run(run.id) is None

    async def test_a_lost_session_cannot_claim_and_is_not_live(self, trial: Trial) -> None:
        worker = await trial.worker(name="web-1")
        await trial.enqueue()
        trial.clock.move(milliseconds=LEASE_MS + 1)
        await trial.take_lost()
        assert await worker.claim() == []
        assert not (await worker.beat()).alive
