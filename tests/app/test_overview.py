"""What is seen over all schedules, and what is left of one that was purged."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duly import Duly, Every
from duly.core.errors import ValidationFailed
from duly.core.schedule import Seen
from duly.testing import ManualClock
from tests.app.conftest import MakeApp


@pytest.fixture
async def app(make_app: MakeApp):
    """An app that neither fires nor works."""
    async with make_app(roles=()) as app:
        yield app


async def test_what_fires_next_of_all(app: Duly) -> None:
    await app.calendars.put("holidays", yearly=[f"{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 29)])
    later = datetime.now(UTC) + timedelta(minutes=30)  # never the very minute in which the other one fires
    await app.schedules.create("hourly", Every("1h", anchor=later), job="work")
    await app.schedules.create("often", Every("1m"), job="work", calendars=["holidays"], metadata={"owner_id": "ann"})
    await app.schedules.create("asleep", Every("1s"), job="work", enabled=False)
    page = await app.schedules.coming(limit=1)
    (first,) = page.items
    assert (first.schedule.key, first.window.excluded) == ("often", first.window.window_at.day < 29)
    rest = await app.schedules.coming(limit=1, cursor=page.next_cursor)
    assert [one.schedule.key for one in rest.items] == ["hourly"]
    assert rest.next_cursor is None
    assert [one.schedule.key for one in (await app.schedules.coming(owner="ann")).items] == ["often"]
    for cursor in ("x", "1.2.3", f"1.2.{'g' * 36}", 5):
        with pytest.raises(ValidationFailed, match="cursor"):
            await app.schedules.coming(cursor=cursor)  # type: ignore[arg-type]


async def test_what_is_late_of_all(make_app: MakeApp) -> None:
    start = datetime.now(UTC).replace(minute=30, second=0, microsecond=0)
    clock = ManualClock(start)
    async with make_app(roles=(), clock=clock) as app:
        await app.schedules.create("rare", Every("240h", anchor=start + timedelta(hours=100)), job="work")
        await app.schedules.create("paused", Every("1s"), job="work", enabled=False)
        await app.schedules.create("owing", Every("1h"), job="work")
        assert (await app.schedules.late()).items == []
        clock.move(hours=3)
        page = await app.schedules.late()
        assert [(one.schedule.key, one.late_ms, one.owed) for one in page.items] == [("owing", 150 * 60_000, 3)]
        assert page.next_cursor is None
        with pytest.raises(ValidationFailed, match="cursor"):
            await app.schedules.late(cursor="x")


async def test_stats_tell_what_there_is_and_what_was_done(app: Duly) -> None:
    empty = await app.schedules.stats()
    assert (empty.load.due, empty.late, empty.dead, empty.hour.fired, empty.day.skipped) == (0, 0, 0, 0, 0)
    assert empty.now - empty.hour.since == timedelta(hours=1) // timedelta(milliseconds=1)
    await app.schedules.create("k", Every("1h"), job="work")
    run = await app.schedules.trigger("k")
    await app.enqueue("work", run_at=None)
    await app.runs.cancel(run.id)
    seen = await app.schedules.stats()
    assert (seen.load.ready, seen.hour.fired, seen.hour.cancelled, seen.day.cancelled) == (1, 2, 1, 1)
    few = await app._store.stats(late_ms=0, limit=1)
    assert (few.hour.cancelled, few.day.since > empty.day.since) == (1, True), "the newest, and how far they reach"


async def test_nothing_is_left_of_what_was_purged(app: Duly) -> None:
    made = await app.schedules.create("k", Every("1h"), job="work")
    run = await app.schedules.trigger("k")
    await app.schedules.delete("k", purge=True, by="ann")
    assert await app.runs.get(run.id) is None
    assert (await app.operations.list()).items[0].status == "completed"
    await app.schedules.delete(made.id, purge=True)
    await app.schedules.delete("nobody", purge=True)
    assert len((await app.operations.list()).items) == 1
    with pytest.raises(ValidationFailed, match="no connection"):
        await app.schedules.delete("k", purge=True, connection=object())


async def test_a_schedule_tells_its_health_and_its_attempts(make_app: MakeApp) -> None:
    app = make_app(roles=(), clock=ManualClock("2026-01-05T00:30:00Z"))
    await app.open()
    target = {"kind": "webhook", "url": "https://example.com/x", "secret": "whsec_s3crets3crets3crets3crets3crets3"}
    made = await app.schedules.create("k", Every("1h"), job="work", fire_current_window=True)
    assert (made.health, made.attempts, made.target) == ("on_time", 0, None)
    await app._store.fire_due(limit=10, rules=app.settings.fire_rules)
    found = await app.schedules.get("k")
    assert found is not None
    assert (found.health, found.attempts, found.last_error) == ("on_time", 0, None)
    (listed,) = (await app.schedules.list()).items
    assert (listed.health, listed.attempts) == ("on_time", None)
    late = replace(found, seen=Seen((found.cursor.fire_at or 0) + 5000))
    assert (late.health, replace(late, seen=Seen((found.cursor.fire_at or 0) + 11_000)).health) == ("late", "overdue")
    outside = await app.schedules.create("out", Every("1h"), target=target)
    assert outside.target == {name: value for name, value in target.items() if name != "secret"}
    await app.close()
