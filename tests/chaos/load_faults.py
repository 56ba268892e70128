"""L rows: herds, backlogs, a dependency that is down, a long history, a long time."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

from duly import Every, Once
from tests.chaos import postgres_faults as postgres
from tests.chaos import process_faults as process
from tests.chaos.judging import percentile
from tests.chaos.trial import LEASE, Trial

_MILLION = """
INSERT INTO duly_history
SELECT (jsonb_populate_record(h, jsonb_build_object('id', md5(n::text)::uuid, 'ended_at', 1000))).*
FROM (SELECT * FROM duly_history LIMIT 1) h, generate_series(1, 1000000) n
"""


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
    """L04: a million finished runs are there and are purged, while others pass."""
    await trial.ask(1, "nap", seconds=0)
    await trial.comes_to_rest()
    await asyncio.to_thread(postgres.administer, trial, _MILLION)
    for step in range(60):
        await trial.ask(100, "nap", seconds=0)
        await trial.comes_to_rest()
        left = postgres.administer(trial, "SELECT count(*) FROM duly_history WHERE ended_at = 1000")[0][0]
        trial.figures.remarks["left of a million"] = left
        if not left:
            trial.figures.remarks["purged after steps"] = step
            return
        await trial.pause(5)


async def soak(trial: Trial) -> None:
    """L05: a random fault a minute."""
    strikes = (
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
    began = time.monotonic()
    await trial.chance.choice(strikes)(trial)
    await trial.comes_to_rest()
    await trial.pause(max(0.0, 60 - (time.monotonic() - began)))
    trial.figures.remarks["RSS MB"] = max(_memory(process.pid) for process in trial.fleet.processes.values())


def _memory(pid: int) -> int:
    return round(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 2**20)
