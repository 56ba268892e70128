"""duly inside a web app: eight workers of one FastAPI app on one store fire every window once."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from duly import Duly, Run, RunStatus, Settings
from tests.acceptance.rules import rule
from tests.processes.fleet import check_windows, history, window_ms, windows_between
from tests.serve.serving import PATIENCE, ROOT, environment, own_port

WORKERS = 8
CATCH_UP_GRACE = timedelta(seconds=Settings().catch_up_grace)
pytestmark = [pytest.mark.processes, pytest.mark.slow, pytest.mark.timeout(600, func_only=True)]


class Web:
    """``uvicorn --workers 8`` in its own process group."""

    def __init__(self, folder: Path, database_url: str, port: int) -> None:
        self.port = port
        self.log = folder / "uvicorn.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "uvicorn",
                    "examples.fastapi_app:web",
                    "--workers",
                    str(WORKERS),
                    "--port",
                    str(self.port),
                    "--timeout-worker-healthcheck",  # a busy machine is no reason to kill a worker that starts
                    "120",
                ],
                cwd=folder,
                env=environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}", DULY_DATABASE_URL=database_url),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def ask(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data, {"content-type": "application/json"} if data else {}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture
def web(tmp_path: Path, database_url: str, own_place: None) -> Iterator[Web]:
    with own_port() as port:
        web = Web(tmp_path, database_url, port)
        yield web
        web.close()


async def until(condition: Any, web: Web, what: str, within: float = 240) -> Any:
    give_up_at = time.monotonic() + within
    while not (found := await condition()):
        assert web.process.poll() is None, web.log.read_text()[-3000:]
        assert time.monotonic() < give_up_at, f"waited {within} s for {what}\n{web.log.read_text()[-3000:]}"
        await asyncio.sleep(0.1)
    return found


@rule("FastAPI")
async def test_eight_web_workers_on_one_store_fire_every_window_once(web: Web, database_url: str) -> None:
    async with Duly(database_url, roles=(), name="client") as client:

        async def workers() -> bool:
            return len([i for i in await client._store.list_instances() if i.name != "client"]) == WORKERS

        await until(workers, web, "eight workers to be up")
        up_at = time.time() * 1000

        async def windows_passed() -> bool:
            done = [run for run in await history(client, "tick") if run.status is RunStatus.COMPLETED]
            return len([run for run in done if window_ms(run) > up_at]) >= 8

        await until(windows_passed, web, "eight windows with all workers up")
        _through_the_web(web)
        await client.schedules.pause("tick")

        async def all_ended() -> Any:
            runs = await history(client, "tick")
            return runs if all(run.status.terminal for run in runs) else None

        runs = await until(all_ended, web, "the last run to end")
        made = await client.schedules.get("tick")
        assert made is not None
        created = round(made.created_at.timestamp() * 1000)
        missed = _missed(runs)
        assert len(missed) == len(set(missed)), "a window was missed twice"
        expected = set(windows_between(created, window_ms(runs[-1]), 1000))
        assert expected.issuperset(missed)
        check_windows(runs, sorted(expected - set(missed)))
        fired = [run for run in runs if run.status is not RunStatus.SKIPPED]
        assert {(run.status, run.attempt) for run in fired} == {(RunStatus.COMPLETED, 1)}
        web.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(web.process.wait, 120)

        async def gone() -> bool:
            return not [i for i in await client._store.list_instances() if i.name != "client"]

        assert await gone(), "each worker closed its session when its lifespan ended"


def _missed(runs: list[Run]) -> list[int]:
    """Windows that nobody could fire in time, because eight processes that start had the machine to themselves."""
    found: list[int] = []
    for run in runs:
        if run.status is RunStatus.SKIPPED:
            assert run.reason == "missed"
            assert run.fired_at - run.scheduled_at >= CATCH_UP_GRACE, "it was not too late for this one"
            since = run.since or run.scheduled_at
            found += range(round(since.timestamp() * 1000), window_ms(run) + 1, 1000)
    return found


def _through_the_web(web: Web) -> None:
    """The app's own route, and the API mounted inside it."""
    run_id = web.ask("/reminders/7", {})["run"]
    give_up_at = time.monotonic() + PATIENCE
    while web.ask(f"/duly/api/v1/runs/{run_id}")["status"] != "completed":
        assert time.monotonic() < give_up_at
        time.sleep(0.1)
    assert web.ask(f"/duly/api/v1/runs/{run_id}")["result"] == "reminded user 7"
    assert [schedule["key"] for schedule in web.ask("/duly/api/v1/schedules")["items"]] == ["tick"]
