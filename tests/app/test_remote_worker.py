"""``RemoteWorker``: the engine's worker behind a server, with the API in this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from duly import Cron, Duly, Fatal, Jobs, RemoteWorker, Retry, RunContext, RunStatus, Snooze
from duly.api.application import application
from duly.core.errors import ConfigurationError, NotAuthorised, ServerUnreachable
from tests.app.conftest import MakeApp


@pytest.fixture
async def server(make_app: MakeApp) -> AsyncIterator[Duly]:
    """What is served: it fires and recovers, and runs nothing itself."""
    async with make_app(roles=("api", "scheduler")) as app:
        yield app


def works(server: Duly, jobs: Jobs | Duly, key: str | None = None) -> RemoteWorker:
    transport = httpx2.ASGITransport(app=application(server))
    return RemoteWorker("http://localhost", jobs, transport=transport, name="far", key=key)


async def test_handlers_of_every_kind_run_and_end_by_the_same_rules(server: Duly) -> None:
    jobs, seen = Jobs(), list[Any]()

    @jobs.job("add")
    async def add(run: RunContext, a: int, b: int = 1) -> int:
        seen.append((run.schedule_key, run.window_key, run.attempt))
        return a + b

    @jobs.job("slow", timeout=0.05)
    def slow(run: RunContext) -> None:
        run.sync_wait_cancelled(20)

    @jobs.job("flaky", retry=Retry(backoff="fixed", delay=0))
    def flaky(run: RunContext) -> Any:
        if run.attempt == 1 and run.fence == 1:
            return Snooze(seconds=0.001)
        if run.attempt == 1:
            raise ValueError("once more")
        raise Fatal("no use")

    async with works(server, jobs):
        sum_ = await server.runs.wait((await server.enqueue("add", {"a": 2})).id, timeout=20)
        assert (sum_.status, sum_.result, sum_.instance) == (RunStatus.COMPLETED, 3, "far")
        late = await server.runs.wait((await server.enqueue("slow", max_attempts=1, timeout=0.05)).id, timeout=20)
        assert (late.status, late.reason) == (RunStatus.FAILED, "timeout")
        bad = await server.runs.wait((await server.enqueue("flaky")).id, timeout=20)
        assert (bad.status, bad.reason, bad.attempt, bad.fence) == (RunStatus.FAILED, "fatal", 2, 3)
        schedule = await server.schedules.create(key="nightly", timing=Cron("0 2 * * *"), job="add", payload={"a": 1})
        run = await server.schedules.trigger(schedule.id)
        await server.runs.wait(run.id, timeout=20)
    assert seen == [(None, None, 1), ("nightly", None, 1)]


async def test_a_run_starts_when_it_is_enqueued_and_stops_when_it_is_cancelled(server: Duly) -> None:
    jobs, started = Jobs(), asyncio.Event()

    @jobs.job("wait")
    async def wait(run: RunContext) -> None:
        started.set()
        await asyncio.sleep(60)

    async with works(server, jobs):
        run = await server.enqueue("wait")
        await asyncio.wait_for(started.wait(), 20)
        await server.runs.cancel(run.id)
        assert (await server.runs.wait(run.id, timeout=20)).status is RunStatus.CANCELLED


async def test_a_stop_gives_back_what_does_not_end_in_time(server: Duly) -> None:
    jobs, started = Jobs(), asyncio.Event()

    @jobs.job("wait")
    async def wait(run: RunContext) -> None:
        started.set()
        await asyncio.sleep(60)

    worker = works(server, jobs)
    await worker.start()
    run = await server.enqueue("wait")
    await asyncio.wait_for(started.wait(), 20)
    await worker.stop(grace=0)
    found = await server.runs.get(run.id)
    assert found is not None
    assert (found.status, found.attempt) == (RunStatus.PENDING, 0)
    assert "far" not in {instance.name for instance in await server._store.list_instances()}


async def test_an_end_that_the_server_does_not_take_for_now_is_reported_again(server: Duly) -> None:
    """A key that is not taken, a rate that is used up, a server behind that is away: success stays success."""
    jobs, refusals = Jobs(), list[int]()

    @jobs.job("noop")
    async def noop() -> str:
        return "done"

    inner = application(server)

    async def away(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"].endswith("/complete") and len(refusals) < 3:
            refusals.append((401, 429, 502)[len(refusals)])
            await send({"type": "http.response.start", "status": refusals[-1], "headers": [(b"retry-after", b"99")]})
            await send({"type": "http.response.body", "body": b"{}"})
        else:
            await inner(scope, receive, send)

    async with RemoteWorker("http://localhost", jobs, transport=httpx2.ASGITransport(app=away)):
        ended = await server.runs.wait((await server.enqueue("noop")).id, timeout=20)
    assert (ended.status, ended.result, len(refusals)) == (RunStatus.COMPLETED, "done", 3)


async def test_an_app_brings_its_lifespan_and_middleware_and_its_store_stays_closed(server: Duly) -> None:
    around: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Duly) -> AsyncIterator[str]:
        around.append("begin")
        yield "pool"
        around.append("end")

    app = Duly("postgresql://nobody@127.0.0.1:1/nothing", lifespan=lifespan)

    @app.middleware
    async def wrap(run: RunContext, call_next: Any) -> Any:
        around.append(run.state)
        return await call_next(run)

    @app.job("noop")
    async def noop() -> None: ...

    async with works(server, app):
        await server.runs.wait((await server.enqueue("noop")).id, timeout=20)
    assert around == ["begin", "pool", "end"]


async def test_a_key_with_the_scope_of_a_worker_works_for_everybody_and_others_are_refused(server: Duly) -> None:
    jobs = Jobs()
    jobs.job("noop")(_noop)
    reader = await server.keys.create("reader", scopes=["read"])
    worker = await server.keys.create("gpu", scopes=["worker"], tenant="acme")
    for key in (None, reader.text):
        with pytest.raises(NotAuthorised):
            await works(server, jobs, key).start()
    async with works(server, jobs, worker.text):
        run = await server.enqueue("noop", tenant="globex")
        assert (await server.runs.wait(run.id, timeout=20)).status is RunStatus.COMPLETED


async def test_a_worker_without_jobs_or_server_says_so() -> None:
    with pytest.raises(ConfigurationError, match="needs jobs"):
        RemoteWorker("http://localhost", Jobs())
    with pytest.raises(ConfigurationError, match="expected a Duly"):
        RemoteWorker("http://localhost", ["send"])  # type: ignore[arg-type]
    jobs = Jobs()
    jobs.job("noop")(_noop)
    with pytest.raises(ConfigurationError, match="server URL"):
        RemoteWorker("duly:8080", jobs)
    with pytest.raises(ServerUnreachable):
        await RemoteWorker("http://127.0.0.1:1", jobs).start()


async def _noop() -> None: ...
