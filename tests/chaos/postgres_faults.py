"""P rows: a PostgreSQL that dies, freezes, fills up, is locked, and a network that loses what matters."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from functools import partial
from typing import Any

import psycopg
from psycopg import sql

from duly.store.postgres.inspecting import inspect
from tests.chaos.judging import percentile
from tests.chaos.trial import LEASE, Trial
from tests.servers import Server
from tests.store.postgres.proxy import Fault, Proxy

COMMIT = b"COMMIT\x00"


def server_of(trial: Trial) -> Server:
    assert trial.server is not None
    return trial.server


def administer(trial: Trial, statement: str) -> list[tuple[Any, ...]]:
    """Run a statement beside the fleet, on a connection of its own."""
    with psycopg.connect(server_of(trial).url, autocommit=True) as connection:
        cursor = connection.execute(sql.SQL(statement))
        return cursor.fetchall() if cursor.description else []


async def end_backends(trial: Trial) -> None:
    """P01: backends are ended at random for five seconds."""
    await trial.ask(9)
    end_at = time.monotonic() + 5
    while time.monotonic() < end_at:
        await asyncio.to_thread(
            administer,
            trial,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            " AND pid <> pg_backend_pid() AND application_name NOT LIKE '%psql%' AND random() < 0.3",
        )
        await trial.pause(trial.chance.uniform(0.2, 0.8))
    await trial.works_again(time.time())


async def restart_server(trial: Trial) -> None:
    """P02: the server is stopped fast, stopped at once, or killed, and starts again."""
    server = server_of(trial)
    await trial.ask(9)
    await trial.pause(trial.chance.uniform(0.2, 1.5))
    match trial.figures.repetitions % 3:
        case 0:
            server.kill()
        case 1:
            os.kill(server.pid, signal.SIGQUIT)
            await asyncio.to_thread(server.stop)
        case _:
            await asyncio.to_thread(server.stop)
    await trial.pause(trial.chance.uniform(0, 2))
    await _start_again(trial, server)


async def _start_again(trial: Trial, server: Server) -> None:
    await asyncio.to_thread(server.start)
    await trial.works_again(time.time())


async def away_for_long(trial: Trial) -> None:
    """P03: the server is away for many leases."""
    server = server_of(trial)
    await trial.ask(9)
    await asyncio.to_thread(server.stop)
    await trial.pause(8 * LEASE)
    await _start_again(trial, server)


async def freeze_server(trial: Trial) -> None:
    """P04: the server stands still for ten seconds; connections stay open."""
    server = server_of(trial)
    await trial.ask(9)
    await trial.pause(0.5)
    server.pause()
    await trial.pause(10)
    server.resume()
    await trial.works_again(time.time())


async def black_hole(trial: Trial) -> None:
    """P05: nothing passes between the fleet and the server for four leases; what was sent arrives late."""
    await _while_all(trial, Fault.HOLD, 4 * LEASE)


async def half_link(trial: Trial) -> None:
    """P09: what the fleet writes arrives, and no answer comes back, for three leases."""
    await _while_all(trial, Fault.SWALLOW_REPLIES, 3 * LEASE)


async def _while_all(trial: Trial, fault: Fault, seconds: float) -> None:
    await trial.ask(9)
    await trial.pause(0.5)
    for proxy in trial.proxies.values():
        proxy.set(fault)
    await trial.pause(seconds)
    for proxy in trial.proxies.values():
        proxy.heal()
    await trial.works_again(time.time())


async def lose_commit_replies(trial: Trial) -> None:
    """P06: ten answers to COMMIT are lost; the work is done and nobody knows."""
    await _at_commits(trial, Fault.LOSE_REPLY, 10)


async def lose_commits(trial: Trial) -> None:
    """P07: ten COMMITs never arrive."""
    await _at_commits(trial, Fault.LOSE, 10)


async def _at_commits(trial: Trial, fault: Fault, cuts: int) -> None:
    before = sum(proxy.met for proxy in trial.proxies.values())
    await trial.ask(9)
    for number in range(cuts):
        proxy = trial.chance.choice(list(trial.proxies.values()))
        met = proxy.met
        proxy.set(fault, at=COMMIT)
        await trial.wait_for(partial(_met_again, proxy, met), f"cut {number}")
        await trial.pause(trial.chance.uniform(0, 0.3))
    remarks = trial.figures.remarks
    remarks["cuts"] = remarks.get("cuts", 0) + sum(proxy.met for proxy in trial.proxies.values()) - before


def _met_again(proxy: Proxy, before: int) -> bool:
    return proxy.met > before


async def slow_link(trial: Trial) -> None:
    """P08: 200 ms more each way, more or less, then 20 KB a second, for two leases each."""
    lost = trial.sessions_lost()
    await trial.ask(9)
    for proxy in trial.proxies.values():
        proxy.delay = 0.2
    await trial.pause(2 * LEASE)
    trial.figures.remarks["sessions lost at 200 ms"] = trial.sessions_lost() - lost
    for proxy in trial.proxies.values():
        proxy.delay, proxy.bytes_per_second = 0.0, 20_000
    await trial.pause(2 * LEASE)
    for proxy in trial.proxies.values():
        proxy.heal()


async def lock_held(trial: Trial) -> None:
    """P10: somebody locks the table of runs for ten seconds, then a few rows of it for one lease."""
    await trial.ask(9)

    def hold(statement: str, seconds: float) -> None:
        with psycopg.connect(server_of(trial).url) as connection:
            connection.execute(sql.SQL(statement))
            time.sleep(seconds)
            connection.rollback()

    await asyncio.to_thread(hold, "LOCK TABLE duly.duly_runs IN ACCESS EXCLUSIVE MODE", 10)
    await trial.ask(9)
    await asyncio.to_thread(hold, "SELECT id FROM duly.duly_runs LIMIT 3 FOR UPDATE", LEASE)
    await trial.works_again(time.time())


async def no_connections(trial: Trial) -> None:
    """P11: every connection is taken, and half of what we had is ended; then the server only reads."""
    await trial.ask(9)
    server = server_of(trial)

    def fill() -> None:
        held: list[psycopg.Connection[Any]] = []
        with suppress(psycopg.OperationalError):
            while len(held) < 300:
                held.append(psycopg.connect(server.url))
        administer_on = held[0]
        administer_on.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            " AND backend_start < now() - interval '3 seconds' AND random() < 0.5 AND pid <> pg_backend_pid()"
        )
        end_at = time.monotonic() + 2 * LEASE
        while time.monotonic() < end_at:
            with suppress(psycopg.OperationalError):
                held.append(psycopg.connect(server.url))
            time.sleep(0.01)
        for connection in held:
            connection.close()

    await asyncio.to_thread(fill)
    await trial.works_again(time.time())
    administer(trial, "ALTER SYSTEM SET default_transaction_read_only = on")
    administer(trial, "SELECT pg_reload_conf()")
    await trial.pause(1.5 * LEASE)
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute("ALTER SYSTEM RESET default_transaction_read_only")
        connection.execute("SELECT pg_reload_conf()")
    await trial.works_again(time.time())


async def random_errors(trial: Trial) -> None:
    """P12: every twentieth transaction fails, or is done without anybody knowing; the plan of the instances says so."""
    await trial.ask(20)
    await trial.pause(8)


async def full_disk(trial: Trial) -> None:
    """P13, S04: the disk fills up for two leases, and is freed."""
    assert trial.disk is not None
    await trial.ask(9)
    await trial.pause(0.5)
    ballast = trial.disk / "ballast"
    file = os.open(ballast, os.O_WRONLY | os.O_CREAT)
    with suppress(OSError):
        while os.write(file, bytes(4096)):
            pass
    os.close(file)
    await trial.pause(2 * LEASE)
    ballast.unlink()
    server = trial.server
    if server is not None and not await asyncio.to_thread(server.answers):
        await asyncio.to_thread(server.stop)  # it ends itself where it cannot write its log; somebody starts it again
        await asyncio.to_thread(server.start)
    await trial.works_again(time.time())


async def through_pooler(trial: Trial) -> None:
    """P15: PgBouncer in transaction mode; its server connections are ended, then one instance is killed."""
    from tests.chaos.process_faults import kill_one

    await end_backends(trial)
    await kill_one(trial)


async def slow_sync(trial: Trial) -> None:
    """P14: every sync of the server takes 200 ms."""
    lost = trial.sessions_lost()
    await trial.ask(20)
    await trial.pause(3 * LEASE)
    trial.figures.remarks["sessions lost"] = trial.sessions_lost() - lost


async def old_snapshot(trial: Trial, seconds: float = 600) -> None:
    """P16: somebody holds an old snapshot for ten minutes at 200 runs a second, and nothing can be swept up.

    How long runs wait before, at its end and after is told; that vacuum catches up afterwards is judged.
    """
    calm = await passing(trial, 20)
    with psycopg.connect(server_of(trial).url) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.execute("SELECT count(*) FROM duly.duly_runs")
        began = time.monotonic()
        held = await passing(trial, seconds - 60)
        last = await passing(trial, 60)
        rate = (len(held) + len(last)) / (time.monotonic() - began)
        dead = await _dead_rows(trial)
        told = [text for text in await asyncio.to_thread(_warnings, trial) if "snapshot" in text]
    free_at = time.monotonic()
    if not dead or not told:
        trial.figures.findings.append(f"a snapshot was held for {seconds} s: {dead} dead rows shown, told: {told}")
    await trial.wait_for(partial(_swept_below, trial, dead // 2), "vacuum to sweep up")
    swept = time.monotonic() - free_at
    after = await passing(trial, 20)
    trial.figures.remarks |= {
        "runs a second": round(rate),
        "begin p99 s before, at the end, after": [percentile(waits, 99) for waits in (calm, last, after)],
        "dead rows": dead,
        "swept after s": round(swept),
    }


async def passing(trial: Trial, seconds: float) -> list[float]:
    """Let 200 runs a second pass, if the machine can; answer how long each waited to be begun."""
    end_at, waits = time.monotonic() + seconds, []
    while (began := time.monotonic()) < end_at:
        seen, asked_at = len(trial.fleet.ledger()), time.time()
        runs = {run.id for run in await trial.ask(100, "nap", seconds=0)}
        begun = await trial.wait_for(partial(_begun, trial, runs, seen), "the batch to begin")
        waits += [at - asked_at for at in begun]
        await trial.pause(max(0.0, began + 0.5 - time.monotonic()))
    return waits


def _begun(trial: Trial, runs: set[str], seen: int) -> list[float] | None:
    fresh = trial.fleet.book.read()[seen:]
    found = {line["run"]: line["at"] for line in reversed(fresh) if line["event"] == "start" and line["run"] in runs}
    return list(found.values()) if len(found) == len(runs) else None


async def _dead_rows(trial: Trial) -> int:
    """What duly itself shows."""
    waits = (await trial.client._store.count_load(limit=1)).waits
    assert waits is not None
    return waits.dead_rows or 0


async def _swept_below(trial: Trial, limit: int) -> bool:
    return await _dead_rows(trial) <= limit


def _warnings(trial: Trial) -> list[str]:
    return [finding.text for finding in inspect(server_of(trial).url).findings]


async def cut_one(trial: Trial) -> None:
    """N01: one instance is cut off from the store for two leases."""
    runs = await trial.ask(9, "nap", seconds=2)
    ids = {run.id for run in runs}
    await trial.wait_for(lambda: ids <= {line["run"] for line in trial.fleet.ledger("start")}, "work to begin")
    name = trial.any_instance()
    pid, at = trial.fleet.processes[name].pid, time.time()
    mine = trial.at_work(pid)
    trial.proxies[name].set(Fault.SWALLOW_ALL)
    await trial.taken_over(mine & ids, at, pid)
    await trial.pause(LEASE)
    trial.proxies[name].heal()


async def flapping(trial: Trial) -> None:
    """N02: the links are there for a second and gone for a second, ten times."""
    await trial.ask(9)
    for _ in range(10):
        for proxy in trial.proxies.values():
            proxy.set(Fault.REFUSE)
            proxy.cut()
        await trial.pause(1)
        for proxy in trial.proxies.values():
            proxy.heal()
        await trial.pause(1)
    await trial.works_again(time.time())
