"""Jobs as objects: still the function, bound to arguments, declared without an app."""

import asyncio
import inspect
import os
from datetime import UTC, date, datetime
from typing import Any

import pytest

from duly import Cron, Duly, DulyError, Every, Jobs, Once, Retry, RunContext, RunStatus
from duly.core.errors import ConfigurationError, ValidationFailed
from duly.engine.job import Job
from tests.app import declared_handlers
from tests.app.conftest import MakeApp

FUTURE = datetime(2099, 1, 1, 12, tzinfo=UTC)
HOURLY = Every("1h", anchor="start")
"""Fires an hour from now, and not while a test runs."""


def test_a_job_stays_the_function_that_it_was() -> None:
    jobs = Jobs()

    @jobs.job()
    async def send_mail(run: RunContext, user: int, to: str = "x") -> str:
        """Send it."""
        return f"{user} {to} {run}"

    @jobs.job("add")
    def add(a: int, b: int = 1) -> int:
        return a + b

    assert add(1, b=2) == 3
    assert asyncio.run(send_mail("ctx", 5)) == "5 x ctx"  # type: ignore[arg-type]
    assert inspect.iscoroutinefunction(send_mail)
    assert not inspect.iscoroutinefunction(add)
    assert (send_mail.__name__, send_mail.__doc__, send_mail.name) == ("send_mail", "Send it.", "send-mail")
    assert list(inspect.signature(send_mail).parameters) == ["run", "user", "to"]
    assert isinstance(add, Job)
    assert "add" in repr(add)


def test_bind_checks_arguments_at_once_and_leaves_the_context_out() -> None:
    jobs = Jobs()

    @jobs.job("send")
    async def send(run: RunContext, user: int, day: date | None = None) -> None: ...

    @jobs.job("whole")
    def whole(payload: list[int]) -> None: ...

    @jobs.job("rest")
    def rest(a: int, **more: str) -> None: ...

    assert send.bind(user=42).payload == send.bind(42).payload == {"user": 42}
    assert send.bind(user=42, day=date(2027, 1, 2)).payload == {"user": 42, "day": "2027-01-02"}
    assert whole.bind([1, 2]).payload == [1, 2]
    assert rest.bind(1, b="x").payload == {"a": 1, "b": "x"}
    loose: Any = send
    for mistake in (
        lambda: loose.bind(),
        lambda: loose.bind(user="x"),
        lambda: loose.bind(usr=42),
        lambda: loose.bind(42, user=43),
        lambda: loose.bind(run=None, user=42),
        lambda: loose.bind(user=42, day="soon"),
        lambda: loose.bind(user=object()),
        lambda: whole.bind(["x"]),  # type: ignore[list-item]
    ):
        with pytest.raises(ValidationFailed) as raised:
            mistake()
        assert "send" in str(raised.value) or "whole" in str(raised.value)


async def test_a_bound_call_and_a_job_are_accepted_wherever_a_name_is(app: Duly) -> None:
    seen: list[int] = []

    @app.job("send", retry=Retry(max_attempts=7), timeout=60)
    async def send(user: int) -> int:
        seen.append(user)
        return user

    @app.job("plain")
    async def plain() -> str:
        return "ran"

    async def raw(user: int) -> None: ...

    app.job("raw")(raw)
    async with app:
        made = await app.schedules.create("k", HOURLY, job=send.bind(user=42))
        assert (made.job, made.payload, made.timeout, made.retry) == ("send", {"user": 42}, 60, Retry(max_attempts=7))
        stored = await app.schedules.put("k", HOURLY, send.bind(user=43))
        assert (stored.created, stored.changed, stored.payload) == (False, True, {"user": 43})
        edited = await app.schedules.update("k", job=plain, payload={})
        assert (edited.job, edited.payload) == ("plain", {})
        edited = await app.schedules.update("k", job=send.bind(1))
        assert (edited.job, edited.payload) == ("send", {"user": 1})
        assert (await app.schedules.create("raw", Every("1h"), job=raw, payload={"user": 1})).job == "raw"
        (many,) = await app.schedules.create_many([{"key": "m", "timing": Once(FUTURE), "job": send.bind(user=2)}])
        assert (many.job, many.payload) == ("send", {"user": 2})
        run = await app.enqueue(send.bind(user=44))
        assert (await app.runs.wait(run.id, timeout=20)).result == 44
        assert (await app.runs.wait((await app.enqueue(plain)).id, timeout=20)).result == "ran"
        for mistake in (
            lambda: app.enqueue(send.bind(user=1), {"user": 2}),
            lambda: app.schedules.create("x", Every("1h"), job=send.bind(1), payload={"user": 2}),
            lambda: app.schedules.create("x", Every("1h"), job=lambda: None),
            lambda: app.schedules.create("x", Every("1h"), job=5),  # type: ignore[arg-type]
            lambda: app.schedules.create("x", Every("1h"), job=send),
            lambda: app.enqueue(send),
            lambda: app.schedules.trigger("k", {"user": "x"}),
            lambda: app.schedules.trigger("k", {}),
        ):
            with pytest.raises(ValidationFailed):
                await mistake()
        assert await app.schedules.get("x") is None
    assert seen == [44]


async def test_jobs_declared_without_an_app_run_in_the_app_that_includes_them(app: Duly) -> None:
    jobs = Jobs()

    @jobs.job("first", retry=Retry(max_attempts=2))
    async def first() -> str:
        return "first"

    @jobs.cron("0 2 * * *", timezone="America/Sao_Paulo", name="nightly")
    async def nightly() -> None: ...

    app.include(jobs)

    @jobs.every("1h")
    async def after_the_include() -> None: ...

    async with app:
        assert (await app.runs.wait((await app.enqueue(first)).id, timeout=20)).result == "first"
        assert {s.key async for s in app.schedules.iterate()} == {"nightly", "after-the-include"}
        with pytest.raises(ConfigurationError, match="while the app runs"):
            jobs.job("late")(lambda: None)


def test_a_second_include_and_a_clash_of_names_are_clear_errors() -> None:
    app, jobs, others = Duly("sqlite:///never-opened.db"), Jobs(), Jobs()

    @jobs.job("x")
    def mine() -> None: ...

    @others.job("x")
    def theirs() -> None: ...

    app.include(jobs)
    with pytest.raises(ConfigurationError, match="included already"):
        app.include(jobs)
    with pytest.raises(ConfigurationError, match="'x' is registered twice"):
        app.include(others)
    with pytest.raises(ConfigurationError, match="declared twice"):
        jobs.job("x")(lambda: None)
    with pytest.raises(ConfigurationError, match=r"duly\.Jobs\(\)"):
        app.include([mine])  # type: ignore[arg-type]


def test_one_set_of_jobs_may_be_included_in_several_apps() -> None:
    jobs = Jobs()
    jobs.job("x", cron="0 2 * * *")(lambda: None)
    for _ in range(2):
        Duly("sqlite:///never-opened.db").include(jobs)


def test_a_timezone_beside_an_interval_is_refused_and_a_timing_may_be_given_whole() -> None:
    jobs = Jobs()
    for mistake in (
        lambda: jobs.job("x", every="1h", timezone="America/Sao_Paulo"),
        lambda: jobs.every("1h", timezone="UTC"),
        lambda: jobs.job("x", timezone="UTC"),
        lambda: jobs.cron(Cron("0 2 * * *"), timezone="UTC"),
    ):
        with pytest.raises(DulyError, match="timezone"):
            mistake()
    jobs.cron(Cron.daily("14:00", "Europe/Berlin"), name="y")(lambda: None)


@pytest.mark.processes
async def test_a_decorated_function_runs_in_a_process_of_its_own(make_app: MakeApp) -> None:
    """Its module names the job now, not the function: the other process must find it all the same."""
    app = make_app()
    app.include(declared_handlers.jobs)
    async with app:
        run = await app.enqueue(declared_handlers.add.bind(a=41))
        done = await app.runs.wait(run.id, timeout=60)
        assert done.status is RunStatus.COMPLETED, done.error_message
        assert done.result["sum"] == 42
        assert done.result["pid"] != os.getpid()
        lost = await app.runs.wait((await app.enqueue("state")).id, timeout=60)
    assert "run.state stays in the worker's process" in (lost.error_message or "")


async def test_a_name_that_is_no_longer_the_registered_function_is_not_run_in_a_process(
    app: Duly, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.job("swapped", process=True, retry=Retry(max_attempts=1))(declared_handlers.plain)
    monkeypatch.setattr(declared_handlers, "plain", lambda: "another")
    async with app:
        done = await app.runs.wait((await app.enqueue("swapped")).id, timeout=60)
    assert (done.status, done.result) == (RunStatus.FAILED, None)
    assert "is not the function that was registered" in (done.error_message or "")
