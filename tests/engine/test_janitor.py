"""The janitor: retention, pauses that end, and runs that nobody can execute, on one instance at a time."""

from datetime import timedelta
from functools import partial
from itertools import pairwise

import pytest

from duly import Every, Fatal, Once
from duly.config import Settings
from duly.core.ids import uuid7
from duly.core.instants import to_datetime
from duly.core.rules import editing
from duly.core.run import RunStatus
from duly.engine import janitor
from duly.engine.registry import Registry
from duly.store.values import NewRequest
from tests.acceptance.rules import rule
from tests.engine.lab import Lab


@rule("K2")
async def test_k2_finished_runs_go_after_their_retention_and_open_ones_stay(lab: Lab) -> None:
    settings = Settings(retention=3600, poll=60, lease=180, heartbeat=60)

    @lab.job("work")
    async def work() -> None: ...

    await lab.start(settings=settings)
    old = await lab.enqueue("work")
    waiting = await lab.enqueue("work", run_at=to_datetime(lab.clock.now() + 86_400_000))
    await lab.clock.advance(minutes=40)
    young = await lab.enqueue("work")
    await lab.clock.advance(minutes=21)
    assert await lab.plain.get_run(old.id) is None
    assert (await lab.run(young.id)).status is RunStatus.COMPLETED
    assert (await lab.run(waiting.id)).status is RunStatus.PENDING


@rule("S0d.67", "K2")
async def test_k2_each_status_is_kept_for_its_own_time(lab: Lab) -> None:
    settings = Settings(retention=3600, retention_failed=0, retention_completed=600, poll=60, lease=180, heartbeat=60)

    @lab.job("work")
    async def work(well: bool) -> None:
        if not well:
            raise Fatal("no")

    await lab.start(settings=settings)
    done, dead = await lab.enqueue("work", {"well": True}), await lab.enqueue("work", {"well": False})
    other = await lab.enqueue("nobody-knows-it")
    await lab.plain.request_cancel(other.id)
    left: dict[int, set[str]] = {}
    for minutes in (9, 2, 48, 3):
        await lab.clock.advance(minutes=minutes)
        found = {run.id: await lab.plain.get_run(run.id) for run in (done, dead, other)}
        left[minutes] = {run.status.value for run in found.values() if run is not None}
    assert left[9] == {"completed", "failed", "cancelled"}
    assert left[2] == left[48] == {"failed", "cancelled"}
    assert left[3] == {"failed"}, "0 keeps them for ever"


@rule("K2")
async def test_k2_no_more_than_so_many_of_a_status_are_kept(lab: Lab) -> None:
    @lab.job("work")
    async def work(well: bool) -> None:
        if not well:
            raise Fatal("no")

    settings = Settings(retention_count_completed=2, retention_count_failed=0, poll=60, lease=180, heartbeat=60)
    await lab.start(settings=settings)
    for well in (True, False, True, True, True):
        await lab.enqueue("work", {"well": well})
        await lab.clock.advance(seconds=1)
    newest = [run.id for run in await lab.runs()][-2:]
    await lab.clock.advance(minutes=5)
    assert [run.id for run in await lab.runs()] == newest


@rule("K2")
async def test_k2_a_purge_that_fills_its_batch_goes_on_at_once(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it keeps up however many runs end: it does not wait for its next round."""
    monkeypatch.setattr(janitor, "BATCH", 10)

    @lab.job("work")
    async def work() -> None: ...

    await lab.start(settings=Settings(retention=600, poll=1, lease=180, heartbeat=60))
    for _ in range(45):
        await lab.enqueue("work")
    await lab.clock.advance(minutes=9, seconds=50)
    sizes = [len(await lab.runs())]
    assert sizes == [45]
    for _ in range(160):
        await lab.clock.advance(milliseconds=500)
        sizes.append(len(await lab.runs()))
    assert sizes[-1] == 0
    falls = [number for number, (one, other) in enumerate(pairwise(sizes)) if other < one]
    assert falls[-1] - falls[0] < 10, "within seconds, not one batch a minute"


async def test_k2_a_round_deletes_several_batches_where_they_are_full(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(janitor, "BATCH", 2)

    @lab.job("work")
    async def work() -> None: ...

    await lab.start(settings=Settings(retention=600, poll=60, lease=180, heartbeat=60))
    for _ in range(15):
        await lab.enqueue("work")
    await lab.clock.advance(minutes=11, seconds=10)
    assert await lab.runs() == [], "eight batches within one heartbeat"


async def test_k2_what_is_kept_is_not_walked_over_every_few_seconds(lab: Lab) -> None:
    await lab.start(settings=Settings(retention=3600, retention_failed=0, poll=1, lease=15, heartbeat=5))
    await lab.clock.advance(minutes=10)
    asked = {name: times for name, times in lab.store.calls.items() if name.startswith("purge_")}
    assert asked.keys() > {"purge_history", "purge_requests", "purge_schedules"}
    assert {name for name, times in asked.items() if not 10 <= times <= 11} == set()


async def test_pauses_that_end_together_end_at_once_however_many(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one batch a heartbeat: what comes after the end of a pause is due, and would be missed."""
    monkeypatch.setattr(janitor, "BATCH", 10)
    await lab.start(settings=Settings(poll=1, lease=180, heartbeat=60))
    until = lab.clock.now() + 30_000
    schedules = [await lab.create(f"k{n}", Every(hours=1)) for n in range(45)]
    for schedule in schedules:
        await lab.plain.change_schedule(schedule.id, partial(editing.pause, reason="lunch", until=until, by=None))
    await lab.clock.advance(seconds=65)
    found = await lab.plain.read_schedules([schedule.id for schedule in schedules])
    assert [schedule.enabled for schedule in found] == [True] * 45


async def test_a_pause_ends_at_its_end_and_not_with_the_next_round(lab: Lab) -> None:
    await lab.start(settings=Settings(poll=1, lease=180, heartbeat=60))
    schedule, other = [await lab.create(key, Every(hours=1)) for key in ("one", "other")]
    for put, ms in ((schedule, 90_250), (other, 130_000)):
        until = lab.clock.now() + ms
        await lab.plain.change_schedule(put.id, partial(editing.pause, reason="lunch", until=until, by=None))
    await lab.clock.advance(milliseconds=90_249)
    assert not (await lab.plain.read_schedules([schedule.id]))[0].enabled
    rounds = lab.store.calls["any_open"]
    await lab.clock.advance(milliseconds=1)
    found = await lab.plain.read_schedules([schedule.id, other.id])
    assert {put.key: put.enabled for put in found} == {"one": True, "other": False}
    assert lab.store.calls["any_open"] == rounds, "between two rounds nothing else is done"
    await lab.clock.advance(milliseconds=39_750)
    assert (await lab.plain.read_schedules([other.id]))[0].enabled
    assert lab.store.calls["any_open"] == rounds + 1


async def test_where_no_run_is_open_a_round_only_asks_for_that(lab: Lab) -> None:
    await lab.start()
    await lab.clock.advance(seconds=30)
    chores = ("release_stuck_lanes", "adopt_fair_keys", "hold_unknown_jobs", "end_unheard_topics")
    assert [lab.store.calls[name] for name in chores] == [0] * 4
    run = await lab.enqueue("nobody-knows")
    await lab.clock.advance(seconds=30)
    assert [lab.store.calls[name] > 0 for name in chores] == [True] * 4
    assert lab.recorder.all("jobs_unknown")[-1] == ([("nobody-knows", 1)],)
    await lab.plain.request_cancel(run.id)
    await lab.clock.advance(seconds=30)
    told = lab.recorder.all("jobs_unknown")
    assert told[-1] == ([],), "that there are none any more is told too"
    await lab.clock.advance(seconds=30)
    assert lab.recorder.all("jobs_unknown") == told


async def test_topics_that_nobody_hears_end_as_fast_as_they_fire(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(janitor, "BATCH", 10)

    @lab.job("work")
    async def work() -> None: ...

    await lab.start(settings=Settings(poll=1, lease=30, heartbeat=10))
    ids = [uuid7(lab.clock.now(), bytes([n] * 10)) for n in range(45)]
    asked = [NewRequest(id=id, job="topic:unheard", payload="{}", queue="default", max_attempts=3) for id in ids]
    await lab.plain.enqueue(asked)
    await lab.clock.advance(seconds=75)
    assert {(await lab.run(id)).reason for id in ids} == {"no_listener"}


async def test_a_retention_of_zero_keeps_everything(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None: ...

    await lab.start(settings=Settings(retention=0, poll=3600, lease=9000, heartbeat=3000))
    run = await lab.enqueue("work")
    await lab.clock.advance(days=3)
    assert (await lab.run(run.id)).status is RunStatus.COMPLETED


@rule("A9")
async def test_a9_retention_inside_a_window_does_not_let_it_fire_again(lab: Lab) -> None:
    fired: list[str | None] = []

    @lab.job("work")
    async def work(run) -> None:
        fired.append(run.window_key)

    await lab.start(settings=Settings(retention=30, poll=30, lease=60, heartbeat=20))
    schedule = await lab.create("k", Every(minutes=10))
    await lab.clock.advance(minutes=10)
    assert len(fired) == 1
    await lab.clock.advance(minutes=9)
    assert await lab.runs(schedule) == [], "the run is gone"
    assert len(fired) == 1
    await lab.clock.advance(minutes=1)
    assert len(fired) == len(set(fired)) == 2


async def test_ended_one_shots_are_purged_and_living_schedules_stay(lab: Lab) -> None:
    settings = Settings(retention=3600, poll=60, lease=180, heartbeat=60)

    @lab.job("work")
    async def work() -> None: ...

    await lab.start(settings=settings)
    once = await lab.create("once", Once(to_datetime(lab.clock.now() + 1000)))
    rare = await lab.create("rare", Every(days=300))
    await lab.clock.advance(minutes=50)
    assert await lab.plain.get_schedule(once.id) is not None
    await lab.clock.advance(minutes=15)
    assert await lab.plain.get_schedule(once.id) is None
    assert await lab.plain.get_schedule(rare.id) is not None


async def test_a_pause_with_an_end_ends_and_loses_no_window_after_it(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None: ...

    await lab.start()
    schedule = await lab.create("k", Every(seconds=10))
    until = lab.clock.now() + 61_000
    await lab.plain.change_schedule("k", partial(editing.pause, reason="lunch", until=until, by=None))
    await lab.clock.advance(seconds=60)
    assert await lab.runs(schedule) == []
    await lab.clock.advance(seconds=15)
    windows = [run.window_at for run in await lab.runs(schedule)]
    assert windows == [to_datetime(until) + timedelta(seconds=9)], "the first window after the end of the pause"
    found = await lab.plain.get_schedule("k")
    assert found is not None
    assert (found.enabled, found.paused_reason) == (True, None)


async def test_one_instance_at_a_time_keeps_the_house_and_another_follows_when_it_dies(lab: Lab) -> None:
    first_store, second_store = lab.faulty(), lab.faulty()
    first = await lab.start(store=first_store)
    await lab.start(store=second_store)
    await lab.clock.advance(minutes=1)
    assert first_store.calls["any_open"] > 5
    assert second_store.calls["any_open"] == 0
    lab.crash(first)
    await lab.clock.advance(minutes=1)
    assert second_store.calls["any_open"] > 3


@rule("E9")
async def test_e9_runs_of_an_unknown_job_are_held_reported_and_adopted_when_a_worker_comes(lab: Lab) -> None:
    """Held, so that they do not stand at the head of the line in front of the runs that can be executed."""
    old, new = Registry(), Registry()

    @lab.job("known", into=old)
    async def known() -> None: ...

    @lab.job("unknown", into=new)
    async def unknown() -> None: ...

    await lab.start(registry=old)
    runs = [await lab.enqueue("unknown") for _ in range(3)]
    await lab.clock.advance(seconds=10)
    assert lab.recorder.all("jobs_unknown")[-1] == ([("unknown", 3)],)
    assert {((r := await lab.run(run.id)).status, r.hold) for run in runs} == {(RunStatus.PENDING, 2)}
    second = await lab.start(registry=new)
    assert {(await lab.run(run.id)).status for run in runs} == {RunStatus.COMPLETED}, "at once"
    await lab.stop(second)
    again = await lab.enqueue("unknown")
    await lab.clock.advance(seconds=10)
    assert (await lab.run(again.id)).hold == 2
    await lab.clock.advance(minutes=3)
    assert (await lab.run(again.id)).status is RunStatus.PENDING, "waits for ever, is never deleted"


async def test_a_job_whose_only_worker_restarts_is_not_reported_for_ever(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None: ...

    await lab.start(roles=("scheduler",))
    run = await lab.enqueue("work")
    await lab.clock.advance(seconds=30)
    assert (await lab.run(run.id)).hold == 0, "no worker at all is not an unknown job"
    await lab.start(roles=("worker",))
    assert (await lab.run(run.id)).status is RunStatus.COMPLETED
    assert lab.recorder.all("jobs_unknown") == []


async def test_a_clock_that_leaps_deletes_nothing_and_ends_no_pause(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None: ...

    await lab.start()
    run = await lab.enqueue("work")
    await lab.create("k", Every(seconds=3600))
    until = lab.clock.now() + 20 * 86_400_000
    await lab.plain.change_schedule("k", partial(editing.pause, reason="leave", until=until, by=None))
    await lab.clock.advance(seconds=10)
    lab.clock.jump(days=40)
    await lab.clock.advance(seconds=6)
    lab.clock.jump(days=-40)
    await lab.clock.advance(seconds=40)
    assert (await lab.run(run.id)).status is RunStatus.COMPLETED
    found = await lab.plain.get_schedule("k")
    assert found is not None
    assert not found.enabled
