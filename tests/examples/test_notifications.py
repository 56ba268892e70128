"""The notifications API of S4, as the example has it."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

import duly
from duly.testing import ManualClock
from examples.notifications.app import make
from examples.notifications.consumer import Consumer, Message, make_consumer
from examples.notifications.desk import FOUR_SENDS
from examples.notifications.people import People
from tests.acceptance.rules import rule
from tests.app.conftest import until

TEN_IN_NEW_YORK = "2026-03-07T15:00:00Z"
DAILY = {"type": "stock_price", "timezone": "America/New_York", "dailyTime": {"hour": 14, "minute": 0}}
PATH = "/notifications/schedules"
PATIENT = duly.Settings(lease=60, heartbeat=1, poll=0.05, shutdown_timeout=2)
"""A machine that stands still for some seconds makes nobody send a second time."""


@asynccontextmanager
async def serving(
    tmp_path: Path, *, start: bool = False, consumer: Consumer | None = None, **options: Any
) -> AsyncIterator[tuple[httpx2.AsyncClient, httpx2.AsyncClient, duly.Duly]]:
    """A client of Alice's, one of Bob's, and the scheduler, which is only open unless it is to start."""
    retry = options.pop("retry", FOUR_SENDS)
    app = duly.Duly(f"sqlite:////{tmp_path}/x.db", settings=PATIENT, **options)
    web = make(app, People({"secret-a": "alice@shop.example", "secret-b": "bob@shop.example"}), consumer, retry=retry)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app) if start else await app.open()
        clients = [
            await stack.enter_async_context(
                httpx2.AsyncClient(
                    transport=httpx2.ASGITransport(app=web),
                    base_url="http://shop",
                    headers={"Authorization": f"Bearer {token}"},
                )
            )
            for token in ("secret-a", "secret-b")
        ]
        yield clients[0], clients[1], app
    if not start:
        await app.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[tuple[httpx2.AsyncClient, httpx2.AsyncClient, duly.Duly]]:
    async with serving(tmp_path, clock=ManualClock(TEN_IN_NEW_YORK)) as clients:
        yield clients


@rule("S4.16", "S4.17")
async def test_a_daily_time_is_answered_as_the_article_says(desk: Any) -> None:
    alice, _, _ = desk
    answer = await alice.post(PATH, json=DAILY)
    assert answer.status_code == 201
    made = answer.json()
    assert re.fullmatch(r"2026-03-07T19:00:(3\d|4\d|50)(\.\d+)?Z", made.pop("nextRun")), "today, spread"
    assert made.pop("id").startswith("ntf-")
    assert made == {
        "type": "stock_price",
        "scheduleType": "cron",
        "cronExpression": "0 14 * * *",
        "timezone": "America/New_York",
        "isActive": True,
        "lastRun": None,
        "createdAt": TEN_IN_NEW_YORK,
        "updatedAt": TEN_IN_NEW_YORK,
    }


@pytest.mark.parametrize(
    "timing, kind, cron",
    [
        ({"weeklyTime": {"dayOfWeek": 1, "hour": 9, "minute": 0}}, "cron", "0 9 * * 1"),
        ({"monthlyTime": {"day": 15, "hour": 14, "minute": 30}}, "cron", "30 14 15 * *"),
        ({"intervalMinutes": 30}, "interval", None),
        ({"onceAt": "2026-03-15T14:00:00Z"}, "once", None),
        ({"onceAt": "2026-03-15T14:00:00"}, "once", None),
    ],
)
async def test_friendly_timings(desk: Any, timing: dict[str, Any], kind: str, cron: str | None) -> None:
    answer = await desk[0].post(PATH, json={"type": "x", "timezone": "America/New_York", **timing})
    assert (answer.status_code, answer.json()["scheduleType"], answer.json()["cronExpression"]) == (201, kind, cron)


@pytest.mark.parametrize(
    "body",
    [
        {"type": "x", "timezone": "UTC"},
        DAILY | {"intervalMinutes": 30},
        DAILY | {"timezone": "Mars/Olympus"},
        DAILY | {"type": "<script>"},
        DAILY | {"unknown": 1},
        DAILY | {"dailyTime": {"hour": 24, "minute": 0}},
        DAILY | {"dailyTime": {"hour": "9", "minute": 0}},
        {"type": "x", "timezone": "UTC", "onceAt": "tomorrow"},
        {"type": "x", "timezone": "UTC", "intervalMinutes": 0},
        {"timezone": "UTC", "intervalMinutes": 5},
    ],
)
async def test_what_is_not_exactly_one_timing_is_refused(desk: Any, body: dict[str, Any]) -> None:
    alice, _, _ = desk
    assert (await alice.post(PATH, json=body)).status_code == 422
    assert (await alice.get(PATH)).json() == []


@rule("S4.16")
async def test_without_a_token_nobody_gets_in(desk: Any) -> None:
    alice, _, _ = desk
    for given in ("", "Bearer", "Bearer wrong", "Basic secret-a"):
        answer = await alice.get(PATH, headers={"Authorization": given})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"


@rule("S4.36", "S4.38")
async def test_only_its_owner_sees_changes_or_removes_it(desk: Any) -> None:
    alice, bob, _ = desk
    made = (await alice.post(PATH, json=DAILY)).json()
    place = f"{PATH}/{made['id']}"
    foreign = await bob.get(place)
    assert (foreign.status_code, foreign.json()) == (404, (await bob.get(f"{PATH}/never-was")).json())
    assert (await bob.put(place, json={"isActive": False})).status_code == 404
    assert (await bob.delete(place)).status_code == 404
    assert (await bob.get(PATH)).json() == []
    assert (await alice.get(PATH)).json() == [made]


@rule("S4.36")
async def test_a_change_merges_and_moves_the_next_run(desk: Any) -> None:
    alice, _, _ = desk
    place = f"{PATH}/{(await alice.post(PATH, json=DAILY)).json()['id']}"
    changed = (await alice.put(place, json={"weeklyTime": {"dayOfWeek": 1, "hour": 9, "minute": 0}})).json()
    assert (changed["cronExpression"], changed["timezone"]) == ("0 9 * * 1", "America/New_York")
    assert changed["nextRun"].startswith("2026-03-09T13:00:"), "Monday, after the clocks went forward"
    moved = (await alice.put(place, json={"timezone": "UTC", "type": "other"})).json()
    assert (moved["cronExpression"], moved["timezone"], moved["type"]) == ("0 9 * * 1", "UTC", "other")
    paused = (await alice.put(place, json={"isActive": False})).json()
    assert (paused["isActive"], paused["nextRun"]) == (False, None)
    once = (await alice.put(place, json={"isActive": True, "onceAt": "2026-04-01T00:00:00Z"})).json()
    assert (once["scheduleType"], once["nextRun"]) == ("once", "2026-04-01T00:00:00Z")
    assert (await alice.delete(place)).status_code == 204
    assert (await alice.get(place)).status_code == 404


@rule("S4.20")
async def test_what_is_due_reaches_the_consumer_as_it_was_stored(tmp_path: Path) -> None:
    taken: list[Message] = []
    consumer = Consumer()

    @consumer.handles("notification")
    async def keep(message: Message) -> None:
        taken.append(message)

    async with serving(tmp_path, start=True, consumer=consumer) as (alice, _, app):
        gone_by = {"type": "profile_reminder", "timezone": "UTC", "onceAt": "2020-01-01T00:00:00Z"}
        made = (await alice.post(PATH, json=gone_by)).json()
        await until(lambda: taken)
        assert taken == [
            {
                "type": "notification",
                "scheduleId": made["id"],
                "userId": "alice@shop.example",
                "userEmail": "alice@shop.example",
                "notificationType": "profile_reminder",
                "title": "profile_reminder notification",
                "message": "Your profile_reminder is due, alice@shop.example",
            }
        ]
        stored = await app.schedules.get(made["id"])
        assert stored is not None
        assert stored.payload == taken[0]

        async def is_over() -> bool:
            return (await alice.get(f"{PATH}/{made['id']}")).json()["isActive"] is False

        await until(is_over)
        assert (await alice.get(f"{PATH}/{made['id']}")).json()["lastRun"] is not None


@rule("S4.33")
async def test_four_sends_and_then_it_waits_for_a_person(tmp_path: Path) -> None:
    sends = 0
    consumer = Consumer()

    @consumer.handles("notification")
    async def refuse(message: Message) -> None:
        nonlocal sends
        sends += 1
        raise ConnectionError("no mail today")

    assert (FOUR_SENDS.max_attempts, FOUR_SENDS.delay, FOUR_SENDS.backoff) == (4, 60, "fixed")
    soon = duly.Retry(max_attempts=4, backoff="fixed", delay=0, jitter=0)
    async with serving(tmp_path, start=True, consumer=consumer, retry=soon) as (alice, _, app):
        far = datetime.now(UTC) + timedelta(hours=12)  # it must not fire by itself
        body = DAILY | {"timezone": "UTC", "dailyTime": {"hour": far.hour, "minute": 0}}
        made = (await alice.post(PATH, json=body)).json()
        await app.schedules.trigger(made["id"])

        async def is_inactive() -> bool:
            return (await alice.get(f"{PATH}/{made['id']}")).json()["isActive"] is False

        await until(is_inactive)
        assert sends == 4
        dead = (await app.runs.list(status="failed")).items
        assert [run.error_message for run in dead] == ["ConnectionError: no mail today"]


@rule("S4.41")
async def test_the_consumer_decides_by_type(capsys: pytest.CaptureFixture[str]) -> None:
    consumer = make_consumer()
    await consumer.take({"type": "report_generation", "reportType": "sales", "userId": "u1"})
    await consumer.take({"type": "data_sync", "entityType": "payslips", "source": "bank"})
    await consumer.take({"type": "onboarding_reminder", "employeeId": "e7"})
    await consumer.take({"type": "notification", "userEmail": "a@b.example", "title": "due"})
    assert capsys.readouterr().out.splitlines() == [
        "report sales for u1", "payslips from bank", "welcome, e7", "mail to a@b.example: due"
    ]  # fmt: skip
    with pytest.raises(duly.Fatal, match="nobody handles messages of type 'fax'"):
        await consumer.take({"type": "fax"})
