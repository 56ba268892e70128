"""``app.calendars``, and schedules that name them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from duly import Cron, Duly, Every, Once
from duly.core.calendar import DateRange, MonthDay
from duly.core.errors import CalendarInUse, CalendarUnknown, RevisionStale, ValidationFailed
from tests.app.conftest import MakeApp, until

NOON = Cron("0 12 * * *", "America/Sao_Paulo")
BEFORE = datetime(2026, 12, 23, 12, tzinfo=UTC)


async def test_dates_are_given_as_dates_or_as_text_and_kept_in_order(app: Duly) -> None:
    await app.open()
    put = await app.calendars.put(
        "br-holidays",
        dates=["2027-02-09", date(2026, 11, 20), "2027-02-09"],
        ranges=[("2026-12-24", date(2027, 1, 2)), "2026-06-01..2026-06-02"],
        yearly=["12-25", (9, 7), MonthDay(2, 29)],
        description="Brazil",
        by="ann",
    )
    assert (put.created, put.changed, put.revision) == (True, True, 1)
    found = await app.calendars.get("br-holidays")
    assert found == put.calendar
    assert found.dates == (date(2026, 11, 20), date(2027, 2, 9))
    assert found.ranges == (
        DateRange(date(2026, 6, 1), date(2026, 6, 2)),
        DateRange(date(2026, 12, 24), date(2027, 1, 2)),
    )
    assert found.yearly == (MonthDay(2, 29), MonthDay(9, 7), MonthDay(12, 25))
    assert (found.description, found.created_by) == ("Brazil", "ann")
    await app.close()


@pytest.mark.parametrize(
    "name, words, said",
    [
        ("bad name", {}, "name has 'bad name'"),
        ("c", {"dates": "2026-12-25"}, "expected a list of dates"),
        ("c", {"dates": ["2026-02-30"]}, "dates has '2026-02-30'; expected a date that exists"),
        ("c", {"dates": ["25.12.2026"]}, "dates has '25.12.2026'"),
        ("c", {"dates": ["\uff12026-12-25"]}, "expected a date"),
        ("c", {"dates": [datetime(2026, 12, 25, tzinfo=UTC)]}, "expected a date"),
        ("c", {"dates": [date(2026, 1, 1) + timedelta(n) for n in range(5001)]}, "5001 entries; expected at most 5000"),
        ("c", {"ranges": [("2026-12-25", "2026-12-24")]}, "expected a last date that is not before the first"),
        ("c", {"ranges": ["2026-12-25"]}, "expected a first and a last date"),
        ("c", {"yearly": ["02-30"]}, "yearly has '02-30'; expected a month and a day"),
        ("c", {"yearly": [(13, 1)]}, "expected a month and a day"),
        ("c", {"yearly": [(True, 1)]}, "expected a month and a day"),
    ],
)
async def test_what_is_no_date_is_refused_by_name_before_a_store_is_asked(
    name: str, words: dict[str, Any], said: str
) -> None:
    app = Duly("sqlite:///never-opened.db")
    with pytest.raises(ValidationFailed, match=said):
        await app.calendars.put(name, **words)


async def test_calendars_are_listed_changed_and_deleted(app: Duly) -> None:
    await app.open()
    for name in ("a", "b", "c"):
        await app.calendars.put(name)
    await app.calendars.put("theirs", tenant="acme")
    assert {calendar.name async for calendar in app.calendars.iterate(tenant="", limit=2)} == {"a", "b", "c"}
    again = await app.calendars.put("a", yearly=["12-25"], if_revision=1)
    assert (again.created, again.changed, again.revision) == (False, True, 2)
    assert not (await app.calendars.put("a", yearly=[(12, 25)])).changed
    with pytest.raises(RevisionStale):
        await app.calendars.put("a", if_revision=1)
    await app.calendars.delete("a")
    await app.calendars.delete("a")
    assert await app.calendars.get("a") is None
    await app.close()


async def test_a_schedule_names_calendars_that_are_there(app: Duly) -> None:
    await app.open()
    with pytest.raises(CalendarUnknown, match="there is no calendar 'br-holidays'"):
        await app.schedules.create("s", NOON, job="j", calendars=["br-holidays"])
    await app.calendars.put("br-holidays", yearly=["12-25"])
    made = await app.schedules.create("s", NOON, job="j", calendars=["br-holidays"], exclude_dates=["2026-12-31"])
    assert (made.calendars, made.exclude_dates) == (("br-holidays",), (date(2026, 12, 31),))
    with pytest.raises(CalendarInUse, match="1 schedule that has not ended"):
        await app.calendars.delete("br-holidays")
    edited = await app.schedules.update("s", calendars=[], exclude_dates=[])
    assert (edited.calendars, edited.exclude_dates, edited.revision) == ((), (), 2)
    page = await app.schedules.changes("s")
    changes = {change.field: (change.old, change.new) for change in page.items[0].fields}
    assert changes == {"calendars": (["br-holidays"], []), "exclude_dates": (["2026-12-31"], [])}
    await app.calendars.delete("br-holidays")
    await app.close()


async def test_a_preview_shows_excluded_windows_and_says_by_what(app: Duly) -> None:
    await app.open()
    await app.calendars.put("br-holidays", yearly=["12-25"])
    found = await app.schedules.preview(
        NOON, after=BEFORE, count=4, calendars=["br-holidays"], exclude_dates=[date(2026, 12, 24)]
    )
    assert [(one.local_time.day, one.note, one.excluded) for one in found] == [
        (23, None, False),
        (24, "excluded by its own dates", True),
        (25, "excluded by br-holidays", True),
        (26, None, False),
    ]
    with pytest.raises(ValidationFailed, match="there is no calendar 'none'"):
        await app.schedules.preview(NOON, calendars=["none"])
    await app.close()


async def test_a_preview_without_calendars_needs_no_store(app: Duly) -> None:
    found = await app.schedules.preview(NOON, after=BEFORE, count=2, exclude_dates=["2026-12-24"])
    assert [one.excluded for one in found] == [False, True]


async def test_a_note_of_the_clocks_and_one_of_a_calendar_stand_side_by_side(app: Duly) -> None:
    after = datetime(2027, 3, 27, 12, tzinfo=UTC)
    timing = Cron("30 2 * * *", "Europe/Berlin")
    (found,) = await app.schedules.preview(timing, after=after, count=1, exclude_dates=["2027-03-28"])
    assert found.note is not None
    assert "does not exist" in found.note
    assert found.note.endswith("; excluded by its own dates")


async def test_upcoming_windows_are_shown_with_what_excludes_them_and_only_runs_are_counted(app: Duly) -> None:
    await app.open()
    await app.calendars.put("closed", ranges=["2001-01-01..2099-12-31"])
    today = datetime.now(UTC).date()
    days = [today + timedelta(n) for n in (1, 3)]
    timing = Cron("0 12 * * *")
    await app.schedules.create("s", timing, job="j", exclude_dates=days, max_runs=2)
    found = await app.schedules.upcoming("s", 10)
    assert sum(not one.excluded for one in found) == 2
    assert not found[-1].excluded
    assert {one.window_at.date() for one in found if one.excluded} <= set(days)
    await app.schedules.create("never", timing, job="j", calendars=["closed"], max_runs=2)
    found = await app.schedules.upcoming("never", 5)
    assert [one.note for one in found] == ["excluded by closed"] * 5
    await app.close()


async def test_a_dry_run_of_a_backfill_leaves_excluded_windows_out(app: Duly) -> None:
    await app.open()
    await app.schedules.create("s", Cron("0 12 * * *"), job="j", exclude_dates=["2026-01-02"])
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 4, tzinfo=UTC)
    found = await app.schedules.backfill("s", start, end, dry_run=True)
    assert [one.window_at.day for one in found] == [1, 3]
    await app.close()


async def test_a_running_app_obeys_a_calendar_and_its_change_from_the_next_window_on(make_app: MakeApp) -> None:
    app = make_app()
    ran: list[datetime] = []

    @app.job("tick")
    async def tick(run: Any) -> None:
        ran.append(run.scheduled_at)

    async with app:
        await app.calendars.put("closed", ranges=["2001-01-01..2099-12-31"])
        await app.schedules.create("s", Every("1s"), job="tick", calendars=["closed"])
        once = await app.schedules.create(
            "once",
            Once(datetime.now(UTC) + timedelta(seconds=0.5), on_past="fire"),
            job="tick",
            calendars=["closed"],
        )

        async def skipped() -> bool:
            return bool((await app.runs.list(schedule="s", status="skipped")).items)

        async def over() -> bool:
            found = await app.schedules.get(once.id)
            return found is not None and found.status == "failed"

        await until(skipped)
        await until(over)
        assert ran == []
        run = (await app.runs.list(schedule="s", status="skipped")).items[0]
        assert (run.reason, run.reason_detail, run.error_message) == ("excluded", "excluded by closed", None)
        await app.calendars.put("closed")
        await until(lambda: ran)


def test_every_verb_has_a_twin_without_await(app: Duly) -> None:
    calendars = app.sync.calendars
    assert calendars.put("c", dates=["2026-12-25"]).created
    calendar = calendars.get("c")
    assert calendar is not None
    assert calendars.list().items == list(calendars.iterate()) == [calendar]
    calendars.delete("c")
    assert calendars.get("c") is None
    app.sync.close()


async def test_a_declared_schedule_may_name_a_calendar_that_the_lifespan_puts(make_app: MakeApp) -> None:
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def lifespan(app: Duly) -> Any:
        await app.calendars.put("closed", yearly=["12-25"])
        yield

    app = make_app(lifespan=lifespan)

    @app.job("report", cron="0 2 * * *", calendars=["closed"], exclude_dates=["2026-12-31"])
    async def report() -> None: ...

    async with app:
        found = await app.schedules.get("report")
        assert found is not None
        assert (found.calendars, found.exclude_dates) == (("closed",), (date(2026, 12, 31),))


async def test_an_unknown_calendar_is_found_before_anything_is_applied(app: Duly) -> None:
    await app.open()
    wanted: list[dict[str, Any]] = [
        {"key": "a", "timing": NOON, "job": "j"},
        {"key": "b", "timing": NOON, "job": "j", "calendars": ["none"]},
    ]
    with pytest.raises(CalendarUnknown, match="'b': there is no calendar 'none'"):
        await app.schedules.apply(wanted)
    assert (await app.schedules.list()).items == []
    await app.close()
