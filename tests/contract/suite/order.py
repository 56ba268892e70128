"""The order of a claim: priority first, then queues share; within a queue, fair shares before arrival."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from duly.core.policy import Overlap
from duly.core.rules.suspects import NO_ROOM, Room
from duly.core.run import Released
from duly.core.timing import Every
from tests.acceptance.rules import rule
from tests.contract.suite.queues import claimed_ids, fill, pause, set_up
from tests.contract.suite.trial import Trial, Worker


async def owners(worker: Worker, limit: int = 100) -> list[str]:
    """Whose runs are claimed, in their order."""
    return [claim.tenant for claim in await worker.claim(limit)]


async def queues(worker: Worker, limit: int = 100, suspects: Room = NO_ROOM) -> dict[str, int]:
    """How many runs of each queue are claimed."""
    return Counter(claim.queue for claim in await worker.claim(limit, suspects))


class TestQueuesFence:
    @pytest.mark.parametrize("order", [{"max_running": 5}, {"fair": True}, {"newest_first": True}], ids=str)
    async def test_every_claim_has_a_greater_fence_whatever_the_order_of_its_queue(
        self, trial: Trial, order: dict[str, Any]
    ) -> None:
        await set_up(trial, **order)
        (run_id,) = await fill(trial, 1)
        worker = await trial.worker()
        old = await worker.claim_one()
        await worker.settle(old, Released())
        new = await worker.claim_one()
        assert (old.id, old.fence, new.fence) == (run_id, 1, 2)
        assert list((await worker.complete(old)).lost) == [run_id]
        assert (await worker.complete(new)).ended == {run_id: "completed"}


class TestQueuesShare:
    async def test_a_backlog_keeps_no_other_queue_of_its_priority_waiting(self, trial: Trial) -> None:
        bulk = await fill(trial, 30, queue="bulk")
        await fill(trial, 2, queue="default")
        await fill(trial, 9, queue="mail")
        worker = await trial.worker()
        claims = await worker.claim(limit=12)
        count = Counter(claim.queue for claim in claims)
        assert (count["default"], count.total()) == (2, 12)
        assert min(count["bulk"], count["mail"]) >= 4
        assert [claim.id for claim in claims if claim.queue == "bulk"] == bulk[: count["bulk"]]

    async def test_what_the_others_leave_goes_to_the_one_that_has_more(self, trial: Trial) -> None:
        await fill(trial, 30, queue="bulk")
        await fill(trial, 2)
        worker = await trial.worker()
        assert await queues(worker, limit=20) == {"bulk": 18, "mail": 2}
        assert await queues(worker, limit=20) == {"bulk": 12}

    async def test_each_queue_has_its_turn_where_there_is_room_for_one_run(self, trial: Trial) -> None:
        names = ("bulk", "default", "mail")
        for name in names:
            await fill(trial, 40, queue=name)
        worker = await trial.worker()
        served: Counter[str] = Counter()
        for _ in range(40):
            trial.clock.move(milliseconds=1)
            served.update(await queues(worker, limit=1))
        assert served.keys() == set(names)

    async def test_a_higher_priority_shares_with_no_lower_one(self, trial: Trial) -> None:
        await fill(trial, 3, queue="default")
        await fill(trial, 4, queue="bulk", priority=5)
        await fill(trial, 4, priority=5)
        worker = await trial.worker()
        assert await queues(worker, limit=8) == {"bulk": 4, "mail": 4}
        assert await queues(worker, limit=8) == {"default": 3}

    async def test_queues_without_a_run_for_this_worker_take_no_room(self, trial: Trial) -> None:
        await fill(trial, 30, queue="bulk")
        await fill(trial, 5, queue="a", job="other")
        await fill(trial, 5, queue="z", job="other")
        await fill(trial, 1, queue="paused")
        await pause(trial, "paused")
        await trial.enqueue(queue="later", run_at=trial.clock.now() + 60_000)
        assert await queues(await trial.worker(), limit=12) == {"bulk": 12}

    async def test_a_limited_queue_gives_what_it_may_and_leaves_the_rest(self, trial: Trial) -> None:
        await set_up(trial, max_running=3)
        await set_up(trial, "sms", rate=2, per_ms=10_000)
        for name in ("bulk", "mail", "sms"):
            await fill(trial, 20, queue=name)
        worker = await trial.worker()
        assert await queues(worker, limit=15) == {"bulk": 10, "mail": 3, "sms": 2}
        assert await queues(worker, limit=4) == {"bulk": 4}

    async def test_a_queue_keeps_its_own_order_in_its_share(self, trial: Trial) -> None:
        await set_up(trial, "fair", fair=True)
        await set_up(trial, "newest", newest_first=True)
        await fill(trial, 20, queue="bulk")
        for tenant in ("a", "a", "a", "b", "c"):
            await fill(trial, 1, queue="fair", tenant=tenant)
        newest = await fill(trial, 5, queue="newest")
        claims = await (await trial.worker()).claim(limit=12)
        assert [claim.tenant for claim in claims if claim.queue == "fair"] == ["a", "b", "c", "a"]
        assert [claim.id for claim in claims if claim.queue == "newest"] == newest[:0:-1]

    async def test_suspects_go_first_and_take_from_no_share(self, trial: Trial) -> None:
        lost = await fill(trial, 2, queue="mail")
        await (await trial.worker(name="doomed")).claim()
        trial.clock.move(seconds=16)
        assert set(await trial.take_lost()) == set(lost)
        for name in ("bulk", "default", "mail"):
            await fill(trial, 20, queue=name)
        claims = await (await trial.worker()).claim(limit=11, suspects=Room(2))
        assert [claim.id for claim in claims if claim.suspect] == [claim.id for claim in claims[:2]] == lost
        assert Counter(claim.queue for claim in claims[2:]) == {"bulk": 3, "default": 3, "mail": 3}


class TestFairShares:
    @rule("J3")
    async def test_a_noisy_tenant_does_not_keep_the_others_waiting(self, trial: Trial) -> None:
        """J3."""
        await set_up(trial, fair=True)
        await fill(trial, 50, tenant="noisy")
        await fill(trial, 2, tenant="quiet")
        await fill(trial, 1, tenant="silent")
        worker = await trial.worker()
        assert await owners(worker, limit=4) == ["noisy", "quiet", "silent", "noisy"]
        assert await owners(worker, limit=3) == ["quiet", "noisy", "noisy"]

    async def test_who_was_served_last_is_last_in_the_next_claim(self, trial: Trial) -> None:
        await set_up(trial, fair=True)
        for tenant in ("a", "b", "c"):
            await fill(trial, 4, tenant=tenant)
        one, other = await trial.worker(name="one"), await trial.worker(name="other")
        turns = [tenant for worker in (one, other, one, other) for tenant in await owners(worker, limit=2)]
        assert turns == ["a", "b", "c", "a", "b", "c", "a", "b"]

    @rule("J3")
    async def test_within_a_key_the_oldest_goes_first(self, trial: Trial) -> None:
        await set_up(trial, fair=True)
        ids = await fill(trial, 3, tenant="a")
        assert await claimed_ids(await trial.worker()) == ids

    @rule("J3")
    async def test_priority_comes_before_fairness(self, trial: Trial) -> None:
        await set_up(trial, fair=True)
        await fill(trial, 3, tenant="a")
        await fill(trial, 3, tenant="b", priority=5)
        assert await owners(await trial.worker(), limit=5) == ["b", "b", "b", "a", "a"]

    async def test_a_run_may_have_another_key_than_its_tenant(self, trial: Trial) -> None:
        await set_up(trial, fair=True)
        big = await fill(trial, 3, tenant="acme", fairness_key="big")
        small = await fill(trial, 3, tenant="acme", fairness_key="small")
        assert await claimed_ids(await trial.worker(), limit=4) == [big[0], small[0], big[1], small[1]]

    async def test_runs_without_a_tenant_are_one_key(self, trial: Trial) -> None:
        await set_up(trial, fair=True)
        await fill(trial, 5)
        await fill(trial, 5, tenant="a")
        assert await owners(await trial.worker(), limit=4) == ["", "a", "", "a"]

    async def test_what_a_schedule_fires_has_its_tenant_s_key_or_its_own(self, trial: Trial) -> None:
        await set_up(trial, fair=True)
        for n in range(3):
            await trial.put(f"a{n}", Every(minutes=1), tenant="acme", queue="mail", overlap=Overlap.ALLOW)
        await trial.put("own", Every(minutes=1), tenant="acme", queue="mail", fairness_key="own")
        trial.clock.move(minutes=1)
        await trial.fire()
        claims = await (await trial.worker()).claim(limit=2)
        assert {claim.key for claim in claims} & {"own"}

    async def test_what_came_in_before_a_queue_was_fair_goes_when_its_key_is_known_or_at_the_end(
        self, trial: Trial
    ) -> None:
        await fill(trial, 3, tenant="early")
        await set_up(trial, fair=True)
        await fill(trial, 3, tenant="late")
        worker = await trial.worker()
        assert await owners(worker, limit=1) == ["late"]
        assert await trial.store.adopt_fair_keys(limit=2) == 2
        assert await owners(worker, limit=2) == ["early", "late"]
        assert await owners(worker) == ["early", "late", "early"]
        assert await trial.store.adopt_fair_keys(limit=100) == 0

    async def test_keys_without_due_runs_and_of_other_jobs_are_passed_over(self, trial: Trial) -> None:
        await set_up(trial, fair=True)
        await trial.enqueue(queue="mail", tenant="a", run_at=trial.clock.now() + 60_000)
        await fill(trial, 3, tenant="b", job="other")
        await fill(trial, 3, tenant="c")
        assert await owners(await trial.worker(), limit=2) == ["c", "c"]

    async def test_limits_hold_in_a_fair_queue(self, trial: Trial) -> None:
        await set_up(trial, fair=True, max_running=2)
        await fill(trial, 3, tenant="a")
        await fill(trial, 3, tenant="b")
        worker = await trial.worker()
        claims = await worker.claim()
        assert [claim.tenant for claim in claims] == ["a", "b"]
        assert await worker.claim() == []
        await worker.complete(claims[0])
        assert await owners(worker) == ["a"]

    async def test_many_keys_are_all_served_in_turn(self, trial: Trial) -> None:
        await set_up(trial, fair=True)
        tenants = [f"t{n:03}" for n in range(300)]
        await trial.store.enqueue([trial.request(queue="mail", tenant=t) for t in tenants for _ in range(2)])
        worker = await trial.worker()
        served = [tenant for _ in range(6) for tenant in await owners(worker, limit=100)]
        assert served == tenants * 2

    async def test_a_queue_that_is_fair_no_more_goes_by_arrival(self, trial: Trial) -> None:
        await set_up(trial, fair=True)
        ids = await fill(trial, 2, tenant="a") + await fill(trial, 1, tenant="b")
        await set_up(trial, fair=False)
        assert await claimed_ids(await trial.worker(), limit=2) == ids[:2]


class TestNewestFirst:
    @rule("J3")
    async def test_what_came_last_goes_first(self, trial: Trial) -> None:
        await set_up(trial, newest_first=True)
        ids = await fill(trial, 4)
        worker = await trial.worker()
        assert await claimed_ids(worker, limit=3) == [ids[3], ids[2], ids[1]]
        newer = await fill(trial, 1)
        assert await claimed_ids(worker) == [*newer, ids[0]]

    async def test_what_is_not_due_yet_waits(self, trial: Trial) -> None:
        await set_up(trial, newest_first=True)
        ids = await fill(trial, 1)
        await trial.enqueue(queue="mail", run_at=trial.clock.now() + 60_000)
        assert await claimed_ids(await trial.worker()) == ids

    async def test_priority_comes_first_all_the_same(self, trial: Trial) -> None:
        await set_up(trial, newest_first=True)
        urgent = await fill(trial, 2, priority=5)
        ids = await fill(trial, 2)
        assert await claimed_ids(await trial.worker()) == [*urgent[::-1], *ids[::-1]]

    async def test_in_a_fair_queue_each_key_s_newest_goes_first(self, trial: Trial) -> None:
        await set_up(trial, newest_first=True, fair=True)
        a, b = await fill(trial, 2, tenant="a"), await fill(trial, 2, tenant="b")
        assert await claimed_ids(await trial.worker()) == [a[1], b[1], a[0], b[0]]
