"""Queues: limits hold for all sessions together, and a paused queue gives nothing away."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from duly.core.policy import Overlap
from duly.core.queue import Queue, QueueState
from duly.core.rules.suspects import Room
from duly.core.run import Completed, Failed, Snoozed
from duly.core.timing import Every
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial, Worker


async def set_up(trial: Trial, name: str = "mail", **words: Any) -> Queue:
    """Set a queue up."""
    return await trial.store.change_queue(name, lambda queue, now: replace(queue, **words))


async def pause(trial: Trial, name: str = "mail") -> Queue:
    return await trial.store.change_queue(
        name, lambda queue, now: replace(queue, paused_at=now, paused_by="ann", pause_reason="flood")
    )


async def resume(trial: Trial, name: str = "mail") -> Queue:
    return await set_up(trial, name, paused_at=None, paused_by=None, pause_reason=None)


async def fill(trial: Trial, count: int, queue: str = "mail", **words: Any) -> list[str]:
    """Enqueue runs one after another, and answer their ids."""
    ids = []
    for _ in range(count):
        trial.clock.move(milliseconds=1)
        ids.append((await trial.enqueue(queue=queue, **words)).id)
    return ids


async def claimed_ids(worker: Worker, limit: int = 100) -> list[str]:
    return [claim.id for claim in await worker.claim(limit)]


class TestConcurrencyLimits:
    @rule("S0.37", "S0d.59")
    async def test_no_more_runs_are_claimed_than_a_queue_allows(self, trial: Trial) -> None:
        await set_up(trial, max_running=3)
        ids = await fill(trial, 5)
        worker = await trial.worker()
        claims = await worker.claim()
        assert [claim.id for claim in claims] == ids[:3]
        assert await worker.claim() == []
        await worker.complete(claims[1])
        assert await claimed_ids(worker) == ids[3:4]

    @rule("J1")
    async def test_the_limit_is_one_for_all_sessions(self, trial: Trial, access: Access) -> None:
        await set_up(trial, max_running=3)
        await fill(trial, 20)
        stores = [trial.store, await access.another()]
        workers = [await trial.worker(name=f"w{n}", store=stores[n % 2]) for n in range(6)]
        claims = await asyncio.gather(*(worker.claim(limit=2) for worker in workers))
        assert sum(map(len, claims)) == 3

    async def test_other_queues_do_not_wait_for_a_full_one(self, trial: Trial) -> None:
        await set_up(trial, max_running=1)
        await fill(trial, 3)
        others = await fill(trial, 3, queue="other")
        claims = await (await trial.worker()).claim()
        assert {claim.id for claim in claims if claim.queue == "other"} == set(others)
        assert len(claims) == 4

    async def test_the_highest_priority_goes_first(self, trial: Trial) -> None:
        await set_up(trial, max_running=2)
        await fill(trial, 2)
        urgent = await fill(trial, 1, priority=5)
        worker = await trial.worker()
        assert (await claimed_ids(worker))[0] == urgent[0]

    async def test_what_waits_for_a_place_is_said_with_the_claim(self, trial: Trial) -> None:
        await set_up(trial, max_running=1)
        worker = await trial.worker()
        await fill(trial, 2)
        claimed = await trial.store.claim_runs(worker.session, jobs=["work"], limit=10)
        assert (len(claimed.claims), claimed.held_back) == (1, frozenset({"mail"}))
        assert claimed.claims[0].capped
        await worker.complete(claimed.claims[0])
        last = await trial.store.claim_runs(worker.session, jobs=["work"], limit=10)
        await worker.complete(last.claims[0])
        assert not (await trial.store.claim_runs(worker.session, jobs=["work"], limit=10)).held_back

    async def test_the_place_of_a_dead_session_is_free_the_place_of_a_live_one_is_not(self, trial: Trial) -> None:
        """J4."""
        await set_up(trial, max_running=2)
        ids = await fill(trial, 4)
        doomed, steady = await trial.worker(name="doomed"), await trial.worker(name="steady")
        assert len(await doomed.claim(limit=1)) == len(await steady.claim(limit=1)) == 1
        for _ in range(4):
            trial.clock.move(seconds=5)
            await steady.beat()
        assert await steady.claim() == []
        assert await trial.take_lost() == ids[:1]
        claims = await steady.claim(suspects=Room(1))
        assert len(claims) == 1
        assert (await set_up(trial)).running == 2

    async def test_a_run_that_waits_for_its_next_attempt_takes_no_place(self, trial: Trial) -> None:
        await set_up(trial, max_running=1)
        ids = await fill(trial, 3)
        worker = await trial.worker()
        await worker.settle(await worker.claim_one(), Failed("no luck"))
        await worker.settle(await worker.claim_one(), Snoozed(60_000))
        assert await claimed_ids(worker) == ids[2:]

    async def test_suspects_count_and_wait_like_others(self, trial: Trial) -> None:
        await fill(trial, 3)
        await (await trial.worker(name="doomed")).claim()
        trial.clock.move(seconds=16)
        assert len(await trial.take_lost()) == 3
        await set_up(trial, max_running=2)
        worker = await trial.worker()
        assert len(await worker.claim(suspects=Room(3))) == 2
        assert await worker.claim(suspects=Room(3)) == []

    async def test_a_fire_does_not_go_round_the_limit(self, trial: Trial) -> None:
        await set_up(trial, max_running=1)
        for n in range(3):
            await trial.put(f"s{n}", Every(minutes=1), queue="mail", overlap=Overlap.ALLOW)
        await trial.put("free", Every(minutes=1))
        worker = await trial.worker()
        trial.clock.move(minutes=1)
        fired = await trial.fire(grab=worker.grab())
        assert (fired.runs, [claim.key for claim in fired.claims]) == (4, ["free"])
        assert len(await worker.claim()) == 1

    async def test_a_limit_that_was_lowered_takes_nothing_away_and_gives_nothing_more(self, trial: Trial) -> None:
        await set_up(trial, max_running=3)
        ids = await fill(trial, 5)
        worker = await trial.worker()
        claims = await worker.claim()
        await set_up(trial, max_running=1)
        await worker.complete(claims[0])
        assert await worker.claim() == []
        await trial.store.settle([worker.ending(claim, Completed()) for claim in claims[1:]])
        assert await claimed_ids(worker) == ids[3:4]

    async def test_without_its_limits_a_queue_is_as_if_nobody_had_set_it_up(self, trial: Trial) -> None:
        await set_up(trial, max_running=1)
        await set_up(trial, max_running=None)
        ids = await fill(trial, 3)
        claims = await (await trial.worker()).claim()
        assert [claim.id for claim in claims] == ids
        assert not any(claim.capped for claim in claims)


class TestRates:
    @rule("S0.37")
    async def test_no_more_runs_start_in_a_window_than_the_rate_allows(self, trial: Trial) -> None:
        await set_up(trial, rate=3, per_ms=10_000)
        ids = await fill(trial, 7)
        worker = await trial.worker()
        assert await claimed_ids(worker, limit=2) == ids[:2]
        trial.clock.move(milliseconds=9_999)
        assert await claimed_ids(worker) == ids[2:3]
        assert await worker.claim() == []
        trial.clock.move(milliseconds=1)
        assert await claimed_ids(worker) == ids[3:6]
        trial.clock.move(milliseconds=9_999)
        assert await worker.claim() == []

    async def test_a_window_begins_with_a_start_not_with_the_clock(self, trial: Trial) -> None:
        await set_up(trial, rate=1, per_ms=10_000)
        trial.clock.move(seconds=7)
        ids = await fill(trial, 2)
        worker = await trial.worker()
        assert await claimed_ids(worker) == ids[:1]
        trial.clock.move(milliseconds=9_999)
        assert await worker.claim() == []
        trial.clock.move(milliseconds=1)
        assert await claimed_ids(worker) == ids[1:]

    async def test_the_claim_says_when_the_next_window_begins(self, trial: Trial) -> None:
        await set_up(trial, rate=1, per_ms=700)
        await fill(trial, 2)
        worker = await trial.worker()
        began = trial.clock.now()
        claimed = await trial.store.claim_runs(worker.session, jobs=["work"], limit=10)
        assert (len(claimed.claims), claimed.next_due_at) == (1, began + 700)
        trial.clock.move(milliseconds=300)
        claimed = await trial.store.claim_runs(worker.session, jobs=["work"], limit=10)
        assert (len(claimed.claims), claimed.next_due_at) == (0, began + 700)

    async def test_the_rate_is_one_for_all_sessions_and_outlives_them(self, trial: Trial, access: Access) -> None:
        """J2."""
        await set_up(trial, rate=4, per_ms=60_000)
        await fill(trial, 10)
        first = await trial.worker(name="first")
        assert len(await first.claim(limit=3)) == 3
        await first.close()
        other = await trial.worker(name="other", store=await access.another())
        assert len(await other.claim()) == 1
        trial.clock.move(seconds=59)
        assert await other.claim() == []
        trial.clock.move(seconds=1)
        assert len(await other.claim()) == 4

    async def test_both_limits_hold(self, trial: Trial) -> None:
        await set_up(trial, max_running=2, rate=3, per_ms=10_000)
        await fill(trial, 9)
        worker = await trial.worker()
        claims = await worker.claim()
        assert len(claims) == 2
        await trial.store.settle([worker.ending(claim, Completed()) for claim in claims])
        assert len(await worker.claim()) == 1
        assert await worker.claim() == []

    async def test_a_clock_that_leaps_back_does_not_close_a_queue(self, trial: Trial) -> None:
        await set_up(trial, rate=1, per_ms=10_000)
        ids = await fill(trial, 2)
        await trial.store.change_queue("mail", lambda queue, now: replace(queue, window_at=now + 3_600_000, used=1))
        assert await claimed_ids(await trial.worker()) == ids[:1]


class TestPausedQueues:
    async def test_a_paused_queue_gives_nothing_away_until_it_is_resumed(self, trial: Trial) -> None:
        ids = await fill(trial, 2)
        queue = await pause(trial)
        assert (queue.paused, queue.paused_reason, queue.paused_by) == (True, "flood", "ann")
        assert queue.state.paused_at == trial.clock.now()
        worker = await trial.worker()
        assert await worker.claim() == []
        assert not (await resume(trial)).paused
        assert await claimed_ids(worker) == ids

    async def test_fires_go_on_and_what_is_running_ends(self, trial: Trial) -> None:
        schedule = await trial.put("report", Every(minutes=1), queue="mail", overlap=Overlap.ALLOW)
        worker = await trial.worker()
        trial.clock.move(minutes=1)
        (claim,) = (await trial.fire(grab=worker.grab())).claims
        await pause(trial)
        trial.clock.move(seconds=10)
        await worker.beat()
        await worker.complete(claim)
        trial.clock.move(seconds=50)
        assert not (await trial.fire(grab=worker.grab())).claims
        assert await worker.claim() == []
        assert await trial.statuses(schedule) == ["completed", "pending"]

    async def test_other_queues_are_not_paused(self, trial: Trial) -> None:
        await pause(trial)
        await fill(trial, 1)
        others = await fill(trial, 1, queue="other")
        assert await claimed_ids(await trial.worker()) == others

    async def test_a_paused_queue_keeps_its_limits(self, trial: Trial) -> None:
        await set_up(trial, max_running=1)
        await pause(trial)
        await fill(trial, 2)
        queue = await resume(trial)
        assert queue.max_running == 1
        assert len(await (await trial.worker()).claim()) == 1

    async def test_suspects_of_a_paused_queue_wait_too(self, trial: Trial) -> None:
        await fill(trial, 1)
        await (await trial.worker(name="doomed")).claim()
        trial.clock.move(seconds=16)
        assert len(await trial.take_lost()) == 1
        await pause(trial)
        worker = await trial.worker()
        assert await worker.claim(suspects=Room(3)) == []
        await resume(trial)
        assert len(await worker.claim(suspects=Room(3))) == 1


class TestListingQueues:
    async def test_queues_are_listed_that_were_set_up_or_have_open_runs(self, trial: Trial) -> None:
        assert await trial.store.list_queues() == []
        await set_up(trial, "empty", max_running=2, rate=5, per_ms=1000)
        await fill(trial, 3)
        await trial.enqueue(queue="mail", run_at=trial.clock.now() + 60_000)
        await (await trial.worker()).claim(limit=1)
        empty, mail = await trial.store.list_queues()
        assert (empty.name, empty.max_running, empty.rate, empty.per) == ("empty", 2, 5, 1.0)
        assert (empty.running, empty.waiting, empty.scheduled) == (0, 0, 0)
        assert (mail.name, mail.running, mail.waiting, mail.scheduled) == ("mail", 1, 2, 1)
        assert mail.state == QueueState(name="mail")

    async def test_one_queue_can_be_looked_at(self, trial: Trial) -> None:
        await fill(trial, 1)
        await fill(trial, 1, queue="other")
        (queue,) = await trial.store.list_queues("other")
        assert (queue.name, queue.waiting) == ("other", 1)
        assert await trial.store.list_queues("none") == []

    async def test_a_change_that_changes_nothing_is_not_dated(self, trial: Trial) -> None:
        first = await set_up(trial, max_running=2)
        trial.clock.move(seconds=1)
        assert await set_up(trial, max_running=2) == first
        assert (await set_up(trial, max_running=3)).state.updated_at == trial.clock.now()
