"""Unknown outcomes and crashes, as in ``repeating``: of workflows, answers, calendars, switches, keys and webhooks."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial

import pytest

from duly.core.calendar import Days
from duly.core.credential import Key, Scope
from duly.core.lane import Unique
from duly.core.on_event import EventHandler
from duly.core.policy import Overlap
from duly.core.rules.replacing import reschedule
from duly.core.run import Completed, Dispatched, Failed, Suspended
from duly.core.schedule import Target, TargetKind
from duly.core.steps import StepKind
from duly.core.switch import Backlog
from duly.core.timing import Once
from duly.core.webhook import EVENTS, Webhook
from duly.store.guarding import NewKey
from duly.store.orders import BackfillOrder, NewOperation, PauseAllOrder, PauseOrder, PurgeOrder, ResumeAllOrder
from duly.store.publishing import NewEvent
from duly.store.values import NewCalendar, ScheduleFilter
from tests.contract.suite.access import Access
from tests.contract.suite.repeating import Call, Scene, by_name, check_cut_off, check_repeated
from tests.contract.suite.steps import begin, recorded, step
from tests.contract.suite.trial import Trial, deleted

_OUT = Target(TargetKind.QUEUE, "out", '{"kind":"queue","name":"out","expect":"ack"}')
_HOLIDAY = Days((date(2026, 1, 6),))
_WEBHOOK = Webhook(id="019cc9a0-0000-7000-8000-000000000001", url="https://example.com/hook", events=EVENTS)


async def record_steps(trial: Trial) -> Call:
    flow = await begin(trial)
    await flow.record(step())
    record = recorded(
        flow.claim,
        flow.worker.session,
        step(result="1"),
        step(2, kind=StepKind.CHILD),
        children=[flow.child(2)],
        published={"x": "1"},
        marks={"t:a": ""},
        job="workflow:flow@2",
        progress=True,
    )
    return lambda store: store.record_steps([record])


async def suspend(trial: Trial) -> Call:
    flow = await begin(trial)
    await flow.record(step())
    ending = flow.worker.ending(flow.claim, Suspended(trial.clock.now() + 60_000, 0))
    return lambda store: store.settle([ending])


async def end_of_a_child(trial: Trial) -> Call:
    flow = await begin(trial)
    child = flow.child(job="work")
    await flow.record(step(kind=StepKind.CHILD), children=[child])
    await flow.suspend()
    claim = await flow.worker.claim_one()
    assert claim.id == child.request.id
    return lambda store: store.settle([flow.worker.ending(claim, Completed("1"))])


async def cancel_softly(trial: Trial) -> Call:
    flow = await begin(trial)
    await flow.suspend()
    return lambda store: store.cancel_softly(flow.id)


async def cancel_a_family(trial: Trial) -> Call:
    flow = await begin(trial)
    await flow.record(step(kind=StepKind.CHILD), children=[flow.child(job="work")])
    await flow.suspend()
    return lambda store: store.request_cancel(flow.id)


async def end_task(trial: Trial) -> Call:
    flow = await begin(trial)
    await flow.record(step(kind=StepKind.TASK))
    await flow.suspend()
    return lambda store: store.end_task(flow.id, 1, result="1", error=None)


async def publish_event(trial: Trial) -> Call:
    await trial.store.put_on_event(["mail"], [_handler("mail")])
    flow = await begin(trial)
    await flow.record(step(kind=StepKind.EVENT, name="paid"))
    await flow.suspend()
    event = NewEvent(name="paid", body="1", id="o-7", keep_ms=60_000)
    return lambda store: store.publish_event(event)


async def put_on_event(trial: Trial) -> Call:
    await trial.store.put_on_event(["mail"], [_handler("mail")])
    return lambda store: store.put_on_event(["mail", "other"], [_handler("other")])


async def settle_answer(trial: Trial) -> Call:
    run_id, fence = await _dispatched(trial)
    return lambda store: store.settle_answer(run_id, fence, Completed("1"), rules=trial.rules)


async def settle_answer_that_failed(trial: Trial) -> Call:
    run_id, fence = await _dispatched(trial)
    return lambda store: store.settle_answer(run_id, fence, Failed("no"), rules=trial.rules)


async def begin_answer(trial: Trial) -> Call:
    run_id, fence = await _dispatched(trial)
    trial.clock.move(seconds=1)
    return lambda store: store.begin_answer(run_id, fence)


async def end_unheard_topics(trial: Trial) -> Call:
    await trial.put("topic", target=Target(TargetKind.TOPIC, "billing.due"), overlap=Overlap.QUEUE, max_queued=2)
    for _ in range(2):
        trial.clock.move(minutes=1)
        await trial.fire()
    trial.clock.move(minutes=1)
    await trial.worker()
    await trial.store.hold_unknown_jobs()
    return lambda store: store.end_unheard_topics(patience_ms=30_000, limit=1)


async def replace_schedule(trial: Trial) -> Call:
    old, new_id = await trial.put(), trial.id()
    plan = partial(reschedule, id=new_id, timing=Once("2026-01-05T00:00:10Z"), by="bob")
    return lambda store: store.replace_schedule(old.id, new_id, plan)


async def backfill(trial: Trial) -> Call:
    put = await trial.put()
    order = BackfillOrder(since=trial.clock.now() - 120_000, until=trial.clock.now())
    new = NewOperation(id=trial.id(), order=order, by="ann")
    return lambda store: store.backfill(put.id, new, payload="1", rules=trial.rules)


async def begin_purge(trial: Trial) -> Call:
    put = await trial.put(overlap=Overlap.QUEUE)
    trial.clock.move(minutes=1)
    await trial.fire()
    new = NewOperation(id=trial.id(), order=PurgeOrder(cancel_running=True), by="ann")
    return lambda store: store.begin_purge(put.id, new, rules=trial.rules)


async def put_operation(trial: Trial) -> Call:
    new = NewOperation(id=trial.id(), order=PauseOrder(where=ScheduleFilter(tag="etl"), reason="incident"), by="ann")
    return lambda store: store.put_operation(new)


async def pause_firing(trial: Trial) -> Call:
    new = NewOperation(id=trial.id(), order=PauseAllOrder(reason="incident"), by="ann")
    return lambda store: store.pause_firing(new)


async def resume_firing(trial: Trial) -> Call:
    await trial.store.pause_firing(NewOperation(id=trial.id(), order=PauseAllOrder(reason="incident"), by="ann"))
    new = NewOperation(id=trial.id(), order=ResumeAllOrder(backlog=Backlog.SKIP), by="bob")
    return lambda store: store.resume_firing(new)


async def mark_restored(trial: Trial) -> Call:
    return lambda store: store.mark_restored(epoch=1, reason="from last night", by="ann")


async def put_calendar(trial: Trial) -> Call:
    await trial.store.put_calendar(NewCalendar(id=trial.id(), name="holidays", days=Days()))
    new = NewCalendar(id=trial.id(), name="holidays", days=_HOLIDAY, by="ann")
    return lambda store: store.put_calendar(new)


async def delete_calendar(trial: Trial) -> Call:
    await trial.store.put_calendar(NewCalendar(id=trial.id(), name="holidays", days=_HOLIDAY))
    return lambda store: store.delete_calendar("holidays")


async def change_queue(trial: Trial) -> Call:
    await trial.enqueue(queue="mail")
    return lambda store: store.change_queue("mail", lambda queue, now: replace(queue, max_running=1, fair=True))


async def adopt_fair_keys(trial: Trial) -> Call:
    for tenant in ("acme", "zeta"):
        await trial.enqueue(queue="mail", tenant=tenant)
    await trial.store.change_queue("mail", lambda queue, now: replace(queue, fair=True))
    return lambda store: store.adopt_fair_keys(limit=10)


async def begin_request(trial: Trial) -> Call:
    return lambda store: store.begin_request("acme", "k", "h", keep_ms=1000)


async def end_request(trial: Trial) -> Call:
    begun = await trial.store.begin_request("acme", "k", "h", keep_ms=1000)
    return lambda store: store.end_request(begun, 201, "{}")


async def drop_request(trial: Trial) -> Call:
    begun = await trial.store.begin_request("acme", "k", "h", keep_ms=1000)
    return lambda store: store.drop_request(begun)


async def purge_requests(trial: Trial) -> Call:
    await trial.store.begin_request("acme", "k", "h", keep_ms=1000)
    trial.clock.move(seconds=2)
    return lambda store: store.purge_requests(limit=10)


async def purge_operations(trial: Trial) -> Call:
    order = PauseOrder(where=ScheduleFilter(tag="etl"), reason="incident")
    made = await trial.store.put_operation(NewOperation(id=trial.id(), order=order))
    await trial.store.step_operation(made.id, limit=10)
    trial.clock.move(seconds=1)
    return lambda store: store.purge_operations(finished_before=trial.clock.now(), limit=10)


async def purge_keys(trial: Trial) -> Call:
    await trial.enqueue(unique=Unique(key="digest", for_ms=1000))
    worker = await trial.worker()
    await worker.complete(await worker.claim_one())
    trial.clock.move(seconds=2)
    return lambda store: store.purge_keys(limit=10)


async def put_key(trial: Trial) -> Call:
    return lambda store: store.put_key(_key("aaaaaaaa"))


async def rotate_key(trial: Trial) -> Call:
    await trial.store.put_key(_key("aaaaaaaa"))
    return lambda store: store.rotate_key("aaaaaaaa", _next, keep_ms=1000)


async def revoke_key(trial: Trial) -> Call:
    await trial.store.put_key(_key("aaaaaaaa"))
    return lambda store: store.revoke_key("aaaaaaaa")


async def put_webhook(trial: Trial) -> Call:
    return lambda store: store.put_webhook(_WEBHOOK)


async def change_webhook(trial: Trial) -> Call:
    await trial.store.put_webhook(_WEBHOOK)
    return lambda store: store.change_webhook(_WEBHOOK.id, lambda one, now: replace(one, url="https://example.com/b"))


async def delete_webhook(trial: Trial) -> Call:
    await trial.store.put_webhook(_WEBHOOK)
    return lambda store: store.delete_webhook(_WEBHOOK.id)


async def tell_overdue(trial: Trial) -> Call:
    await trial.store.put_webhook(replace(_WEBHOOK, events=("schedule.overdue",)))
    await trial.put()
    trial.clock.move(hours=3)
    return lambda store: store.tell_overdue(late_ms=60_000, limit=10)


async def release_lease(trial: Trial) -> Call:
    await trial.store.take_lease("janitor", 1, lease_ms=1000)
    return lambda store: store.release_lease("janitor", 1)


async def release_stuck_lanes(trial: Trial) -> Call:
    put = await trial.put(overlap=Overlap.SKIP)
    worker = await trial.worker()
    trial.clock.move(minutes=1)
    await worker.beat()
    await trial.fire()
    first = await worker.claim_one()
    await trial.edit(put, definition=replace(put.definition, overlap=Overlap.QUEUE))
    trial.clock.move(minutes=1)
    await worker.beat()
    await trial.fire()
    await worker.complete(first)
    return lambda store: store.release_stuck_lanes(limit=10)


async def end_of_a_deleted_one(trial: Trial) -> Call:
    """Nobody else's lane, cursor or key is touched by who ends last."""
    put = await trial.put("queue", overlap=Overlap.QUEUE)
    worker = await trial.worker()
    trial.clock.move(minutes=1)
    await worker.beat()
    await trial.fire()
    claim = await worker.claim_one()
    await trial.change(put, deleted)
    return lambda store: store.settle([worker.ending(claim, Failed("no", fatal=True))])


def _handler(job: str) -> EventHandler:
    return EventHandler(event="paid", job=job, queue="default", max_attempts=2, timeout_ms=9000)


def _key(id: str) -> NewKey:
    return NewKey(id=id, digest=f"digest of {id}", name="ci", scopes=frozenset({Scope.READ}))


def _next(old: Key) -> NewKey:
    return replace(_key("bbbbbbbb"), replaces=old.id)


async def _dispatched(trial: Trial) -> tuple[str, int]:
    """A run that a receiver outside has been handed: its id and its fence."""
    await trial.put("out", target=_OUT, timeout_ms=9000)
    trial.clock.move(minutes=1)
    await trial.fire()
    worker = await trial.worker(_OUT.handler)
    claim = await worker.claim_one()
    await worker.settle(claim, Dispatched())
    return claim.id, claim.fence


SCENES: list[Scene] = [
    record_steps,
    suspend,
    end_of_a_child,
    cancel_softly,
    cancel_a_family,
    end_task,
    publish_event,
    put_on_event,
    settle_answer,
    settle_answer_that_failed,
    begin_answer,
    end_unheard_topics,
    replace_schedule,
    backfill,
    begin_purge,
    put_operation,
    pause_firing,
    resume_firing,
    mark_restored,
    put_calendar,
    delete_calendar,
    change_queue,
    adopt_fair_keys,
    begin_request,
    end_request,
    drop_request,
    purge_requests,
    purge_operations,
    purge_keys,
    put_key,
    rotate_key,
    revoke_key,
    put_webhook,
    change_webhook,
    delete_webhook,
    tell_overdue,
    release_lease,
    release_stuck_lanes,
    end_of_a_deleted_one,
]


class TestRepeatingWhatIsAsked:
    @pytest.mark.parametrize("scene", SCENES, ids=by_name)
    async def test_a_call_cut_off_anywhere_leaves_nothing(self, trial: Trial, access: Access, scene: Scene) -> None:
        await check_cut_off(trial, access, scene)

    @pytest.mark.parametrize("scene", SCENES, ids=by_name)
    async def test_a_repeated_call_changes_nothing_more(self, trial: Trial, access: Access, scene: Scene) -> None:
        await check_repeated(trial, access, scene)
