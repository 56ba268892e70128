"""What happens is told to whoever watches: once, in one order, by every store, and to nobody if nobody does."""

from __future__ import annotations

from collections.abc import Sequence

from duly.core.event import RESET, Event
from duly.core.instants import to_datetime
from duly.core.timing import Once
from duly.store.methods.events import SETTLES_AFTER_MS
from duly.store.methods.telling import RECHECK_MS
from duly.store.protocol import Store
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial

LEASE_MS = 60_000


async def _watch(store: Store) -> None:
    await store.watch_events(lease_ms=LEASE_MS)


async def _read(store: Store, after: int = 0) -> Sequence[Event]:
    await store.number_events(limit=1000)
    return (await store.read_events(after=after, limit=1000)).events


async def _names(store: Store, after: int = 0) -> list[str]:
    return [event.name for event in await _read(store, after)]


class TestEvents:
    async def test_while_nobody_watches_nothing_is_told(self, trial: Trial) -> None:
        worker = await trial.worker()
        await trial.put()
        trial.clock.move(minutes=1)
        await trial.fire()
        await worker.complete(await worker.claim_one())
        read = await trial.store.read_events(after=0, limit=10)
        assert (read.events, read.last, read.waiting) == ([], 0, False)

    async def test_a_run_is_told_from_its_start_to_its_end(self, trial: Trial) -> None:
        worker = await trial.worker()
        await _watch(trial.store)
        schedule = await trial.put(owner="ann", tenant="acme")
        trial.clock.move(minutes=1)
        await _watch(trial.store)
        last = (await _read(trial.store))[-1].number
        assert last is not None
        await trial.fire()
        claim = await worker.claim_one()
        await worker.fail(claim, "no luck")
        trial.clock.move(seconds=5)
        claim = await worker.claim_one()
        await worker.complete(claim)
        told = await _read(trial.store, last)
        assert [(event.name, event.attempt, event.error) for event in told] == [
            ("run.started", 1, None),
            ("run.retrying", 1, "no luck"),
            ("run.started", 2, None),
            ("run.completed", 2, None),
        ]
        assert {event.number for event in told} == {last + 1, last + 2, last + 3, last + 4}
        end = told[-1]
        assert (end.at, end.schedule_id, end.schedule_key) == (to_datetime(trial.clock.now()), schedule.id, "report")
        assert (end.run_id, end.job, end.owner, end.tenant) == (claim.id, "work", "ann", "acme")

    async def test_a_run_that_is_born_claimed_has_started(self, trial: Trial) -> None:
        worker = await trial.worker()
        await trial.put()
        trial.clock.move(minutes=1)
        await _watch(trial.store)
        await trial.fire(grab=worker.grab())
        assert await _names(trial.store) == ["run.started"]

    async def test_what_fails_for_good_is_not_told_as_a_retry(self, trial: Trial) -> None:
        worker = await trial.worker()
        await _watch(trial.store)
        await trial.enqueue()
        await worker.fail(await worker.claim_one(), "broken", fatal=True)
        told = await _read(trial.store)
        assert [(event.name, event.error, event.schedule_id) for event in told] == [
            ("run.started", None, None),
            ("run.failed", "broken", None),
        ]

    async def test_a_worker_that_is_gone_is_a_retry(self, trial: Trial) -> None:
        worker = await trial.worker()
        await trial.enqueue()
        await worker.claim_one()
        trial.clock.move(minutes=1)
        await _watch(trial.store)
        await trial.take_lost()
        assert await _names(trial.store) == ["run.retrying"]

    async def test_a_skipped_window_and_a_cancelled_run_say_why(self, trial: Trial) -> None:
        await _watch(trial.store)
        schedule = await trial.put()
        for _ in range(2):
            trial.clock.move(seconds=55)
            await _watch(trial.store)
            trial.clock.move(seconds=5)
            await trial.fire()
        await trial.cancel(schedule)
        told = [event for event in await _read(trial.store) if event.name != RESET]
        assert sorted((event.name, event.reason) for event in told) == [
            ("run.cancelled", "schedule_cancelled"),
            ("run.skipped", "overlap"),
            ("schedule.cancelled", None),
            ("schedule.created", None),
        ]

    async def test_every_change_of_a_schedule_is_told(self, trial: Trial) -> None:
        await _watch(trial.store)
        schedule = await trial.put(timing=Once(to_datetime(trial.clock.now() + 3_600_000)))
        schedule = await trial.pause(schedule)
        schedule = await trial.resume(schedule)
        await trial.delete(schedule)
        told = await _read(trial.store)
        assert [event.name for event in told] == [
            "schedule.created",
            "schedule.paused",
            "schedule.resumed",
            "schedule.deleted",
        ]
        assert told[1].reason == "on leave"

    async def test_what_is_refused_or_repeated_is_told_once(self, trial: Trial) -> None:
        worker = await trial.worker()
        await _watch(trial.store)
        new = trial.new()
        await trial.store.put_schedules([new])
        await trial.store.put_schedules([new])
        await trial.put_in_vain()
        await trial.enqueue()
        claim = await worker.claim_one()
        await worker.complete(claim)
        await worker.complete(claim)
        assert await _names(trial.store) == ["schedule.created", "run.started", "run.completed"]

    async def test_others_begin_to_tell_in_time_and_a_reset_says_when_all_do(
        self, trial: Trial, access: Access
    ) -> None:
        other = Trial(await access.another(), trial.clock)
        await other.put("before")
        await _watch(trial.store)
        trial.clock.move(milliseconds=RECHECK_MS)
        await other.put("after")
        assert await _names(trial.store) == ["schedule.created"]
        trial.clock.move(milliseconds=SETTLES_AFTER_MS - RECHECK_MS)
        assert (await trial.store.watch_events(lease_ms=LEASE_MS)).settled
        await _watch(other.store)
        told = await _read(trial.store)
        assert [(event.name, event.reason) for event in told[1:]] == [(RESET, "began")]

    async def test_whoever_stops_watching_is_forgotten_and_a_new_time_has_a_reset(
        self, trial: Trial, access: Access
    ) -> None:
        await _watch(trial.store)
        trial.clock.move(milliseconds=SETTLES_AFTER_MS)
        await _watch(trial.store)
        trial.clock.move(milliseconds=LEASE_MS)
        await trial.put("unseen")
        assert await _names(trial.store) == [RESET]
        await _watch(trial.store)
        trial.clock.move(milliseconds=SETTLES_AFTER_MS)
        await _watch(trial.store)
        assert await _names(trial.store) == [RESET, RESET]

    async def test_numbers_go_on_when_old_events_are_gone(self, trial: Trial) -> None:
        await _watch(trial.store)
        for n in range(5):
            await trial.put(f"s{n}")
        assert [event.number for event in await _read(trial.store)] == [1, 2, 3, 4, 5]
        assert await trial.store.purge_events(keep_ms=1000, most=3, limit=1) == 1
        assert await trial.store.purge_events(keep_ms=1000, most=3, limit=10) == 1
        read = await trial.store.read_events(after=0, limit=2)
        assert ([event.number for event in read.events], read.last, read.gone) == ([3, 4], 5, 2)
        trial.clock.move(seconds=2)
        await trial.put("young")
        assert await trial.store.purge_events(keep_ms=1000, most=3, limit=10) == 3
        assert [event.number for event in await _read(trial.store)] == [6]
        assert (await trial.store.read_events(after=0, limit=2)).gone == 5

    async def test_an_event_without_a_number_is_not_read_yet(self, trial: Trial) -> None:
        await _watch(trial.store)
        for n in range(3):
            await trial.put(f"s{n}")
        read = await trial.store.read_events(after=0, limit=10)
        assert (read.events, read.waiting) == ([], True)
        assert [await trial.store.number_events(limit=2) for _ in range(3)] == [2, 1, 0]
        read = await trial.store.read_events(after=1, limit=10)
        assert ([event.schedule_key for event in read.events], read.waiting) == (["s1", "s2"], False)

    async def test_what_is_cut_off_tells_nothing(self, trial: Trial, access: Access) -> None:
        await _watch(trial.store)
        new = trial.new()
        for statements in range(20):
            if not await access.crash_after(statements, lambda store: store.put_schedules([new])):
                break
            assert await _names(trial.store) == []
        assert await _names(trial.store) == ["schedule.created"]
