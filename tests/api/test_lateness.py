"""Which schedule is late, and what it missed: by name, over REST, since a metric has no schedule's name."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from duly import Duly, Every
from duly.api.application import application
from duly.testing import ManualClock
from tests.api.conftest import client_of


@pytest.mark.parametrize(
    ("late", "health"), [(0, "on_time"), (2, "on_time"), (3, "late"), (10, "late"), (11, "overdue"), (7200, "overdue")]
)
async def test_a_schedule_that_nobody_fires_is_late_and_then_overdue(late: int, health: str) -> None:
    clock = ManualClock("2026-01-05T00:30:00Z")
    app = Duly("sqlite:///:memory:", clock=clock)
    await app.open()
    try:
        async with client_of(application(app), "http://localhost/api/v1") as api:
            await app.schedules.create("fine", Every("24h"), job="work")
            await app.schedules.create("slow", Every("1h"), job="work")
            clock.move(minutes=30, seconds=late)
            found = {one["key"]: one["health"] for one in (await api.get("/schedules")).json()["items"]}
            assert found == {"fine": "on_time", "slow": health}
            assert (await api.get("/schedules/slow")).json()["health"] == health
            assert (await api.get("/upcoming")).json()["items"][0]["key"] == "slow", "what is overdue comes first"
    finally:
        await app.close()


async def test_late_schedules_are_listed_with_how_late_they_are_and_how_many_windows_they_owe() -> None:
    clock = ManualClock("2026-01-05T00:30:00Z")
    app = Duly("sqlite:///:memory:", clock=clock)
    await app.open()
    try:
        async with client_of(application(app), "http://localhost/api/v1") as api:
            await app.schedules.create("fine", Every("24h"), job="work")
            await app.schedules.create("paused", Every("1h"), job="work", enabled=False)
            await app.schedules.create("hourly", Every("1h"), job="work", metadata={"owner_id": "ann"})
            await app.schedules.create("few", Every("1h"), job="work", max_runs=2)
            await app.schedules.create("often", Every("1m"), job="work")
            assert (await api.get("/late")).json() == {"items": [], "nextCursor": None}
            clock.move(hours=3)

            def told(answer: dict[str, Any]) -> list[tuple[str, str, int, int]]:
                return [(one["key"], one["health"], one["lateMs"], one["windowsOwed"]) for one in answer["items"]]

            all_of_them = [
                ("often", "overdue", 179 * 60_000, 180),
                ("hourly", "overdue", 150 * 60_000, 3),
                ("few", "overdue", 150 * 60_000, 2),
            ]
            page = (await api.get("/late")).json()
            assert (sorted(told(page)), page["nextCursor"]) == (sorted(all_of_them), None)
            assert page["items"][0]["windowAt"] == page["items"][0]["fireAt"] == "2026-01-05T00:31:00Z"
            assert page["items"][0]["lastFiredAt"] is None
            first = (await api.get("/late", params={"limit": 1})).json()
            rest = (await api.get("/late", params={"limit": 2, "cursor": first["nextCursor"]})).json()
            assert sorted(told(first) + told(rest)) == sorted(all_of_them)
            assert told((await api.get("/late", params={"owner": "ann"})).json()) == [all_of_them[1]]
            refused = await api.get("/late", params={"health": "late"})
            assert (refused.status_code, refused.json()["code"]) == (422, "VALIDATION_FAILED")
            await app._store.fire_due(limit=10, rules=app.settings.fire_rules)
            assert (await api.get("/late")).json()["items"] == [], "what was owed has fired, or is a row that says why"
    finally:
        await app.close()


async def test_what_a_schedule_missed_and_how_late_it_fired_are_read_by_its_name() -> None:
    clock = ManualClock("2026-01-05T00:30:00Z")
    app = Duly("sqlite:///:memory:", clock=clock)
    await app.open()
    try:
        async with client_of(application(app), "http://localhost/api/v1") as api:
            await app.schedules.create("k", Every("1h"), job="work", catch_up="latest")
            clock.move(hours=3, minutes=35)
            await app._store.fire_due(limit=10, rules=app.settings.fire_rules)
            missed = (await api.get("/schedules/k/executions", params={"status": "skipped"})).json()["items"]
            assert [(one["reason"], one["windowCount"]) for one in missed] == [("missed", 3)]
            (run,) = (await api.get("/schedules/k/executions", params={"status": "pending"})).json()["items"]
            fired, due = (datetime.fromisoformat(run[name]) for name in ("firedAt", "scheduledAt"))
            assert fired - due == timedelta(minutes=5)
    finally:
        await app.close()
