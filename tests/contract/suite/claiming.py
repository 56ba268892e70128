"""Claims: due runs go to live sessions, each with a new fence."""

from __future__ import annotations

import asyncio

import pytest

from duly.core.run import Completed, Snoozed
from duly.core.timing import Once
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial


class TestEnqueueing:
    async def test_a_run_can_be_asked_for_directly(self, trial: Trial) -> None:
        run = await trial.enqueue("work", payload='{"n":1}', priority=2, queue="slow", tenant="acme", max_attempts=7)
        assert run == await trial.run(run)
        assert (run.kind, run.status, run.priority, run.queue, run.tenant) == ("direct", "pending", 2, "slow", "acme")
        assert (run.max_attempts, run.payload, run.schedule_id) == (7, {"n": 1}, None)

    async def test_the_same_id_again_answers_the_run_as_it_is(self, trial: Trial) -> None:
        request = trial.request(payload="1")
        (first,) = await trial.store.enqueue([request])
        assert await trial.store.enqueue([request]) == [first]
        worker = await trial.worker()
        await worker.complete(await worker.claim_one(), "2")
        (ended,) = await trial.store.enqueue([request])
        assert (ended.status, ended.result) == ("completed", 2)
        assert await worker.claim() == []

    async def test_the_same_id_twice_in_one_batch_is_one_run(self, trial: Trial) -> None:
        id = trial.id()
        requests = [trial.request(id=id, payload=payload) for payload in ("1", "2")]
        first, second = await trial.store.enqueue(requests)
        assert first == second
        assert first.payload == 1

    @rule("A6")
    async def test_racing_starts_with_one_id_make_one_run(self, trial: Trial, access: Access) -> None:
        stores = [trial.store, await access.another()]
        for n in range(5):
            id = trial.id()
            answers = await asyncio.gather(
                *(store.enqueue([trial.request(id=id, payload=str(k))]) for k, store in enumerate(stores))
            )
            stored = await trial.run(id)
            assert [run for (run,) in answers] == [stored, stored]
            claims = await (await trial.worker(name=f"w{n}")).claim()
            assert [claim.id for claim in claims] == [id]

    async def test_nothing_to_enqueue_is_fine(self, trial: Trial) -> None:
        assert await trial.store.enqueue([]) == []


class TestClaiming:
    @rule("S3.50")
    async def test_a_claim_carries_what_an_attempt_needs(self, trial: Trial) -> None:
        put = await trial.put("soon", Once("2026-01-05T00:00:10Z"), payload='{"n":1}', timeout_ms=5000, tenant="acme")
        trial.clock.move(seconds=11)
        await trial.fire()
        claim = await (await trial.worker()).claim_one()
        assert (claim.job, claim.kind, claim.attempt, claim.fence) == ("work", "window", 1, 1)
        assert (claim.payload, claim.timeout_ms, claim.tenant) == ('{"n":1}', 5000, "acme")
        assert (claim.schedule_id, claim.revision, claim.key) == (put.id, 1, "soon")
        assert claim.window_at == claim.due_at == put.cursor.next_window_at
        assert claim.fired_at == trial.clock.now()
        assert claim.definition == put.definition

    async def test_a_claimed_run_is_claimed_by_nobody_else(self, trial: Trial, access: Access) -> None:
        for _ in range(20):
            await trial.enqueue()
        other = await access.another()
        workers = [await trial.worker(store=store) for store in (trial.store, other, trial.store, other)]
        claims = await asyncio.gather(*(worker.claim(limit=7) for worker in workers))
        ids = [claim.id for batch in claims for claim in batch]
        assert len(ids) == len(set(ids)) == 20

    @rule("E9")
    async def test_only_known_jobs_are_claimed(self, trial: Trial) -> None:
        await trial.enqueue("other")
        mine = await trial.enqueue("work")
        worker = await trial.worker("work", "never-seen")
        assert (await worker.claim_one()).id == mine.id
        assert await (await trial.worker("nothing")).claim() == []

    async def test_a_job_nobody_knows_does_not_hide_the_others_behind_it(self, trial: Trial) -> None:
        for _ in range(30):
            await trial.enqueue("other")
        trial.clock.move(seconds=1)
        mine = await trial.enqueue("work")
        (claim,) = await (await trial.worker("work")).claim(limit=1)
        assert claim.id == mine.id

    async def test_a_run_behind_a_backlog_of_another_job_is_found_at_once_and_one_due_before_it_within_seconds(
        self, trial: Trial
    ) -> None:
        await trial.store.enqueue([trial.request("other") for _ in range(1_500)])
        trial.clock.move(minutes=1)
        worker = await trial.worker()
        assert await worker.claim() == []
        mine = await trial.enqueue()
        assert (await worker.claim_one()).id == mine.id
        late = await trial.enqueue(run_at=trial.clock.now() - 90_000)
        trial.clock.move(seconds=5)
        assert (await worker.claim_one()).id == late.id
        assert len(await (await trial.worker("other")).claim(limit=2_000)) == 1_500

    async def test_higher_priorities_go_first_whatever_their_queue(self, trial: Trial) -> None:
        wanted: list[tuple[int, str]] = [(9, "b"), (5, "a"), (0, "a"), (0, "b"), (-5, "a")]
        for priority, queue in reversed(wanted):
            await trial.enqueue(priority=priority, queue=queue)
            trial.clock.move(seconds=1)
        claims = await (await trial.worker()).claim()
        runs = [await trial.run(claim) for claim in claims]
        assert [run.priority for run in runs] == [priority for priority, _ in wanted]
        assert {(run.priority, run.queue) for run in runs} == set(wanted)

    async def test_within_a_line_the_earliest_due_goes_first(self, trial: Trial) -> None:
        now = trial.clock.now()
        third = await trial.enqueue(run_at=now - 1)
        first = await trial.enqueue(run_at=now - 3)
        second = await trial.enqueue(run_at=now - 2)
        worker = await trial.worker()
        order = [claim.id for _ in range(3) for claim in await worker.claim(limit=1)]
        assert order == [first.id, second.id, third.id]

    async def test_a_run_is_not_claimed_before_it_is_due(self, trial: Trial) -> None:
        run = await trial.enqueue(run_at=trial.clock.now() + 1000)
        worker = await trial.worker()
        trial.clock.move(milliseconds=999)
        claimed = await trial.store.claim_runs(worker.session, jobs=worker.jobs, limit=1)
        assert (claimed.claims, claimed.next_due_at) == ([], trial.clock.now() + 1)
        trial.clock.move(milliseconds=1)
        assert (await worker.claim_one()).id == run.id

    async def test_no_more_than_the_limit_is_claimed(self, trial: Trial) -> None:
        for n in range(5):
            await trial.enqueue(priority=n % 2, queue=f"q{n % 3}")
        worker = await trial.worker()
        assert [len(await worker.claim(limit=2)) for _ in range(4)] == [2, 2, 1, 0]

    async def test_every_claim_has_a_greater_fence(self, trial: Trial) -> None:
        await trial.enqueue()
        worker = await trial.worker()
        first = await worker.claim_one()
        await worker.settle(first, Snoozed(0))
        second = await worker.claim_one()
        await worker.fail(second)
        trial.clock.move(seconds=5)
        third = await worker.claim_one()
        assert [claim.fence for claim in (first, second, third)] == [1, 2, 3]
        assert [claim.attempt for claim in (first, second, third)] == [1, 1, 2]

    async def test_an_unknown_or_dead_session_claims_nothing(self, trial: Trial) -> None:
        await trial.enqueue()
        stranger = await trial.store.claim_runs(4711, jobs=["work"], limit=1)
        assert (stranger.alive, stranger.claims) == (False, [])
        worker = await trial.worker()
        trial.clock.move(seconds=16)
        await trial.take_lost()
        dead = await trial.store.claim_runs(worker.session, jobs=["work"], limit=1)
        assert (dead.alive, dead.claims) == (False, [])

    @rule("F10")
    @pytest.mark.parametrize("payload", ["0", "false", '""', "null", "{}", "[]", '{"a":[null,{"b":""}]}', '"é\\u0001"'])
    async def test_falsy_and_nested_payloads_and_results_survive(self, trial: Trial, payload: str) -> None:
        await trial.enqueue(payload=payload)
        put = await trial.put("soon", Once("2026-01-05T00:00:10Z"), payload=payload)
        triggered = await trial.trigger(await trial.put("other", payload="1"), payload=payload)
        trial.clock.move(seconds=10)
        await trial.fire()
        assert (await trial.schedule(put)).definition.payload == payload
        worker = await trial.worker()
        claims = await worker.claim()
        assert [claim.payload for claim in claims] == [payload] * 3
        assert triggered.run.id in {claim.id for claim in claims}
        await trial.store.settle([worker.ending(claim, Completed(payload)) for claim in claims])
        for claim in claims:
            run = await trial.run(claim)
            assert (run.payload_json, run.result_json) == (payload, payload)
