"""Every operation of the REST API succeeds on PostgreSQL, noun by noun.

The other tests of the API run on SQLite (``tests/store_choice.py``). A test here calls every operation of its noun; one
that is missing fails it, and a noun without a test fails the last test of this file.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from duly import Duly, Every, OnEvent, Retry, WorkflowContext
from duly.api.application import application
from duly.api.routes import ROUTES
from tests.api.conftest import client_of, let_die
from tests.api.streaming import listening
from tests.app.conftest import QUICK, until
from tests.counting import at_least
from tests.targets.conftest import SELDOM
from tests.targets.memory import Memory

ROUTE_OF = {route.name: route for route in at_least(list(ROUTES), 79, "operations")}
ONCE = Retry(max_attempts=1)


def noun_of(operation: str) -> str:
    return ROUTE_OF[operation].path.removeprefix("/").partition("/")[0].partition(":")[0]


class Caller:
    """Calls operations by name, expects success, and remembers which were called."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client
        self.called: set[str] = set()

    async def __call__(
        self, operation: str, ref: str = "", part: str = "", /, *, query: dict[str, Any] | None = None, **body: Any
    ) -> Any:
        route = ROUTE_OF[operation]
        path = route.path.replace("{ref}", ref).replace("{name}", part)
        content = {"json": body} if body else {}
        answer = await self.client.request(route.method, path, params=query, **content)  # type: ignore[arg-type]
        assert answer.status_code in (route.status, route.also), f"{operation}: {answer.status_code} {answer.text}"
        self.called.add(operation)
        return answer.json() if answer.content else None


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
async def app(ready_postgres: str, memory: Memory) -> AsyncIterator[Duly]:
    """An app that fires and works."""
    app = Duly(
        ready_postgres, settings=replace(QUICK, public_url="https://duly.example.com/"), targets={"mail": memory.make()}
    )

    @app.workflow("order", updates={"amount": lambda payload: None})
    async def order(ctx: WorkflowContext, number: int) -> Any:
        ctx.publish("state", "waiting")
        amount = await ctx.wait_for_update("amount")
        word = await ctx.wait_for_signal("go")
        return [amount, word, await ctx.task("pack")]

    @app.workflow("pay")
    async def pay(ctx: WorkflowContext) -> Any:
        hook = ctx.webhook()
        ctx.publish("url", hook.url)
        return await hook.wait()

    @app.job("mail", on_event=OnEvent("order.paid", batch=9, within="1h"))
    def mail() -> None: ...

    async with app:
        yield app


@pytest.fixture
async def call(app: Duly, request: pytest.FixtureRequest) -> AsyncIterator[Caller]:
    """Calls operations; at the end, all those of the test's noun must have been called."""
    async with client_of(application(app), "http://localhost/api/v1") as client:
        caller = Caller(client)
        yield caller
    noun = request.function.__name__.removeprefix("test_").replace("_", "-")
    expected = {name for name in ROUTE_OF if noun_of(name) == noun}
    assert expected
    assert expected <= caller.called


async def reaches(app: Duly, run_id: str, status: str) -> None:
    async def reached() -> bool:
        run = await app.runs.get(run_id)
        return run is not None and run.status == status

    await until(reached)


async def test_schedules(call: Caller) -> None:
    made = await call("createSchedule", key="nightly", name="nightly", cronExpression="0 2 * * *", jobType="x")
    assert (await call("getSchedule", "nightly"))["id"] == made["id"]
    assert [one["key"] for one in (await call("listSchedules", query={"q": "night"}))["items"]] == ["nightly"]
    assert len((await call("previewTiming", cronExpression="0 2 * * *", count=3))["items"]) == 3
    applied = await call("applySchedules", set="shop", schedules=[{"key": "sync", "everyMs": 60_000, "jobType": "x"}])
    assert [one["outcome"] for one in applied["items"]] == ["created"]
    assert (await call("patchSchedule", "nightly", description="changed"))["revision"] == 2
    assert (await call("putSchedule", "sync", everyMs=90_000, jobType="x"))["everyMs"] == 90_000
    assert (await call("pauseSchedule", "nightly", reason="leave"))["pausedReason"] == "leave"
    assert (await call("resumeSchedule", "nightly"))["enabled"] is True
    run = await call("triggerSchedule", "nightly")
    listed = await call("listExecutions", "nightly")
    assert [one["id"] for one in listed["items"]] == [run["id"]]
    assert (await call("listUpcoming", "nightly", query={"count": 2}))["items"][1]["windowAt"]
    back = datetime.now(UTC) - timedelta(days=3)
    days: dict[str, Any] = {"from": back.isoformat(), "to": datetime.now(UTC).isoformat()}
    filled = await call("backfillSchedule", "nightly", **days)
    assert filled["id"]
    assert {one["action"] for one in (await call("listChanges", "nightly"))["items"]} >= {"create", "pause"}
    assert (await call("changeSchedules", action="pause", ids=["sync"]))["changed"] == 1
    await call("createSchedule", key="once", name="once", onceAt="2099-03-15T14:00:00Z", jobType="x")
    assert (await call("rescheduleSchedule", "once", onceAt="2099-03-16T14:00:00Z"))["replaces"]
    assert (await call("cancelSchedule", "sync"))["status"] == "cancelled"
    await call("deleteSchedule", "sync")
    assert [one["key"] for one in (await call("listSchedules"))["items"]].count("sync") == 0


async def test_runs(call: Caller, app: Duly, memory: Memory) -> None:
    waiting = await call("createRun", jobType="nobody", payload={"n": 1})
    assert (await call("getRun", waiting["id"]))["payload"] == {"n": 1}
    assert [one["id"] for one in (await call("listRuns", query={"jobType": "nobody"}))["items"]] == [waiting["id"]]
    assert (await call("cancelRun", waiting["id"]))["status"] == "cancelled"

    ask = {"kind": "queue", "name": "mail", "expect": "ack"}
    await app.schedules.create("letter", SELDOM, target=ask, retry=ONCE)
    reports: dict[str, dict[str, Any]] = {"answerCompleted": {"result": 3}, "answerFailed": {"error": "refused"}}
    for operation, report in reports.items():
        run = await app.schedules.trigger("letter")
        await reaches(app, run.id, "dispatched")
        assert (await call("answerStarted", run.id, fence=1))["status"] == "dispatched"
        await call(operation, run.id, fence=1, **report)
    assert (await call("getRun", run.id))["status"] == "failed"
    assert (await call("redriveRun", run.id))["id"] == run.id

    workflow = await app.workflows.start("order", 1)
    await reaches(app, workflow.id, "suspended")
    assert (await call("getValue", workflow.id, "state"))["value"] == "waiting"
    await call("updateRun", workflow.id, "amount", payload=5)
    await call("signalRun", workflow.id, "go", payload="now")
    assert {one["kind"] for one in (await call("listSteps", workflow.id))["items"]} >= {"start", "signal"}


async def test_dead_letters(call: Caller, app: Duly) -> None:
    dead = [await let_die(app, "import") for _ in range(3)]
    assert {one["id"] for one in (await call("listDeadLetters"))["items"]} == set(dead)
    (group,) = (await call("listDeadGroups", query={"jobType": "import"}))["items"]
    assert group["count"] == 3
    assert (await call("redriveDeadLetters", ids=dead[:1]))["count"] == 1
    assert (await call("acknowledgeDeadLetters", filter={"jobType": "import"}))["count"] == 2


async def test_calendars(call: Caller) -> None:
    assert (await call("putCalendar", "holidays", dates=["2026-12-25"]))["revision"] == 1
    assert (await call("getCalendar", "holidays"))["dates"] == ["2026-12-25"]
    assert [one["name"] for one in (await call("listCalendars"))["items"]] == ["holidays"]
    await call("deleteCalendar", "holidays")
    assert (await call("listCalendars"))["items"] == []


async def test_queues(call: Caller) -> None:
    assert (await call("putQueue", "mail", maxRunning=5))["maxRunning"] == 5
    assert (await call("patchQueue", "mail", rateLimit={"limit": 100, "periodMs": 60_000}))["maxRunning"] == 5
    assert (await call("pauseQueue", "mail", reason="provider is down"))["pausedReason"] == "provider is down"
    assert (await call("getQueue", "mail"))["paused"] is True
    assert (await call("resumeQueue", "mail"))["paused"] is False
    assert "mail" in {one["name"] for one in (await call("listQueues"))["items"]}


async def test_keys(call: Caller, app: Duly) -> None:
    root = await app.keys.create("root", scopes=["admin"])
    call.client.headers["authorization"] = f"Bearer {root.text}"
    made = await call("createKey", name="ci", scopes=["read"])
    assert (await call("getKey", made["id"]))["name"] == "ci"
    assert (await call("rotateKey", made["id"]))["key"] != made["key"]
    assert {one["name"] for one in (await call("listKeys"))["items"]} == {"ci", "root"}
    await call("revokeKey", made["id"])


async def test_webhooks(call: Caller) -> None:
    made = await call("createWebhook", url="https://example.invalid/", events=["run.failed"])
    assert (await call("getWebhook", made["id"]))["events"] == ["run.failed"]
    assert (await call("updateWebhook", made["id"], description="pager"))["description"] == "pager"
    assert (await call("rotateWebhookSecret", made["id"]))["secrets"] == 2
    assert (await call("testWebhook", made["id"]))["id"]
    assert [one["id"] for one in (await call("listWebhooks"))["items"]] == [made["id"]]
    await call("deleteWebhook", made["id"])


async def test_workflows(call: Caller, app: Duly) -> None:
    run = await call("startWorkflow", "order", input=7, id="order-7")
    assert (await call("startWorkflow", "order", input=7, id="order-7"))["id"] == run["id"]
    await reaches(app, run["id"], "suspended")


async def test_tasks(call: Caller, app: Duly) -> None:
    reports: dict[str, dict[str, Any]] = {"completeTask": {"result": 3}, "failTask": {"error": "damaged"}}
    for operation, report in reports.items():
        run = await app.workflows.start("order", 1)
        await app.workflows.update(run.id, "amount", 1)
        await app.workflows.signal(run.id, "go")
        await call(operation, await open_task(app, run.id), **report)


async def open_task(app: Duly, run_id: str) -> str:
    async def tasks() -> list[str]:
        return [f"{run_id}:{step.position}" for step in await app.workflows.steps(run_id) if step.kind == "task"]

    found: list[str] = await until(tasks)
    return found[0]


async def test_hooks(call: Caller, app: Duly) -> None:
    run = await app.workflows.start("pay")
    url = await until(lambda: app.workflows.query(run.id, "url"))
    assert await call("receiveHook", url.rpartition("/hooks/")[2], paid=True) == {"ended": True}
    assert (await app.runs.wait(run.id, timeout=20)).result == {"paid": True}


async def test_events(call: Caller, app: Duly) -> None:
    first = await call("publishEvent", "order.paid", payload=7, id="paid-7")
    assert (len(first["runs"]), first["repeated"]) == (1, False)
    assert (await call("publishEvent", "order.paid", payload=7, id="paid-7"))["repeated"] is True
    async with listening(application(app), "type=schedule.created") as listener:
        assert listener.status == ROUTE_OF["streamEvents"].status
        await app.schedules.create("nightly", Every("1h"), job="x")
        assert (await listener.event())["scheduleKey"] == "nightly"
    call.called.add("streamEvents")


async def test_event_handlers(call: Caller) -> None:
    (handler,) = (await call("listEventHandlers"))["items"]
    assert (handler["jobType"], handler["batch"]) == ("mail", 9)


async def test_worker(call: Caller) -> None:
    for _ in range(3):
        await call("createRun", jobType="send", maxAttempts=1)
    claimed = await call("claimRuns", jobs=["send"], limit=3)
    session, (first, second, third) = claimed["session"], claimed["runs"]

    def held(run: dict[str, Any]) -> dict[str, Any]:
        return {"runId": run["runId"], "fence": run["fence"]}

    await call("beatSession", session=session, runs=[held(first)])
    assert (await call("completeRun", session=session, **held(first), result=3))["status"] == "completed"
    assert (await call("failRun", session=session, **held(second), error="refused"))["status"] == "failed"
    assert (await call("releaseRuns", session=session, **held(third)))["released"] == 1


async def test_operations(call: Caller, app: Duly) -> None:
    await app.schedules.create("nightly", Every("1h"), job="x", tags=["mail"])
    done = await call("changeSchedules", action="pause", filter={"tag": "mail"})
    assert (await call("getOperation", done["id"]))["kind"] == "pause"
    assert [one["id"] for one in (await call("listOperations"))["items"]] == [done["id"]]


async def test_upcoming(call: Caller, app: Duly) -> None:
    await app.schedules.create("nightly", Every("1h"), job="x")
    assert [one["key"] for one in (await call("listComing"))["items"]] == ["nightly"]


async def test_late(call: Caller) -> None:
    assert (await call("listLate"))["items"] == []


async def test_stats(call: Caller, app: Duly) -> None:
    await app.schedules.create("nightly", Every("1h"), job="x")
    assert (await call("getStats"))["firingPaused"] is False


async def test_instances(call: Caller, app: Duly) -> None:
    (instance,) = (await call("listInstances"))["items"]
    assert "mail" in instance["jobs"]


async def test_audit(call: Caller, app: Duly) -> None:
    await app.schedules.create("nightly", Every("1h"), job="x")
    await call("audit", query={"since": (datetime.now(UTC) - timedelta(hours=1)).isoformat()})


async def test_firing(call: Caller) -> None:
    assert (await call("pauseFiring", reason="maintenance"))["paused"] is True
    assert (await call("getFiring"))["reason"] == "maintenance"
    await call("resumeFiring", backlog="skip")
    await call("markRestored", reason="backup of 04:00")


def test_no_noun_is_without_a_test() -> None:
    nouns = at_least({noun_of(name) for name in ROUTE_OF}, 20, "nouns")
    assert {noun for noun in nouns if f"test_{noun.replace('-', '_')}" not in globals()} == set()
