"""Stopping a schedule whose window is due: what does not fire any more is written down, and what was paused is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duly.core.instants import to_datetime
from duly.core.run import Run
from duly.core.schedule import Schedule
from duly.core.timing import Cron, Every, Jitter, Once
from tests.contract.suite.trial import Trial


async def skipped(trial: Trial, schedule: Schedule) -> list[tuple[str | None, int | None]]:
    """Reason and number of windows of each skipped row, oldest first."""
    return [(run.reason, run.window_count) for run in await trial.runs(schedule) if run.status == "skipped"]


class TestStoppingWhatIsDue:
    async def test_a_window_that_was_due_when_the_pause_came_is_written_down_at_the_resume(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(seconds=61)
        await trial.pause(put)
        assert await trial.runs(put) == [], "a resume with catch-up may still fire it"
        trial.clock.move(minutes=3)
        resumed = await trial.resume(put)
        (row,) = await trial.runs(put)
        assert (row.status, row.reason, row.window_count) == ("skipped", "paused", 1)
        assert row.scheduled_at == row.since == put.next_window_at
        assert row.fired_at == to_datetime(trial.clock.now())
        assert resumed.next_window_at == to_datetime(trial.clock.now() + 59_000)

    async def test_several_of_them_are_one_row(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(minutes=5)
        await trial.pause(put)
        trial.clock.move(minutes=5)
        await trial.resume(put)
        (row,) = await trial.runs(put)
        assert (row.reason, row.window_count) == ("paused", 5)
        assert (row.since, row.window_at) == (put.next_window_at, to_datetime(trial.clock.now() - 300_000))

    async def test_windows_within_the_pause_leave_no_row(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(seconds=59)
        await trial.pause(put)
        trial.clock.move(minutes=5)
        await trial.resume(put)
        assert await trial.runs(put) == []

    async def test_a_second_pause_does_not_move_the_first(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(seconds=30)
        await trial.pause(put)
        trial.clock.move(minutes=2)
        await trial.pause(put)
        trial.clock.move(minutes=2)
        await trial.resume(put)
        assert await trial.runs(put) == []

    async def test_with_catch_up_they_fire_instead(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(seconds=61)
        await trial.pause(put)
        trial.clock.move(seconds=1)
        await trial.resume(put, catch_up=True)
        await trial.fire()
        assert await trial.statuses(put) == ["pending"]

    async def test_a_pause_that_reaches_its_end_writes_them_down_too(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(seconds=61)
        await trial.pause(put, until=trial.clock.now() + 10_000)
        trial.clock.move(seconds=30)
        await trial.store.resume_expired_pauses(limit=10)
        assert await skipped(trial, put) == [("paused", 1)]

    async def test_a_one_shot_whose_time_passed_before_or_during_a_pause_fails_with_a_skipped_row(
        self, trial: Trial
    ) -> None:
        due = await trial.put("due", Once("2026-01-05T00:00:10Z"))
        later = await trial.put("later", Once("2026-01-05T00:00:50Z"))
        trial.clock.move(seconds=20)
        for put in (due, later):
            await trial.pause(put)
        trial.clock.move(minutes=1)
        for put in (due, later):
            resumed = await trial.resume(put)
            assert resumed.status == "failed"
            assert resumed.last_error == "skipped (paused): its window passed while it was paused"
            assert await skipped(trial, put) == [("paused", 1)]

    async def test_a_one_shot_whose_time_passes_during_a_pause_runs_with_catch_up(self, trial: Trial) -> None:
        put = await trial.put("later", Once("2026-01-05T00:00:50Z"))
        await trial.pause(put)
        trial.clock.move(hours=50)
        assert (await trial.schedule(put)).status == "pending"
        await trial.resume(put, catch_up=True)
        await trial.fire()
        assert await trial.statuses(put) == ["pending"]

    async def test_a_one_shot_that_may_be_late_fires_after_the_pause(self, trial: Trial) -> None:
        put = await trial.put("due", Once("2026-01-05T00:00:10Z", on_past="fire"))
        trial.clock.move(seconds=20)
        await trial.pause(put)
        trial.clock.move(minutes=1)
        await trial.resume(put)
        await trial.fire()
        assert await trial.statuses(put) == ["pending"]

    async def test_a_window_that_its_jitter_delayed_when_the_pause_came_fires_after_it(self, trial: Trial) -> None:
        put = await trial.put(jitter=Jitter(20_000, 20_001))
        trial.clock.move(seconds=70)
        await trial.pause(put)
        trial.clock.move(seconds=1)
        assert (await trial.resume(put)).cursor == put.cursor
        trial.clock.move(seconds=10)
        assert (await trial.fire()).runs == 1
        assert [run.scheduled_at for run in await trial.runs(put)] == [put.next_window_at]

    async def test_it_is_written_down_if_the_pause_lasted_over_other_windows(self, trial: Trial) -> None:
        put = await trial.put(jitter=Jitter(20_000, 20_001))
        trial.clock.move(seconds=70)
        await trial.pause(put)
        trial.clock.move(minutes=5)
        await trial.resume(put)
        assert await skipped(trial, put) == [("paused", 1)]

    async def test_it_fires_after_an_edit_of_the_timing_that_goes_on_from_it(self, trial: Trial) -> None:
        put = await trial.put(jitter=Jitter(20_000, 20_001))
        trial.clock.move(seconds=70)
        await trial.edit(put, definition=replace(put.definition, timing=Cron("30 0 * * *")))
        assert await trial.runs(put) == []
        trial.clock.move(seconds=10)
        assert (await trial.fire()).runs == 1
        (run,) = await trial.runs(put)
        assert (run.status, run.scheduled_at) == ("pending", put.next_window_at)
        assert (await trial.schedule(put)).next_window_at == to_datetime(trial.clock.now() + 28 * 60_000 + 40_000)

    async def test_it_is_written_down_by_an_edit_whose_timing_has_other_windows_since(self, trial: Trial) -> None:
        put = await trial.put(jitter=Jitter(20_000, 20_001))
        trial.clock.move(seconds=70)
        await trial.edit(put, definition=replace(put.definition, timing=Every(seconds=7)))
        assert await skipped(trial, put) == [("missed", 1)]

    @pytest.mark.parametrize("verb", ["cancel", "delete"])
    async def test_it_is_written_down_by_an_end(self, trial: Trial, verb: str) -> None:
        put = await trial.put(jitter=Jitter(20_000, 20_001))
        trial.clock.move(seconds=70)
        end: Callable[..., Any] = getattr(trial, verb)
        await end(put)
        assert await skipped(trial, put) == [("schedule_cancelled" if verb == "cancel" else "schedule_deleted", 1)]

    @pytest.mark.parametrize("verb", ["cancel", "delete"])
    async def test_an_end_writes_down_what_was_due(self, trial: Trial, verb: str) -> None:
        put = await trial.put()
        trial.clock.move(minutes=3)
        end: Callable[..., Any] = getattr(trial, verb)
        await end(put)
        assert await skipped(trial, put) == [("schedule_cancelled" if verb == "cancel" else "schedule_deleted", 3)]

    @pytest.mark.parametrize("verb", ["cancel", "delete"])
    async def test_the_end_of_a_paused_schedule_counts_until_the_pause(self, trial: Trial, verb: str) -> None:
        put = await trial.put()
        trial.clock.move(minutes=2)
        await trial.pause(put)
        trial.clock.move(minutes=3)
        end: Callable[..., Any] = getattr(trial, verb)
        await end(put)
        assert [windows for _, windows in await skipped(trial, put)] == [2]

    async def test_a_repeated_cancel_and_a_delete_after_it_write_nothing_more(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(minutes=3)
        await trial.cancel(put)
        trial.clock.move(minutes=3)
        await trial.cancel(put)
        await trial.delete(put)
        assert await skipped(trial, put) == [("schedule_cancelled", 3)]

    async def test_what_has_fired_is_not_skipped(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(minutes=1)
        await trial.fire()
        await trial.cancel(put)
        rows: list[Run] = await trial.runs(put)
        assert [(run.status, run.reason) for run in rows] == [("cancelled", "schedule_cancelled")]

    async def test_a_new_timing_for_a_paused_schedule_writes_down_what_was_due_under_the_old(
        self, trial: Trial
    ) -> None:
        put = await trial.put(timing=Every(minutes=1))
        trial.clock.move(minutes=2)
        await trial.pause(put)
        trial.clock.move(minutes=1)
        edited = await trial.edit(put, definition=replace(put.definition, timing=Cron("30 * * * *")))
        assert await skipped(trial, put) == [("paused", 2)]
        assert (edited.revision, (await trial.runs(put))[0].revision) == (2, 1)
        await trial.edit(edited, definition=replace(edited.definition, payload="1"))
        await trial.resume(put)
        assert await skipped(trial, put) == [("paused", 2)]
