"""L rows: herds, backlogs, a dependency that is down, a long history, a long time."""

from __future__ import annotations

import asyncio
import os
import time
from datetime import UTC, datetime
from pathlib import Path

from duly import Every, Once
from tests.chaos import postgres_faults as postgres
from tests.chaos import process_faults as process
from tests.chaos.judging import percentile
from tests.chaos.trial import LEASE, Trial

_MILLION = """
INSERT INTO duly.duly_history
SELECT made.*
FROM (SELECT h FROM duly.duly_history AS h WHERE kind = 'direct' LIMIT 1) AS one,
    (SELECT n, (extract(epoch FROM now()) * 1000)::bigint - 7200000 - n AS at FROM generate_series(1, 1000000) n) AS t,
    LATERAL jsonb_populate_record(one.h, jsonb_build_object(
        'id', lpad(to_hex(at), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15),
        'due_at', at, 'fired_at', at, 'started_at', at, 'finished_at', at + 10
    )) AS made
"""
_LEFT = (
    "SELECT count(*) FROM duly.duly_history WHERE finished_at < (extract(epoch FROM now()) * 1000)::bigint - 3600000"
)
_SIZE = "SELECT pg_total_relation_size('duly.duly_history') / 1048576"
PURGED_WITHIN = 1800.0


async def herd(trial: Trial) -> None:
    """L01: a thousand schedules, ten thousand in a release, are due in the same second."""
    count = 1000 * trial.scale
    due = datetime.fromtimestamp(int(time.time()) + 10 + count // 500, UTC)
    lot = f"{trial.figures.repetitions}"
    made = [{"key": f"herd-{lot}-{number}", "timing": Once(due), "job": "tick"} for number in range(count)]
    for start in range(0, count, 500):
        await trial.client.schedules.create_many(made[start : start + 500])
    wanted = {f"herd-{lot}-{number}" for number in range(count)}
    ends = await trial.wait_for(lambda: _ends_of(trial, wanted), "the herd to pass")
    late = [at - due.timestamp() for at in ends.values()]
    trial.figures.remarks |= {"herd": count, "herd p50 s": percentile(late, 50), "herd p99 s": percentile(late, 99)}


def _ends_of(trial: Trial, keys: set[str]) -> dict[str, float] | None:
    found = {}
    for line in trial.fleet.ledger("end"):
        key = (line.get("window") or "").removeprefix("sched:").rpartition(":")[0]
        if key in keys:
            found[key] = line["at"]
    return found if len(found) == len(keys) else None


async def overdue_start(trial: Trial) -> None:
    """L02: all instances start with a thousand overdue windows, ten thousand in a release."""
    for name in list(trial.fleet.processes):
        trial.fleet.kill(name)
    lot, count = trial.figures.repetitions, 200 * trial.scale
    options = {"job": "tick", "overlap": "allow", "catch_up": "all", "max_runs": 6}
    made = [{"key": f"overdue-{lot}-{n}", "timing": Every(seconds=1), **options} for n in range(count)]
    await trial.client.schedules.create_many(made)
    await trial.pause(5.5)
    up_at = time.time()
    await trial.start(*trial.setting.instances)
    wanted = {f"overdue-{lot}-{n}" for n in range(count)}
    await trial.wait_for(lambda: _ends_of(trial, wanted), "the backlog to be begun")
    trial.figures.recoveries.append(time.time() - up_at)
    await trial.wait_for(lambda: _count_of(trial, wanted) >= 6 * count, "the backlog to be worked off")
    trial.figures.remarks["backlog s"] = round(time.time() - up_at, 1)
    if _count_of(trial, wanted) != 6 * count:
        trial.figures.findings.append(f"{_count_of(trial, wanted)} windows were worked off; {6 * count} were due")


def _count_of(trial: Trial, keys: set[str]) -> int:
    windows = {line["window"] for line in trial.fleet.ledger("end") if line.get("window")}
    return sum(window.removeprefix("sched:").rpartition(":")[0] in keys for window in windows)


async def dependency_down(trial: Trial) -> None:
    """L03: a thousand runs fail together while what they need is away; tries stay bounded, and all end after."""
    switch = trial.folder / f"dependency-{trial.figures.repetitions}"
    runs = await trial.ask(1000, "dependent", switch=str(switch))
    ids = {run.id for run in runs}
    await trial.pause(3 * LEASE)
    switch.touch()
    up_at = time.time()
    await trial.comes_to_rest()
    tries = [line for line in trial.fleet.ledger("start") if line["run"] in ids]
    trial.figures.recoveries.append(time.time() - up_at)
    busiest = max(len([1 for line in tries if int(line["at"]) == second]) for second in {int(t["at"]) for t in tries})
    trial.figures.remarks |= {"tries per run": round(len(tries) / 1000, 1), "most tries in a second": busiest}


async def big_history(trial: Trial) -> None:
    """L04: a million finished runs are there and are purged, while 200 others a second pass."""
    calm = await postgres.passing(trial, 20)
    await trial.comes_to_rest()
    await asyncio.to_thread(postgres.administer, trial, _MILLION)
    began, meanwhile = time.monotonic(), [0.0]
    while left := (await asyncio.to_thread(postgres.administer, trial, _LEFT))[0][0]:
        assert time.monotonic() < began + PURGED_WITHIN, f"{left} of a million are still there"
        meanwhile += await postgres.passing(trial, 10)
    took = time.monotonic() - began
    size = (await asyncio.to_thread(postgres.administer, trial, _SIZE))[0][0]
    sizes = [*trial.figures.remarks.get("history MB after each", ()), size]
    trial.figures.remarks |= {
        "purged in s": round(took),
        "begin p99 s before, meanwhile": [percentile(calm, 99), percentile(meanwhile, 99)],
        "history MB after each": sizes,
    }


SOAKED = (
    process.kill_one,
    process.freeze_one,
    process.terminate_then_kill,
    process.rolling_deploy,
    postgres.end_backends,
    postgres.restart_server,
    postgres.black_hole,
    postgres.half_link,
    postgres.lose_commit_replies,
    postgres.cut_one,
    postgres.flapping,
)
WITNESS = "witness"


async def soak(trial: Trial) -> None:
    """L05: a random fault a minute. One instance is never struck itself, so that what it holds can be watched."""
    if WITNESS not in trial.fleet.processes:
        await trial.start(WITNESS)
    began = time.monotonic()
    strike = trial.chance.choice(SOAKED)
    await strike(trial)
    await trial.comes_to_rest()
    await trial.pause(max(0.0, 60 - (time.monotonic() - began)))
    remarks = trial.figures.remarks
    remarks[strike.__name__] = remarks.get(strike.__name__, 0) + 1
    pid = trial.fleet.processes[WITNESS].pid
    now = {"RSS MB": _memory(pid), "descriptors": len(os.listdir(f"/proc/{pid}/fd")), "threads": _threads(pid)}
    now |= {"sweepable rows": (await asyncio.to_thread(postgres.administer, trial, _SWEEPABLE))[0][0]}
    for name, value in now.items():
        first, most, _ = remarks.get(f"{name} first, most, last", (value, value, value))
        remarks[f"{name} first, most, last"] = (first, max(most, value), value)


_SWEEPABLE = "SELECT coalesce(sum(n_dead_tup), 0)::bigint FROM pg_stat_user_tables"


def _memory(pid: int) -> int:
    return round(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 2**20)


def _threads(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/task"))
