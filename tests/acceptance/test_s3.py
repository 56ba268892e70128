"""What S3, a blueprint of a scheduler service, promises; lines that older tests show are not repeated here."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import httpx2
import pytest

from duly import Cron, Duly, Every, Fatal, Settings
from duly.api.application import application
from duly.core.run import RunStatus
from tests.acceptance.rules import rule
from tests.app.conftest import until
from tests.engine.lab import Lab

SMALLEST = {"name": "Nightly report", "cronExpression": "0 2 * * *", "jobType": "report"}


@pytest.fixture
async def app(url: str) -> AsyncIterator[Duly]:
    """A running app whose only job fails for good."""
    app = Duly(url, settings=Settings(poll=0.05))

    @app.job("report")
    async def report() -> None:
        raise Fatal("no paper")

    async with app:
        yield app


@pytest.fixture
async def api(app: Duly) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=application(app))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost/api/v1") as client:
        yield client


@rule("S3.2", "S3.23", "S3.56", "S3.57")
async def test_a_deploy_of_thirty_seconds_over_the_scheduled_time_loses_no_fire(lab: Lab) -> None:
    fired: list[str | None] = []

    @lab.job("work")
    async def work(run) -> None:
        fired.append(run.window_key)

    lab.clock.move_to("2026-01-05T01:59:30Z")
    old = await lab.start()
    schedule = await lab.create("nightly", Cron("0 2 * * *"))
    await lab.clock.advance(seconds=15)
    await lab.stop(old)
    lab.clock.move(seconds=30)
    await lab.start()
    await lab.clock.advance(seconds=5)
    (run,) = await lab.runs(schedule)
    assert (run.scheduled_at, run.status) == (datetime(2026, 1, 5, 2, tzinfo=UTC), RunStatus.COMPLETED)
    assert fired == [run.window_key]
    ((runs, _, _, lateness),) = lab.recorder.all("windows_fired")
    assert (runs, lateness) == (1, [15_000]), "counted, with how late it was"
    after = await lab.plain.get_schedule("nightly")
    assert after is not None
    assert after.next_fire_at == datetime(2026, 1, 6, 2, tzinfo=UTC)


@rule("S3.6", "S3.78")
@pytest.mark.parametrize(
    "zone, first", [("UTC", "2026-01-05T02:00:00+00:00"), ("America/New_York", "2026-01-05T07:00:00+00:00")]
)
async def test_whose_two_o_clock_is_said_by_the_schedule(api: httpx2.AsyncClient, zone: str, first: str) -> None:
    body = {"cronExpression": "0 2 * * *", "timezone": zone, "after": "2026-01-05T00:00:00Z", "count": 1}
    (window,) = (await api.post("/schedules:preview", json=body)).json()["items"]
    assert datetime.fromisoformat(window["windowAt"]) == datetime.fromisoformat(first)
    assert window["localTime"].startswith("2026-01-05T02:00")


@rule("S3.78")
def test_two_o_clock_utc_is_nine_in_the_evening_in_new_york_the_day_before() -> None:
    at = Cron("0 2 * * *").next_after(datetime(2026, 1, 5, tzinfo=UTC))
    assert at is not None
    assert at.astimezone(ZoneInfo("America/New_York")).isoformat() == "2026-01-04T21:00:00-05:00"


@rule("S3.77")
@pytest.mark.parametrize(
    "expr, windows",
    [
        ("0 2 * * *", ["2026-01-30T02:00:00", "2026-01-31T02:00:00"]),
        ("*/5 * * * *", ["2026-01-30T00:05:00", "2026-01-30T00:10:00"]),
        ("0 0 1 * *", ["2026-02-01T00:00:00", "2026-03-01T00:00:00"]),
    ],
)
async def test_the_examples_fire(lab: Lab, expr: str, windows: list[str]) -> None:
    @lab.job("work")
    async def work() -> None: ...

    lab.settings = Settings(poll=43_200, lease=172_800, heartbeat=43_200, retention=0)
    lab.clock.move_to("2026-01-30T00:00:00Z")
    await lab.start()
    schedule = await lab.create("k", Cron(expr))
    await lab.clock.advance_to(f"{windows[-1]}Z")
    runs = await lab.runs(schedule)
    assert [run.scheduled_at.isoformat() for run in runs] == [f"{window}+00:00" for window in windows]
    assert {run.status for run in runs} == {RunStatus.COMPLETED}


@rule("S3.11", "S3.15", "S3.17", "S3.18", "S3.19", "S3.20", "S3.21", "S3.23", "S3.24")
async def test_a_record_has_its_defaults(api: httpx2.AsyncClient) -> None:
    made = (await api.post("/schedules", json=SMALLEST)).json()
    assert UUID(made["id"]).version == 7
    defaults: dict[str, Any] = {
        "description": None, "timezone": "UTC", "jobPayload": {}, "enabled": True, "maxAttempts": 3, "maxRetries": 2,
        "timeoutSeconds": 3600, "overlapPolicy": "skip", "lastFiredAt": None, "createdBy": None, "status": "pending",
    }  # fmt: skip
    assert {name: made[name] for name in defaults} == defaults
    assert datetime.fromisoformat(made["nextFireAt"]) > datetime.fromisoformat(made["createdAt"])
    assert made["updatedAt"] == made["createdAt"]
    assert (await api.post("/schedules", json=SMALLEST | {"maxRetries": 3})).json()["maxAttempts"] == 4


@rule("S3.12", "S3.14", "S3.15", "S3.16")
@pytest.mark.parametrize(
    "field, most, code",
    [
        ("name", 200, "VALIDATION_FAILED"),
        ("jobType", 100, "VALIDATION_FAILED"),
        ("timezone", 50, "SCHEDULE_TIMEZONE_INVALID"),
    ],
)
async def test_texts_have_their_limits(api: httpx2.AsyncClient, field: str, most: int, code: str) -> None:
    refused = await api.post("/schedules", json=SMALLEST | {field: "x" * (most + 1)})
    assert (refused.status_code, refused.json()["code"]) == (422, code)
    if field != "timezone":
        assert (await api.post("/schedules", json=SMALLEST | {field: "x" * most})).status_code == 201
    for needed in SMALLEST:
        body = {name: value for name, value in SMALLEST.items() if name != needed}
        assert (await api.post("/schedules", json=body)).status_code == 422


@rule("S3.25")
async def test_who_created_it_is_kept_up_to_a_hundred_characters(app: Duly) -> None:
    made = await app.schedules.create("k", Every("1h"), job="report", by="x" * 100)
    found = await app.schedules.get("k")
    assert found is not None
    assert made.created_by == found.created_by == "x" * 100


@rule("S3.61", "S3.62", "S3.63", "S3.64")
async def test_the_requests_of_the_blueprint_are_answered(app: Duly, api: httpx2.AsyncClient) -> None:
    body = SMALLEST | {
        "timezone": "America/New_York", "jobPayload": {"format": "pdf"}, "maxRetries": 3, "timeoutSeconds": 600,
        "overlapPolicy": "queue", "enabled": True,
    }  # fmt: skip
    created = await api.post("/schedules", json=body)
    made = created.json()
    assert created.status_code == 201
    assert {name: made[name] for name in body} == body
    await api.post("/schedules", json=SMALLEST | {"jobType": "other"})
    await api.post("/schedules", json=SMALLEST | {"enabled": False})
    found = (await api.get("/schedules", params={"enabled": "true", "jobType": "report"})).json()
    assert [item["id"] for item in found["items"]] == [made["id"]]
    place = f"/schedules/{made['id']}"
    paused = await api.post(f"{place}/pause")
    assert (paused.status_code, paused.json()["enabled"], paused.json()["nextFireAt"]) == (200, False, None)
    resumed = await api.post(f"{place}/resume")
    assert (resumed.status_code, resumed.json()["enabled"]) == (200, True)
    assert resumed.json()["nextFireAt"] == made["nextFireAt"]


@rule("S3.27", "S3.28", "S3.29", "S3.30", "S3.31", "S3.32", "S3.33", "S3.34", "S3.65", "S3.66")
async def test_an_execution_tells_what_came_of_a_window(app: Duly, api: httpx2.AsyncClient) -> None:
    made = (await api.post("/schedules", json=SMALLEST | {"key": "k"})).json()
    triggered = await api.post("/schedules/k/trigger")
    assert triggered.status_code == 202
    run = triggered.json()
    assert (run["status"], run["attemptNumber"], run["completedAt"], run["errorMessage"]) == ("pending", 1, None, None)

    async def failed() -> list[dict]:
        found = await api.get("/schedules/k/executions", params={"limit": 20, "status": "failed"})
        items: list[dict] = found.json()["items"]
        return items

    (item,) = await until(failed)
    assert (item["id"], item["scheduleId"], item["status"]) == (run["id"], made["id"], "failed")
    assert (item["attemptNumber"], item["errorMessage"]) == (1, "Fatal: no paper")
    assert item["durationMs"] >= 0
    instants = [datetime.fromisoformat(item[f"{name}At"]) for name in ("scheduled", "fired", "started", "completed")]
    assert instants == sorted(instants)
    assert item["createdAt"] == item["firedAt"]
