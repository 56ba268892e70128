"""One trial: a fleet with schedules and work on one store, struck again and again, and judged at the end."""

from __future__ import annotations

import asyncio
import atexit
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import apsw

from duly import Cron, Duly, Every, Run
from duly.core.errors import DulyError, EnqueueFailure, StoreError
from tests.chaos.brokers import Broker, open_broker
from tests.chaos.instance import PATIENT
from tests.chaos.judging import Figures, judge_ledger, judge_runs, judge_schedule, judge_steps
from tests.chaos.ledger import Ledger
from tests.chaos.needs import FAKETIME, slow_syncs, small_disk
from tests.databases import fresh_database, with_database
from tests.processes.fleet import SETTINGS, Fleet, until
from tests.servers import Server, pgbouncer_server, postgres_server
from tests.simulation.oracle import Expected, Rule
from tests.store.postgres.proxy import Proxy
from tests.warm import Warm, WarmProcess

LEASE = float(SETTINGS["lease"])
REST_WITHIN = 300.0
"""Seconds that a healed fleet has to come to rest: no verdict on speed, only on whether it does."""

MANY = 500

NAMES = ("a", "b", "c")

Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a row is tried on. ``own_server`` may be killed; ``faked`` instances read their clock from a file.

    Where the store ``may_lose`` what it acknowledged, the losses are counted and no finding.
    """

    instances: tuple[str, ...] = NAMES
    proxied: bool = False
    own_server: bool = False
    pgbouncer: bool = False
    fsync: bool = False
    disk: int = 0
    faked: tuple[str, ...] = ()
    fake_server: bool = False
    server_settings: Mapping[str, str] = field(default_factory=dict)
    slow_sync_ms: int = 0
    plan: Mapping[str, Any] = field(default_factory=dict)
    load: bool = True
    may_fail: bool = False
    may_lose: bool = False
    leaps: bool = False
    broker: str = ""


SCHEDULES: tuple[tuple[str, Rule, dict[str, Any]], ...] = (
    ("each-second", Rule(1, False), {"job": "tick", "overlap": "allow", "catch_up": "all"}),
    ("cron", Rule(2, True), {"job": "nap", "payload": {"seconds": 0.4}, "overlap": "allow", "catch_up": "all"}),
    ("latest", Rule(1, False), {"job": "tick", "overlap": "allow", "catch_up": "latest"}),
    ("one-at-a-time", Rule(2, False), {"job": "nap", "payload": {"seconds": 1.5}, "overlap": "skip"}),
    ("flow", Rule(3, False), {"workflow": "flow", "overlap": "allow", "catch_up": "all"}),
)

TELLING = ("cron", "one-at-a-time", "flow")
"""Schedules whose results say which attempt ended them, or what its steps saw."""


class ChaosFleet(Fleet):
    """A fleet that writes to the ledger's process."""

    module = "tests.chaos.instance"

    def __init__(self, url: str, folder: Path, book: Ledger, warm: Warm | None = None) -> None:
        super().__init__(url, folder, warm)
        self.book = book

    def ledger(self, event: str | None = None) -> list[dict[str, Any]]:
        return [line for line in self.book.read() if event is None or line["event"] == event]


class Trial:
    """What strikes work with: the fleet, a client that the fault does not touch, chance, and the figures."""

    def __init__(self, setting: Setting, fleet: ChaosFleet, seed: str) -> None:
        self.setting = setting
        self.fleet = fleet
        self.chance = random.Random(seed)
        self.client: Duly = fleet.client()
        self.proxies: dict[str, Proxy] = {}
        self.server: Server | None = None
        self.disk: Path | None = None
        self.figures = Figures()
        self.expected: dict[str, Expected] = {}
        self.asked: list[Run] = []
        self._open: set[str] = set()
        self.made: set[str] = set()
        self.unaudited: set[str] = set()
        self.scale = 1
        self.broker: Broker | None = None
        self.delivering: list[str] = []
        self.judges_messages = True
        self._names = 0

    @property
    def folder(self) -> Path:
        return self.fleet.folder

    @property
    def sqlite(self) -> bool:
        return self.fleet.url.startswith("sqlite")

    def plan_of(self, name: str) -> dict[str, Any]:
        """How an instance of that name is started: its way to the store, its clock."""
        plan: dict[str, Any] = {"ledger_process": str(self.fleet.book.socket), **self.setting.plan}
        if self.broker is not None:
            plan["targets"] = self.broker.targets
        if name in self.proxies:
            plan["url"] = self.proxies[name].url
        if name in self.setting.faked:
            plan["env"] = faked_clock(self.clock_file(name))
        return plan

    def clock_file(self, name: str) -> Path:
        return self.folder / f"clock-{name}"

    async def start(self, *names: str, **plan: Any) -> None:
        """Start instances and wait until each has a session."""
        for name in names:
            if name in self.setting.faked and not self.clock_file(name).exists():
                self.clock_file(name).write_text("+0")
        started = [self.fleet.start(name, **self.plan_of(name) | plan) for name in names]
        await self.wait_for(lambda: self._up(started), f"{', '.join(names)} to be up")

    async def _up(self, started: list[subprocess.Popen[bytes] | WarmProcess]) -> bool:
        assert all(process.poll() is None for process in started), f"an instance died\n{self.fleet.logs()}"
        pids = {process.pid for process in started}
        with suppress(DulyError):
            return pids <= {instance.pid for instance in await self.client._store.list_instances()}
        return False

    def new_name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def any_instance(self) -> str:
        return self.chance.choice(sorted(name for name in self.fleet.processes if name in self.setting.instances))

    def busiest(self) -> str:
        """The instance that is at the most runs now."""
        names = [name for name in self.fleet.processes if name in self.setting.instances]
        return max(sorted(names), key=lambda name: len(self.at_work(self.fleet.processes[name].pid)))

    async def pause(self, seconds: float) -> None:
        """Let the world go on for a while: a fault lasts."""
        await asyncio.sleep(seconds)

    async def wait_for(self, condition: Callable[[], Any], what: str) -> Any:
        return await until(condition, self.fleet, what, within=REST_WITHIN)

    async def patiently(self, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """What a call answers that may be made twice; a store that is busy is asked again."""
        give_up_at = time.monotonic() + REST_WITHIN
        while True:
            try:
                return await ask()
            except StoreError:
                if time.monotonic() > give_up_at:
                    raise
            await asyncio.sleep(0.2)

    async def make_schedules(self) -> None:
        for key, rule, options in SCHEDULES:
            timing = Cron(rule.cron) if rule.of_minute else Every(seconds=rule.step)
            made = await self.client.schedules.create(key, timing, retry=PATIENT, **options)
            self.expected[key] = Expected(key)
            self.expected[key].begin(round(made.created_at.timestamp() * 1000), rule)

    async def ask(self, count: int, job: str = "nap", **payload: Any) -> list[Run]:
        """Ask for runs; an answer that is lost is asked for again with the same ids, as a careful caller does."""
        requests = [
            self.client.runs.request(job, payload or {"seconds": self.chance.uniform(0, 2)}, max_attempts=50)
            for _ in range(count)
        ]
        give_up_at = time.monotonic() + REST_WITHIN
        while True:
            try:
                made = await self.client._store.enqueue(requests)
                break
            except (StoreError, EnqueueFailure):
                assert time.monotonic() < give_up_at, "the store takes nothing"
                await asyncio.sleep(0.2)
        self.asked += made
        self._open |= {run.id for run in made}
        return list(made)

    def at_work(self, pid: int) -> set[str]:
        """The runs that a process has begun and not come to the end of."""
        mine = [line for line in self.fleet.ledger() if line["pid"] == pid and "run" in line]
        ended = {line["run"] for line in mine if line["event"] in ("end", "stopped")}
        return {line["run"] for line in mine if line["event"] == "start"} - ended

    async def taken_over(self, runs: set[str], since: float, pid: int, *, least: int | None = None) -> None:
        """Wait until others have begun the runs that a process had (``least`` of them), and note how long it took.

        What it had ended before, without the ledger having come to its line, is nobody's to take.
        """
        over: set[str] = set()

        async def begun() -> tuple[dict[str, float]] | None:
            lines = [line for line in self.fleet.ledger("start") if line["pid"] != pid and line["at"] > since]
            found = {line["run"]: line["at"] for line in reversed(lines) if line["run"] in runs}
            for run_id in runs - found.keys() - over:
                with suppress(DulyError):
                    run = await self.client.runs.get(run_id)
                    if run is not None and run.status.terminal:
                        over.add(run_id)
            left = len(runs - over)
            return (found,) if len(found) >= (left if least is None else min(least, left)) else None

        (found,) = await self.wait_for(begun, "others to take over")
        self.figures.recoveries += [at - since for at in found.values()]

    def sessions_lost(self) -> int:
        """How often an instance was declared dead: on a crowded machine also one that nobody struck."""
        return len(self.fleet.ledger("session lost"))

    async def works_again(self, since: float) -> None:
        """Wait until something ends after a moment, and note how long it took."""
        line = await self.wait_for(
            lambda: next((line for line in self.fleet.ledger("end") if line["at"] > since), None), "work to go on"
        )
        self.figures.recoveries.append(line["at"] - since)

    async def comes_to_rest(self) -> None:
        """I4: everything that was asked for ends, and every window until now is dealt with."""
        until_ms = round(time.time() * 1000)
        await self.wait_for(self._all_ended, "every run that was asked for to end")
        if self.expected and not self.setting.leaps:
            await self.wait_for(lambda: self._dealt_with(until_ms), "every window to be dealt with")

    async def _all_ended(self) -> bool:
        with suppress(DulyError):
            if len(self._open) > MANY:  # pages tell of two hundred at a time
                async for listed in self.client.runs.iterate(limit=200):
                    if listed.status.terminal:
                        self._open.discard(listed.id)
                    if not self._open:
                        break
            for run_id in list(self._open):
                run = await self.client.runs.get(run_id)
                if self.setting.may_lose if run is None else run.status.terminal:
                    self._open.discard(run_id)
            return not self._open
        return False

    async def _dealt_with(self, until_ms: int) -> bool:
        with suppress(DulyError):
            for key, expected in self.expected.items():
                last = next(at for at in range(until_ms // 1000, 0, -1) if expected.rule.names(at)) * 1000
                newest = (await self.client.runs.list(schedule=key, limit=1)).items
                if not newest or round(newest[0].scheduled_at.timestamp() * 1000) < last:
                    return False
            return True
        return False

    async def judge(self) -> None:
        """Stop the cadence, let the rest end, and compare store, ledger and oracle."""
        flows: list[Run] = []
        runs: list[Run] = []
        for key in self.expected:
            await self.patiently(partial(self.client.schedules.pause, key))
        for key, expected in self.expected.items():
            mine = await self.wait_for(partial(self._settled, key), f"the runs of {key} to end")
            expected.end(max(round(run.scheduled_at.timestamp() * 1000) for run in mine))
            self.figures.add(judge_schedule(expected, mine, self.fleet.ledger("start"), leapt=self.setting.leaps))
            whole = [await self._get(run.id) for run in mine if key in TELLING]  # a list has no results
            runs += [run for run in whole if run is not None] if key in TELLING else mine
            flows += [run for run in whole if run is not None] if key == "flow" else []
        asked: list[Run | None] = []
        for start in range(0, len(self.asked), 50):
            asked += await asyncio.gather(*(self._get(run.id) for run in self.asked[start : start + 50]))
        runs += [run for run in asked if run is not None]
        self.figures.remarks["acknowledged and lost"] = asked.count(None)
        lines = self.fleet.ledger()
        judged = judge_runs(runs, lines, may_fail=self.setting.may_fail)
        if self.setting.may_lose:
            # A run that was lost with its claims begins anew, with the same id and the same fences.
            self.figures.remarks["begun again"] = len([found for found in judged.findings if "fence" in found])
            judged.findings = [found for found in judged.findings if "fence" not in found]
        elif None in asked:
            self.figures.findings.append(f"{asked.count(None)} acknowledged runs are not there")
        self.figures.add(judged)
        self.figures.findings += judge_ledger(lines)
        self.figures.findings += [] if self.setting.may_lose else judge_steps(flows, lines)
        self.figures.findings += await self._audited() + self._checked()

    async def _get(self, run_id: str) -> Run | None:
        return await self.patiently(partial(self.client.runs.get, run_id))

    async def _settled(self, key: str) -> list[Run] | None:
        with suppress(DulyError):
            runs = [run async for run in self.client.runs.iterate(schedule=key, limit=200)]
            return runs if runs and all(run.status.terminal for run in runs) else None
        return None

    async def _audited(self) -> list[str]:
        """I15: the product's own audit finds nothing; how late windows were is the row's own figure."""
        if self.setting.leaps:
            return []
        audit = await self.patiently(partial(self.client.audit, late=31_536_000))
        findings = [found for found in audit.findings if found.key not in self.unaudited]
        return [f"audit: {found.window_key} {found.fault}: {found.detail}" for found in findings]

    def is_locked(self) -> bool:
        """Whether somebody who stands still holds the file's lock: others give it back within moments."""
        if not self.sqlite:
            return False
        connection = apsw.Connection(self.fleet.url.removeprefix("sqlite:///"))
        connection.set_busy_timeout(10_000)
        try:
            connection.execute("BEGIN IMMEDIATE; ROLLBACK")
        except apsw.BusyError:
            return True
        finally:
            connection.close()
        return False

    def _checked(self) -> list[str]:
        if not self.sqlite:
            return []
        connection = apsw.Connection(self.fleet.url.removeprefix("sqlite:///"))
        try:
            found = connection.pragma("integrity_check")
        finally:
            connection.close()
        return [] if found == "ok" else [f"integrity_check: {found}"]

    def kill(self, name: str) -> tuple[int, set[str], float]:
        """SIGKILL; answer the process id, the runs that it was at, and when."""
        pid = self.fleet.processes[name].pid
        os.kill(pid, signal.SIGSTOP)  # what it was at must not change while we look
        time.sleep(0.05)
        runs = self.at_work(pid)
        self.fleet.book.note("nemesis", what=f"SIGKILL {name}")
        at = time.time()  # before: on SQLite others have its runs a few milliseconds after
        self.fleet.kill(name)
        return pid, runs, at


def faked_clock(file: Path) -> dict[str, str]:
    """An environment whose processes read their wall clock from a file; steady clocks stay true."""
    return {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


@cache
def warm() -> Warm:
    """What all instances of this process are forked from: a start costs more than all that most of them do."""
    made = Warm()
    atexit.register(made.close)
    return made


@asynccontextmanager
async def open_trial(
    setting: Setting, store: str, seed: str, shared: Server | None, *, scale: int = 1
) -> AsyncIterator[Trial]:
    """A fleet that is up and at work; everything that was started is gone afterwards.

    ``store`` is ``sqlite``, ``postgres``, or the URL of a store that somebody else looks after.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(working_folder())
        disk = stack.enter_context(small_disk(setting.disk)) if setting.disk else None
        server: Server | None = None
        if store == "sqlite":
            url = f"sqlite:///{(disk or folder) / 'duly.db'}"
        elif store != "postgres":
            url = store
        else:
            server = shared if shared is not None and not setting.own_server else None
            server = server or stack.enter_context(_own_server(setting, folder, disk))
            url = stack.enter_context(fresh_database(server.url)) if server is shared else server.url
        book = Ledger(folder)
        stack.callback(book.close)
        fleet = ChaosFleet(url, folder, book, warm())
        stack.callback(fleet.close)
        trial = Trial(setting, fleet, seed)
        trial.server, trial.disk, trial.scale = server, disk, scale
        if setting.broker:
            trial.broker = stack.enter_context(open_broker(setting.broker))
        ways = url
        if setting.pgbouncer and server is not None:
            bouncer = stack.enter_context(pgbouncer_server(server.url))
            ways = with_database(bouncer.url, url.rpartition("/")[2])
            fleet.url = ways
        if setting.proxied:
            for name in setting.instances:
                proxy = Proxy(ways)
                trial.proxies[name] = proxy
                stack.callback(proxy.close)
        async with AsyncExitStack() as clients:
            await clients.enter_async_context(trial.client)
            await trial.start(*setting.instances)
            if setting.load:
                await trial.make_schedules()
            yield trial


@contextmanager
def _own_server(setting: Setting, folder: Path, disk: Path | None) -> Iterator[Server]:
    environment: dict[str, str] = {}
    if setting.slow_sync_ms:
        environment |= slow_syncs(folder, setting.slow_sync_ms)
    if setting.fake_server:
        clock = folder / "clock-server"
        clock.write_text("+0")
        clock.chmod(0o644)
        environment |= faked_clock(clock)
    with postgres_server(
        fsync=setting.fsync, settings=setting.server_settings, environment=environment, below=disk
    ) as server:
        yield server


@contextmanager
def working_folder() -> Iterator[Path]:
    """A folder for one trial; kept, with its logs and its ledger, if the trial fails."""
    # In memory: a killed process loses nothing that it gave to the system, and disks of busy machines are slow.
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="duly-chaos-", dir=memory if memory.is_dir() else None))
    folder.chmod(0o755)
    try:
        yield folder
    except BaseException as error:
        error.add_note(f"kept: {folder}")
        raise
    shutil.rmtree(folder, ignore_errors=True)
