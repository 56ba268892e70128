"""The calendar strip: days in the schedule's zone, outcomes, and what the clocks do between windows."""

from datetime import UTC, datetime

from duly.core.timing.zone import zone_named
from duly.dashboard.strip import clock_changes, strip


def ran(at: str, status: str = "completed", **more: object) -> dict[str, object]:
    empty = {"errorMessage": None, "reasonDetail": None, "reason": None, "windowCount": None}
    return {"windowKey": f"sched:x:{at}", "scheduledAt": at, "status": status, "id": f"run-{at}", **empty, **more}


def to_come(at: str, **more: object) -> dict[str, object]:
    return {"windowAt": at, "note": None, **more}


def test_past_windows_lie_before_the_next_ones_oldest_first():
    runs = [ran("2026-11-15T01:00:00Z", "failed", errorMessage="boom"), ran("2026-11-14T01:00:00Z")]
    days = strip(runs, [to_come("2026-11-16T01:00:00Z")], "Europe/Berlin")
    assert [(day.date, day.weekday, day.is_next) for day in days] == [
        ("2026-11-14", "Sat", False),
        ("2026-11-15", "Sun", False),
        ("2026-11-16", "Mon", True),
    ]
    failed = days[1].cells[0]
    assert (failed.clock, failed.outcome, failed.note, failed.run_id) == (
        "02:00", "failed", "boom", "run-2026-11-15T01:00:00Z"
    )  # fmt: skip
    assert (days[2].cells[0].outcome, days[2].cells[0].run_id) == ("next", None)


def test_a_date_is_the_one_of_the_zone():
    (day,) = strip([ran("2026-11-15T23:30:00Z")], [], "Asia/Tokyo")
    assert (day.date, day.cells[0].clock) == ("2026-11-16", "08:30")


def test_windows_within_a_minute_can_be_told_apart():
    (day,) = strip([], [to_come("2026-11-15T23:30:00Z"), to_come("2026-11-15T23:30:10Z")], "UTC")
    assert [cell.clock for cell in day.cells] == ["23:30:00", "23:30:10"]


def test_manual_runs_are_no_windows():
    assert strip([ran("2026-11-15T23:30:00Z") | {"windowKey": None}], [], "UTC") == []


def test_one_skipped_row_stands_for_all_its_windows():
    (day,) = strip([ran("2026-11-15T23:30:00Z", "skipped", windowCount=40, reason="missed")], [], "UTC")
    assert (day.cells[0].count, day.cells[0].note) == (40, "missed")


def test_a_change_of_the_clocks_is_told_before_the_first_window_after_it():
    runs = [ran("2026-10-25T01:30:00Z"), ran("2026-10-24T00:30:00Z")]
    before, after = strip(runs, [], "Europe/Berlin")
    assert before.changes == ()
    assert after.changes == ("clocks go back on 2026-10-25: 03:00 becomes 02:00",)


def test_a_change_within_a_day_parts_it():
    runs = [ran("2026-10-25T01:30:00Z"), ran("2026-10-25T00:30:00Z")]
    first, second = strip(runs, [], "Europe/Berlin")
    assert [(day.date, day.cells[0].clock) for day in (first, second)] == [
        ("2026-10-25", "02:30"),
        ("2026-10-25", "02:30"),
    ]
    assert second.changes


def test_an_excluded_window_to_come_says_so():
    (day,) = strip([], [to_come("2026-12-25T09:00:00Z", excluded=True, note="on a date of holidays")], "UTC")
    assert (day.cells[0].outcome, day.cells[0].note) == ("excluded", "on a date of holidays")


def test_no_more_changes_are_told_than_fit():
    first, last = datetime(1990, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    assert 0 < len(list(clock_changes(zone_named("Europe/Berlin"), first, last))) <= 8
    assert list(clock_changes(zone_named("UTC"), first, last)) == []
