"""The consumers of the examples, each as a process of its own, on a schedule that really fires."""

import asyncio
import shutil
import sys
from pathlib import Path
from typing import Any

import duly
from duly import Every
from tests.conftest import need
from tests.servers import ServerAbsent

HOME = Path(__file__).parent.parent.parent
TARGET = {"kind": "queue", "name": "reports"}


async def _received(redis_url: str, query: str, command: list[str], tmp_path: Path) -> tuple[list[str], list[Any]]:
    """What a consumer printed for three windows, and the runs that they were."""
    app = duly.Duly(f"sqlite:///{tmp_path}/duly.db", targets={"reports": f"{redis_url}?{query}"})
    async with app:
        await app.schedules.create(
            key="nightly",
            timing=Every(seconds=1),
            topic="reports.nightly",
            target=TARGET,
            payload={"user": 42},
            overlap="allow",
            max_runs=3,
        )
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{HOME}:{HOME / 'src'}", "REDIS_URL": redis_url}
        words = {"STREAM": query.partition("=")[2], "LIST": query.partition("=")[2]}
        process = await asyncio.create_subprocess_exec(
            *command, cwd=HOME, env=environment | words, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        lines = [(await process.stdout.readline()).decode() for _ in range(3)]
        process.terminate()
        assert await process.wait() == 0
        # A machine that sleeps too long skips windows, and says so; what fired is what is sent.
        runs = [run for run in (await app.runs.list()).items if run.status != "skipped"]
    return lines, runs


async def test_the_python_consumer_receives_each_window_once(redis_url: str, tmp_path: Path):
    command = [sys.executable, "-m", "examples.consumers.redis_stream"]
    lines, runs = await _received(redis_url, "stream=reports-python", command, tmp_path)
    assert sorted(lines) == sorted(f"report {run.id} {{'user': 42}}\n" for run in runs)


async def test_the_node_consumer_receives_each_window_once(redis_url: str, tmp_path: Path):
    node = shutil.which("node")
    with need("node"):
        if node is None:
            raise ServerAbsent("node", "the Debian package nodejs is not installed")
        command = [node, "examples/consumers/redis_list.mjs"]
        lines, runs = await _received(redis_url, "list=reports-node", command, tmp_path)
    assert sorted(lines) == sorted(f"report {run.id} {{ user: 42 }}\n" for run in runs)
