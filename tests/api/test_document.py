"""The OpenAPI document says what is served: every route, every code, and examples that are true."""

import re
from typing import Any

import httpx2
import jsonschema_rs
import msgspec
import pytest
from starlette.routing import Route as StarletteRoute

from duly import Duly
from duly.api import problems
from duly.api.application import application
from duly.api.describing import _is_plain
from duly.api.examples import ANSWERS, BODIES
from duly.api.http import PREFIX, Endpoint
from duly.api.openapi import Problem, codes_of, document
from duly.api.problems import CODES
from duly.api.route import Route
from duly.api.routes import ROUTES
from duly.core import errors
from duly.core.errors import DulyError
from duly.core.hooks import SECRET, hook_token
from duly.core.run import Suspended
from duly.core.steps import Step, StepKind
from duly.store.journal import Record
from duly.testing import ManualClock
from tests.api.conftest import let_die
from tests.contract.suite import Trial
from tests.counting import at_least

DOCUMENT = document()
# Raised where no request comes by: inside a process, or by a client.
ELSEWHERE = {
    "WAIT_TIMEOUT", "LEASE_LOST", "CONFIGURATION_INVALID", "SCHEMA_MISMATCH", "STORE_MISSING", "DULY_ERROR",
    "SERVER_UNREACHABLE", "SERVER_ERROR", "NOT_AUTHORISED", "PORT_TAKEN",
    "SIGNATURE_INVALID",
    "WORKFLOW_NOT_DETERMINISTIC", "WORKFLOW_STEP_FAILED", "WORKFLOW_CHILDREN_FAILED", "WORKFLOW_WAIT_TIMEOUT",
    "WORKFLOW_HISTORY_FULL",
}  # fmt: skip


def operations() -> dict[str, Any]:
    found = {
        operation["operationId"]: operation for methods in DOCUMENT["paths"].values() for operation in methods.values()
    }
    return at_least(found, 79, "operations")


def test_every_route_of_the_router_is_in_the_document(app: Duly) -> None:
    served = {
        (path.path, method)
        for path in application(app).routes
        if isinstance(path, StarletteRoute) and isinstance(path.endpoint, Endpoint)
        for method in path.endpoint._methods
    }
    told = {(path, method.upper()) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert served == told
    assert len(told) == len(ROUTES)


@pytest.fixture
def app(tmp_path: Any) -> Duly:
    return Duly(f"sqlite:////{tmp_path}/x.db")


def test_it_is_openapi_31_and_every_reference_is_there() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    text = msgspec.json.encode(DOCUMENT).decode()
    schemas = DOCUMENT["components"]["schemas"]
    used = set(re.findall(r'"#/components/schemas/(\w+)"', text))
    assert used <= set(schemas)
    assert set(schemas) == used
    for name, schema in schemas.items():
        assert schema["description"], name


@pytest.mark.parametrize("name", list(operations()))
def test_every_operation_is_described(name: str) -> None:
    operation = operations()[name]
    assert operation["summary"]
    assert operation["description"].endswith(".")
    assert all(parameter["description"] for parameter in operation["parameters"])
    assert {"422", "500", "503"} <= set(operation["responses"])
    assert min(operation["responses"]) < "300", "no answer for success"
    for status, answer in operation["responses"].items():
        assert answer["description"], status
        good = "text/event-stream" if name == "streamEvents" else "application/json"
        kinds = {"application/problem+json"} if int(status) >= 400 else {good}
        assert set(answer.get("content", kinds)) == kinds


@pytest.mark.parametrize("route", at_least(ROUTES, 79, "operations"), ids=lambda route: route.name)
def test_every_example_is_allowed_by_its_schema(route: Route) -> None:
    if route.body is not None:
        for _, value in BODIES[route.name].values():
            msgspec.convert(value, route.body, strict=True)
    if route.answer is not None:
        example = ANSWERS[route.name]
        assert msgspec.convert(example, route.answer, strict=True)
        _same_names(example, operations()[route.name]["responses"][str(route.status)])
    if route.also_answer is not None:
        example = ANSWERS[f"{route.name} {route.also}"]
        assert msgspec.convert(example, route.also_answer, strict=True)
        _same_names(example, operations()[route.name]["responses"][str(route.also)])
    for status, answer in operations()[route.name]["responses"].items():
        if int(status) >= 400:
            for code, shown in answer["content"]["application/problem+json"]["examples"].items():
                assert msgspec.convert(shown["value"], Problem, strict=True)
                assert (shown["value"]["code"], shown["value"]["status"]) == (code, int(status))


def _same_names(example: Any, response: Any) -> None:
    """An example has every field that its schema has, and no other."""
    (content,) = response["content"].values()
    schema = content["schema"].get("contentSchema", content["schema"])
    found = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    assert set(example) == set(found["properties"])


def test_every_code_has_its_status_and_every_error_its_code() -> None:
    def tree(kind: type[DulyError]) -> set[type[DulyError]]:
        return {kind} | {below for child in kind.__subclasses__() for below in tree(child)}

    ours = {kind for kind in tree(DulyError) if kind.__module__.startswith(("duly.core", "duly.api"))}
    at_least(ours, 50, "errors")
    assert {kind.code for kind in ours} - ELSEWHERE <= set(CODES)
    for kind in ours - {errors.KeyInUse, errors.ClientRequestIdInUse, errors.UniqueKeyInUse}:
        if kind.code in CODES:
            status, shown = problems.problem_of(kind("said"))
            assert (status, shown["code"]) == (CODES[kind.code][0].status, kind.code)


def test_every_code_is_told_by_some_route_or_by_the_edge() -> None:
    told = {code for route in ROUTES for code in codes_of(route)}
    at_least(CODES, 54, "codes")
    by_the_edge = {"NOT_FOUND", "METHOD_NOT_ALLOWED", "STORE_ERROR"}
    assert set(CODES) - told == by_the_edge


def fields() -> list[Any]:
    found = []
    for schema, body in DOCUMENT["components"]["schemas"].items():
        for name, field in body.get("properties", {}).items():
            found.append(pytest.param(schema, name, field, id=f"{schema}.{name}"))
    return at_least(found, 822, "fields of schemas")


def test_every_field_is_described_and_shown() -> None:
    """What a field means is told by its type, or for all fields of its name in ``describing``."""
    undescribed = [param.id for param in fields() if not param.values[2].get("description")]
    assert undescribed == []
    unshown = [param.id for param in fields() if _is_plain(param.values[2]) and "examples" not in param.values[2]]
    assert unshown == []


def test_every_example_is_valid_by_the_document_s_own_schemas() -> None:
    """Judged by a validator that is not ours."""

    judged: list[str] = []
    registry = jsonschema_rs.Registry([("urn:document", DOCUMENT)], draft=jsonschema_rs.Draft202012)

    def check(schema: Any, value: Any, where: str) -> None:
        pointing = msgspec.json.decode(msgspec.json.encode(schema).replace(b'"#/', b'"urn:document#/'))
        judged.append(where)
        judge = jsonschema_rs.Draft202012Validator(pointing, validate_formats=True, registry=registry)
        assert [str(error) for error in judge.iter_errors(value)] == [], where

    for param in fields():
        schema, name, field = param.values
        for value in field.get("examples", []):
            check(field, value, f"{schema}.{name}")
    for name, operation in operations().items():
        for parameter in operation["parameters"]:
            for value in parameter["schema"].get("examples", []):
                check(parameter["schema"], value, name)
        parts = [*operation["responses"].values(), operation.get("requestBody", {})]
        for content in [content for part in parts for content in part.get("content", {}).values()]:
            values = [shown["value"] for shown in content.get("examples", {}).values()]
            assert values or "example" in content, f"{name} shows nothing"
            for value in [*values, *([content["example"]] if "example" in content else [])]:
                if "schema" in content:
                    check(content["schema"], value, name)
    at_least(judged, 2453, "examples")


def test_the_prefix_is_where_it_is_told_to_be() -> None:
    assert all(path.startswith(PREFIX) for path in at_least(DOCUMENT["paths"], 65, "paths"))


@pytest.mark.parametrize("name", at_least([route.name for route in ROUTES if route.body is not None], 45, "bodies"))
async def test_the_examples_work_as_they_are(app: Duly, name: str) -> None:
    (route,) = [route for route in ROUTES if route.name == name]
    app.workflow("k", updates={"word": lambda payload: None})(_body)
    await app.open()
    try:
        transport = httpx2.ASGITransport(app=application(app))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost/api/v1") as client:
            run = (await client.post("/runs", json={"jobType": "x"})).json()
            await client.put("/schedules/k", json={"everyMs": 60_000, "jobType": "x"})
            run = await _task_of(app) if name in ("signalRun", "updateRun", "cancelRun") else run
            path = route.path.replace("{ref}", run["id"] if route.path.startswith("/runs") else "k")
            if route.path.startswith("/keys"):
                made = await app.keys.create("root", scopes=["admin"])
                client.headers["authorization"] = f"Bearer {made.text}"
                path = route.path.replace("{ref}", made.key.id)
            if route.path.startswith("/webhooks/"):
                webhook = await app.webhooks.create("https://example.com/", events=["run.failed"])
                path = route.path.replace("{ref}", webhook.id)
            path = path.replace("{name}", "word").replace("/tasks/k/", f"/tasks/{(await _task_of(app))['id']}:1/")
            if name == "receiveHook":
                waiting = (await _task_of(app))["id"]
                path = f"/hooks/{hook_token(await app._store.read_secret(SECRET), waiting, 1)}"
            for _, body in BODIES[name].values():
                if name == "redriveRun":
                    path = f"/runs/{await let_die(app)}/redrive"
                if name == "claimRuns":  # else it waits as long as the example says
                    await client.post("/runs", json={"jobType": body["jobs"][0]})
                answer = await client.request(route.method, path, json=body)
                if answer.json().get("code") == "LEASE_LOST":
                    continue  # the session of the examples is nobody's; what is answered is in test_worker
                assert answer.status_code in (route.status, route.also), answer.text
                other = answer.status_code == route.also and route.also_answer is not None
                assert msgspec.convert(answer.json(), route.also_answer if other else route.answer, strict=True)
                told = operations()[name]["responses"][str(answer.status_code)]
                _same_names(answer.json(), told)
                promised = {header.lower() for header in told["headers"]}
                assert promised <= set(answer.headers), "what is promised comes"
                assert "location" in promised or "location" not in answer.headers, "and what comes is promised"
    finally:
        await app.close()


async def _body(ctx: Any, input: Any) -> None: ...


async def _task_of(app: Duly) -> dict[str, str]:
    """A run of the workflow that waits for a task, without a worker of the app's own."""
    trial = Trial(app._store, ManualClock(app.clock.now()))
    await app.workflows.start("k")
    worker = await trial.worker("workflow:k", session=app._chance.session())
    (claim,) = await worker.claim()
    task = Step(position=1, kind=StepKind.TASK, name="t", asked_at=1)
    await app._store.record_steps([Record(run_id=claim.id, fence=claim.fence, session=worker.session, steps=[task])])
    await worker.settle(claim, Suspended(None, 0))
    return {"id": claim.id}
