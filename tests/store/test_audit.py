"""Faults planted behind the store's back: an audit finds each of them, and nothing else."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import NamedTuple

import pytest

from duly.app.audits import Audits
from duly.core.audit import Audit, Fault
from duly.core.ids import window_run_id
from duly.core.instants import to_datetime
from duly.core.policy import CatchUp, Missed, Overlap
from duly.core.schedule import Schedule
from duly.core.timing import Cron, Every, Jitter, Once
from duly.store.sql import SqlStore
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.contract.suite import Trial
from tests.contract.suite.trial import Worker
from tests.store_choice import EACH_STORE
from tests.stores import Subject, memory_subject, pooled_database, postgres_subject, system_database

__all__ = ["pooled_database", "system_database"]

MINUTE = 60_000
START = "2026-01-05T00:00:02Z"
HISTORY = "kind, tenant, job, queue, priority, status, attempt, max_attempts, fence, due_at, fired_at, finished_at"


class Place(NamedTuple):
    """A store with a history of twelve windows, and the way behind it."""

    trial: Trial
    subject: Subject
    schedule: Schedule

    @property
    def first(self) -> int:
        return self.schedule.facts.created_at + 58_000

    def window(self, number: int) -> int:
        return self.first + number * MINUTE

    def id(self, number: int) -> str:
        return window_run_id(self.schedule.id, self.window(number))

    def execute(self, statement: str) -> None:
        self.subject._execute(statement)

    async def audit(self, late: float = 60, **words: object) -> Audit:
        store = self.subject.store
        assert isinstance(store, SqlStore)
        return await Audits(store).audit(late=late, **words)  # type: ignore[arg-type]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture(params=EACH_STORE)
async def place(request: pytest.FixtureRequest, clock: ManualClock) -> AsyncIterator[Place]:
    """Every minute: windows 0 to 3 fired, 4 to 6 came while paused, 7 and 8 were missed, 9 to 11 fired; 11 is open."""
    made = (
        memory_subject(clock)
        if request.param == "sqlite"
        else postgres_subject(clock, request.getfixturevalue("system_database"))
    )
    async with made as subject:
        trial = Trial(subject.store, clock)
        schedule = await trial.put("tick", Every(minutes=1), catch_up=CatchUp(Missed.SKIP))
        worker = await trial.worker()
        for _ in range(4):
            clock.move(minutes=1)
            await trial.fire()
            await done(worker)
        await trial.pause(schedule)
        clock.move(minutes=3)
        await trial.resume(schedule)
        clock.move(minutes=3)
        for _ in range(2):
            await trial.fire()
            await done(worker)
            clock.move(minutes=1)
        await trial.fire()
        yield Place(trial, subject, await trial.schedule(schedule))


async def done(worker: Worker) -> None:
    for claim in await worker.claim():
        await worker.complete(claim)


async def test_nothing_is_wrong_before(place: Place) -> None:
    found = await place.audit()
    assert (found.findings, found.not_judged, found.clean) == ([], [], True)
    assert (found.schedules, found.windows, found.rows) == (1, 9, 8)


At = Callable[[Place], int]


def one_more(place: Place, schedule_id: str, id: str, at: int) -> None:
    """A completed row that no fire made."""
    values = f"'window', '', 'work', 'default', 0, 'completed', 1, 3, 1, {at}, {at}, {at}"
    place.execute(
        f"INSERT INTO duly_history (id, schedule_id, revision, window_at, {HISTORY}) "
        f"VALUES ('{id}', '{schedule_id}', 1, {at}, {values})"
    )


def extra(window: At, name: str | None = None) -> Callable[[Place], None]:
    """One more row for this window, under its own id or under one that another name gives."""
    return lambda place: one_more(
        place, place.schedule.id, window_run_id(name or place.schedule.id, window(place)), window(place)
    )


def number(n: int) -> At:
    return lambda place: place.window(n)


FAULTS: dict[str, tuple[Callable[[Place], object], list[tuple[Fault, int | At, int]]]] = {
    "an ended run is gone": (
        lambda p: p.execute(f"DELETE FROM duly_history WHERE id = '{p.id(2)}'"),
        [(Fault.MISSED, 2, 1)],
    ),
    "an open run is gone": (
        lambda p: p.execute(f"DELETE FROM duly_runs WHERE id = '{p.id(11)}'"),
        [(Fault.MISSED, 11, 1)],
    ),
    "two neighbours are gone": (
        lambda p: p.execute(f"DELETE FROM duly_history WHERE id IN ('{p.id(1)}', '{p.id(2)}')"),
        [(Fault.MISSED, 2, 2)],
    ),
    "two that are no neighbours are gone": (
        lambda p: p.execute(f"DELETE FROM duly_history WHERE id IN ('{p.id(0)}', '{p.id(2)}')"),
        [(Fault.MISSED, 0, 1), (Fault.MISSED, 2, 1)],
    ),
    "a skipped row is gone": (
        lambda p: p.execute("DELETE FROM duly_history WHERE status = 'skipped'"),
        [(Fault.MISSED, 8, 2)],
    ),
    "a skipped row covers less": (
        lambda p: p.execute(f"UPDATE duly_history SET since = {p.window(8)}, windows = 1 WHERE status = 'skipped'"),
        [(Fault.MISSED, 7, 1)],
    ),
    "a skipped row counts wrong": (
        lambda p: p.execute("UPDATE duly_history SET windows = windows + 1 WHERE status = 'skipped'"),
        [(Fault.UNEXPLAINED, 8, 1)],
    ),
    "a skipped row covers one that fired": (
        lambda p: p.execute(f"UPDATE duly_history SET since = {p.window(3)}, windows = 6 WHERE status = 'skipped'"),
        [(Fault.DOUBLED, 3, 1)],
    ),
    "the same run is open and ended": (extra(number(11)), [(Fault.DOUBLED, 11, 1)]),
    "a window has two runs": (extra(number(2), "other"), [(Fault.DOUBLED, 2, 1)]),
    "a run was moved to no window": (
        lambda p: p.execute(f"UPDATE duly_history SET window_at = window_at + 7000 WHERE id = '{p.id(2)}'"),
        [(Fault.MISSED, 2, 1), (Fault.UNEXPLAINED, lambda p: p.window(2) + 7000, 1)],
    ),
    "a run was moved to another window": (
        lambda p: p.execute(
            f"UPDATE duly_history SET window_at = {p.window(1)}, fired_at = {p.window(1)} WHERE id = '{p.id(2)}'"
        ),
        [(Fault.DOUBLED, 1, 1), (Fault.MISSED, 2, 1)],
    ),
    "a run has the id of another window": (
        lambda p: p.execute(
            f"UPDATE duly_history SET id = '{window_run_id('other', p.window(2))}' WHERE id = '{p.id(2)}'"
        ),
        [(Fault.UNEXPLAINED, 2, 1)],
    ),
    "a row between two windows": (
        extra(lambda p: p.window(2) + 30_000),
        [(Fault.UNEXPLAINED, lambda p: p.window(2) + 30_000, 1)],
    ),
    "a row while it was paused": (extra(number(5)), [(Fault.UNEXPLAINED, 5, 1)]),
    "a row before it was created": (extra(number(-1)), [(Fault.UNEXPLAINED, -1, 1)]),
    "a row of a revision that is not there": (
        lambda p: p.execute(f"UPDATE duly_history SET revision = 9 WHERE id = '{p.id(2)}'"),
        [(Fault.UNEXPLAINED, 2, 1)],
    ),
    "a run fired late": (
        lambda p: p.execute(f"UPDATE duly_history SET fired_at = fired_at + 300000 WHERE id = '{p.id(2)}'"),
        [(Fault.LATE, 2, 1)],
    ),
    "a run fired early": (
        lambda p: p.execute(f"UPDATE duly_history SET fired_at = fired_at - 60000 WHERE id = '{p.id(2)}'"),
        [(Fault.EARLY, 2, 1)],
    ),
}


@rule("S3.74")
@pytest.mark.parametrize("name", FAULTS)
async def test_a_planted_fault_is_found_and_nothing_else(place: Place, name: str) -> None:
    plant, expected = FAULTS[name]
    plant(place)
    found = (await place.audit()).findings
    wanted = {(fault, place.window(at) if isinstance(at, int) else at(place), count) for fault, at, count in expected}
    assert {(one.fault, one.at, one.windows) for one in found} == wanted, found
    assert len(found) == len(expected)


async def test_windows_that_a_cursor_passed_over_are_missed(place: Place, clock: ManualClock) -> None:
    place.execute(f"UPDATE duly_cursors SET window_at = {place.window(14)}, next_window_at = {place.window(15)}")
    place.execute(f"UPDATE duly_cursors SET fire_at = {place.window(15)}")
    clock.move(minutes=3)
    (found,) = (await place.audit(late=30)).findings
    assert (found.fault, found.since_ms, found.at, found.windows) == (
        Fault.MISSED, place.window(12), place.window(14), 3,
    )  # fmt: skip


async def test_a_cursor_that_was_parked_is_missed(place: Place, clock: ManualClock) -> None:
    place.execute("UPDATE duly_cursors SET fire_at = NULL")
    clock.move(minutes=3)
    (found,) = (await place.audit(late=30)).findings
    assert (found.fault, found.windows) == (Fault.MISSED, 2)


async def test_what_nobody_fires_is_late_and_named_as_owed(place: Place, clock: ManualClock) -> None:
    clock.move(minutes=4)
    (found,) = (await place.audit()).findings
    assert (found.fault, found.since_ms, found.windows) == (Fault.LATE, place.window(12), 3)
    assert found.detail == "has not fired yet, 182 s after its time"
    assert await place.subject.store.overdue(late_ms=60_000, limit=10) == [place.schedule.id]
    await place.subject.stop_firing(clock.now() - 4 * MINUTE)
    assert (await place.audit()).clean, "nothing is owed while all firing is stopped"
    assert await place.subject.store.overdue(late_ms=60_000, limit=10) == []


async def test_what_cannot_be_judged_is_said(place: Place, clock: ManualClock) -> None:
    await place.subject.damage((await place.trial.put("newer")).id)
    clock.move(seconds=1)
    await place.trial.store.purge_history(finished_before=place.window(2) + 1, limit=10)
    found = await place.audit()
    assert found.clean
    told = {(one.key, one.why) for one in found.not_judged}
    assert told == {
        ("newer", "revision 1 cannot be read by this version"),
        (None, "whether windows before 2026-01-05T00:03:00.001000Z were missed: retention has deleted rows up to then"),
    }
    place.execute(f"DELETE FROM duly_history WHERE id = '{place.id(3)}'")
    (missed,) = (await place.audit()).findings
    assert missed.at == place.window(3), "what retention cannot have taken is judged"


async def test_one_schedule_is_asked_for_by_key_also_when_deleted(place: Place, clock: ManualClock) -> None:
    other = await place.trial.put("other")
    clock.move(minutes=2)
    await place.trial.fire()
    await place.trial.delete(other)
    clock.move(minutes=2)
    found = await place.audit(schedule="other")
    assert (found.clean, found.schedules, found.windows) == (True, 1, 2)
    after = clock.now() - clock.now() % MINUTE
    one_more(place, other.id, window_run_id(other.id, after), after)
    (found_row,) = (await place.audit(schedule=other.id)).findings
    assert found_row.fault is Fault.UNEXPLAINED, "it was deleted before"


async def test_a_life_with_everything_in_it_is_clean(place: Place, clock: ManualClock) -> None:
    """DST both ways, jitter, dates, one-shots, intervals from the end of a run, catch-up of all, max_runs, edits."""
    trial = place.trial
    clock.move_to("2026-03-28T12:00:10Z")
    await trial.fire()
    worker = await trial.worker()
    zone = "Europe/Berlin"
    made = [
        await trial.put("gap", Cron("30 2 * * *", zone)),
        await trial.put("half", Cron("*/30 * * * *", zone), jitter=Jitter(0, 600_000)),
        await trial.put("days", Cron("0 * * * *", zone), exclude_dates=(date(2026, 3, 29),)),
        await trial.put(
            "all", Every(hours=1), catch_up=CatchUp(Missed.ALL, timedelta(days=3), 5), overlap=Overlap.QUEUE
        ),
        await trial.put("after", Every(hours=2, after_completion=True)),
        await trial.put("thrice", Every(hours=1), max_runs=3),
        await trial.put("once", Once("2026-03-29T01:30:00Z")),
        await trial.put("asleep", Every(hours=1), paused_at=1),
    ]
    for step in range(60):
        clock.move(minutes=30)
        if not 20 <= step < 30:  # an outage
            await trial.fire()
            await done(worker)
        if step == 33:
            await trial.edit(
                made[1], definition=trial.new("half", Cron("7 * * * *", zone), jitter=Jitter(0, 9)).definition
            )
            await trial.resume(made[7], catch_up=True)
            await trial.trigger(made[0])
            await trial.delete(made[2])
    found = await place.audit(late=6 * 3600, since=timedelta(days=2))
    assert found.findings == []
    assert found.windows > 150


@pytest.mark.parametrize("catch_up", [False, True])
async def test_windows_of_a_pause_are_not_owed_where_an_edit_moved_on_past_them(
    place: Place, clock: ManualClock, catch_up: bool
) -> None:
    trial = place.trial
    delayed = Jitter(30_000, 40_000)
    put = await trial.put("delayed", Every(minutes=1), jitter=delayed)
    clock.move(minutes=1)
    await trial.pause(put)  # its window has come, and its jitter still delays it
    clock.move(minutes=10)
    await trial.edit(put, definition=trial.new("delayed", Cron("0 12 * * *"), jitter=delayed).definition)
    clock.move(minutes=1)
    await trial.resume(put, catch_up=catch_up)
    await trial.fire()
    assert [run.window_at for run in await trial.runs(put)] == [to_datetime(clock.now() - 11 * MINUTE - 2000)]
    clock.move(minutes=2)
    found = await place.audit(schedule=put.id)
    assert (found.findings, found.windows) == ([], 1)


@pytest.mark.parametrize("edited", [True, False])
async def test_windows_between_the_end_of_a_pause_and_the_edit_that_notices_it_are_owed(
    place: Place, clock: ManualClock, edited: bool
) -> None:
    trial = place.trial
    put = await trial.put("absent", Every(minutes=1))
    await trial.pause(put, until=clock.now() + 5 * MINUTE)
    clock.move(minutes=8)
    if edited:
        await trial.edit(put, definition=trial.new("absent", Every(minutes=7)).definition)
    else:
        await trial.store.resume_expired_pauses(limit=10)
        await trial.fire()
    clock.move(seconds=90)
    found = await place.audit(schedule=put.id)
    assert (found.findings, found.windows) == ([], 3 if edited else 4)
    place.execute(f"DELETE FROM duly_history WHERE schedule_id = '{put.id}'")
    (missed,) = (await place.audit(schedule=put.id)).findings
    assert (missed.fault, missed.windows) == (Fault.MISSED, 2)


def past(clock: ManualClock) -> Once:
    """A moment that has gone by and is to fire all the same."""
    return Once.at_instant(clock.now() - 10 * MINUTE, on_past="fire")


async def test_a_window_of_the_past_is_not_owed_while_its_schedule_is_paused_from_the_first(
    place: Place, clock: ManualClock
) -> None:
    clock.move(minutes=25)
    once = await place.trial.put("once", past(clock), paused_at=clock.now())
    current = await place.trial.put("current", Cron("0 * * * *"), fire_current_window=True, paused_at=clock.now())
    clock.move(minutes=5)
    for put in (once, current):
        assert (await place.audit(schedule=put.id)).clean
        await place.trial.resume(put)
    clock.move(minutes=2)
    (owed,) = (await place.audit(schedule="once")).findings
    assert (owed.fault, owed.detail) == (Fault.LATE, "has not fired yet, 120 s after its time")


@pytest.mark.parametrize("late_already", [False, True])
@pytest.mark.parametrize("end", ["edit", "cancel", "delete", "edit twice", "resume", "run out"])
async def test_a_one_shot_that_a_pause_kept_from_firing_is_missed_by_nobody(
    place: Place, clock: ManualClock, end: str, late_already: bool
) -> None:
    trial = place.trial
    timing = Every(hours=1) if late_already else Once.at_instant(clock.now() + 10 * MINUTE, on_past="fire")
    put = await trial.put("prompt", timing)
    await trial.pause(put, until=clock.now() + 30 * MINUTE if end == "run out" else None)
    clock.move(minutes=20)
    if late_already:
        await trial.edit(put, definition=trial.new("prompt", past(clock)).definition)
    clock.move(minutes=1)
    schedule = await trial.schedule(put)
    hourly = replace(schedule.definition, timing=Every(hours=1))
    if end == "cancel":
        await trial.cancel(put)
    elif end == "delete":
        await trial.delete(put)
    elif end == "edit":
        await trial.edit(put, definition=hourly)
        clock.move(minutes=1)
        assert (await place.audit(schedule=put.id)).clean
        await trial.resume(put)
    elif end == "run out":
        clock.move(minutes=20)
        await trial.edit(put, definition=hourly)
        await trial.store.resume_expired_pauses(limit=10)
    else:
        if end == "edit twice":
            await trial.edit(put, definition=replace(schedule.definition, priority=3))
            clock.move(minutes=1)
        await trial.resume(put)
        assert (await trial.fire()).runs == 1
    clock.move(minutes=1)
    found = await place.audit(schedule=put.id)
    # Where the pause had run out eleven minutes before anybody noticed, its fire was owed since then.
    told = [(Fault.LATE, "it fired 660 s after its time")] if end == "run out" else []
    assert ([(one.fault, one.detail) for one in found.findings], found.not_judged) == (told, [])
