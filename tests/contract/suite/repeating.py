"""Unknown outcomes and crashes: each write is done once or not at all, and may be repeated.

Every scene prepares a store and names one call. The call is cut off after each of its statements in turn, and nothing
of it may be seen. Then it is made, and made again with the same arguments, as a caller does who never got the answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from duly.core.dead import OnDead
from duly.core.lane import Singleton, Unique
from duly.core.policy import Overlap
from duly.core.rules import editing
from duly.core.run import Completed, Failed, Outcome, RunStatus, Snoozed
from duly.core.timing import Once
from duly.store.dead import DeadRef, Redrive
from duly.store.protocol import Store
from duly.store.values import Report, Tried
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.tables import Dump
from tests.contract.suite.trial import LEASE_MS, Trial, deleted

Call = Callable[[Store], Awaitable[Any]]
Scene = Callable[[Trial], Awaitable[Call]]

_MOST_STATEMENTS = 40


async def put_schedules(trial: Trial) -> Call:
    new = [trial.new("a", client_request_id="r1"), trial.new("b", tenant="acme")]
    return lambda store: store.put_schedules(new)


async def pause(trial: Trial) -> Call:
    put = await trial.put()
    return lambda store: store.change_schedule(
        put.id, lambda found, now: editing.pause(found, now, reason="leave", until=None, by="ann")
    )


async def cancel(trial: Trial) -> Call:
    put = await _one_running_one_waiting(trial)
    return lambda store: store.change_schedule(put, lambda found, now: editing.cancel(found, now, by="ann"))


async def delete(trial: Trial) -> Call:
    put = await _one_running_one_waiting(trial)
    return lambda store: store.change_schedule(put, lambda found, now: deleted(found, now, by="ann"))


async def edit(trial: Trial) -> Call:
    put = await trial.put()
    definition = replace(put.definition, payload='{"n":2}')
    return lambda store: store.change_schedule(
        put.id, lambda found, now: editing.edit(found, now, by="ann", definition=definition)
    )


async def fire_due(trial: Trial) -> Call:
    await trial.put("skips", overlap=Overlap.SKIP)
    await trial.put("cancels", overlap=Overlap.CANCEL_PREVIOUS)
    trial.clock.move(minutes=1)
    await trial.fire()
    trial.clock.move(minutes=10)
    return lambda store: store.fire_due(limit=100, rules=trial.rules)


async def set_aside(trial: Trial) -> Call:
    put = await trial.put()
    trial.clock.move(minutes=1)
    fire_at = (await trial.schedule(put)).cursor.fire_at
    assert fire_at is not None
    return lambda store: store.set_aside(Tried(put.id, fire_at), "no")


async def enqueue(trial: Trial) -> Call:
    requests = [trial.request(), trial.request(payload="null")]
    return lambda store: store.enqueue(requests)


async def enqueue_with_keys(trial: Trial) -> Call:
    terms = Singleton(key="import", max_queued=2)
    await trial.enqueue(singleton=terms)
    unique = Unique(key="digest", for_ms=1000)
    requests = [trial.request(singleton=terms, unique=unique), trial.request(unique=unique), trial.request()]
    return lambda store: store.enqueue(requests)


async def trigger(trial: Trial) -> Call:
    put, run_id = await trial.put(), trial.id()
    return lambda store: store.trigger(put.id, run_id=run_id, payload="1", force=False, rules=trial.rules)


async def cancel_waiting_run(trial: Trial) -> Call:
    put = await trial.put("soon", Once("2026-01-05T00:00:10Z"))
    trial.clock.move(seconds=10)
    await trial.fire()
    (run,) = await trial.runs(put)
    return lambda store: store.request_cancel(run.id)


async def cancel_running_run(trial: Trial) -> Call:
    run = await trial.enqueue()
    await (await trial.worker()).claim()
    return lambda store: store.request_cancel(run.id)


async def settle(trial: Trial) -> Call:
    put = await trial.put("queue", overlap=Overlap.QUEUE, pause_after_failures=1)
    worker = await trial.worker()
    for _ in range(2):
        trial.clock.move(minutes=1)
        await worker.beat()
        await trial.fire()
    for _ in range(3):
        await trial.enqueue()
    claims = await worker.claim()
    outcomes: Iterator[Outcome] = iter([Completed("1"), Failed("no"), Snoozed(1000)])
    endings = [
        worker.ending(claim, Failed("no", fatal=True) if claim.schedule_id == put.id else next(outcomes))
        for claim in claims
    ]
    return lambda store: store.settle(endings)


async def settle_singletons(trial: Trial) -> Call:
    terms = Singleton(key="import", max_running=2)
    for _ in range(4):
        await trial.enqueue(singleton=terms)
    worker = await trial.worker()
    done, dead = await worker.claim()
    endings = [worker.ending(done, Completed()), worker.ending(dead, Failed("no", fatal=True))]
    return lambda store: store.settle(endings)


async def settle_reported(trial: Trial) -> Call:
    await trial.put("queue", overlap=Overlap.QUEUE)
    worker = await trial.worker()
    for _ in range(2):
        trial.clock.move(minutes=1)
        await worker.beat()
        await trial.fire()
    await trial.enqueue()
    one, other = await worker.claim()
    reports = [Report(one.id, one.fence, Completed("1")), Report(other.id, other.fence, Failed("no"))]
    return lambda store: store.settle_reported(worker.session, reports, rules=trial.rules)


async def open_session(trial: Trial) -> Call:
    await trial.enqueue("new-job")
    await trial.worker("work")
    await trial.store.hold_unknown_jobs()
    instance = replace((await trial.worker("x")).instance, session=77, jobs=("new-job",))
    return lambda store: store.open_session(instance, lease_ms=LEASE_MS)


async def beat(trial: Trial) -> Call:
    worker = await trial.worker()
    trial.clock.move(seconds=5)
    return lambda store: store.beat(worker.session, lease_ms=LEASE_MS)


async def close_session(trial: Trial) -> Call:
    await trial.enqueue()
    worker = await trial.worker()
    await worker.claim()
    return lambda store: store.close_session(worker.session)


async def take_lost(trial: Trial) -> Call:
    await _one_running_one_waiting(trial)
    await trial.enqueue()
    await (await trial.worker()).claim()
    trial.clock.move(seconds=16)
    return lambda store: store.take_lost(limit=100, rules=trial.rules)


async def take_lease(trial: Trial) -> Call:
    await trial.store.take_lease("janitor", 1, lease_ms=1000)
    trial.clock.move(seconds=2)
    return lambda store: store.take_lease("janitor", 2, lease_ms=1000)


async def hold_unknown_jobs(trial: Trial) -> Call:
    await trial.enqueue("new-job")
    await trial.worker("work")
    return lambda store: store.hold_unknown_jobs()


async def purge_history(trial: Trial) -> Call:
    await trial.enqueue(max_attempts=1)
    worker = await trial.worker()
    await worker.fail(await worker.claim_one())
    trial.clock.move(seconds=1)
    return lambda store: store.purge_history(finished_before=trial.clock.now(), limit=10)


async def purge_surplus(trial: Trial) -> Call:
    await trial.enqueue()
    worker = await trial.worker()
    await worker.complete(await worker.claim_one())
    return lambda store: store.purge_surplus(RunStatus.COMPLETED, keep=0, limit=10)


async def purge_schedules(trial: Trial) -> Call:
    await trial.delete(await trial.put())
    trial.clock.move(seconds=1)
    return lambda store: store.purge_schedules(ended_before=trial.clock.now(), limit=10)


async def resume_expired_pauses(trial: Trial) -> Call:
    for key in ("a", "b"):
        await trial.pause(await trial.put(key), until=trial.clock.now() + 1000)
    trial.clock.move(seconds=1)
    return lambda store: store.resume_expired_pauses(limit=10)


async def claim_runs(trial: Trial) -> Call:
    for _ in range(2):
        await trial.enqueue()
    worker = await trial.worker()
    return lambda store: store.claim_runs(worker.session, jobs=["work"], limit=10)


async def settle_deaths(trial: Trial) -> Call:
    on_dead = OnDead(job="work", handler="tell", queue="default", max_attempts=1, timeout_ms=None)
    await trial.store.put_on_dead(["work"], [on_dead])
    for _ in range(2):
        await trial.enqueue()
    worker = await trial.worker()
    endings = [worker.ending(claim, Failed("no", fatal=True)) for claim in await worker.claim()]
    return lambda store: store.settle(endings)


async def redrive(trial: Trial) -> Call:
    dead = await _two_dead(trial)
    return lambda store: store.redrive([Redrive(dead=ref, by="ann") for ref in dead])


async def redrive_with_a_payload(trial: Trial) -> Call:
    dead = await _two_dead(trial)
    return lambda store: store.redrive([Redrive(dead=ref, payload="[1]") for ref in dead])


async def acknowledge(trial: Trial) -> Call:
    dead = await _two_dead(trial)
    return lambda store: store.acknowledge(dead)


async def purge_instances(trial: Trial) -> Call:
    for _ in range(2):
        await (await trial.worker()).close()
    trial.clock.move(minutes=1)
    ended_before = trial.clock.now()
    return lambda store: store.purge_instances(ended_before=ended_before, limit=10)


async def put_on_dead(trial: Trial) -> Call:
    first = OnDead(job="work", handler="tell", queue="default", max_attempts=1, timeout_ms=None)
    await trial.store.put_on_dead(["work"], [first])
    second = OnDead(job="other", handler="tell", queue="default", max_attempts=2, timeout_ms=1)
    return lambda store: store.put_on_dead(["work", "other"], [second])


async def _two_dead(trial: Trial) -> list[DeadRef]:
    """A run of a schedule and a direct one that have died."""
    await trial.put("queue", overlap=Overlap.QUEUE)
    trial.clock.move(minutes=1)
    await trial.fire()
    await trial.enqueue()
    worker = await trial.worker()
    claims = await worker.claim()
    for claim in claims:
        await worker.fail(claim, fatal=True)
    return [DeadRef(claim.id, claim.fence) for claim in claims]


async def _one_running_one_waiting(trial: Trial) -> str:
    put = await trial.put("queue", overlap=Overlap.QUEUE)
    worker = await trial.worker()
    for _ in range(2):
        trial.clock.move(minutes=1)
        await worker.beat()
        await trial.fire()
        await worker.claim()
    return put.id


_SAME_ANSWER: list[Scene] = [
    put_schedules,
    pause,
    cancel,
    edit,
    enqueue,
    enqueue_with_keys,
    cancel_waiting_run,
    cancel_running_run,
    open_session,
    beat,
    take_lease,
    hold_unknown_jobs,
    put_on_dead,
]
SCENES: list[Scene] = [
    *_SAME_ANSWER,
    delete,
    fire_due,
    set_aside,
    trigger,
    settle,
    settle_deaths,
    settle_singletons,
    settle_reported,
    redrive,
    redrive_with_a_payload,
    acknowledge,
    close_session,
    take_lost,
    purge_history,
    purge_surplus,
    purge_schedules,
    purge_instances,
    resume_expired_pauses,
    claim_runs,
]


def by_name(scene: Scene) -> str:
    return scene.__name__


def without_slots(dump: Dump) -> Dump:
    """A repeated put takes new places in its tenant's line: they are plenty, and nobody sees the gap."""
    return {table: rows for table, rows in dump.items() if table != "tenants"}


async def check_cut_off(trial: Trial, access: Access, scene: Scene) -> None:
    """Cut the call off after each of its statements; nothing of it may be seen."""
    call = await scene(trial)
    before = await access.dump()
    statements = 0
    while await access.crash_after(statements, call):
        assert await access.dump() == before, f"cut off after {statements} statements"
        statements += 1
        assert statements < _MOST_STATEMENTS
    assert statements > 0
    assert await access.dump() != before


async def check_repeated(trial: Trial, access: Access, scene: Scene) -> None:
    """Make the call twice; the second one may change nothing."""
    call = await scene(trial)
    await call(trial.store)
    once = without_slots(await access.dump())
    await call(trial.store)
    assert without_slots(await access.dump()) == once


class TestRepeating:
    @rule("S3.48", "A5")
    @pytest.mark.parametrize("scene", SCENES, ids=by_name)
    async def test_a_call_cut_off_anywhere_leaves_nothing(self, trial: Trial, access: Access, scene: Scene) -> None:
        await check_cut_off(trial, access, scene)

    @pytest.mark.parametrize("scene", SCENES, ids=by_name)
    async def test_a_repeated_call_changes_nothing_more(self, trial: Trial, access: Access, scene: Scene) -> None:
        await check_repeated(trial, access, scene)

    @pytest.mark.parametrize("scene", _SAME_ANSWER, ids=by_name)
    async def test_a_repeated_call_gives_the_same_answer(self, trial: Trial, scene: Scene) -> None:
        call = await scene(trial)
        assert await call(trial.store) == await call(trial.store)
