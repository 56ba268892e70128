"""Dead letters: runs that failed for good are found, looked into, told of once, redriven and acknowledged."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest

from duly.core.dead import OnDead
from duly.core.failure import ErrorReport
from duly.core.run import Completed, Failed, Lost, Run, RunStatus
from duly.store.dead import DeadFilter, DeadRef, Done, Handled, Redrive
from duly.store.values import RunFilter
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import PLAIN_RETRY, Trial

FALSY = ["0", "false", '""', "null", "{}", "[]", '{"a":{"b":[0,null,""]}}']


async def die(trial: Trial, error: str = "no luck", **words: Any) -> Run:
    """A direct run that has died."""
    run = await trial.enqueue(**{"max_attempts": 1, **words})
    worker = await trial.worker(words.get("job", "work"))
    (claim,) = [claim for claim in await worker.claim() if claim.id == run.id]
    await worker.fail(claim, error)
    return await trial.run(run)


async def redrive(trial: Trial, run: Run, **words: Any) -> Handled:
    (answer,) = await trial.store.redrive([Redrive(dead=DeadRef(run.id, run.fence), **words)])
    return answer


class TestDeadLetters:
    @rule("S0.38")
    async def test_f6_a_dead_run_is_listed_until_it_is_acknowledged(self, trial: Trial) -> None:
        run = await die(trial, "boom")
        await die(trial, "other")
        page = await trial.store.list_dead(DeadFilter(error="boo"), limit=10)
        (found,) = page.items
        assert (found.id, found.error_message, found.dead, found.payload_json) == (run.id, "boom", True, None)
        assert await trial.store.acknowledge([DeadRef(run.id)]) == [Handled(run.id, Done.DONE)]
        assert await trial.store.acknowledge([DeadRef(run.id, run.fence)]) == [Handled(run.id, Done.REPEATED)]
        assert (await trial.store.list_dead(DeadFilter(error="boo"), limit=10)).items == []
        kept = await trial.run(run)
        assert (kept.status, kept.dead, kept.error_message) == ("failed", False, "boom")

    async def test_only_what_died_is_a_dead_letter(self, trial: Trial) -> None:
        worker = await trial.worker()
        done, open_ = await trial.enqueue(), await trial.enqueue(run_at=trial.clock.now() + 1000)
        await worker.complete(await worker.claim_one())
        assert (await trial.store.list_dead(DeadFilter(), limit=10)).items == []
        nowhere = trial.id()
        answers = await trial.store.acknowledge([DeadRef(done.id), DeadRef(open_.id), DeadRef(nowhere)])
        assert [answer.outcome for answer in answers] == [Done.NOT_DEAD, Done.NOT_DEAD, Done.NOT_FOUND]
        answers = await trial.store.redrive([Redrive(dead=DeadRef(id)) for id in (done.id, open_.id, nowhere)])
        assert [answer.outcome for answer in answers] == [Done.NOT_DEAD, Done.NOT_DEAD, Done.NOT_FOUND]
        assert (await trial.run(done)).status == "completed"

    async def test_dead_letters_are_found_by_schedule_job_queue_tenant_and_error(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        await worker.fail(await worker.claim_one(), "of a schedule", fatal=True)
        (of_schedule,) = await trial.runs(put)
        of_job = await die(trial, "100% of a job", job="other")
        of_queue = await die(trial, queue="slow")
        of_tenant = await die(trial, tenant="acme")

        async def found(**words: Any) -> set[str]:
            where = DeadFilter(**words)
            listed = {run.id for run in (await trial.store.list_dead(where, limit=10)).items}
            refs = await trial.store.find_dead(where, died_by=trial.clock.now(), limit=10)
            assert {ref.run_id for ref in refs} == listed
            assert sum(group.count for group in await trial.store.group_dead(where, limit=10)) == len(listed)
            return listed

        assert await found(schedule_id=put.id) == {of_schedule.id}
        assert await found(job="other") == {of_job.id}
        assert await found(queue="slow") == {of_queue.id}
        assert await found(tenant="acme") == {of_tenant.id}
        assert await found(error="of a ") == {of_schedule.id, of_job.id}
        assert await found(error="0%") == {of_job.id}, "the text itself, no pattern"
        assert await found(error="OF A") == set()
        assert len(await found()) == 4

    async def test_dead_letters_come_in_pages_newest_first_and_are_worked_off_oldest_first(self, trial: Trial) -> None:
        runs = []
        for _ in range(5):
            trial.clock.move(milliseconds=1)
            runs.append((await die(trial)).id)
        seen: list[str] = []
        cursor: str | None = None
        while True:
            page = await trial.store.list_dead(DeadFilter(), limit=2, after=cursor)
            seen += [run.id for run in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert seen == runs[::-1]
        now = trial.clock.now()
        first = await trial.store.find_dead(DeadFilter(), died_by=now, limit=2)
        rest = await trial.store.find_dead(DeadFilter(), died_by=now, limit=9, after=first[-1].run_id)
        assert [ref.run_id for ref in (*first, *rest)] == runs
        before = await trial.store.find_dead(DeadFilter(), died_by=now - 1, limit=9)
        assert [ref.run_id for ref in before] == runs[:-1], "those that die later are not meant"

    async def test_dead_letters_of_one_exception_and_line_are_one_group(self, trial: Trial) -> None:
        report = ErrorReport(type="shop.Refused", location="shop.py:7 in charge", stack="...")
        other = ErrorReport(type="shop.Refused", location="shop.py:9 in refund", stack="...")
        worker = await trial.worker()
        for order in range(30):
            trial.clock.move(milliseconds=1)
            await trial.enqueue(max_attempts=1)
            await worker.settle(await worker.claim_one(), Failed(f"order {order} could not be charged", report=report))
        await trial.enqueue(max_attempts=1)
        await worker.settle(await worker.claim_one(), Failed("order 7 could not be refunded", report=other))
        many, one = await trial.store.group_dead(DeadFilter(), limit=10)
        assert (many.count, many.error_type, many.error_location) == (30, "shop.Refused", "shop.py:7 in charge")
        assert many.error == "order 29 could not be charged", "of the newest"
        assert (one.count, one.error_location) == (1, "shop.py:9 in refund")
        where = DeadFilter(error_type=many.error_type, error_location=many.error_location)
        assert len(await trial.store.find_dead(where, died_by=trial.clock.now(), limit=50)) == 30
        assert len((await trial.store.list_dead(where, limit=50)).items) == 30
        assert sum(group.count for group in await trial.store.group_dead(where, limit=10)) == 30

    async def test_dead_letters_are_counted_by_job_and_error(self, trial: Trial) -> None:
        first = trial.clock.now()
        for n in range(5):
            trial.clock.move(seconds=1)
            newest = await die(trial, "often" if n else "rare")
        await die(trial, "often", job="other")
        often, *others = await trial.store.group_dead(DeadFilter(), limit=10)
        assert (often.job, often.error, often.count, often.newest_run_id) == ("work", "often", 4, newest.id)
        assert often.first_died_at.timestamp() * 1000 == first + 2000
        assert often.last_died_at.timestamp() * 1000 == first + 5000
        assert {(group.job, group.error, group.count) for group in others} == {
            ("work", "rare", 1),
            ("other", "often", 1),
        }
        assert len(await trial.store.group_dead(DeadFilter(), limit=2)) == 2

    @rule("S3.4")
    async def test_the_attempts_at_a_run_are_told_in_order_with_their_errors(self, trial: Trial) -> None:
        run = await trial.enqueue(max_attempts=4)
        worker = await trial.worker(name="w1")
        for outcome in (Failed("first"), Failed("slow", timed_out=True), Lost("gone")):
            trial.clock.move(seconds=10)
            await worker.beat()
            await worker.settle(await worker.claim_one(), outcome)
        trial.clock.move(seconds=10)
        await worker.beat()
        claim = await worker.claim_one()
        told = await trial.store.read_attempts(run.id)
        assert [(one.attempt_number, one.outcome, one.error_message) for one in told] == [
            (1, "failed", "first"),
            (2, "timed_out", "slow"),
            (3, "lost", "gone"),
            (4, "running", None),
        ]
        assert all(one.instance == "w1" and one.started_at is not None for one in told)
        trial.clock.move(seconds=2)
        await worker.complete(claim)
        *_, last = await trial.store.read_attempts(run.id)
        assert last.started_at is not None
        assert last.ended_at is not None
        assert (last.outcome, (last.ended_at - last.started_at).total_seconds()) == ("completed", 2)

    async def test_an_attempt_that_was_given_back_or_never_begun_is_not_told(self, trial: Trial) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        await worker.claim()
        await worker.close()
        assert await trial.store.read_attempts(run.id) == []
        await trial.store.request_cancel(run.id)
        assert await trial.store.read_attempts(run.id) == []
        assert await trial.store.read_attempts(trial.id()) == []


class TestRedriving:
    @rule("F6")
    async def test_f6_a_redriven_run_is_the_same_run_with_a_fresh_budget_and_may_die_again(self, trial: Trial) -> None:
        run = await trial.enqueue(max_attempts=2, timeout_ms=5000, payload='{"n":1}', priority=3)
        worker = await trial.worker()
        for death in range(2):
            for attempt in (1, 2):
                claim = await worker.claim_one()
                assert (claim.id, claim.attempt, claim.timeout_ms, claim.payload) == (run.id, attempt, 5000, '{"n":1}')
                assert claim.fence == 2 * death + attempt, "the fence goes on"
                await worker.fail(claim)
                trial.clock.move(seconds=5)
                await worker.beat()
            dead = await trial.run(run)
            assert (dead.status, dead.dead, dead.attempt, dead.priority) == ("failed", True, 2, 3)
            assert await redrive(trial, dead) == Handled(run.id, Done.DONE, run.id)
            again = await trial.run(run)
            assert (again.status, again.attempt, again.attempt_number, again.dead) == ("pending", 0, 1, False)
        await worker.complete(await worker.claim_one(), '"at last"')
        assert (await trial.run(run)).result == "at last"
        told = [(one.attempt_number, one.outcome) for one in await trial.store.read_attempts(run.id)]
        assert told == [(1, "failed"), (2, "failed")] * 2 + [(1, "completed")]

    async def test_a_redriven_window_keeps_its_window_and_cannot_fire_again(self, trial: Trial) -> None:
        put = await trial.put(payload='{"of":"schedule"}')
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await worker.fail(claim, fatal=True)
        await redrive(trial, await trial.run(claim))
        again = await worker.claim_one()
        assert (again.id, again.window_at, again.kind, again.payload) == (
            claim.id,
            claim.window_at,
            "window",
            '{"of":"schedule"}',
        )
        await worker.complete(again)
        assert await trial.statuses(put) == ["completed"]

    async def test_an_attempt_from_before_the_redrive_changes_nothing(self, trial: Trial) -> None:
        await trial.enqueue(max_attempts=1)
        worker = await trial.worker()
        old = await worker.claim_one()
        await worker.fail(old)
        await redrive(trial, await trial.run(old))
        new = await worker.claim_one()
        settled = await worker.complete(old, '"zombie"')
        assert (settled.ended, settled.lost) == ({}, [old.id])
        assert (await trial.run(new)).status == "running"

    async def test_a_repeated_redrive_starts_nothing_more(self, trial: Trial) -> None:
        run = await die(trial)
        worker = await trial.worker()
        assert (await redrive(trial, run)).outcome is Done.DONE
        assert await redrive(trial, run) == Handled(run.id, Done.REPEATED, run.id)
        assert await trial.store.redrive([Redrive(dead=DeadRef(run.id))]) == [Handled(run.id, Done.REPEATED, run.id)]
        await worker.fail(await worker.claim_one(), fatal=True)
        assert (await redrive(trial, run)).outcome is Done.REPEATED, "that death was answered; this is another one"
        assert (await trial.run(run)).dead
        assert (await redrive(trial, await trial.run(run))).outcome is Done.DONE

    async def test_the_same_run_twice_in_one_batch_goes_once(self, trial: Trial) -> None:
        run = await die(trial)
        twice = [Redrive(dead=DeadRef(run.id)), Redrive(dead=DeadRef(run.id), payload="1")]
        first, second = await trial.store.redrive(twice)
        assert (first.outcome, second.outcome, second.goes_as) == (Done.DONE, Done.REPEATED, run.id)

    @pytest.mark.parametrize("payload", [None, '{"right":1}'])
    async def test_redrives_of_one_run_at_the_same_time_start_one(
        self, trial: Trial, access: Access, payload: str | None
    ) -> None:
        runs = [await die(trial) for _ in range(10)]
        stores = [trial.store, *[await access.another() for _ in range(3)]]
        requests = [Redrive(dead=DeadRef(run.id, run.fence), payload=payload) for run in runs]
        turns = [requests, requests[::-1], requests[5:] + requests[:5], requests]
        answers = await asyncio.gather(*(store.redrive(turn) for store, turn in zip(stores, turns, strict=True)))
        outcomes = Counter(answer.outcome for handled in answers for answer in handled)
        assert outcomes == {Done.DONE: 10, Done.REPEATED: 30}
        worker = await trial.worker()
        assert len(await worker.claim()) == 10

    @rule("F9")
    @pytest.mark.parametrize("payload", FALSY)
    async def test_f9_a_redrive_with_another_payload_is_a_new_linked_run(self, trial: Trial, payload: str) -> None:
        old = await die(trial, payload='{"wrong":1}', timeout_ms=7000, queue="slow", max_attempts=1)
        trial.clock.move(seconds=1)
        made = await redrive(trial, old, payload=payload)
        assert made.outcome is Done.DONE
        assert made.goes_as not in (None, old.id)
        assert await redrive(trial, old, payload=payload) == Handled(old.id, Done.REPEATED, made.goes_as)
        assert (await redrive(trial, old)).outcome is Done.REPEATED, "it goes as the other one already"
        kept, new = await trial.run(old), await trial.run(made.goes_as or "")
        assert (kept.status, kept.payload, kept.error_message, kept.attempt) == ("failed", {"wrong": 1}, "no luck", 1)
        assert (kept.dead, kept.redriven_as, new.redrive_of) == (False, new.id, old.id)
        listed = (await trial.store.list_runs(RunFilter(), limit=10)).items
        assert {(run.id, run.redrive_of, run.redriven_as) for run in listed} == {
            (old.id, None, new.id),
            (new.id, old.id, None),
        }
        assert (new.payload, new.kind, new.queue, new.max_attempts) == (json.loads(payload), "direct", "slow", 1)
        claim = await (await trial.worker()).claim_one()
        assert (claim.id, claim.payload, claim.timeout_ms, claim.attempt) == (new.id, payload, 7000, 1)

    async def test_f9_another_payload_for_a_window_is_a_manual_run_of_its_schedule(self, trial: Trial) -> None:
        put = await trial.put(payload='{"wrong":1}')
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        old = await worker.claim_one()
        await worker.fail(old, fatal=True)
        made = await redrive(trial, await trial.run(old), payload="[1]")
        claim = await worker.claim_one()
        assert (claim.id, claim.kind, claim.schedule_id, claim.payload) == (made.goes_as, "manual", put.id, "[1]")
        assert claim.window_at == old.window_at, "its handler is told which window it stands for"
        assert await trial.statuses(put) == ["failed", "running"]

    async def test_an_acknowledged_run_can_still_be_redriven_by_its_id(self, trial: Trial) -> None:
        run = await die(trial)
        await trial.store.acknowledge([DeadRef(run.id)])
        assert (await redrive(trial, run)).outcome is Done.DONE
        assert (await trial.run(run)).status == "pending"

    async def test_a_run_whose_schedule_is_purged_needs_a_payload(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await worker.fail(claim, fatal=True)
        await trial.delete(put)
        trial.clock.move(minutes=1)
        assert await trial.store.purge_schedules(ended_before=trial.clock.now(), limit=10) == 1
        run = await trial.run(claim)
        assert (await redrive(trial, run)).outcome is Done.NO_PAYLOAD
        assert (await trial.run(run)).dead
        assert (await redrive(trial, run, payload="{}")).outcome is Done.DONE
        assert (await (await trial.worker()).claim_one()).payload == "{}"

    async def test_a_run_that_took_its_process_along_goes_apart_from_others(self, trial: Trial) -> None:
        run = await trial.enqueue(max_attempts=1)
        worker = await trial.worker()
        await worker.settle(await worker.claim_one(), Lost("gone"))
        await redrive(trial, await trial.run(run))
        assert (await worker.claim_one()).suspect


class TestOnDead:
    async def _tell(self, trial: Trial, **handlers: str) -> None:
        on_dead = [
            OnDead(job=job, handler=handler, queue="default", max_attempts=2, timeout_ms=9000)
            for job, handler in handlers.items()
        ]
        await trial.store.put_on_dead(sorted(handlers), on_dead)

    @rule("S0d.62", "F8")
    async def test_f8_the_handler_of_a_death_is_started_once(self, trial: Trial) -> None:
        await self._tell(trial, work="tell")
        run = await trial.enqueue(max_attempts=2, payload='{"n":[1]}', tenant="acme")
        worker, teller = await trial.worker(), await trial.worker("tell")
        await worker.fail(await worker.claim_one(), "first")
        assert await teller.claim() == [], "it may still succeed"
        trial.clock.move(seconds=5)
        await worker.beat()
        claim = await worker.claim_one()
        settled = await worker.fail(claim, "second")
        assert (settled.ended, settled.released) == ({run.id: "failed"}, 1)
        assert (await worker.fail(claim, "second")).lost == [], "a repeat tells nobody again"
        told = await teller.claim_one()
        assert (told.kind, told.max_attempts, told.timeout_ms, told.tenant) == ("direct", 2, 9000, "acme")
        dead = json.loads(told.payload or "")["dead"]
        assert dead == {
            "run_id": run.id,
            "job": "work",
            "reason": "attempts_spent",
            "error": "second",
            "attempts": 2,
            "died_at": "2026-01-05T00:00:05.000Z",
            "scheduled_at": "2026-01-05T00:00:00.000Z",
            "schedule_id": None,
            "schedule_key": None,
            "error_type": None,
            "error_location": None,
            "stack": None,
            "payload": {"n": [1]},
        }

    async def test_f8_a_run_that_died_with_its_worker_is_told_of_too(self, trial: Trial) -> None:
        await self._tell(trial, work="tell")
        put = await trial.put(payload='"of the schedule"', retry=PLAIN_RETRY)
        trial.clock.move(minutes=1)
        await trial.fire()
        for _ in range(3):
            await (await trial.worker()).claim_one()
            trial.clock.move(seconds=16)
            await trial.take_lost()
        told = await (await trial.worker("tell")).claim_one()
        dead = json.loads(told.payload or "")["dead"]
        assert (dead["reason"], dead["schedule_key"], dead["payload"]) == ("lost", put.key, "of the schedule")

    async def test_a_second_death_after_a_redrive_is_told_again(self, trial: Trial) -> None:
        await self._tell(trial, work="tell")
        run = await die(trial)
        await redrive(trial, run)
        worker = await trial.worker()
        await worker.fail(await worker.claim_one(), fatal=True)
        told = await (await trial.worker("tell")).claim()
        assert [json.loads(claim.payload or "")["dead"]["run_id"] for claim in told] == [run.id, run.id]

    async def test_completed_and_cancelled_runs_are_not_told_of(self, trial: Trial) -> None:
        await self._tell(trial, work="tell")
        worker = await trial.worker()
        await trial.enqueue()
        await worker.settle(await worker.claim_one(), Completed())
        run = await trial.enqueue(max_attempts=1)
        claim = await worker.claim_one()
        await trial.store.request_cancel(run.id)
        await worker.complete(claim)
        assert (await trial.run(run)).status is RunStatus.CANCELLED
        assert await (await trial.worker("tell")).claim() == []

    async def test_a_handler_that_dies_itself_starts_nothing(self, trial: Trial) -> None:
        await self._tell(trial, work="tell", tell="tell")
        await die(trial)
        teller = await trial.worker("tell", "work")
        await teller.fail(await teller.claim_one(), fatal=True)
        assert await teller.claim() == []
        await self._tell(trial, work="tell", tell="work")
        await die(trial, job="tell")
        await die(trial, job="work")
        assert await teller.claim() == [], "nor do two that would tell each other"

    async def test_what_an_app_declared_last_holds_for_its_jobs(self, trial: Trial) -> None:
        await self._tell(trial, work="tell", other="tell")
        await trial.store.put_on_dead(["work", "mine"], [])
        await die(trial, job="work")
        await die(trial, job="other")
        (told,) = await (await trial.worker("tell")).claim()
        assert json.loads(told.payload or "")["dead"]["job"] == "other"
