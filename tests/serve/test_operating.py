"""What a process that serves is asked by signals while it runs: to read its files anew, and to say where it is."""

import os
import pty
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.serve.serving import Served

pytestmark = [pytest.mark.processes, pytest.mark.timeout(180, func_only=True)]
Serve = Callable[..., Served]

SHOP = """
import asyncio, duly, time
from pathlib import Path

app = duly.Duly("sqlite:///shop.db")

@app.job("nap")
async def nap() -> None:
    Path("napping").touch()
    await asyncio.sleep(600)

@app.job("block")
async def block() -> None:
    Path("blocked").touch()
    while True:
        time.sleep(0.05)
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    return tmp_path


def configure(folder: Path, level: str, *keys: str) -> None:
    schedules = "".join(f"[[schedules]]\nkey = '{key}'\nevery = '1h'\njob = 'nap'\n" for key in keys)
    (folder / "duly.toml").write_text(f"[log]\nlevel = '{level}'\n{schedules}")


@pytest.mark.parametrize("arguments", [(), ("--app", "shop:app")])
def test_sighup_reads_the_schedules_and_the_level_of_its_files_anew(
    serve: Serve, shop: Path, arguments: tuple[str, ...]
) -> None:
    configure(shop, "info", "kept", "dropped")
    served = serve(*arguments).ready()

    def reload(word: str) -> None:
        said = len(served.said())
        served.send(signal.SIGHUP)
        served.until(lambda: word in served.said()[said:], "its answer")

    def enabled() -> dict[str, Any]:
        items = served.ask("/api/v1/schedules").json["items"]
        return {item["key"]: (item["enabled"], (item["pausedReason"] or "")[:6]) for item in items}

    assert enabled() == {"kept": (True, ""), "dropped": (True, "")}
    configure(shop, "error", "kept", "new", "new")
    reload("left as it was")
    assert enabled() == {"kept": (True, ""), "dropped": (True, "")}, "all of it or nothing"
    configure(shop, "warning", "kept", "new")
    reload("read again: log level warning, 2 schedules")
    assert enabled() == {"kept": (True, ""), "new": (True, ""), "dropped": (False, "orphan")}
    configure(shop, "debug", "kept", "dropped")
    reload("read again: log level debug, 2 schedules")
    assert enabled() == {"kept": (True, ""), "new": (False, "orphan"), "dropped": (True, "")}
    assert served.end() == 0


def test_sighup_of_a_worker_for_a_server_reads_the_level(serve: Serve, shop: Path) -> None:
    configure(shop, "info", "kept")
    server = serve("--roles", "api").ready()
    worker = serve("--server", server.url, "--app", "shop:app", command="worker").ready()
    worker.send(signal.SIGHUP)
    worker.until(lambda: "read again: log level info, no schedules" in worker.said(), "its answer")
    assert worker.end() == server.end() == 0


def test_a_terminal_that_is_closed_ends_what_was_started_in_it_in_order(serve: Serve) -> None:
    ours, theirs = pty.openpty()
    served = serve(stdin=theirs).ready()
    assert served.end(signal.SIGHUP) == 0
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize(("job", "began"), [("nap", "napping"), ("block", "blocked")])
def test_sigusr1_says_where_every_task_and_thread_is(serve: Serve, shop: Path, job: str, began: str) -> None:
    api = serve("--app", "shop:app", "--roles", "api").ready()
    worker = serve("--app", "shop:app", command="worker").ready()
    api.ask("/api/v1/runs", {"jobType": job})
    worker.until((shop / began).exists, "the handler to begin")
    worker.send(signal.SIGUSR1)
    worker.until(lambda: f"{job} (shop.py:" in worker.said(), "the handler's place")
    worker.until(lambda: "thread duly-heartbeat:" in worker.said(), "a thread's place")
    worker.until(lambda: "task duly-worker:" in worker.said(), "a loop's place")
    assert api.end() == 0
