"""Calendars: kept by name, named by schedules, and obeyed by every fire."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from duly.core.calendar import Calendar, DateRange, Days, MonthDay
from duly.core.errors import CalendarInUse, CalendarNotFound, CalendarUnknown, DulyError, RevisionStale
from duly.core.policy import CatchUp, Missed, Overlap
from duly.core.run import Run
from duly.core.schedule import Schedule, ScheduleStatus
from duly.core.timing import Cron, Every, Once
from duly.store.orders import BackfillOrder, NewOperation
from duly.store.values import NewCalendar, PutCalendar
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial

MONDAY = date(2026, 1, 5)  # on which the clock starts, at midnight
TUESDAY = date(2026, 1, 6)
HOLIDAY = Days((TUESDAY,))
NOON = Cron("0 12 * * *")
WEEK = CatchUp(Missed.LATEST, timedelta(days=7))


async def put(trial: Trial, days: Days = HOLIDAY, name: str = "holidays", **words: Any) -> PutCalendar:
    if_revision = words.pop("if_revision", None)
    new = NewCalendar(**{"id": trial.id(), "name": name, "days": days, **words})
    return await trial.store.put_calendar(new, if_revision=if_revision)


async def edit(trial: Trial, schedule: Schedule, **words: Any) -> Schedule:
    return await trial.edit(schedule, definition=replace(schedule.definition, **words))


def told(run: Run) -> tuple[str, str | None, int | None]:
    return run.status.value, run.reason_detail, run.window_count


class TestCalendars:
    async def test_a_calendar_is_read_back_as_it_was_put(self, trial: Trial) -> None:
        days = Days((MONDAY,), (DateRange(date(2026, 12, 24), date(2027, 1, 2)),), (MonthDay(12, 25), MonthDay(2, 29)))
        made = await put(trial, days, description="of the bank", by="ann")
        assert (made.created, made.changed) == (True, True)
        found = await trial.store.get_calendar("holidays")
        assert found == made.calendar
        assert (found.days, found.revision, found.created_by, found.updated_by) == (days, 1, "ann", "ann")
        assert await trial.store.read_days(["holidays", "none"]) == {"holidays": days}

    async def test_another_content_is_another_revision_and_the_same_is_none(self, trial: Trial) -> None:
        first = await put(trial, by="ann")
        trial.clock.move(hours=1)
        same = await put(trial, by="bob")
        assert (same.calendar, same.created, same.changed) == (first.calendar, False, False)
        other = await put(trial, Days(yearly=(MonthDay(1, 1),)), by="bob")
        assert (other.created, other.changed, other.calendar.revision) == (False, True, 2)
        assert (other.calendar.created_by, other.calendar.updated_by) == ("ann", "bob")
        assert other.calendar.updated_at - other.calendar.created_at == timedelta(hours=1)
        assert other.calendar.id == first.calendar.id

    async def test_a_put_that_is_repeated_finds_what_it_made(self, trial: Trial) -> None:
        id = trial.id()
        first = await put(trial, id=id)
        assert await put(trial, id=id) == first

    async def test_who_read_an_older_revision_changes_nothing(self, trial: Trial) -> None:
        await put(trial)
        await put(trial, Days(), if_revision=1)
        with pytest.raises(RevisionStale):
            await put(trial, HOLIDAY, if_revision=1)
        with pytest.raises(RevisionStale):
            await trial.store.delete_calendar("holidays", if_revision=1)
        with pytest.raises(CalendarNotFound):
            await put(trial, name="none", if_revision=1)
        found = await trial.store.get_calendar("holidays")
        assert found is not None
        assert (found.days, found.revision) == (Days(), 2)

    async def test_a_name_belongs_to_a_tenant(self, trial: Trial) -> None:
        await put(trial, tenant="acme")
        assert await trial.store.get_calendar("holidays") is None
        assert isinstance(await trial.put_in_vain(calendars=("holidays",)), CalendarUnknown)
        await trial.put(tenant="acme", calendars=("holidays",))

    async def test_they_are_listed_page_by_page(self, trial: Trial) -> None:
        made = [
            (await put(trial, name=name, tenant=tenant)).calendar for name, tenant in (("b", ""), ("a", ""), ("c", "t"))
        ]
        page = await trial.store.list_calendars(limit=2)
        assert (page.items, page.next_cursor) == (made[:2], made[1].id)
        page = await trial.store.list_calendars(limit=2, after=page.next_cursor)
        assert (page.items, page.next_cursor) == (made[2:], None)
        assert (await trial.store.list_calendars(tenant="t", limit=2)).items == made[2:]

    async def test_a_schedule_that_names_an_unknown_calendar_is_refused_alone(self, trial: Trial) -> None:
        await put(trial)
        new = [trial.new("a", calendars=("holidays",)), trial.new("b", calendars=("holidays", "none")), trial.new("c")]
        answers = await trial.store.put_schedules(new)
        assert [isinstance(answer, Schedule) for answer in answers] == [True, False, True]
        assert isinstance(answers[1], CalendarUnknown)
        assert "'none'" in answers[1].message

    async def test_an_edit_to_an_unknown_calendar_is_refused_and_changes_nothing(self, trial: Trial) -> None:
        made = await trial.put()
        with pytest.raises(CalendarUnknown):
            await edit(trial, made, calendars=("holidays",))
        assert await trial.schedule(made) == made
        await put(trial)
        assert (await edit(trial, made, calendars=("holidays",))).calendars == ("holidays",)

    async def test_a_calendar_is_not_deleted_while_schedules_name_it(self, trial: Trial) -> None:
        await put(trial)
        await put(trial, name="other")
        edited = await trial.put("edited", calendars=("holidays",))
        ended = await trial.put("ended", calendars=("other", "holidays"))
        gone = await trial.put("gone", calendars=("holidays",))
        await trial.pause(gone)
        with pytest.raises(CalendarInUse) as refusal:
            await trial.store.delete_calendar("holidays")
        assert refusal.value.details["schedules"] == 3
        await edit(trial, edited, calendars=())
        await trial.cancel(ended)
        with pytest.raises(CalendarInUse) as refusal:
            await trial.store.delete_calendar("holidays")
        assert refusal.value.details["schedules"] == 1
        await trial.delete(gone)
        assert isinstance(await trial.store.delete_calendar("holidays"), Calendar)
        assert await trial.store.get_calendar("holidays") is None
        assert await trial.store.delete_calendar("holidays") is None
        assert isinstance(await trial.store.delete_calendar("other"), Calendar)

    async def test_a_schedule_made_beside_a_delete_never_names_nothing(self, trial: Trial, access: Access) -> None:
        other = await access.another()
        for n in range(10):
            name = f"c{n}"
            await put(trial, name=name)
            made, deleted = await asyncio.gather(
                trial.store.put_schedules([trial.new(f"s{n}", calendars=(name,))]),
                other.delete_calendar(name),
                return_exceptions=True,
            )
            assert isinstance(made, list), made
            kept = await trial.store.get_calendar(name) is not None
            assert isinstance(made[0], Schedule) == isinstance(deleted, DulyError) == kept

    async def test_two_who_put_one_name_at_once_make_one_calendar(self, trial: Trial, access: Access) -> None:
        stores = [trial.store, await access.another()]
        new = [NewCalendar(id=trial.id(), name="c", days=Days((MONDAY + timedelta(n),))) for n in range(8)]
        puts = await asyncio.gather(*(stores[n % 2].put_calendar(one) for n, one in enumerate(new)))
        assert sum(one.created for one in puts) == 1
        assert sorted(one.calendar.revision for one in puts) == list(range(1, 9))


class TestExcludedWindows:
    async def test_a_window_on_an_excluded_date_is_skipped_with_the_calendars_name(self, trial: Trial) -> None:
        await put(trial)
        made = await trial.put(timing=NOON, calendars=("holidays",))
        for _ in range(3):
            trial.clock.move(hours=12)
            await trial.fire()
            trial.clock.move(hours=12)
        first, excluded, last = await trial.runs(made)
        assert (first.status, last.status) == ("pending", "skipped")  # nobody works: the third one overlaps
        assert (excluded.status, excluded.reason) == ("skipped", "excluded")
        assert (excluded.reason_detail, excluded.error_message) == ("excluded by holidays", None)
        assert excluded.window_at is not None
        assert excluded.window_at.day == 6
        assert (await trial.run(excluded)).reason_detail == "excluded by holidays"

    async def test_a_schedule_has_dates_of_its_own(self, trial: Trial) -> None:
        made = await trial.put(timing=NOON, exclude_dates=(MONDAY,))
        trial.clock.move(hours=12)
        fired = await trial.fire()
        assert (fired.runs, fired.skipped, [skip.reason for skip in fired.skips]) == (0, 1, ["excluded"])
        assert [told(run) for run in await trial.runs(made)] == [("skipped", "excluded by its own dates", 1)]

    async def test_a_changed_calendar_holds_for_the_next_window_without_touching_the_schedule(
        self, trial: Trial, access: Access
    ) -> None:
        other = await access.another()  # has not heard of the change, and fires all the same
        await put(trial, Days())
        made = await trial.put(timing=Every(hours=1), calendars=("holidays",), overlap=Overlap.ALLOW)
        trial.clock.move(hours=1)
        assert (await other.fire_due(limit=10, rules=trial.rules)).runs == 1
        await put(trial, Days((MONDAY,)))
        trial.clock.move(hours=1)
        assert (await other.fire_due(limit=10, rules=trial.rules)).runs == 0
        await put(trial, Days())
        trial.clock.move(hours=1)
        assert (await other.fire_due(limit=10, rules=trial.rules)).runs == 1
        assert await trial.statuses(made) == ["pending", "skipped", "pending"]
        assert (await trial.schedule(made)).revision == 1

    async def test_a_calendar_that_was_deleted_and_made_again_is_the_new_one(
        self, trial: Trial, access: Access
    ) -> None:
        other = await access.another()
        await put(trial, Days())
        made = await trial.put(timing=Every(hours=1), calendars=("holidays",), overlap=Overlap.ALLOW)
        trial.clock.move(hours=1)
        assert (await other.fire_due(limit=10, rules=trial.rules)).runs == 1
        without = await edit(trial, made, calendars=())
        await trial.store.delete_calendar("holidays")
        await put(trial, Days((MONDAY,)))  # the name and the revision are those that it had
        await edit(trial, without, calendars=("holidays",))
        trial.clock.move(hours=1)
        assert (await other.fire_due(limit=10, rules=trial.rules)).runs == 0

    async def test_schedules_with_and_without_calendars_fire_side_by_side(self, trial: Trial) -> None:
        await put(trial, Days((MONDAY,)), "closed")
        await put(trial, Days(), "open")
        await put(trial, Days(), "closed", tenant="acme")
        words: dict[str, dict[str, Any]] = {
            "plain": {},
            "open": {"calendars": ("open",)},
            "closed": {"calendars": ("open", "closed")},
            "foreign": {"calendars": ("closed",), "tenant": "acme"},
            "own": {"exclude_dates": (MONDAY,)},
        }
        for key, said in words.items():
            await trial.put(key, NOON, **said)
        trial.clock.move(hours=12)
        fired = await trial.fire()
        assert (fired.runs, fired.skipped) == (3, 2)

    async def test_after_an_outage_the_excluded_windows_are_a_row_of_their_own(self, trial: Trial) -> None:
        await put(trial, Days(ranges=(DateRange(TUESDAY, date(2026, 1, 7)),)))
        made = await trial.put(timing=Cron("0 */6 * * *"), calendars=("holidays",), catch_up=WEEK)
        trial.clock.move(days=4, hours=3)
        await trial.fire()
        assert [told(run) for run in await trial.runs(made)] == [
            ("skipped", None, 3),
            ("skipped", "excluded by holidays", 8),
            ("skipped", None, 4),
            ("pending", None, None),
        ]

    async def test_a_one_shot_on_an_excluded_date_fails_with_the_reason(self, trial: Trial) -> None:
        await put(trial)
        made = await trial.put(timing=Once("2026-01-06T09:00:00Z"), calendars=("holidays",))
        trial.clock.move(days=1, hours=9)
        await trial.fire()
        found = await trial.schedule(made)
        assert (found.status, found.facts.ended_at) == (ScheduleStatus.FAILED, trial.clock.now())
        assert found.last_error == "skipped (excluded): excluded by holidays"
        assert [told(run) for run in await trial.runs(made)] == [("skipped", "excluded by holidays", 1)]

    async def test_excluded_windows_are_no_runs_and_count_as_none(self, trial: Trial) -> None:
        await put(trial)
        made = await trial.put(timing=NOON, calendars=("holidays",), max_runs=2, overlap=Overlap.ALLOW)
        for _ in range(3):
            trial.clock.move(hours=12)
            await trial.fire()
            trial.clock.move(hours=12)
        assert await trial.statuses(made) == ["pending", "skipped", "pending"]
        found = await trial.schedule(made)
        assert (found.cursor.fired, found.status) == (2, ScheduleStatus.COMPLETED)

    async def test_an_excluded_window_cancels_nothing(self, trial: Trial) -> None:
        await put(trial)
        made = await trial.put(timing=NOON, calendars=("holidays",), overlap=Overlap.CANCEL_PREVIOUS)
        trial.clock.move(hours=12)
        await trial.fire()
        claim = await (await trial.worker()).claim_one()
        trial.clock.move(days=1)
        await trial.fire()
        assert not (await trial.run(claim)).cancel_requested
        assert await trial.statuses(made) == ["running", "skipped"]

    async def test_what_was_due_at_a_pause_is_paused_or_excluded(self, trial: Trial) -> None:
        await put(trial)
        made = await trial.put(timing=NOON, calendars=("holidays",))
        trial.clock.move(days=2, hours=13)
        paused = await trial.pause(made)
        await trial.resume(paused)
        assert [(run.reason, run.reason_detail) for run in await trial.runs(made)] == [
            ("paused", None),
            ("excluded", "excluded by holidays"),
            ("paused", None),
        ]

    async def test_windows_due_before_an_edit_obey_the_calendars_they_had(self, trial: Trial) -> None:
        await put(trial, Days((MONDAY,)))
        made = await trial.put(timing=NOON, calendars=("holidays",))
        trial.clock.move(hours=12)
        await edit(trial, made, calendars=())
        assert [told(run) for run in await trial.runs(made)] == [("skipped", "excluded by holidays", 1)]

    async def test_two_instances_fire_and_skip_each_window_once(self, trial: Trial, access: Access) -> None:
        await put(trial)
        stores = [trial.store, await access.another()]
        catch_up = CatchUp(Missed.ALL, timedelta(days=7))
        made = await trial.put(timing=Cron("0 */2 * * *"), calendars=("holidays",), catch_up=catch_up)
        trial.clock.move(days=3, hours=1)
        for _ in range(3):
            await asyncio.gather(*(store.fire_due(limit=10, rules=trial.rules) for store in stores))
        runs = await trial.runs(made)
        assert sum(run.window_count or 1 for run in runs) == 36
        assert [told(run) for run in runs if run.reason] == [("skipped", "excluded by holidays", 12)]

    async def test_a_backfill_leaves_excluded_windows_out(self, trial: Trial) -> None:
        await put(trial)
        made = await trial.put(timing=NOON, calendars=("holidays",), overlap=Overlap.ALLOW)
        start = trial.clock.now()
        trial.clock.move(days=3)
        new = NewOperation(id=trial.id(), order=BackfillOrder(since=start, until=trial.clock.now()))
        operation = await trial.store.backfill(made.id, new, payload=None, rules=trial.rules)
        assert operation is not None
        assert operation.matched == 2
        windows = [run.window_at for run in await trial.runs(made)]
        assert [window and window.day for window in windows] == [5, 7]
