"""Installs the peers, each into an environment of its own, and measures them on the same servers as duly.

A machine that others use is calm in one minute and busy in the next, so every repetition of a peer is followed at once
by one of duly doing the same: only that pair is compared.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.bench import Bench
from bench.cells.burst import burst
from bench.cells.queue import queue
from bench.cells.steady import steady
from bench.cells.workflow import workflows
from bench.processes import ROOT, ChildFailed
from tests.servers import free_port

LONGEST = 600.0
SCRIPTS = ROOT / "bench" / "peers"


@dataclass(frozen=True, slots=True)
class Peer:
    """What to install by name, and what can be measured: cell letter, script arguments before the size, and who."""

    script: str
    packages: Sequence[str]
    cells: Sequence[tuple[str, str, Sequence[str], str]]


PEERS = {
    "pgqueuer": Peer(
        "pgqueuer_peer.py",
        ("pgqueuer", "asyncpg"),
        (
            ("A", "recurring", ("recurring",), "pgqueuer-cron/postgres"),
            ("A", "oneshot", ("oneshot",), "pgqueuer/postgres"),
            ("B", "steady", ("steady",), "pgqueuer/postgres"),
            ("C", "create", ("create",), "pgqueuer/postgres"),
            ("E", "drain", ("queue",), "pgqueuer/postgres"),
        ),
    ),
    "apscheduler3": Peer(
        "apscheduler3_peer.py",
        ("apscheduler>=3.11,<4", "sqlalchemy", "psycopg2-binary"),
        (
            ("A", "recurring", ("postgres", "recurring"), "apscheduler3/postgres"),
            ("A", "recurring", ("sqlite", "recurring"), "apscheduler3/sqlite"),
            ("B", "steady", ("postgres", "steady"), "apscheduler3/postgres"),
            ("C", "create", ("postgres", "create"), "apscheduler3/postgres"),
            ("C", "create", ("sqlite", "create"), "apscheduler3/sqlite"),
        ),
    ),
    "huey": Peer(
        "huey_peer.py",
        ("huey",),
        (
            ("A", "oneshot", ("oneshot",), "huey/sqlite"),
            ("C", "create", ("create",), "huey/sqlite"),
            ("E", "drain", ("queue",), "huey/sqlite"),
        ),
    ),
    "dbos": Peer(
        "dbos_peer.py",
        ("dbos",),
        (("W", "two steps", ("workflows",), "dbos/postgres"),),
    ),
    "bullmq": Peer(
        "bullmq_peer.js",
        ("bullmq", "ioredis"),
        (
            ("A", "recurring", ("recurring",), "bullmq-schedulers/redis"),
            ("A", "oneshot", ("oneshot",), "bullmq/redis"),
            ("B", "steady", ("steady",), "bullmq-schedulers/redis"),
            ("E", "drain", ("queue",), "bullmq/redis"),
        ),
    ),
}
SHOWN = (
    "per_s",
    "held_per_s",
    "last_s",
    "p50_ms",
    "p99_ms",
    "missed",
    "doubled",
    "sequential_per_s",
    "bulk_per_s",
    "steps_per_s",
    "wrong",
)


def run(bench: Bench, cells: Sequence[str]) -> None:
    """Measure the peers asked for, in the cells asked for."""
    for name in bench.options.peers:
        if name not in PEERS:
            raise ChildFailed(f"peer {name!r} is not known; expected some of {', '.join(PEERS)}")
        peer = PEERS[name]
        try:
            command, environment = _install(bench.cache, name, peer)
        except (subprocess.CalledProcessError, OSError) as error:
            bench.report.say(f"{name} could not be installed: {error}")
            continue
        with _redis(bench.folder, needed=name == "bullmq") as redis:
            environment |= {"BENCH_PG": bench.stores.server.url, "BENCH_DIR": str(bench.folder), "BENCH_REDIS": redis}
            for cell, what, arguments, who in peer.cells:
                if cell in cells:
                    _cell(bench, cell, what, who, partial(_ask, [*command, *arguments], environment))


def _cell(bench: Bench, cell: str, what: str, who: str, ask: Callable[[Sequence[str]], dict[str, float]]) -> None:
    options = bench.options
    sizes: dict[str, list[tuple[str, list[str]]]] = {
        "A": [(f"{what} {n}", [str(n)]) for n in options.bursts],
        "B": [(f"{rate}/s", [str(rate), str(round(options.steady_s))]) for rate in options.rates],
        "C": [("create", ["20000"])],
        "E": [(f"drain {options.queue}", [str(options.queue)])],
        "W": [(f"two steps {options.queue // 10}", [str(options.queue // 10)])],
    }
    for label, size in sizes[cell]:
        ours = _same(bench, cell, what, who, int(size[0]))
        theirs_answers, our_answers = [], []
        try:
            for _ in range(options.reps):
                theirs_answers.append(ask(size))
                if ours is not None:
                    our_answers.append(ours())
        except ChildFailed as error:
            bench.report.say(f"{who} {label}: {error}")
            continue
        bench.report.add(cell, who, label, theirs_answers, *SHOWN)
        if our_answers:
            bench.report.add(cell, beside(who), label, our_answers, *SHOWN)


def beside(who: str) -> str:
    """Under which name duly stands in the report when it took turns with a peer."""
    return f"duly/{_store_for(who)} in turn with {who}"


def _store_for(who: str) -> str:
    return "sqlite" if who.endswith("/sqlite") else "postgres"


def _same(bench: Bench, cell: str, what: str, who: str, size: int) -> Callable[[], dict[str, float]] | None:
    """Duly doing what a peer does in a cell; None where nothing is compared."""
    kind = _store_for(who)
    match cell:
        case "A":
            return partial(burst, bench, kind, what, size)
        case "B":
            return partial(steady, bench, kind, size)
        case "E":
            return partial(queue, bench, kind, size)
        case "W":
            return partial(workflows, bench, kind, size)
        case _:
            return None


def _install(cache: Path, name: str, peer: Peer) -> tuple[list[str], dict[str, str]]:
    """Answer how to start a peer's script, after installing what it needs."""
    folder = cache / name
    environment = dict(os.environ)
    ready = folder / "installed"
    wanted = "\n".join(peer.packages)
    installed = ready.exists() and ready.read_text() == wanted
    if peer.script.endswith(".js"):
        if not installed:
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run(["npm", "install", "--silent", "--prefix", str(folder), *peer.packages], check=True)
        command = ["node", str(SCRIPTS / peer.script)]
        environment["NODE_PATH"] = str(folder / "node_modules")
    else:
        python = folder / "bin" / "python"
        if not installed:
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
            subprocess.run([str(python), "-m", "pip", "install", "-qq", *peer.packages], check=True)
        command = [str(python), str(SCRIPTS / peer.script)]
        environment.pop("PYTHONPATH", None)
    ready.write_text(wanted)
    return command, environment


def _ask(script: Sequence[str], environment: dict[str, str], size: Sequence[str]) -> dict[str, float]:
    try:
        done = subprocess.run(
            [*script, *size], env=environment, capture_output=True, text=True, timeout=LONGEST, check=False, cwd=SCRIPTS
        )
    except subprocess.TimeoutExpired as error:
        raise ChildFailed(f"no answer within {LONGEST:g} s") from error
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        raise ChildFailed(f"ended with {done.returncode}: {(done.stderr or done.stdout)[-600:]}")
    answer: dict[str, float] = json.loads(lines[-1])
    return answer


@contextmanager
def _redis(folder: Path, *, needed: bool) -> Iterator[str]:
    """Give the port of a Redis with an append-only file synced every second, while a peer needs one."""
    program = shutil.which("redis-server")
    if not needed or program is None:
        yield ""
        return
    port = free_port()
    flags = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    flags += ["--appendonly", "yes", "--appendfsync", "everysec", "--daemonize", "no"]
    process = subprocess.Popen([program, *flags], stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        yield str(port)
    finally:
        process.terminate()
        process.wait(10)
