"""Real remote workers: killed, they lose their run to another one; alive, they need no database."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.serve.serving import Served

pytestmark = pytest.mark.timeout(300, func_only=True)
QUICK = {"DULY_LEASE": "2", "DULY_HEARTBEAT": "0.4"}

APP = """
import time
from pathlib import Path
from duly import Duly, RunContext

app = Duly("postgresql://nobody@127.0.0.1:1/nothing")

@app.job("work")
def work(run: RunContext, patience: float) -> str:
    if patience:
        Path("begun").touch()
    if run.attempt == 1:
        time.sleep(patience)
    return f"attempt {run.attempt}"
"""

DEAF = """
import asyncio
from pathlib import Path
from duly import Duly

app = Duly("sqlite:///:memory:")

@app.job("work")
async def work() -> None:
    Path("begun").touch()
    while True:
        try:
            await asyncio.sleep(0.05)
        except BaseException:
            pass
"""


def test_the_run_of_a_killed_worker_goes_to_another_and_a_zombie_is_refused(
    serve: Callable[..., Served], database_url: str, tmp_path: Path
) -> None:
    (tmp_path / "far.py").write_text(APP)
    server = serve("--roles", "api,scheduler", "--database-url", database_url, **QUICK).ready()

    def ask(path: str, body: object = None) -> Any:
        return server.ask(f"/api/v1{path}", body).json

    def work() -> Served:
        return serve("--server", server.url, "--app", "far:app", command="worker")

    asked = {"jobType": "work", "maxAttempts": 20}  # a machine that stands still for two seconds spends one
    silent = ask("/runs", {**asked, "payload": {"patience": 0}})
    zombie = ask("/worker/claim", {"jobs": ["work"], "name": "zombie"})
    (lent,) = zombie["runs"]
    assert lent["runId"] == silent["id"]
    killed = work()
    run = ask("/runs", {**asked, "payload": {"patience": 100}})
    killed.until((tmp_path / "begun").exists, "the run to begin")
    os.kill(killed.process.pid, signal.SIGKILL)
    worker = work()
    for id in (run["id"], silent["id"]):
        worker.until(lambda id=id: ask(f"/runs/{id}")["status"] == "completed", "the run to end")  # type: ignore[misc]
        whole = ask(f"/runs/{id}")
        assert whole["attempts"][0]["outcome"] == "lost"
        assert whole["result"] == f"attempt {len(whole['attempts'])}", "a slow machine may lose it once more"
    late = {"session": zombie["session"], "runId": silent["id"], "fence": lent["fence"]}
    refused = server.ask("/api/v1/worker/complete", late)
    assert (refused.status, refused.json["code"]) == (409, "LEASE_LOST")
    assert worker.end() == 0
    assert {instance["name"] for instance in ask("/instances")["items"]} & {"far", "zombie"} == set()


def test_a_worker_for_a_server_leaves_behind_what_does_not_end(serve: Callable[..., Served], tmp_path: Path) -> None:
    (tmp_path / "deaf.py").write_text(DEAF)
    server = serve("--roles", "api").ready()
    worker = serve("--server", server.url, "--app", "deaf:app", command="worker", DULY_SHUTDOWN_TIMEOUT="0.2")
    run = server.ask("/api/v1/runs", {"jobType": "work"}).json
    worker.until((tmp_path / "begun").exists, "the run to begin")
    assert worker.end() == 0
    assert "leaves behind what does not" in worker.said()
    assert server.ask(f"/api/v1/runs/{run['id']}").json["status"] == "pending", "it was given back before"


@pytest.mark.processes
def test_a_worker_for_a_server_says_what_it_lacks(tmp_path: Path) -> None:
    from tests.serve.serving import duly

    (tmp_path / "far.py").write_text(APP)
    said = duly("worker", "--server", "http://127.0.0.1:1", folder=tmp_path)
    assert (said.code, "--app" in said.err) == (2, True)
    said = duly("worker", "--server", "http://127.0.0.1:1", "--app", "far:app", folder=tmp_path)
    assert (said.code, "no answer from http://127.0.0.1:1" in said.err) == (69, True)
