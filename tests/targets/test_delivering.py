"""Deliveries: claimed, sent in batches, settled after the confirm; retries, the breaker, order, isolation."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from duly.config import Settings
from duly.core.errors import Conflict, NotFound, StoreUnavailable
from duly.core.policy import Retry
from duly.core.run import RunStatus
from duly.core.schedule import Schedule
from duly.core.timing import Every, Once
from duly.targets.target import Confirmed, Message, Refused, Stopped, TryAgain, Verdict
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.engine.lab import Lab
from tests.targets.conftest import Outside
from tests.targets.memory import Memory

MAIL = {"kind": "queue", "name": "mail"}
PATIENT = Settings(lease=3600, heartbeat=1200, poll=20, concurrency=100)
"""Few looks at the clock: an hour must not take a minute."""

QUICK = Retry(max_attempts=3, backoff="fixed", delay=60, jitter=0)


class Saying:
    """A target that answers what it is told to, and keeps what it was sent."""

    def __init__(self, *verdicts: Verdict) -> None:
        self._verdicts = list(verdicts)
        self.batches: list[list[Message]] = []

    async def open(self) -> None: ...

    async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
        self.batches.append(list(messages))
        verdict = self._verdicts.pop(0) if self._verdicts else Confirmed()
        return [verdict] * len(messages)

    async def close(self) -> None: ...


async def _create(lab: Lab, key: str = "reminder", timing: Any = None, **options: Any) -> Schedule:
    given = {"target": MAIL, "job": None, **options}
    return await lab.create(key, timing or Every(minutes=10), **given)


async def test_a_fire_is_delivered_and_the_run_ends_with_the_confirm(
    lab: Lab, clock: ManualClock, outside: Outside
) -> None:
    memory = Memory()
    outside.add("mail", memory.make())
    await lab.start(settings=PATIENT)
    schedule = await _create(
        lab, payload={"user": 42}, topic="notifications.reminder", metadata={"owner_id": "u-42"}, retry=QUICK
    )
    await clock.advance(minutes=11)
    (run,) = await lab.runs(schedule)
    assert (run.status, run.queue, run.job, run.attempt) == (RunStatus.COMPLETED, "target:mail", "queue:mail", 1)
    (message,) = memory.messages
    event = json.loads(message.body)
    assert (event["id"], event["source"], event["type"]) == (
        run.id,
        "/duly/schedules/reminder",
        "schedule.notifications.reminder.arrived",
    )
    assert (event["windowkey"], event["data"]["scheduledJobId"]) == (run.window_key, schedule.id)
    assert (event["data"]["userPayload"], event["data"]["metadata"]["ownerId"]) == ({"user": 42}, "u-42")
    assert (event["data"]["attempt"], event["data"]["maxAttempts"]) == (1, 3)


async def test_what_is_due_together_is_sent_together(lab: Lab, clock: ManualClock, outside: Outside) -> None:
    target = Saying()
    outside.add("mail", target, most=100)
    await lab.start(settings=PATIENT)
    for number in range(60):
        await _create(lab, f"r{number}")
    await clock.advance(minutes=10)
    assert sum(map(len, target.batches)) == 60
    assert len(target.batches) <= 3
    assert {run.status for run in await lab.runs()} == {RunStatus.COMPLETED}


@rule("S4.33")
async def test_a_failed_delivery_goes_again_under_its_id_by_the_schedule_s_policy(
    lab: Lab, clock: ManualClock, outside: Outside
) -> None:
    """S4: tried again after 60 s, three times; then the schedule is inactive."""
    target = Saying(*[TryAgain("no room")] * 4)
    outside.add("mail", target)
    await lab.start(settings=PATIENT)
    retry = Retry(max_attempts=4, backoff="fixed", delay=60, jitter=0)
    schedule = await _create(lab, retry=retry, pause_after_failures=1, target={**MAIL, "format": "raw"})
    await clock.advance(minutes=10)
    sent = [len(target.batches)]
    for _ in range(3):
        await clock.advance(seconds=60)
        sent.append(len(target.batches))
    assert sent == [1, 2, 3, 4]
    assert len({(batch[0].id, batch[0].body) for batch in target.batches}) == 1
    (run,) = await lab.runs(schedule)
    assert (run.status, run.error_message) == (RunStatus.FAILED, "mail: no room")
    await clock.advance(hours=1)
    assert len(target.batches) == 4
    now = await lab.plain.get_schedule(schedule.id)
    assert now is not None
    assert (now.enabled, now.paused_reason) == (False, "paused after 1 failed runs in a row")


async def test_whoever_says_when_to_come_again_is_heard(lab: Lab, clock: ManualClock, outside: Outside) -> None:
    target = Saying(TryAgain("slow down", retry_after=300))
    outside.add("mail", target)
    await lab.start(settings=PATIENT)
    await _create(lab, timing=Once(_after(clock, 60)), retry=QUICK)
    await clock.advance(seconds=60 + 299)
    assert len(target.batches) == 1
    await clock.advance(seconds=2)
    assert len(target.batches) == 2


@pytest.mark.parametrize("verdict, pauses", [(Refused("too large"), False), (Stopped("410 Gone"), True)])
async def test_what_is_refused_for_good_is_not_sent_again(
    lab: Lab, clock: ManualClock, outside: Outside, verdict: Verdict, pauses: bool
) -> None:
    target = Saying(verdict)
    outside.add("mail", target)
    await lab.start(settings=PATIENT)
    schedule = await _create(lab, timing=Once(_after(clock, 60)))
    await clock.advance(hours=1)
    (run,) = await lab.runs(schedule)
    assert (len(target.batches), run.status, run.reason) == (1, RunStatus.FAILED, "fatal")
    assert run.dead
    assert [ref for ref, _ in outside.paused] == ([schedule.id] if pauses else [])


@pytest.mark.parametrize("error", [Conflict("it is completed and cannot be paused"), NotFound("it was deleted")])
async def test_a_stop_that_finds_its_schedule_ended_is_not_sent_again(
    lab: Lab, clock: ManualClock, outside: Outside, error: Exception
) -> None:
    target = Saying(Stopped("410 Gone"), Stopped("410 Gone"))
    outside.add("mail", target)
    outside.no_pause = error
    await lab.start(settings=PATIENT)
    schedule = await _create(lab, timing=Once(_after(clock, 60)), retry=QUICK)
    await clock.advance(hours=1)
    (run,) = await lab.runs(schedule)
    assert (len(target.batches), run.status, run.reason) == (1, RunStatus.FAILED, "fatal")
    assert run.error_message == "mail wants no more: 410 Gone"


async def test_a_stop_whose_pause_was_not_stored_is_tried_again(lab: Lab, clock: ManualClock, outside: Outside) -> None:
    target = Saying(Stopped("410 Gone"))
    outside.add("mail", target)
    outside.no_pause = StoreUnavailable("the store is away")
    await lab.start(settings=PATIENT)
    schedule = await _create(lab, timing=Once(_after(clock, 60)), retry=QUICK)
    await clock.advance(hours=1)
    (run,) = await lab.runs(schedule)
    assert (len(target.batches), run.status) == (2, RunStatus.COMPLETED)


async def test_a_target_that_raises_or_miscounts_loses_nothing(lab: Lab, clock: ManualClock, outside: Outside) -> None:
    class Broken(Saying):
        async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
            self.batches.append(list(messages))
            if len(self.batches) == 1:
                raise RuntimeError("a bug")
            return [] if len(self.batches) == 2 else [Confirmed()]

    target = Broken()
    outside.add("mail", target)
    await lab.start(settings=PATIENT)
    schedule = await _create(lab, timing=Once(_after(clock, 60)), retry=QUICK)
    await clock.advance(minutes=5)
    (run,) = await lab.runs(schedule)
    assert (run.status, run.attempt, len(target.batches)) == (RunStatus.COMPLETED, 3, 3)
    errors = [record.error_message for record in await lab.plain.read_attempts(run.id)]
    assert "RuntimeError: a bug" in str(errors[0])
    assert "0 verdicts for 1 messages" in str(errors[1])


async def test_a_target_that_is_down_delays_no_other_and_spends_no_attempts(
    lab: Lab, clock: ManualClock, outside: Outside
) -> None:
    """Down for an hour: its runs wait in their queue, one at a time is sent to see; others are delivered in time."""
    down, up = Memory(), Memory()
    await down.stop()
    outside.add("mail", down.make())
    outside.add("other", up.make())
    ran: list[str] = []

    @lab.job("work")
    async def work(run: Any) -> None:
        ran.append(run.id)

    await lab.start(settings=PATIENT)
    for number in range(10):
        await _create(lab, f"mail-{number}", Once(_after(clock, 60)))
    await _create(lab, "other", Every(minutes=10), target={"kind": "queue", "name": "other"})
    await lab.create("local", Every(minutes=10))
    await clock.advance(hours=1)
    assert len(up.messages) == len(ran) == 6
    (away,) = lab.recorder.all("target_away")
    assert (away[0], away[1]) == ("mail", "the memory is down")
    waiting = [run for run in await lab.runs() if run.queue == "target:mail"]
    assert len(waiting) == 10
    assert {run.status for run in waiting} == {RunStatus.PENDING}
    await down.start()
    await clock.advance(minutes=16)
    assert sorted(one.id for one in down.messages) == sorted(run.id for run in waiting)
    assert lab.recorder.all("target_back") == [("mail",)]
    assert {run.status for run in await lab.runs() if run.queue == "target:mail"} == {RunStatus.COMPLETED}


async def test_a_worker_that_dies_between_send_and_settle_sends_again(
    lab: Lab, clock: ManualClock, outside: Outside
) -> None:
    memory = Memory()
    outside.add("mail", memory.make())
    doomed = await lab.start()
    lab.store.down("settle")
    schedule = await _create(lab, timing=Once(_after(clock, 60)), target={**MAIL, "format": "raw"})
    await clock.advance(seconds=60)
    assert len(memory.messages) == 1
    lab.crash(doomed)
    doomed._settler.abandon()
    lab.store.up()
    await lab.start()
    await clock.advance(minutes=1)
    (run,) = await lab.runs(schedule)
    assert run.status is RunStatus.COMPLETED
    assert [(one.id, one.body, one.fence) for one in memory.messages] == [(run.id, b"{}", 1), (run.id, b"{}", 2)]


async def test_nothing_is_settled_before_it_is_confirmed(lab: Lab, clock: ManualClock, outside: Outside) -> None:
    confirm = asyncio.Event()

    class Slow(Saying):
        async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
            await clock.wait(confirm, 1000)
            return await super().send(messages)

    target = Slow()
    deliverer = outside.add("mail", target)
    deliverer._target = target  # not watched: it waits by the manual clock itself
    await lab.start(settings=PATIENT)
    schedule = await _create(lab, timing=Once(_after(clock, 60)))
    await clock.advance(seconds=61)
    (run,) = await lab.runs(schedule)
    assert run.status is RunStatus.RUNNING
    confirm.set()
    await clock.settle()
    assert (await lab.run(run.id)).status is RunStatus.COMPLETED


async def test_ordered_deliveries_wait_for_one_another(lab: Lab, clock: ManualClock, outside: Outside) -> None:
    """The first one fails for a while: with order asked for, the later ones do not overtake it, and none is dropped."""
    target = Saying(TryAgain("not now"), TryAgain("not now"))
    outside.add("mail", target)
    await lab.start(settings=PATIENT)
    schedule = await _create(lab, timing=Every(minutes=1), target={**MAIL, "ordered": True}, retry=_slow(150))
    await clock.advance(minutes=9, seconds=30)
    sent = [message.id for batch in target.batches for message in batch]
    windows = [run.id for run in await lab.runs(schedule)]
    assert sent[:3] == [windows[0]] * 3
    assert sent[2:] == windows[: len(sent) - 2]
    assert len(windows) == 9
    assert {run.status for run in await lab.runs(schedule)} == {RunStatus.COMPLETED}


@rule("S4.29")
async def test_without_a_live_instance_that_has_the_target_a_run_waits_and_is_reported(
    lab: Lab, clock: ManualClock, outside: Outside
) -> None:
    await lab.start()
    schedule = await _create(lab, timing=Once(_after(clock, 60)))
    await clock.advance(minutes=5)
    (run,) = await lab.runs(schedule)
    assert run.status is RunStatus.PENDING
    assert lab.recorder.all("jobs_unknown")[-1] == ([("queue:mail", 1)],)
    memory = Memory()
    outside.add("mail", memory.make())
    await lab.start()
    await clock.advance(seconds=2)
    assert [one.id for one in memory.messages] == [run.id]


async def test_a_shutdown_gives_back_what_was_not_confirmed(lab: Lab, clock: ManualClock, outside: Outside) -> None:
    class Hanging(Saying):
        async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
            await clock.wait(asyncio.Event(), 10_000)
            return []

    target = Hanging()
    deliverer = outside.add("mail", target)
    deliverer._target = target
    instance = await lab.start(settings=PATIENT)
    schedule = await _create(lab, timing=Once(_after(clock, 60)))
    await clock.advance(seconds=61)
    await lab.stop(instance)
    (run,) = await lab.runs(schedule)
    assert (run.status, run.attempt) == (RunStatus.PENDING, 0)


async def test_one_that_does_not_send_together_is_not_held_up(lab: Lab, clock: ManualClock, outside: Outside) -> None:
    target = Saying()
    outside.add("mail", target, together=False)
    await lab.start(settings=PATIENT)
    for number in range(5):
        await _create(lab, f"r{number}", Once(_after(clock, 60)))
    await clock.advance(minutes=2)
    assert [len(batch) for batch in target.batches] == [1] * 5


def _after(clock: ManualClock, seconds: float) -> Any:
    return datetime.fromtimestamp(clock.now() / 1000 + seconds, UTC)


def _slow(delay: float) -> Retry:
    return Retry(max_attempts=5, backoff="fixed", delay=delay, jitter=0)
