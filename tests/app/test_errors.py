"""Why an attempt failed, on every surface: the exception with its causes, wherever the handler ran."""

import asyncio
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from duly import DeadLetter, Duly, Jobs, RemoteWorker, Retry, RunStatus, WorkflowContext
from duly.api.application import application
from duly.app.owning import Owning
from duly.core.credential import Whose
from duly.core.dead import AttemptRecord
from tests.app import handlers
from tests.app.conftest import PATIENCE, QUICK, MakeApp

ONCE = Retry(max_attempts=1)


class VendorError(Exception):
    """What a service outside answers."""


def charge(order: int) -> None:
    try:
        raise VendorError("HTTP 503")
    except VendorError as error:
        raise RuntimeError(f"order {order} could not be charged") from error


async def fail_once(app: Duly, job: str, payload: Any = None) -> AttemptRecord:
    """Run a job that fails, and return its one attempt."""
    run = await app.enqueue(job, payload)
    assert (await app.runs.wait(run.id, timeout=PATIENCE)).status is RunStatus.FAILED
    (attempt,) = await app.runs.attempts(run.id)
    return attempt


def is_whole(attempt: AttemptRecord) -> bool:
    """Whether the error has its type, message, cause and the line that raised it."""
    error = attempt.error
    assert error is not None
    assert (error.type, error.message, error.truncated) == ("RuntimeError", "order 17 could not be charged", False)
    assert error.stack is not None
    return "VendorError: HTTP 503" in error.stack and "in charge" in error.stack


async def test_the_error_of_an_async_handler_is_kept_whole(app: Duly) -> None:
    @app.job("pay", retry=ONCE)
    async def pay() -> None:
        charge(17)

    async with app:
        assert is_whole(await fail_once(app, "pay"))


async def test_the_error_of_a_handler_in_a_thread_is_kept_whole(app: Duly) -> None:
    @app.job("pay", retry=ONCE)
    def pay() -> None:
        charge(17)

    async with app:
        assert is_whole(await fail_once(app, "pay"))


@pytest.mark.processes
async def test_the_error_of_a_handler_in_a_process_is_kept_with_its_stack(app: Duly) -> None:
    app.job("fail", process=True, retry=ONCE)(handlers.fail)
    async with app:
        attempt = await fail_once(app, "fail", {"kind": "error"})
    assert attempt.error is not None
    assert (attempt.error.type, attempt.error.message) == ("ValueError", "in its own words")
    assert attempt.error.stack is not None
    assert "handlers.py" in attempt.error.stack


async def test_the_error_of_a_workflow_step_is_the_cause_of_the_error_of_the_run(app: Duly) -> None:
    @app.workflow("order")
    async def order(ctx: WorkflowContext, input: Any) -> None:
        await ctx.step("pay", charge, 17)

    async with app:
        run = await app.workflows.start("order", {})
        await app.runs.wait(run.id, timeout=PATIENCE)
        (attempt,) = await app.runs.attempts(run.id)
    assert attempt.error is not None
    assert attempt.error.type == "duly.core.errors.StepFailed"
    assert attempt.error.stack is not None
    assert "VendorError: HTTP 503" in attempt.error.stack


async def test_the_error_of_a_remote_worker_reaches_the_store(make_app: MakeApp) -> None:
    async with make_app(roles=("api", "scheduler")) as server:
        jobs = Jobs()

        @jobs.job("pay", retry=ONCE)
        async def pay() -> None:
            charge(17)

        transport = httpx2.ASGITransport(app=application(server))
        async with RemoteWorker("http://localhost", jobs, transport=transport, name="far"):
            assert is_whole(await fail_once(server, "pay"))


async def test_lists_never_have_a_stack_and_the_run_has_it_over_rest(app: Duly) -> None:
    @app.job("pay", retry=ONCE)
    async def pay() -> None:
        charge(17)

    async with (
        app,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=application(app)), base_url="http://localhost") as api,
    ):
        run = await app.enqueue("pay")
        await app.runs.wait(run.id, timeout=PATIENCE)
        whole = (await api.get(f"/api/v1/runs/{run.id}")).json()
        listed = (await api.get("/api/v1/runs")).text + (await api.get("/api/v1/dead-letters")).text
    error = whole["attempts"][0]["error"]
    assert (error["type"], error["message"], error["truncated"]) == (
        "RuntimeError", "order 17 could not be charged", False,
    )  # fmt: skip
    assert "VendorError: HTTP 503" in error["stack"]
    assert "order 17 could not be charged" in listed
    assert "VendorError" not in listed


@pytest.mark.parametrize("shown", [False, True])
async def test_callers_with_an_owner_see_the_stack_only_if_the_setting_allows_it(
    make_app: MakeApp, shown: bool
) -> None:
    app = make_app(settings=replace(QUICK, show_stacks=shown))

    @app.job("pay", retry=ONCE)
    async def pay() -> None:
        charge(17)

    async with app:
        view = app.acting_for(Owning(Whose("", "ann")))
        run = await view.enqueue("pay")
        await app.runs.wait(run.id, timeout=PATIENCE)
        (attempt,) = await view.runs.attempts(run.id)
        assert attempt.error is not None
        assert (attempt.error.type, attempt.error.message) == ("RuntimeError", "order 17 could not be charged")
        assert (attempt.error.stack is not None) is shown
        assert is_whole((await app.runs.attempts(run.id))[0]), "whoever has no owner sees it"


async def test_redacted_text_is_never_stored(app: Duly) -> None:
    @app.redact_errors
    def hide(text: str) -> str:
        return text.replace("17", "**")

    @app.job("pay", retry=ONCE)
    async def pay() -> None:
        charge(17)

    async with app:
        attempt = await fail_once(app, "pay")
    assert attempt.error is not None
    assert attempt.error.message == "order ** could not be charged"
    assert attempt.error.stack is not None
    assert "order 17" not in attempt.error.stack


async def test_on_dead_is_given_the_type_and_the_stack(app: Duly) -> None:
    told: list[DeadLetter] = []
    heard = asyncio.Event()

    @app.job("pay", retry=ONCE, on_dead="mourn")
    async def pay() -> None:
        charge(17)

    @app.job("mourn")
    async def mourn(dead: DeadLetter) -> None:
        told.append(dead)
        heard.set()

    async with app:
        await app.enqueue("pay")
        await asyncio.wait_for(heard.wait(), PATIENCE)
    (dead,) = told
    assert dead.error_type == "RuntimeError"
    assert dead.error_location is not None
    assert dead.error_location.endswith("in charge")
    assert dead.stack is not None
    assert "VendorError: HTTP 503" in dead.stack


async def test_a_timeout_is_an_error_without_a_stack(app: Duly) -> None:
    @app.job("slow", retry=ONCE, timeout=0.05)
    async def slow() -> None:
        await asyncio.sleep(PATIENCE)

    async with app:
        attempt = await fail_once(app, "slow")
    assert attempt.error is not None
    assert (attempt.error.type, attempt.error.stack) == ("TimeoutError", None)
