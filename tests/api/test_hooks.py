"""Webhooks that a workflow waits for: a URL whose token is the credential."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

import duly
from duly import Duly, WorkflowContext
from duly.api.application import application
from duly.api.auth.guard import STRANGERS
from duly.core.hooks import hook_token, read_hook_token
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.api.conftest import client_of, sqlite_url
from tests.app.conftest import QUICK, until
from tests.workflow.test_workflows import ended


@pytest.fixture
async def app(url: str) -> AsyncIterator[Duly]:
    app = Duly(url, settings=replace(QUICK, public_url="https://duly.example.com/"))
    await app.open()
    await app.keys.create("root", scopes=["admin"])
    await app.close()

    @app.workflow("pay")
    async def pay(ctx: WorkflowContext) -> list[Any]:
        hooks = [ctx.webhook(), ctx.webhook("second", timeout=0.2)]
        ctx.publish("urls", [hook.url for hook in hooks])
        said = [await hooks[0].wait()]
        try:
            said.append(await hooks[1].wait())
        except duly.SignalTimeout:
            said.append("nobody came")
        return said

    async with app:
        yield app


@pytest.fixture
async def stranger(app: Duly) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(application(app), "http://localhost") as client:
        yield client


@rule("S0d.49")
async def test_whoever_has_the_url_ends_the_wait_once(app: Duly, stranger: httpx2.AsyncClient) -> None:
    run = await app.workflows.start("pay")
    first, _ = await until(lambda: app.workflows.query(run.id, "urls"))
    assert first.startswith(f"https://duly.example.com/api/v1/hooks/{run.id}.1.")
    path = first.removeprefix("https://duly.example.com")
    answer = await stranger.post(path, json={"paid": True})
    assert (answer.status_code, answer.json()) == (200, {"ended": True})
    assert (await stranger.post(path, json={"paid": False})).json() == {"ended": False}
    assert (await ended(app, run)).result == [{"paid": True}, "nobody came"]
    assert (await stranger.post(path)).json() == {"ended": False}
    assert (await stranger.get(f"/api/v1/runs/{run.id}")).status_code == 401


@rule("S0d.49")
async def test_no_token_can_be_made_up_and_no_other_thing_is_reached(app: Duly, stranger: httpx2.AsyncClient) -> None:
    run = await app.workflows.start("pay")
    first, second = await until(lambda: app.workflows.query(run.id, "urls"))
    token, other = first.rpartition("/")[2], second.rpartition("/")[2]
    signature = token.rpartition(".")[2]
    wrong = signature[:-1] + ("A" if signature[-1] != "A" else "B")
    said = set()
    for bad in (
        f"{run.id}.1.{wrong}",
        f"{run.id}.1.{other.rpartition('.')[2]}",
        f"{run.id}.3.{signature}",
        f"{run.id}:1",
        f"{run.id}.1.",
        token.upper(),
        "x" * 5000,
        "%00",
    ):
        answer = await stranger.post(f"/api/v1/hooks/{bad}", json={})
        said.add((answer.status_code, answer.json()["code"], answer.json()["detail"]))
    assert len(said) == 1, said
    assert said.pop()[:2] == (404, "SCHEDULE_JOB_NOT_FOUND")
    steps = await app.workflows.steps(run.id)
    assert [step.result for step in steps if step.kind == "task"] == [None, None]
    assert all(signature not in str(step) for step in steps)  # who may read a run cannot end its waits


async def test_what_is_too_large_or_no_json_is_refused_and_the_wait_goes_on(
    app: Duly, stranger: httpx2.AsyncClient
) -> None:
    run = await app.workflows.start("pay")
    first, _ = await until(lambda: app.workflows.query(run.id, "urls"))
    path = first.removeprefix("https://duly.example.com")
    json = {"Content-Type": "application/json"}
    assert (await stranger.post(path, json="x" * 300_000)).status_code == 413
    assert (await stranger.post(path, content=b"{", headers=json)).status_code == 400
    assert (await stranger.post(path, content=b"a=1")).status_code == 415
    assert (await stranger.post(path, json=0)).json() == {"ended": True}
    assert (await ended(app, run)).result[0] == 0


async def test_nobody_may_try_too_often(tmp_path: Path) -> None:
    app = Duly(sqlite_url(tmp_path), clock=ManualClock())
    await app.open()
    async with client_of(application(app), "http://localhost") as client:
        answers = [(await client.post("/api/v1/hooks/x")).status_code for _ in range(STRANGERS + 1)]
    assert (answers[-2], answers[-1]) == (404, 429)
    await app.close()


def test_a_token_is_of_one_secret() -> None:
    run = "019363a0-0000-7d83-91f8-20a939dbcd79"
    token = hook_token("a", run, 7)
    assert read_hook_token("a", token) == (run, 7)
    assert read_hook_token("b", token) is None
