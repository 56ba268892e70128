"""P17 to P20, run by ``scripts/patroni``: PostgreSQL with a standby, Patroni and etcd, whose primary is lost.

Replication and the way to etcd lead through proxies, so that they can be cut. A fleet works through a URL that names
both servers and asks for the one that writes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from duly.core.errors import DulyError
from tests.chaos.__main__ import say, table
from tests.chaos.trial import Setting, Trial, open_trial
from tests.servers import _NOBODY, _children_of, free_port, system_postgres
from tests.store.postgres.proxy import Fault, Proxy

TTL = 8
READY_WITHIN = 120.0


class Node:
    """One Patroni with its PostgreSQL, reached by others through proxies."""

    def __init__(self, name: str, folder: Path, etcd_port: int, *, synchronous: bool, strict: bool) -> None:
        self.name = name
        self.folder = folder / name
        self.folder.mkdir()
        self.port, self.rest = free_port(), free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        self.replication = Proxy(self.url)
        self.etcd = Proxy(f"http://nobody@127.0.0.1:{etcd_port}")
        self.process: subprocess.Popen[bytes] | None = None
        self._write_config(synchronous, strict)

    def _write_config(self, synchronous: bool, strict: bool) -> None:
        trusted = ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
        shared = {"ttl": TTL, "loop_wait": 1, "retry_timeout": 3, "maximum_lag_on_failover": 2**30}
        settings = {"use_pg_rewind": True, "parameters": {"max_connections": 200, "wal_log_hints": "on"}}
        config = {
            "scope": "duly",
            "name": self.name,
            "restapi": {"listen": f"127.0.0.1:{self.rest}", "connect_address": f"127.0.0.1:{self.rest}"},
            "etcd3": {"host": _place(self.etcd.url), "use_proxies": True},  # else it asks etcd for its real address
            "bootstrap": {
                "dcs": {
                    **shared,
                    "synchronous_mode": synchronous,
                    "synchronous_mode_strict": strict,
                    "postgresql": settings,
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}],
                "pg_hba": trusted,
            },
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}",
                "connect_address": _place(self.replication.url),
                "data_dir": str(self.folder / "data"),
                "bin_dir": str(system_postgres()),
                "pgpass": str(self.folder / "pgpass"),
                "pg_hba": trusted,
                "authentication": {"superuser": {"username": "postgres"}, "replication": {"username": "postgres"}},
                "parameters": {"unix_socket_directories": ""},
            },
        }
        (self.folder / "patroni.yml").write_text(json.dumps(config))

    def start(self) -> None:
        self.process = _spawn(["/usr/bin/patroni", str(self.folder / "patroni.yml")], self.folder, "patroni.log")

    def postgres(self) -> list[int]:
        """The postmaster and its children."""
        try:
            head = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        except (OSError, IndexError):
            return []
        return [head, *_children_of(head)]

    def kill(self) -> None:
        """SIGKILL of Patroni and of PostgreSQL, at once."""
        assert self.process is not None
        for pid in [self.process.pid, *self.postgres()]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def is_(self, role: str) -> bool:
        """Whether it says so itself: ``primary``, ``replica``, ``synchronous``."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.rest}/{role}", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def close(self) -> None:
        if self.process is not None:
            self.kill()
        self.replication.close()
        self.etcd.close()


class Cluster:
    """An etcd and two nodes."""

    def __init__(self, folder: Path, *, synchronous: bool, strict: bool) -> None:
        self.synchronous = synchronous
        port, peer = free_port(), free_port()
        places = [f"http://127.0.0.1:{number}" for number in (port, peer)]
        flags = ["--data-dir", str(folder / "etcd"), "--listen-client-urls", places[0], "--log-level", "error"]
        flags += ["--advertise-client-urls", places[0], "--listen-peer-urls", places[1]]
        flags += ["--initial-advertise-peer-urls", places[1], "--initial-cluster", f"default={places[1]}"]
        self._etcd = _spawn(["/usr/bin/etcd", *flags], folder, "etcd.log")
        self.nodes = [Node(name, folder, port, synchronous=synchronous, strict=strict) for name in ("one", "two")]
        for node in self.nodes:
            os.chown(node.folder, _NOBODY, _NOBODY)
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        self.url = f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write"

    async def start(self) -> None:
        self.nodes[0].start()
        await wait_for(lambda: self.nodes[0].is_("primary"), "a primary", self)
        self.nodes[1].start()
        await self.is_whole()

    async def is_whole(self) -> None:
        """Wait until one node writes and the other follows it, so closely as the setting asks."""
        role = "synchronous" if self.synchronous else "replica"
        await wait_for(lambda: self._primaries() == 1 and any(n.is_(role) for n in self.nodes), "a whole cluster", self)

    def _primaries(self) -> int:
        return sum(node.is_("primary") for node in self.nodes)

    @property
    def primary(self) -> Node:
        return next(node for node in self.nodes if node.is_("primary"))

    def other(self, node: Node) -> Node:
        return next(one for one in self.nodes if one is not node)

    def close(self) -> None:
        for node in self.nodes:
            node.close()
        self._etcd.kill()
        self._etcd.wait()


def _place(url: str) -> str:
    return url.rpartition("@")[2].partition("/")[0]


def _spawn(command: list[str], folder: Path, log: str) -> subprocess.Popen[bytes]:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
    with (folder / log).open("ab") as file:
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdout=file, stderr=file, user=_NOBODY, group=_NOBODY,
            extra_groups=[], start_new_session=True,
        )  # fmt: skip


async def wait_for(condition: Any, what: str, cluster: Cluster) -> None:
    give_up_at = time.monotonic() + READY_WITHIN
    while not await asyncio.to_thread(condition):
        logs = "".join((node.folder / "patroni.log").read_text()[-1500:] for node in cluster.nodes if node.process)
        assert time.monotonic() < give_up_at, f"waited {READY_WITHIN} s for {what}\n{logs}"
        await asyncio.sleep(0.2)


async def switch_over(trial: Trial, cluster: Cluster) -> None:
    """P17, P18: the roles are changed in order, under load."""
    old = await asyncio.to_thread(lambda: cluster.primary)
    new = cluster.other(old)
    await trial.ask(9)
    began = time.time()
    body = json.dumps({"leader": old.name, "candidate": new.name}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{old.rest}/switchover", data=body, method="POST")
    with await asyncio.to_thread(urllib.request.urlopen, request, timeout=60):
        await wait_for(lambda: new.is_("primary"), "the other to write", cluster)
    await trial.works_again(began)
    await cluster.is_whole()


async def fail_over(trial: Trial, cluster: Cluster) -> None:
    """P17, P18: replication is cut for two seconds under load, then the primary and its Patroni are killed."""
    old = await asyncio.to_thread(lambda: cluster.primary)
    new = cluster.other(old)
    await trial.ask(9)
    old.replication.set(Fault.SWALLOW_ALL)
    asking = asyncio.create_task(trial.ask(9))
    await trial.pause(2)
    began = time.time()
    old.kill()
    await wait_for(lambda: new.is_("primary"), "the other to write", cluster)
    old.replication.heal()
    old.start()  # without a second node a cluster that must have two copies takes no writes
    await cluster.is_whole()
    await trial.works_again(began)
    await asking


async def cut_from_etcd(trial: Trial, cluster: Cluster) -> None:
    """P19: the primary does not reach etcd, clients reach both; never are writes accepted on both sides."""
    old = await asyncio.to_thread(lambda: cluster.primary)
    new = cluster.other(old)
    await trial.ask(9)
    with writing(old) as on_old, writing(new) as on_new:
        began = time.time()
        old.etcd.set(Fault.SWALLOW_ALL)
        await wait_for(lambda: new.is_("primary"), "the other to write", cluster)
        await wait_for(lambda: bool(on_new), "a write on the other", cluster)
    if on_old and on_old[-1] > on_new[0]:
        trial.figures.findings.append(f"both sides accepted writes for {on_old[-1] - on_new[0]:.3f} s")
    trial.figures.remarks["s between the last write there and the first here"] = round(on_new[0] - on_old[-1], 2)
    await trial.works_again(began)
    old.etcd.heal()
    await cluster.is_whole()


async def cancel_the_wait(trial: Trial, cluster: Cluster) -> None:
    """P20: the standby stands still, and the sessions that wait for it are ended: committed here, told to nobody."""
    old = await asyncio.to_thread(lambda: cluster.primary)
    frozen = cluster.other(old).postgres()
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    asking = asyncio.create_task(trial.ask(9))
    ended = 0
    for _ in range(10):
        await trial.pause(0.3)
        ended += await asyncio.to_thread(_end_waiting, old)
    for pid in frozen:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    healed = time.time()
    await asking
    await trial.works_again(healed)
    if not ended:
        trial.figures.findings.append("nobody waited for the standby: the row is void")
    trial.figures.remarks["waits ended"] = trial.figures.remarks.get("waits ended", 0) + ended
    await cluster.is_whole()


def _end_waiting(node: Node) -> int:
    with psycopg.connect(node.url, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = local")
        found = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        ).fetchall()
    return len(found)


async def operate(trial: Trial) -> None:
    """Do what an operator does: a store that lost commits has gone back, and firing holds until somebody has chosen."""
    while True:
        with suppress(DulyError):
            if (await trial.client.firing.state()).restored_at is not None:
                remarks = trial.figures.remarks
                remarks["losses noticed, firing held"] = remarks.get("losses noticed, firing held", 0) + 1
                await trial.client.firing.resume("fire")
        await asyncio.sleep(0.5)


@contextmanager
def writing(node: Node) -> Iterator[list[float]]:
    """Write to one node as fast as it takes it; the list holds when each write was acknowledged."""
    accepted: list[float] = []
    over = threading.Event()

    def write() -> None:
        while not over.is_set():
            with suppress(psycopg.Error), psycopg.connect(node.url, autocommit=True, connect_timeout=2) as connection:
                connection.execute("CREATE TABLE IF NOT EXISTS probe (at float)")
                while not over.is_set():
                    connection.execute("INSERT INTO probe VALUES (0)")
                    accepted.append(time.monotonic())
                    time.sleep(0.02)
            time.sleep(0.05)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield accepted
    finally:
        over.set()
        thread.join(30)


ROWS = (
    ("P17", "asynchronous: switchover", False, switch_over),
    ("P17b", "asynchronous: primary killed", False, fail_over),
    ("P18", "synchronous: switchover", True, switch_over),
    ("P18b", "synchronous: primary killed", True, fail_over),
    ("P19", "primary cut off from etcd", True, cut_from_etcd),
    ("P20", "wait for the standby ended", True, cancel_the_wait),
)


async def strike(row: tuple[str, str, bool, Any], times: int, seed: str) -> dict[str, Any]:
    id, fault, synchronous, act = row
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="duly-patroni-"))
        os.chown(folder, _NOBODY, _NOBODY)
        # Where the other side is to accept writes alone, two copies cannot be asked for.
        cluster = Cluster(folder, synchronous=synchronous, strict=synchronous and act is not cut_from_etcd)
        stack.callback(cluster.close)
        await cluster.start()
        began = time.monotonic()
        async with open_trial(Setting(may_lose=not synchronous), cluster.url, f"{seed}/{id}", None) as trial:
            operator = asyncio.create_task(operate(trial))
            for _ in range(times):
                await act(trial, cluster)
                await trial.comes_to_rest()
                trial.figures.repetitions += 1
            await trial.judge()
            operator.cancel()
            figures = trial.figures
    shutil.rmtree(folder, ignore_errors=True)
    verdict = {"verdict": "FAILED", "why": figures.findings[:20]} if figures.findings else {"verdict": "ok"}
    told = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "load": round(os.getloadavg()[0], 1), "seed": seed}
    told |= {"id": id, "store": "patroni", "fault": fault, "seconds": round(time.monotonic() - began)}
    return {**told, **figures.as_json(), **verdict}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/patroni", description=__doc__)
    parser.add_argument("--rows", help=f"only these: {','.join(row[0] for row in ROWS)}")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--seed", default=None)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    logging.getLogger("duly").setLevel(logging.ERROR)
    seed = arguments.seed or str(random.randrange(10**6))
    say(f"seed {seed}")
    named = (arguments.rows or "").split(",") if arguments.rows else None
    done: list[dict[str, Any]] = []
    for row in ROWS:
        if named is not None and row[0] not in named:
            continue
        say(f"{row[0]}: {row[1]}, {arguments.repeat} times")
        try:
            done.append(asyncio.run(strike(row, arguments.repeat, seed)))
        except Exception as error:  # noqa: BLE001 - a row that fails is a finding, and the others still run
            why = "".join(traceback.format_exception(error))[-6000:]
            done.append({"id": row[0], "store": "patroni", "fault": row[1], "verdict": "FAILED", "why": why})
        say(f"    {done[-1]['verdict']} {done[-1].get('why', '')}")
        if arguments.json:
            arguments.json.write_text(json.dumps(done, indent=1, default=str) + "\n")
    say(table(done))
    return 1 if any(row["verdict"] == "FAILED" for row in done) else 0


if __name__ == "__main__":
    sys.exit(main())
