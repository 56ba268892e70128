"""Workflows over HTTP."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from duly import Duly, OnEvent, WorkflowContext
from duly.api.application import application
from tests.acceptance.rules import rule
from tests.api.conftest import client_of
from tests.app.conftest import a_moment_later, until

JSON = {"Content-Type": "application/json"}


def positive(amount: Any) -> None:
    if amount < 1:
        raise ValueError("the amount is below 1")


@pytest.fixture
async def app(url: str) -> AsyncIterator[Duly]:
    app = Duly(url)

    @app.workflow("order", version="2", updates={"amount": positive})
    async def order(ctx: WorkflowContext, input: dict[str, int]) -> Any:
        ctx.publish("state", "waiting")
        amount = await ctx.wait_for_update("amount")
        said = await ctx.wait_for_signal("go")
        token = [await ctx.step("double", lambda: input["n"] * 2)]
        return [*token, amount, said, await ctx.task("approve")]

    async with app:
        yield app


@pytest.fixture
async def api(app: Duly) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(application(app), "http://localhost/api/v1") as client:
        yield client


async def waits(app: Duly, run_id: str) -> bool:
    run = await app.runs.get(run_id)
    return run is not None and run.status == "suspended"


@rule("S0d.43", "H16")
async def test_a_workflow_is_started_once_and_told_what_it_waits_for(api: httpx2.AsyncClient, app: Duly) -> None:
    asked = {"input": {"n": 4}, "id": "order-7"}
    started = await api.post("/workflows/order/runs", json=asked)
    run = started.json()
    assert started.status_code == 202
    assert started.headers["location"].endswith(f"/runs/{run['id']}")
    assert (run["workflow"], run["jobType"], run["kind"]) == ("order", None, "direct")
    assert (await api.post("/workflows/order/runs", json=asked)).json()["id"] == run["id"]
    await until(lambda: waits(app, run["id"]))
    recorded = await app.workflows.steps(run["id"])
    refused = await api.post("/runs/order-7/updates/amount", json={"payload": 0})
    assert (refused.status_code, refused.json()) == (200, {"accepted": False, "reason": "the amount is below 1"})
    assert (await waits(app, run["id"]), await app.workflows.steps(run["id"])) == (True, recorded)
    assert (await api.post("/runs/order-7/updates/amount", json={"payload": 5})).json()["accepted"]
    signalled = await api.post(f"/runs/{run['id']}/signals/go", json={"payload": "now"})
    assert (signalled.status_code, signalled.json()["id"]) == (202, run["id"])
    token = f"{run['id']}:4"

    async def completed() -> bool:
        return (await api.post(f"/tasks/{token}/complete", json={"result": "yes"})).json().get("ended") is True

    await until(completed)
    assert (await app.runs.wait(run["id"], timeout=20)).result == [8, 5, "now", "yes"]
    assert (await api.post(f"/tasks/{token}/fail", json={"error": "late"})).json() == {"ended": False}
    values = {name: (await api.get(f"/runs/order-7/values/{name}")).json() for name in ("state", "none")}
    assert values["state"] == {"name": "state", "value": "waiting", "published": True}
    assert values["none"] == {"name": "none", "value": None, "published": False}
    steps = (await api.get("/runs/order-7/steps")).json()["items"]
    assert [(s["position"], s["kind"], s["name"], s["result"]) for s in steps] == [
        (0, "start", "2", None),
        (1, "signal", "update:amount", 5),
        (2, "signal", "go", "now"),
        (3, "step", "double", 8),
        (4, "task", "approve", "yes"),
    ]
    whole = (await api.get("/runs/order-7")).json()
    assert (whole["workflow"], whole["version"], whole["jobType"]) == ("order", "2", None)
    listed = (await api.get("/runs?workflow=order")).json()["items"]
    assert [item["id"] for item in listed] == [run["id"]]
    assert (await api.get("/runs?workflow=orde")).json()["items"] == []


async def test_runs_are_listed_by_tags_and_attributes(api: httpx2.AsyncClient, app: Duly) -> None:
    bodies: list[dict[str, Any]] = [
        {"input": {"n": 1}, "tags": ["vip", "new"], "attributes": {"customer": "ann", "amount": 5}},
        {"input": {"n": 2}, "tags": ["vip"], "attributes": {"customer": "bob", "amount": 7}},
    ]
    ids: list[str] = []
    for body in bodies:
        ids.append((await api.post("/workflows/order/runs", json=body)).json()["id"])
        await a_moment_later(app)

    async def found(query: str) -> list[str]:
        return [item["id"] for item in (await api.get(f"/runs?{query}")).json()["items"]]

    assert await found("tag=vip") == ids[::-1]
    assert await found("tag=vip,new") == ids[:1]
    assert await found("attr=amount:gte:6&workflow=order") == ids[1:]
    assert await found("tag=vip&attr=customer:ann,amount:lt:7") == ids[:1]
    whole = (await api.get(f"/runs/{ids[0]}")).json()
    assert (whole["tags"], whole["attributes"]) == (["new", "vip"], {"customer": "ann", "amount": 5})
    for query in ("attr=amount", "attr=:5", "attr=a:gte:", f"tag={'x' * 101}"):
        assert (await api.get(f"/runs?{query}")).json()["code"] == "VALIDATION_FAILED", query


async def test_a_cancel_may_undo_first(api: httpx2.AsyncClient, app: Duly) -> None:
    run = (await api.post("/workflows/order/runs", json={"input": {"n": 1}})).json()
    await until(lambda: waits(app, run["id"]))
    await app.queues.pause("default")  # or it may be over before the answer is made
    told = await api.post(f"/runs/{run['id']}/cancel", json={"compensate": True})
    assert (told.status_code, told.json()["status"]) == (200, "cancelling")
    await app.queues.resume("default")
    assert (await app.runs.wait(run["id"], timeout=20)).status == "cancelled"
    job = await app.enqueue("plain")
    assert (await api.post(f"/runs/{job.id}/cancel", json={"compensate": True})).json()["code"] == "CONFLICT"


@rule("S0d.27")
@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/workflows/none/runs", {}, 422, "WORKFLOW_UNKNOWN"),
        ("/workflows/order/runs", {"version": "3"}, 422, "WORKFLOW_UNKNOWN"),
        ("/workflows/order/runs", {"input": {"n": "four"}}, 422, "VALIDATION_FAILED"),
        ("/workflows/order/runs", {"inputs": 1}, 422, "VALIDATION_FAILED"),
        ("/workflows/order/runs", {"id": ""}, 422, "VALIDATION_FAILED"),
        ("/workflows/order/runs", {"input": {"n": 1}, "tags": [""]}, 422, "VALIDATION_FAILED"),
        ("/workflows/order/runs", {"input": {"n": 1}, "attributes": {"a b": 1}}, 422, "VALIDATION_FAILED"),
        ("/workflows/order/runs", {"input": {"n": 1}, "attributes": {"a": None}}, 422, "VALIDATION_FAILED"),
        ("/workflows/order/runs", {"input": {"n": 1}, "maxQueued": 1}, 422, "VALIDATION_FAILED"),
        ("/runs/nobody/signals/go", {}, 404, "SCHEDULE_JOB_NOT_FOUND"),
        ("/runs/job/signals/go", {}, 409, "CONFLICT"),
        ("/runs/job/updates/go", {}, 409, "CONFLICT"),
        ("/tasks/nonsense/complete", {}, 404, "SCHEDULE_JOB_NOT_FOUND"),
        ("/tasks/nonsense/fail", {}, 422, "VALIDATION_FAILED"),
    ],
)
async def test_what_cannot_be_is_refused_and_leaves_nothing(
    api: httpx2.AsyncClient, app: Duly, path: str, body: Any, status: int, code: str
) -> None:
    job = await app.enqueue("plain")
    answer = await api.post(path.replace("/job/", f"/{job.id}/"), json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert [run.id for run in (await app.runs.list()).items] == [job.id]


@pytest.mark.parametrize(
    ("path", "body", "pointer", "says"),
    [
        ("/runs", {"jobType": "order"}, "/jobType", "start it with POST /workflows/order/runs"),
        ("/schedules", {"name": "n", "jobType": "order", "everyMs": 60_000}, "/jobType", "write workflow='order'"),
        ("/schedules", {"name": "n", "workflow": "mail", "everyMs": 60_000}, "/workflow", "write jobType='mail'"),
        ("/workflows/mail/runs", {}, "/workflow", "write POST /runs with jobType 'mail'"),
    ],
)
async def test_a_job_for_a_workflow_is_told_what_to_ask_for_instead(
    url: str, path: str, body: Any, pointer: str, says: str
) -> None:
    app = Duly(url, roles=())

    @app.workflow("order")
    async def order(ctx: WorkflowContext) -> None: ...

    @app.job("mail")
    async def mail() -> None: ...

    async with app, client_of(application(app), "http://localhost/api/v1") as api:
        answer = await api.post(path, json=body)
        assert answer.status_code == 422
        (error,) = answer.json()["errors"]
        assert error["pointer"] == pointer
        assert error["detail"].endswith(says)
        assert answer.json()["detail"].endswith(says)
        assert ((await app.runs.list()).items, (await app.schedules.list()).items) == ([], [])


@rule("G2")
async def test_an_event_is_published_once_by_its_id_and_what_it_starts_is_listed(url: str) -> None:
    app = Duly(url)

    @app.workflow("ship", on_event="order.paid")
    async def ship(ctx: WorkflowContext, order: int) -> int:
        return order

    @app.job("mail", on_event=OnEvent("order.paid", batch=9, within="1h"))
    def mail() -> None: ...

    async with app, client_of(application(app), "http://localhost/api/v1") as api:
        first = await api.post("/events/order.paid", json={"payload": 7, "id": "paid-7"})
        told = first.json()
        assert (first.status_code, told["told"], len(told["runs"]), told["repeated"]) == (202, 0, 2, False)
        again = (await api.post("/events/order.paid", json={"payload": 8, "id": "paid-7"})).json()
        assert again == {"told": 0, "runs": [], "repeated": True}
        assert (await app.runs.wait("evt:paid-7:ship", timeout=20)).result == 7
        items = (await api.get("/event-handlers")).json()["items"]
        assert [(one["workflow"], one["jobType"], one["batch"], one["withinMs"]) for one in items] == [
            (None, "mail", 9, 3_600_000),
            ("ship", None, None, None),
        ]
        bad = await api.post("/events/order.paid", json={"id": "x" * 81})
        assert bad.status_code == 422
        none = await api.post("/events/nobody.cares")
        assert none.json() == {"told": 0, "runs": [], "repeated": False}
