"""What the janitor does: in batches, and never to what is still open."""

from __future__ import annotations

from dataclasses import replace

from duly.core.policy import Overlap
from duly.core.run import Completed, Hold, RunStatus
from duly.core.timing import Cron, Every, Once
from duly.store.values import RunFilter
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial


class TestPurging:
    @rule("K2")
    async def test_ended_runs_are_purged_oldest_first_with_their_attempts(self, trial: Trial, access: Access) -> None:
        worker = await trial.worker()
        ids = []
        for _ in range(4):
            ids.append((await trial.enqueue(max_attempts=1)).id)
            await worker.fail(await worker.claim_one())
            trial.clock.move(seconds=1)
        before = trial.clock.now() - 1000
        assert await trial.store.purge_history(finished_before=before, limit=2) == 2
        assert [await trial.store.get_run(id) is None for id in ids] == [True, True, False, False]
        assert await trial.store.purge_history(finished_before=before, limit=2) == 1
        assert await trial.store.purge_history(finished_before=before, limit=2) == 0
        dump = await access.dump()
        assert {row[0] for row in dump["attempts"]} == {row[0] for row in dump["history"]} == {ids[3]}

    async def test_a_run_whose_id_holds_no_instant_is_purged_like_the_others(self, trial: Trial) -> None:
        ids = ["ffffffff-ffff-4fff-8fff-ffffffffffff", "00000000-0000-4000-8000-000000000000"]
        put = await trial.put()
        await trial.trigger(put, run_id="eeeeeeee-eeee-5eee-8eee-eeeeeeeeeeee")
        for id in ids:
            await trial.enqueue(id=id)
        worker = await trial.worker()
        claims = await worker.claim()
        trial.clock.move(seconds=10)
        await worker.beat()
        await trial.store.settle([worker.ending(claim, Completed()) for claim in claims])
        ended_at = trial.clock.now()
        assert await trial.store.purge_history(finished_before=ended_at, limit=10) == 0
        assert await trial.store.purge_history(finished_before=ended_at + 1, limit=2) == 2
        assert await trial.store.purge_history(finished_before=ended_at + 1, limit=2) == 1
        assert await trial.runs(put) == []

    @rule("K2")
    async def test_each_status_may_be_kept_for_its_own_time(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.SKIP)
        for _ in range(2):
            trial.clock.move(minutes=1)
            await trial.fire()
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        await trial.enqueue(max_attempts=1)
        await worker.fail(await worker.claim_one())
        cancelled = await trial.enqueue()
        await trial.store.request_cancel(cancelled.id)
        trial.clock.move(seconds=1)

        async def purge(*statuses: RunStatus) -> list[str]:
            before = {run.id: run.status.value for run in (await trial.store.list_runs(RunFilter(), limit=50)).items}
            await trial.store.purge_history(finished_before=trial.clock.now(), limit=10, statuses=statuses)
            after = {run.id for run in (await trial.store.list_runs(RunFilter(), limit=50)).items}
            return sorted(before[id] for id in before.keys() - after)

        assert await purge() == []
        assert await purge(RunStatus.SKIPPED) == ["skipped"]
        assert await purge(RunStatus.COMPLETED, RunStatus.CANCELLED) == ["cancelled", "completed"]
        assert await purge(RunStatus.SKIPPED, RunStatus.COMPLETED) == []
        assert await purge(RunStatus.FAILED) == ["failed"]
        assert await trial.runs(put) == []

    async def test_of_a_status_no_more_than_so_many_are_kept_the_newest(self, trial: Trial) -> None:
        worker = await trial.worker()
        ids = []
        for _ in range(5):
            ids.append((await trial.enqueue()).id)
            await worker.complete(await worker.claim_one())
            trial.clock.move(seconds=1)
        dead = await trial.enqueue(max_attempts=1)
        await worker.fail(await worker.claim_one())
        assert await trial.store.purge_surplus(RunStatus.COMPLETED, keep=2, limit=2) == 2
        assert await trial.store.purge_surplus(RunStatus.COMPLETED, keep=2, limit=2) == 1
        assert await trial.store.purge_surplus(RunStatus.COMPLETED, keep=2, limit=2) == 0
        assert [await trial.store.get_run(id) is None for id in ids] == [True, True, True, False, False]
        assert (await trial.run(dead)).status == "failed"

    @rule("K2")
    async def test_open_runs_are_never_purged(self, trial: Trial) -> None:
        waiting, running = await trial.enqueue("other"), await trial.enqueue()
        worker = await trial.worker()
        await worker.claim_one()
        trial.clock.move(days=400)
        assert await trial.store.purge_history(finished_before=trial.clock.now(), limit=10) == 0
        assert (await trial.run(waiting)).status == "pending"
        assert (await trial.run(running)).status == "running"

    async def test_deleted_schedules_are_purged_once_nothing_of_them_is_open(
        self, trial: Trial, access: Access
    ) -> None:
        kept = await trial.put("kept")
        gone = await trial.put("gone")
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        claims = {claim.schedule_id: claim for claim in await worker.claim()}
        await trial.delete(gone)
        trial.clock.move(seconds=1)
        purge = trial.store.purge_schedules
        assert await purge(ended_before=trial.clock.now(), limit=10) == 0
        await worker.complete(claims[gone.id])
        assert await purge(ended_before=trial.clock.now() - 1000, limit=10) == 0
        assert await purge(ended_before=trial.clock.now(), limit=10) == 1
        dump = await access.dump()
        for table in ("schedules", "revisions", "cursors"):
            assert {row[0] for row in dump[table]} == {kept.id}
        assert dump["changes"] == []
        assert len(await trial.runs(gone)) == 1

    async def test_cancelled_one_shots_are_purged_and_recurring_schedules_are_not(self, trial: Trial) -> None:
        once = await trial.put("once", Once("2027-01-01T00:00:00Z"))
        cron = await trial.put("cron", Cron("0 2 * * *"))
        await trial.cancel(once)
        await trial.cancel(cron)
        trial.clock.move(seconds=1)
        assert await trial.store.purge_schedules(ended_before=trial.clock.now(), limit=10) == 1
        assert await trial.store.get_schedule(once.id) is None
        assert (await trial.schedule(cron)).status == "cancelled"


class TestUnknownJobs:
    @rule("E9")
    async def test_a_run_nobody_knows_is_held_and_reported_until_somebody_does(self, trial: Trial) -> None:
        unknown = await trial.enqueue("new-job")
        known = await trial.enqueue("work")
        later = await trial.enqueue("new-job", run_at=trial.clock.now() + 60_000)
        await trial.worker("work")
        assert list(await trial.store.hold_unknown_jobs()) == [("new-job", 1)]
        assert (await trial.run(unknown)).hold == Hold.UNKNOWN_JOB
        assert (await trial.run(known)).hold == (await trial.run(later)).hold == Hold.NONE
        assert list(await trial.store.hold_unknown_jobs()) == [("new-job", 1)]
        newer = await trial.worker("new-job")
        assert (await newer.claim_one()).id == unknown.id
        assert list(await trial.store.hold_unknown_jobs()) == []

    async def test_a_job_known_again_without_a_new_session_is_adopted(self, trial: Trial) -> None:
        run = await trial.enqueue("work")
        slow, other = await trial.worker("work"), await trial.worker("other")
        trial.clock.move(seconds=16)
        await other.beat()
        assert list(await trial.store.hold_unknown_jobs()) == [("work", 1)]
        assert (await slow.beat()).alive, "late, but before recovery"
        assert await slow.claim() == []
        assert list(await trial.store.hold_unknown_jobs()) == []
        assert (await slow.claim_one()).id == run.id

    async def test_without_any_live_worker_nothing_is_unknown(self, trial: Trial) -> None:
        await trial.enqueue("work")
        assert list(await trial.store.hold_unknown_jobs()) == []
        await trial.worker("other")
        trial.clock.move(seconds=16)
        assert list(await trial.store.hold_unknown_jobs()) == []

    async def test_a_job_whose_worker_is_gone_becomes_unknown(self, trial: Trial) -> None:
        run = await trial.enqueue("work")
        old = await trial.worker("work")
        await trial.worker("other")
        assert list(await trial.store.hold_unknown_jobs()) == []
        await old.close()
        assert list(await trial.store.hold_unknown_jobs()) == [("work", 1)]
        assert (await trial.run(run)).status == "pending"


class TestExpiredPauses:
    async def test_a_pause_ends_at_its_end(self, trial: Trial) -> None:
        short = await trial.put("short")
        endless = await trial.put("endless")
        await trial.pause(short, until=trial.clock.now() + 90_000)
        await trial.pause(endless)
        trial.clock.move(milliseconds=89_999)
        assert await trial.store.resume_expired_pauses(limit=10) == 0
        trial.clock.move(milliseconds=1)
        assert await trial.store.resume_expired_pauses(limit=10) == 1
        assert await trial.store.resume_expired_pauses(limit=10) == 0
        assert (await trial.schedule(short)).enabled
        assert not (await trial.schedule(endless)).enabled
        trial.clock.move(seconds=30)
        assert (await trial.fire()).runs == 1

    async def test_a_late_janitor_loses_no_window_after_the_end_of_a_pause(self, trial: Trial) -> None:
        put = await trial.put()
        await trial.pause(put, until=trial.clock.now() + 90_000)
        trial.clock.move(seconds=122)
        assert await trial.store.resume_expired_pauses(limit=10) == 1
        assert (await trial.fire()).runs == 1

    async def test_a_change_after_the_end_of_a_pause_loses_no_window_before_the_janitor_comes(
        self, trial: Trial
    ) -> None:
        edited, paused = await trial.put("edited"), await trial.put("paused")
        for put in (edited, paused):
            await trial.pause(put, until=trial.clock.now() + 90_000)
        trial.clock.move(seconds=122)
        after = await trial.edit(edited, definition=replace(edited.definition, timing=Every(hours=1)))
        assert after.enabled
        again = await trial.pause(paused)
        assert not again.enabled
        await trial.resume(again)
        assert [run.status for run in await trial.runs(edited)] == ["pending"], "its window came after the pause"
        assert [run.reason for run in await trial.runs(paused)] == ["paused"], "it was due when the next pause came"

    async def test_a_schedule_that_ended_during_its_pause_does_not_stop_the_others(self, trial: Trial) -> None:
        until = trial.clock.now() + 60_000
        cancelled = await trial.put("cancelled")
        completed = await trial.put("completed", Once("2026-01-05T00:00:10Z"))
        waiting = await trial.put("waiting", Every(seconds=30))
        trial.clock.move(seconds=10)
        await trial.fire()
        for put in (cancelled, completed, waiting):
            await trial.pause(put, until=until)
        await trial.cancel(cancelled)
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        trial.clock.move(seconds=50)
        for _ in range(2):
            await trial.store.resume_expired_pauses(limit=10)
        assert (await trial.schedule(waiting)).enabled
        assert await trial.store.resume_expired_pauses(limit=10) == 0

    async def test_pauses_are_ended_in_batches(self, trial: Trial) -> None:
        for n in range(3):
            await trial.pause(await trial.put(f"s{n}"), until=trial.clock.now() + 1000)
        trial.clock.move(seconds=1)
        assert [await trial.store.resume_expired_pauses(limit=2) for _ in range(3)] == [2, 1, 0]

    async def test_a_run_is_open_until_it_has_ended(self, trial: Trial) -> None:
        assert not await trial.store.any_open()
        await trial.enqueue()
        assert await trial.store.any_open()
        worker = await trial.worker()
        claim = await worker.claim_one()
        assert await trial.store.any_open()
        await worker.complete(claim)
        assert not await trial.store.any_open()

    async def test_the_next_end_of_a_pause_is_the_earliest_that_is_to_come(self, trial: Trial) -> None:
        assert await trial.store.next_pause_end() is None
        await trial.pause(await trial.put("endless"))
        assert await trial.store.next_pause_end() is None
        later, sooner, gone = [await trial.put(key) for key in ("later", "sooner", "gone")]
        for put, seconds in ((later, 90), (sooner, 60), (gone, 30)):
            await trial.pause(put, until=trial.clock.now() + seconds * 1000)
        await trial.delete(gone)
        assert await trial.store.next_pause_end() == 60_000
        trial.clock.move(milliseconds=59_999)
        assert await trial.store.next_pause_end() == 1
        trial.clock.move(milliseconds=1)
        assert await trial.store.next_pause_end() == 30_000, "one that is over is not to come, resumed or not"
        await trial.resume(await trial.schedule(later))
        assert await trial.store.next_pause_end() is None

    async def test_one_that_a_newer_version_wrote_does_not_keep_the_others_paused(
        self, trial: Trial, access: Access
    ) -> None:
        until = trial.clock.now() + 1000
        before, newer, behind = [await trial.put(key) for key in ("before", "newer", "behind")]
        for put in (before, newer, behind):
            await trial.pause(put, until=until)
        await access.damage(newer.id)
        trial.clock.move(seconds=1)
        assert await trial.store.resume_expired_pauses(limit=10) == 2
        assert (await trial.schedule(before)).enabled
        assert (await trial.schedule(behind)).enabled
        assert await trial.store.resume_expired_pauses(limit=10) == 0
