"""Instances in processes of their own, a ledger that they write, and an oracle that knows nothing of the store."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from duly import Duly, Run, RunStatus
from duly.app.stores import sqlite_path
from tests.warm import Warm, WarmProcess

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds that only something which hangs takes, also on a machine that is busy with other things."""
SETTINGS = {"lease": 3, "heartbeat": 1, "poll": 0.2, "shutdown_timeout": 3}
STEADY = {"lease": 60}
"""For instances that nobody kills: a busy machine does not take their runs from them."""


class Fleet:
    """Starts, stops and kills instances on one store."""

    module = "tests.processes.instance"

    def __init__(self, url: str, folder: Path, warm: Warm | None = None) -> None:
        self.url = url
        self.folder = folder
        self._warm = warm
        self.ledger_path = folder / "ledger"
        self.processes: dict[str, subprocess.Popen[bytes] | WarmProcess] = {}

    def start(self, name: str, **plan: Any) -> subprocess.Popen[bytes] | WarmProcess:
        settings = {**SETTINGS, **plan.pop("settings", {})}
        extra = plan.pop("env", {})
        plan = {"name": name, "url": self.url, "ledger": str(self.ledger_path), "settings": settings, **plan}
        env = {**os.environ, "DULY_INSTANCE": json.dumps(plan), "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", **extra}
        with (self.folder / f"{name}.log").open("ab") as log:
            if self._warm is not None and not extra:
                process: subprocess.Popen[bytes] | WarmProcess = self._warm.start(self.module, self.folder, env, log)
            else:
                command = [sys.executable, "-m", self.module]
                process = subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=self.folder)
        self.processes[name] = process
        return process

    async def start_all(self, *names: str, **plan: Any) -> None:
        """Start instances and wait until each of them holds a session."""
        pids = {self.start(name, **plan).pid for name in names}
        async with self.client() as client:
            await until(lambda: _has_sessions(client, pids), self, "all instances to be up")

    def signal(self, name: str, number: signal.Signals) -> None:
        os.kill(self.processes[name].pid, number)

    async def freeze(self, name: str) -> None:
        """Stop a process, but not while it has a SQLite file locked: then nobody else could do anything."""
        pid = self.processes[name].pid
        while True:
            self.signal(name, signal.SIGSTOP)
            await until(lambda: _stands(pid), self, f"{name} to stand still")
            if not await asyncio.to_thread(_is_locked, self.url):
                return
            self.signal(name, signal.SIGCONT)
            await asyncio.sleep(0.01)

    def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    async def terminate(self, *names: str) -> list[int]:
        """SIGTERM, and wait for the end; answer the exit codes."""
        processes = [self.processes.pop(name) for name in names]
        for process in processes:
            process.send_signal(signal.SIGTERM)
        return [await asyncio.to_thread(process.wait, 120) for process in processes]

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    def client(self) -> Duly:
        """An app that neither fires nor works: it creates and looks."""
        return Duly(self.url, roles=(), name="client")

    def ledger(self, event: str | None = None) -> list[dict[str, Any]]:
        if not self.ledger_path.exists():
            return []
        whole, _, _ = self.ledger_path.read_text().rpartition("\n")  # the last line may be half written
        lines = [json.loads(line) for line in whole.splitlines()]
        return [line for line in lines if event is None or line["event"] == event]

    def logs(self) -> str:
        return "\n".join(f"--- {path.name}\n{path.read_text()[-1500:]}" for path in sorted(self.folder.glob("*.log")))

    def check_ledger(self) -> None:
        """I6, I16: each (run, fence) was begun by one process only, and fences of a run never come twice."""
        begun = Counter((line["run"], line["fence"]) for line in self.ledger("start"))
        assert {key: count for key, count in begun.items() if count > 1} == {}, "one claim was begun twice"
        by_run: dict[str, list[int]] = defaultdict(list)
        for line in self.ledger("start"):
            by_run[line["run"]].append(line["fence"])
        assert all(fences == sorted(fences) for fences in by_run.values()), "a fence went back"


async def _has_sessions(client: Duly, pids: set[int]) -> bool:
    return pids <= {instance.pid for instance in await client._store.list_instances()}


def _stands(pid: int) -> bool:
    """Whether every thread of a process has noticed that it is stopped."""
    stats = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


def _is_locked(url: str) -> bool:
    if not url.startswith("sqlite:"):
        return False
    with closing(apsw.Connection(sqlite_path(url))) as connection:
        connection.set_busy_timeout(200)
        try:
            connection.execute("BEGIN IMMEDIATE; ROLLBACK")
        except apsw.BusyError:
            return True
    return False


async def until(condition: Callable[[], Any], fleet: Fleet, what: str, *, within: float = PATIENCE) -> Any:
    """Wait until a condition (plain or awaitable) holds; answer what it gave."""
    give_up_at = time.monotonic() + within
    while True:
        found = condition()
        if isinstance(found, Awaitable):
            found = await found
        if found:
            return found
        assert time.monotonic() < give_up_at, f"waited {within} s for {what}\n{fleet.logs()}"
        await asyncio.sleep(0.05)


async def history(client: Duly, key: str) -> list[Run]:
    """The runs of a schedule, oldest window first."""
    return sorted([run async for run in client.runs.iterate(schedule=key)], key=lambda run: run.scheduled_at)


async def all_ended(client: Duly, runs: list[Run]) -> list[Run] | None:
    found = [await client.runs.get(run.id) for run in runs]
    assert None not in found, "a run has disappeared"
    return found if all(run is not None and run.status.terminal for run in found) else None  # type: ignore[return-value]


def windows_between(after_ms: int, until_ms: int, every_ms: int) -> list[int]:
    """The oracle: windows of an interval that counts from the epoch, after < window <= until."""
    first = after_ms // every_ms * every_ms
    return [at for at in range(first, until_ms + 1, every_ms) if at > after_ms]


def window_ms(run: Run) -> int:
    assert run.window_at is not None
    return round(run.window_at.timestamp() * 1000)


def check_windows(runs: list[Run], expected: list[int]) -> None:
    """I1, I2: every expected window is exactly one run (or lies in one skipped row), and no other window is there."""
    fired = [window_ms(run) for run in runs if run.status is not RunStatus.SKIPPED]
    assert len(fired) == len(set(fired)), "a window fired twice"
    assert sorted(fired) == expected, "windows are missing, or nobody expected them"
