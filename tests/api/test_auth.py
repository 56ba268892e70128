"""Every route asks who calls, what they may do, and shows nobody what belongs to somebody else.

The routes are taken from the table, so that a new one is tested here or fails here.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from duly import Duly, Every
from duly.api.application import application
from duly.api.examples import BODIES
from duly.api.route import Route
from duly.api.routes import ROUTES
from duly.app.owning import Owning
from duly.core.credential import Scope, Whose
from duly.core.on_event import OnEvent
from duly.core.quota import Quotas
from duly.store.narrowing import Owned
from duly.store.statements import Group, Program, Transaction
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.api.conftest import client_of, sqlite_url
from tests.contract.suite import Trial
from tests.counting import at_least

pytestmark = pytest.mark.asyncio(loop_scope="module")
UNKNOWN = "019363a0-0000-7d83-91f8-20a939dbcd79"
BY_NAME = {route.name: route for route in ROUTES}
EVERYBODYS = {
    "previewTiming": "stores nothing; another tenant's calendars are refused",
    "listQueues": "queues belong to the fleet, and need admin to change",
    "getQueue": "the same",
    "getFiring": "whether anything fires at all is no secret",
    "listCalendars": "calendars belong to the tenant, and need admin to change",
    "getCalendar": "the same",
    "createSchedule": "what is made is the caller's",
    "createRun": "the same",
    "createWebhook": "the same, and it hears only of what is theirs",
    "startWorkflow": "the same",
    "publishEvent": "what it starts is the caller's; it tells only runs that they may see (tested below)",
    "listEventHandlers": "what code declares belongs to the fleet",
    "putSchedule": "the same for a new key; an id is tested below",
    "applySchedules": "the same; keys of others are refused",
}
"""Routes that no owner decides about, and why. Those that need admin or a worker's key see everything."""


@dataclass
class World:
    """An API with three callers, and what belongs to one of them."""

    app: Duly
    clock: ManualClock
    statements: list[str]
    clients: dict[str, httpx2.AsyncClient]
    ids: dict[str, str]

    def __getitem__(self, name: str) -> httpx2.AsyncClient:
        return self.clients[name]


class Counting:
    """A driver that writes down the statements that it runs."""

    def __init__(self, driver: Any, statements: list[str]) -> None:
        self._driver = driver
        self._statements = statements

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    async def read(self, transaction: Transaction[Any], **options: Any) -> Any:
        return await self._driver.read(self._noted(transaction), **options)

    async def write(self, transaction: Transaction[Any], **options: Any) -> Any:
        return await self._driver.write(self._noted(transaction), **options)

    def _noted(self, transaction: Transaction[Any]) -> Transaction[Any]:
        def begin(now: int) -> Program[Any]:
            program, answer = transaction(now), None
            while True:
                try:
                    step = program.send(answer)
                except StopIteration as end:
                    return end.value
                for one in step.steps if isinstance(step, Group) else [step]:
                    self._statements.append(one.name if isinstance(one, Owned) else f"{one.name} of anybody")
                answer = yield step

        return begin


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    clock = ManualClock()
    app = Duly(sqlite_url(tmp_path_factory.mktemp("auth")), clock=clock)
    await app.open()
    statements: list[str] = []
    app._store.driver = Counting(app._store.driver, statements)
    served = application(app)

    def client(token: str | None = None) -> httpx2.AsyncClient:
        made = client_of(served, "http://localhost/api/v1")
        if token is not None:
            made.headers["authorization"] = f"Bearer {token}"
        return made

    everything = ("read", "write", "trigger")
    tokens = {
        "ann": (await app.keys.create("ann", scopes=everything)).text,
        "bob": (await app.keys.create("bob", scopes=everything)).text,
        "root": (await app.keys.create("root", scopes=["admin"])).text,
        **{f"only {scope}": (await app.keys.create(scope, scopes=[scope])).text for scope in Scope},
    }
    clients = {"nobody": client(), **{name: client(token) for name, token in tokens.items()}}
    made = World(app, clock, statements, clients, {})
    made.ids = await _belongings(made)
    yield made
    for one in clients.values():
        await one.aclose()
    await app.close()


async def _belongings(world: World) -> dict[str, str]:
    """What Ann has: a schedule, a run of it, a dead letter, an operation, a webhook, and a schedule that is late."""
    ann = world["ann"]
    await ann.post("/schedules", json={"name": "late", "everyMs": 1000, "jobType": "x"})
    world.clock.move(minutes=1)
    schedule = (await ann.post("/schedules", json=body_of("createSchedule"))).json()
    dead = (await ann.post("/runs", json={"jobType": "x", "maxAttempts": 1})).json()
    trial = Trial(world.app._store, world.clock)
    worker = await trial.worker("x", session=7)
    for claim in await worker.claim():
        await worker.fail(claim, "no use", fatal=True)
    run = (await ann.post(f"/schedules/{schedule['id']}/trigger")).json()
    view = world.app.acting_for(Owning(Whose("", "ann")))
    operation = await view.schedules.pause_many(tag="none")
    webhook = (await ann.post("/webhooks", json=body_of("createWebhook"))).json()
    ids = {"schedules": schedule["id"], "runs": run["id"], "dead": dead["id"], "operations": operation.id}
    return {**ids, "webhooks": webhook["id"]}


def body_of(name: str) -> Any:
    return next(iter(BODIES[name].values()))[1]


async def send(client: httpx2.AsyncClient, route: Route, ref: str = UNKNOWN) -> httpx2.Response:
    body = body_of(route.name) if route.body is not None and route.name in BODIES else None
    return await client.request(route.method, route.path.replace("{ref}", ref), json=body)


def named(routes: Any) -> Any:
    return pytest.mark.parametrize("route", list(routes), ids=lambda route: route.name)


@named(at_least([route for route in ROUTES if not route.open], 78, "operations"))
async def test_without_a_credential_it_is_401(world: World, route: Route) -> None:
    answer = await send(world["nobody"], route)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["code"] == "NOT_AUTHORISED"
    assert answer.json()["type"].endswith("unauthenticated")


@named(at_least([route for route in ROUTES if not route.open], 78, "operations"))
async def test_with_another_scope_it_is_403(world: World, route: Route) -> None:
    for scope in set(Scope) - {route.scope, Scope.ADMIN}:
        answer = await send(world[f"only {scope}"], route)
        assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN"), scope
    if route.scope is Scope.WORKER:
        assert (await send(world["root"], route)).status_code == 403


def _kind(route: Route) -> str | None:
    """Whose the thing is that the path names."""
    first = route.path.split("/")[1].split(":")[0]
    if "{ref}" in route.path:
        return first if first in ("schedules", "runs", "operations", "tasks", "webhooks") else None
    return "list" if route.method == "GET" and not route.streams else "many" if ":" in route.path else None


OWNED = at_least(
    [route for route in ROUTES if route.scope not in (Scope.ADMIN, Scope.WORKER) and not route.open], 53, "operations"
)


@named(OWNED)
async def test_every_route_that_an_owner_may_ask_is_known_here(route: Route) -> None:
    covered = _kind(route) is not None or route.name in EVERYBODYS or route.streams
    assert covered, f"{route.name}: add a test that it shows nothing of others, or say in EVERYBODYS why it need not"


@rule("S4.36", "S4.38")
@named(route for route in OWNED if _kind(route) in ("schedules", "runs", "operations", "tasks", "webhooks"))
async def test_what_belongs_to_others_is_404_by_the_same_statements_as_what_is_not_there(
    world: World, route: Route
) -> None:
    kind = _kind(route)
    assert kind is not None
    await world["bob"].get("/schedules")  # that the key is used is written down now
    refs = [world.ids["runs" if kind == "tasks" else kind]] + ([world.ids["dead"]] if kind == "runs" else [])
    place = ":1" if kind == "tasks" else ""
    for ref in refs:
        answers, ran = [], []
        for asked in (ref + place, UNKNOWN + place):
            world.statements.clear()
            answers.append(await send(world["bob"], route, asked))
            ran.append(list(world.statements))
        foreign, unknown = answers
        assert foreign.status_code == unknown.status_code, foreign.text
        if route.name != "deleteWebhook":  # which leaves nothing that a second time could be known by
            assert foreign.status_code == 404
            said = [{**a.json(), "requestId": None, "instance": None, "detail": None} for a in answers]
            assert said[0] == said[1]
            assert foreign.json()["detail"].replace(ref, UNKNOWN) == unknown.json()["detail"]
        assert ran[0] == ran[1]
        assert [name for name in ran[0] if name.endswith(" of anybody")] == ["read_key of anybody"], "it is narrowed"
    assert (await world["ann"].get(f"/schedules/{world.ids['schedules']}")).json()["status"] == "pending"


@rule("S3.62", "S4.42")
@named(route for route in OWNED if _kind(route) == "list" and route.name not in EVERYBODYS)
async def test_a_list_holds_only_what_is_ones_own(world: World, route: Route) -> None:
    for query in ({}, *({"owner": "ann"} for _ in [0] if "owner" in route.query)):
        theirs = await world["bob"].get(route.path, params=query)
        assert theirs.status_code == 200
        assert theirs.json()["items"] == [], theirs.text
    for name in ("ann", "root"):
        assert (await world[name].get(route.path)).json()["items"], f"{name} sees it"


async def test_o08_runs_of_an_owner_are_listed_for_those_who_may_see_them(world: World) -> None:
    for name, sees in (("bob", False), ("ann", True), ("root", True)):
        answer = await world[name].get("/runs", params={"owner": "ann"})
        assert (answer.status_code, bool(answer.json()["items"])) == (200, sees), name
    assert (await world["root"].get("/runs", params={"owner": "bob"})).json()["items"] == []


async def test_many_at_once_are_only_ones_own(world: World) -> None:
    for verb in ("redrive", "acknowledge"):
        ways: list[dict[str, Any]] = [{"ids": [world.ids["dead"]]}, {"filter": {}}]
        for which in ways:
            answer = await world["bob"].post(f"/dead-letters:{verb}", json=which)
            assert answer.json()["count"] == 0
            assert {one["reason"] for one in answer.json()["refused"]} <= {"not_found"}
    assert (await world["ann"].get("/dead-letters")).json()["items"]


async def test_what_is_made_belongs_to_the_caller_and_to_nobody_else(world: World) -> None:
    bob, body = world["bob"], body_of("createSchedule")
    made = (await bob.post("/schedules", json={**body, "key": "bobs"})).json()
    assert made["metadata"]["ownerId"] == "bob"
    assert made["createdBy"] == "key:bob"
    for metadata in ({"ownerId": "ann"}, {"tenantId": "acme"}):
        for method, path in (("POST", "/schedules"), ("PUT", "/schedules/new"), ("PATCH", f"/schedules/{made['id']}")):
            given = {"metadata": metadata} if method == "PATCH" else {**body, "metadata": metadata}
            refused = await bob.request(method, path, json=given)
            assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN"), (method, metadata)
    assert (await bob.put("/schedules/bobs", json=body)).json()["metadata"]["ownerId"] == "bob"
    patched = await bob.patch("/schedules/bobs", json={"metadata": {"ownerId": None, "correlationId": "c"}})
    assert patched.json()["metadata"] | {"clientRequestId": None} == {
        "ownerId": "bob", "tenantId": None, "correlationId": "c", "clientRequestId": None
    }  # fmt: skip
    taken = await bob.put("/schedules/anns", json=body)
    assert taken.status_code == 201
    for_bob = await world["root"].post("/schedules", json={**body, "metadata": {"ownerId": "bob"}})
    assert (await bob.get(f"/schedules/{for_bob.json()['id']}")).status_code == 200
    await bob.post("/schedules/bobs/cancel")
    assert (await bob.get("/schedules", params={"owner": "ann"})).json()["items"] == []
    for one in (await bob.get("/schedules")).json()["items"]:
        assert (await bob.delete(f"/schedules/{one['id']}")).status_code == 204


async def test_what_an_event_starts_belongs_to_who_published_it(world: World) -> None:
    handler = OnEvent("paid").handled_by("ship", max_attempts=1, timeout_ms=None)
    await world.app._store.put_on_event(["ship"], [handler])
    (run,) = (await world["bob"].post("/events/paid", json={"payload": {"order": 1}})).json()["runs"]
    assert (await world["bob"].get(f"/runs/{run}")).status_code == 200
    assert (await world["ann"].get(f"/runs/{run}")).status_code == 404
    assert (await world["root"].get(f"/runs/{run}")).status_code == 200


async def test_keys_of_requests_are_ones_own(world: World) -> None:
    same = {"Idempotency-Key": "k1"}
    ids = set()
    for name in ("ann", "bob", "ann"):
        answer = await world[name].post("/runs", json={"jobType": "y"}, headers=same)
        assert answer.status_code == 202
        ids.add(answer.json()["id"])
        await world[name].post(f"/runs/{answer.json()['id']}/cancel")
    assert len(ids) == 2


@pytest_asyncio.fixture(loop_scope="module")
async def fresh(tmp_path: Path) -> AsyncIterator[Duly]:
    app = Duly(sqlite_url(tmp_path), clock=ManualClock())
    await app.open()
    yield app
    await app.close()


async def test_while_there_is_no_key_it_is_open_and_never_again(fresh: Duly) -> None:
    async with client_of(application(fresh), "http://localhost/api/v1") as client:
        assert (await client.get("/schedules")).status_code == 200
        assert (await client.get("/schedules", headers={"authorization": "Bearer of bad news"})).status_code == 200
        made = await fresh.keys.create("root", scopes=["admin"])
        assert (await client.get("/schedules")).status_code == 401
        good = {"authorization": f"bearer {made.text}"}
        assert (await client.get("/schedules", headers=good)).status_code == 200
        await fresh.keys.revoke(made.key.id)
        assert (await client.get("/schedules", headers=good)).status_code == 401
    async with client_of(application(fresh), "http://localhost/api/v1") as client:
        assert (await client.get("/schedules")).status_code == 401


async def test_an_open_server_notices_the_first_key_of_another_process(fresh: Duly) -> None:
    async with client_of(application(fresh), "http://localhost/api/v1") as client:
        assert (await client.get("/schedules")).status_code == 200
        other = Duly(fresh.url)
        await other.open()
        await other.keys.create("root", scopes=["admin"])
        await other.close()
        _clock(fresh).move(seconds=1)
        assert (await client.get("/schedules")).status_code == 401


async def test_every_bad_key_takes_the_same_path_to_the_same_answer(fresh: Duly) -> None:
    keys = fresh.keys
    good, revoked = await keys.create("good"), await keys.create("revoked")
    expired = await keys.create("expired", expires=timedelta(minutes=1))
    await keys.revoke(revoked.key.id)
    _clock(fresh).move(minutes=1)
    statements: list[str] = []
    fresh._store.driver = Counting(fresh._store.driver, statements)
    wrong = good.text[:-1] + ("0" if good.text[-1] != "0" else "1")
    unknown = "duly_live_" + "z" * 51
    headers: list[dict[str, str]] = [
        {"authorization": f"Bearer {token}"}
        for token in (wrong, unknown, revoked.text, expired.text, "x", "duly_live_")
    ]
    headers += [{}, {"authorization": f"Basic {good.text}"}, {"authorization": ""}, {"authorization": "Bearer"}]
    async with client_of(application(fresh), "http://localhost/api/v1") as client:
        await client.get("/schedules")
        seen = set()
        for given in headers:
            statements.clear()
            answer = await client.get("/schedules", headers=given)
            told = {name: value for name, value in answer.json().items() if name not in ("requestId", "instance")}
            seen.add((answer.status_code, str(told), answer.headers["www-authenticate"], tuple(statements)))
        assert len(seen) == 1, seen
        assert seen.pop()[0] == 401
        twice = [("authorization", f"Bearer {good.text}")] * 2
        assert (await client.get("/schedules", headers=twice)).status_code == 401


async def test_a_read_writes_only_now_and_then_that_a_key_was_used(fresh: Duly) -> None:
    made = await fresh.keys.create("reader", scopes=["read"])
    statements: list[str] = []
    fresh._store.driver = Counting(fresh._store.driver, statements)
    async with client_of(application(fresh), "http://localhost/api/v1") as client:
        client.headers["authorization"] = f"Bearer {made.text}"
        for _ in range(3):
            await client.get("/schedules")
        assert statements.count("touch_key of anybody") == 1
        _clock(fresh).move(minutes=10)
        await client.get("/schedules")
        assert statements.count("touch_key of anybody") == 2


async def test_a_rotated_key_goes_on_beside_its_successor_for_a_while(fresh: Duly) -> None:
    old = await fresh.keys.create("ci", owner="ann")
    new = await fresh.keys.rotate(old.key.id, keep=timedelta(hours=1))
    assert (new.key.owner, new.key.scopes, new.key.replaces) == ("ann", old.key.scopes, old.key.id)
    for hours, expected in ((0, (True, True)), (1, (False, True))):
        _clock(fresh).move(hours=hours)
        assert tuple([await fresh.keys.caller(text) is not None for text in (old.text, new.text)]) == expected


async def test_quotas_are_429_and_only_time_that_heals_is_told(fresh: Duly) -> None:
    quotas = Quotas(schedules=1, min_interval_ms=300_000, payload_bytes=20, requests_per_minute=6)
    made = await fresh.keys.create("small", quotas=quotas)
    body = {"name": "n", "jobType": "x"}
    async with client_of(application(fresh), "http://localhost/api/v1") as client:
        client.headers["authorization"] = f"Bearer {made.text}"

        async def create(**words: Any) -> httpx2.Response:
            return await client.post("/schedules", json={**body, **words})

        for words in (
            {"everyMs": 60_000},
            {"cronExpression": "* * * * *"},
            {"everyMs": 300_000, "jobPayload": {"much": "x" * 20}},
        ):
            refused = await create(**words)
            assert (refused.status_code, refused.json()["code"]) == (429, "QUOTA_EXCEEDED"), refused.text
            assert "retry-after" not in refused.headers
        assert (await create(everyMs=300_000)).status_code == 201
        assert (await create(everyMs=300_000)).json()["code"] == "QUOTA_EXCEEDED"
        assert (await client.get("/schedules")).status_code == 200
        refused = await client.get("/schedules")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
        _clock(fresh).move(seconds=10)
        assert (await client.get("/schedules")).status_code == 200


async def test_each_key_says_what_it_may_only_once(fresh: Duly) -> None:
    made = await fresh.keys.create("ci")
    assert made.text not in repr(await fresh.keys.list())
    assert made.key.digest not in repr(made.key)
    rows = str(await fresh._store.list_keys())
    assert made.text not in rows


async def test_python_itself_checks_nothing(fresh: Duly) -> None:
    await fresh.keys.create("ci")
    made = await fresh.schedules.create("a", Every(minutes=1), job="x", metadata={"owner_id": "anybody"})
    assert made.facts.owner == "anybody"


def _clock(app: Duly) -> ManualClock:
    assert isinstance(app.clock, ManualClock)
    return app.clock
