"""After an outage: which windows still fire, and what is written about those that do not."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from duly.core.policy import CatchUp, Missed, Overlap
from duly.core.timing import Cron, Once
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial

EVERY_MINUTE = Cron("* * * * *")


def minutes_of(windows: list[object]) -> list[int]:
    return [window.minute for window in windows]  # type: ignore[attr-defined]


class TestCatchingUp:
    @rule("S3.57")
    async def test_latest_fires_the_newest_missed_window_only(self, trial: Trial) -> None:
        put = await trial.put(timing=EVERY_MINUTE)
        trial.clock.move(minutes=10, seconds=30)
        fired = await trial.fire()
        assert (fired.runs, fired.skipped) == (1, 9)
        skipped, run = await trial.runs(put)
        assert (run.status, run.window_at and run.window_at.minute) == ("pending", 10)
        assert (skipped.status, skipped.reason, skipped.window_count) == ("skipped", "missed", 9)
        assert minutes_of([skipped.since, skipped.window_at]) == [1, 9]

    @rule("S1.21")
    async def test_skip_fires_nothing_of_the_past_and_goes_on(self, trial: Trial) -> None:
        put = await trial.put(timing=EVERY_MINUTE, catch_up=CatchUp(Missed.SKIP))
        trial.clock.move(minutes=10, seconds=30)
        fired = await trial.fire()
        assert (fired.runs, fired.skipped) == (0, 10)
        (skipped,) = await trial.runs(put)
        assert (skipped.reason, skipped.window_count) == ("missed", 10)
        trial.clock.move(seconds=30)
        assert (await trial.fire()).runs == 1

    @rule("S1.22")
    async def test_all_fires_every_missed_window_oldest_first_one_after_another(self, trial: Trial) -> None:
        put = await trial.put(timing=EVERY_MINUTE, catch_up=CatchUp(Missed.ALL))
        trial.clock.move(minutes=10, seconds=30)
        assert (await trial.fire()).runs == 10
        worker = await trial.worker()
        ran: list[object] = []
        while claims := await worker.claim():
            (claim,) = claims
            ran.append((await trial.run(claim)).window_at)
            await worker.complete(claim)
        assert minutes_of(ran) == list(range(1, 11))
        assert await trial.statuses(put) == ["completed"] * 10

    async def test_all_loses_no_window_that_is_only_just_due_to_those_before_it(self, trial: Trial) -> None:
        put = await trial.put(timing=EVERY_MINUTE, catch_up=CatchUp(Missed.ALL))
        few = await trial.put("few", EVERY_MINUTE, catch_up=CatchUp(Missed.ALL, max_runs=4))
        trial.clock.move(minutes=10)
        assert (await trial.fire()).runs == 14
        worker = await trial.worker()
        ran: dict[str | None, list[object]] = {put.id: [], few.id: []}
        while claims := await worker.claim():
            for claim in claims:
                ran[claim.schedule_id].append((await trial.run(claim)).window_at)
                await worker.complete(claim)
        assert minutes_of(ran[put.id]) == list(range(1, 11))
        assert minutes_of(ran[few.id]) == [7, 8, 9, 10]
        assert [run.window_count for run in await trial.runs(few) if run.status == "skipped"] == [6]

    async def test_all_lets_no_later_run_cancel_what_is_caught_up(self, trial: Trial) -> None:
        put = await trial.put(timing=EVERY_MINUTE, catch_up=CatchUp(Missed.ALL), overlap=Overlap.CANCEL_PREVIOUS)
        trial.clock.move(minutes=3, seconds=30)
        assert (await trial.fire()).runs == 3
        worker = await trial.worker()
        first = await worker.claim_one()
        for seconds in (30, 60):
            trial.clock.move(seconds=seconds)
            await worker.beat()
            await trial.fire()
        await trial.trigger(put)
        assert not (await trial.run(first)).cancel_requested
        await worker.fail(first)
        trial.clock.move(seconds=5)
        await trial.trigger(put)
        ran: list[object] = []
        while claims := await worker.claim():
            (claim,) = claims
            ran.append((await trial.run(claim)).kind)
            await worker.complete(claim)
        assert ran == ["window"] * 3 + ["manual"]
        assert await trial.statuses(put) == ["completed"] * 3 + ["cancelled"] * 3 + ["completed"]

    @pytest.mark.parametrize("by_hand", [False, True])
    async def test_all_moves_up_when_what_it_waits_for_is_cancelled(self, trial: Trial, by_hand: bool) -> None:
        put = await trial.put(timing=EVERY_MINUTE, catch_up=CatchUp(Missed.ALL), overlap=Overlap.CANCEL_PREVIOUS)
        trial.clock.move(minutes=1)
        await trial.fire()
        trial.clock.move(minutes=2, seconds=30)
        assert (await trial.fire()).runs == 2
        trial.clock.move(seconds=30)
        await (trial.trigger(put) if by_hand else trial.fire())
        worker = await trial.worker()
        ran: list[object] = []
        while claims := await worker.claim():
            (claim,) = claims
            ran.append((await trial.run(claim)).scheduled_at)
            await worker.complete(claim)
        assert minutes_of(ran) == [2, 3, 4]
        assert await trial.statuses(put) == ["cancelled"] + ["completed"] * 3

    @rule("C2")
    async def test_all_fires_no_more_than_the_newest_max_runs(self, trial: Trial) -> None:
        put = await trial.put(timing=EVERY_MINUTE, catch_up=CatchUp(Missed.ALL, max_runs=4))
        trial.clock.move(minutes=59, seconds=30)
        fired = await trial.fire()
        assert (fired.runs, fired.skipped) == (4, 55)
        skipped, *runs = await trial.runs(put)
        assert skipped.window_count == 55
        assert minutes_of([run.window_at for run in runs]) == [56, 57, 58, 59]

    async def test_a_schedule_yields_fifty_windows_a_tick_and_the_rest_stays_due(self, trial: Trial) -> None:
        put = await trial.put(timing=EVERY_MINUTE, catch_up=CatchUp(Missed.ALL))
        trial.clock.move(minutes=70, seconds=30)
        assert [(await trial.fire()).runs for _ in range(3)] == [50, 20, 0]
        assert len(await trial.runs(put)) == 70

    @rule("S3.54", "C5")
    async def test_a_window_that_is_too_late_is_written_down_and_not_fired(self, trial: Trial) -> None:
        put = await trial.put(timing=Cron("0 2 * * *"), catch_up=CatchUp(max_lateness=timedelta(hours=24)))
        trial.clock.move_to("2026-01-07T01:00:00Z")
        await trial.fire()
        late, run = await trial.runs(put)
        assert (late.status, late.reason, late.window_count) == ("skipped", "too_late", 1)
        assert (run.status, run.window_at and run.window_at.day) == ("pending", 6)

    async def test_a_window_less_than_the_grace_late_is_due_and_not_missed(self, trial: Trial) -> None:
        await trial.put(timing=EVERY_MINUTE, catch_up=CatchUp(Missed.SKIP))
        trial.clock.move(minutes=1, milliseconds=9999)
        assert (await trial.fire()).runs == 1

    @rule("C6")
    async def test_a_new_schedule_waits_for_its_next_window(self, trial: Trial) -> None:
        trial.clock.move(hours=5)
        put = await trial.put(timing=Cron("0 2 * * *"))
        trial.clock.move(hours=20, minutes=59)
        assert (await trial.fire()).windows == 0
        trial.clock.move(minutes=1)
        assert (await trial.fire()).runs == 1
        assert len(await trial.runs(put)) == 1

    @rule("C7")
    async def test_a_one_shot_due_during_the_outage_fires_once_afterwards(self, trial: Trial) -> None:
        put = await trial.put("soon", Once("2026-01-05T06:00:00Z"))
        trial.clock.move(hours=12)
        await trial.fire()
        await trial.fire()
        assert await trial.statuses(put) == ["pending"]

    async def test_paused_time_is_not_missed_unless_it_is_asked_for(self, trial: Trial) -> None:
        quiet = await trial.put("quiet", EVERY_MINUTE)
        eager = await trial.put("eager", EVERY_MINUTE, catch_up=CatchUp(Missed.ALL))
        await trial.pause(quiet)
        await trial.pause(eager)
        trial.clock.move(minutes=10, seconds=30)
        await trial.resume(quiet)
        await trial.resume(eager, catch_up=True)
        assert (await trial.fire()).runs == 10
        assert await trial.runs(quiet) == []

    @rule("C4")
    @pytest.mark.parametrize("policy", [Missed.LATEST, Missed.SKIP, Missed.ALL])
    async def test_two_instances_that_recover_at_once_double_nothing(
        self, trial: Trial, access: Access, policy: Missed
    ) -> None:
        put = await trial.put(timing=EVERY_MINUTE, catch_up=CatchUp(policy), overlap=Overlap.ALLOW)
        stores = [trial.store, await access.another()]
        trial.clock.move(minutes=10, seconds=30)
        await asyncio.gather(*(store.fire_due(limit=500, rules=trial.rules) for store in stores))
        runs = await trial.runs(put)
        assert sum(run.window_count or 1 for run in runs) == 10
        await trial.fire()
        assert await trial.runs(put) == runs
