"""F rows: instances that are killed, frozen, starved, restarted and deployed."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from duly import RunStatus
from duly.core.errors import DulyError
from tests.chaos.needs import cgroup
from tests.chaos.trial import LEASE, REST_WITHIN, Trial

POINTS = (
    "before fire_due", "after fire_due", "before claim_runs", "after claim_runs", "before settle", "after settle",
    "before record_steps", "after record_steps", "after open_session", "before beat", "after beat", "before take_lost",
    "after take_lost",
)  # fmt: skip
"""Where a process may die: with everything written and nothing committed, or committed and unknown to itself."""

FREEZING_POINTS = ("after claim_runs", "before settle", "after settle", "before record_steps", "after record_steps")


async def kill_one(trial: Trial) -> None:
    """F01, S01: SIGKILL at a random moment, another one soon after."""
    await trial.ask(9, "nap", seconds=2)
    await trial.pause(trial.chance.uniform(0.2, 1.5))
    name = trial.busiest()
    pid, runs, at = trial.kill(name)
    await trial.pause(trial.chance.uniform(0, 2))
    await trial.start(name)
    await trial.taken_over(runs, at, pid)


async def kill_at_point(trial: Trial) -> None:
    """F02: SIGKILL at a named point; the points take turns."""
    point = POINTS[trial.figures.repetitions % len(POINTS)]
    await trial.ask(6)
    doomed = trial.fleet.start(trial.new_name("doomed"), **trial.plan_of(""), point=point)
    if "take_lost" in point:  # somebody must be lost first
        name = trial.any_instance()
        trial.kill(name)
        await trial.start(name)
        if doomed.poll() is None:
            await _death_or_other(trial, doomed.pid)
    else:
        await _work_until(trial, lambda: doomed.poll() is not None, f"the instance to die {point}")
    if doomed.poll() is None:
        doomed.kill()
    doomed.wait()
    trial.figures.remarks[point] = trial.figures.remarks.get(point, 0) + 1


async def _work_until(trial: Trial, condition: Callable[[], bool], what: str) -> None:
    """Ask for work until one instance among others has come to its point: who gets which run is chance."""
    give_up_at = time.monotonic() + REST_WITHIN
    while not condition():
        assert time.monotonic() < give_up_at, f"waited {REST_WITHIN} s for {what}\n{trial.fleet.logs()}"
        await trial.ask(12, "nap", seconds=0.2)
        for _ in range(20):
            if condition():
                return
            await asyncio.sleep(0.05)


async def _death_or_other(trial: Trial, pid: int) -> None:
    """Whoever recovers first is chance; the doomed one has a few seconds for it."""
    for _ in range(100):
        if any(line["event"] == "failpoint" and line["pid"] == pid for line in trial.fleet.ledger()):
            return
        await asyncio.sleep(0.05)


async def kill_all(trial: Trial) -> None:
    """F03: SIGKILL of all instances, and nobody for a while."""
    await trial.ask(6)
    await trial.pause(trial.chance.uniform(0.2, 1.0))
    for name in list(trial.fleet.processes):
        trial.fleet.kill(name)
    await trial.pause(trial.chance.uniform(0, 8))
    up_at = time.time()
    await trial.start(*trial.setting.instances)
    await trial.works_again(up_at)


async def kill_child(trial: Trial) -> None:
    """F04: only the process of a handler dies, by a signal, a fault of memory, or its own will."""
    how = ("kill", "segv", "exit")[trial.figures.repetitions % 3]
    lost = trial.sessions_lost()
    runs = await trial.ask(2, "child", how=how)
    ended = [await trial.client.runs.wait(run.id, timeout=REST_WITHIN) for run in runs]
    others = trial.sessions_lost() > lost  # a lease that ran out on a crowded machine spends an attempt as well
    if any(run.status is not RunStatus.COMPLETED or (run.attempt != 2 and not others) for run in ended):
        trial.figures.findings.append(f"a child that died by {how}: {[(run.status, run.attempt) for run in ended]}")


async def rolling_deploy(trial: Trial) -> None:
    """F05: each instance is told to stop and another takes its place, under load; nothing fails, nothing is late."""
    lost = trial.sessions_lost()
    await trial.ask(12, "nap", seconds=2)
    for name in trial.setting.instances:
        codes = await trial.fleet.terminate(name)
        if codes != [0]:
            trial.figures.findings.append(f"{name} ended with {codes}")
        await trial.start(name)
    ended = [await trial.client.runs.wait(run.id, timeout=REST_WITHIN) for run in trial.asked[-12:]]
    attempts = [run for run in ended if run.attempt != 1]
    if attempts and trial.sessions_lost() == lost:
        trial.figures.findings.append(f"{len(attempts)} runs spent an attempt on the deploy")


async def terminate_then_kill(trial: Trial) -> None:
    """F06: SIGTERM, and SIGKILL inside the grace."""
    await trial.ask(6, "nap", seconds=2)
    await trial.pause(0.5)
    name = trial.any_instance()
    trial.fleet.signal(name, signal.SIGTERM)
    await trial.pause(trial.chance.uniform(0, 1))
    pid, runs, at = trial.kill(name)
    await trial.start(name)
    await trial.taken_over(runs, at, pid)


async def freeze_one(trial: Trial) -> None:
    """F07: SIGSTOP until another has begun one of its runs, or for one, half a and five leases; then SIGCONT.

    Woken while others are at its runs, it comes to the ends of its own attempts: writes that must be refused.
    """
    leases = (None, 1, 0.5, 5)[trial.figures.repetitions % 4]
    runs = await trial.ask(9, "slog", seconds=2.5)
    await _all_begun(trial, {run.id for run in runs})
    name = trial.busiest()
    pid = trial.fleet.processes[name].pid
    trial.fleet.book.note("nemesis", what=f"SIGSTOP {name} for {leases} leases")
    trial.fleet.signal(name, signal.SIGSTOP)
    stopped_at = time.time()
    if leases is None and not await asyncio.to_thread(trial.is_locked):
        mine = trial.at_work(pid) & {run.id for run in runs}
        await trial.taken_over(mine, stopped_at, pid, least=min(1, len(mine)))
    else:
        await trial.pause((leases or 1) * LEASE)
    trial.fleet.signal(name, signal.SIGCONT)


async def freeze_tree(trial: Trial) -> None:
    """F07 by the freezer of a control group: the process and whatever it has started."""
    runs = await trial.ask(9, "nap", seconds=1.5)
    await _all_begun(trial, {run.id for run in runs})
    with cgroup("freezer", {}) as group:
        (group / "cgroup.procs").write_text(str(trial.fleet.processes[trial.any_instance()].pid))
        (group / "freezer.state").write_text("FROZEN")
        await trial.pause(2 * LEASE)
        (group / "freezer.state").write_text("THAWED")


async def _all_begun(trial: Trial, runs: set[str]) -> None:
    await trial.wait_for(lambda: runs <= {line["run"] for line in trial.fleet.ledger("start")}, "work to begin")


async def freeze_at_point(trial: Trial) -> None:
    """F08: frozen at a named point until its lease is gone and others have its work, then awake."""
    point = FREEZING_POINTS[trial.figures.repetitions % len(FREEZING_POINTS)]
    await trial.ask(9, "nap", seconds=0.5)
    frozen = trial.fleet.start(name := trial.new_name("frozen"), **trial.plan_of(""), point=point, how="stop")
    await _work_until(trial, lambda: _stopped(frozen.pid), f"the instance to freeze {point}")
    # With the file's lock in its hands, or in those of its writer's thread, nobody can do anything until it wakes.
    if (trial.sqlite and point.startswith("before")) or await asyncio.to_thread(trial.is_locked):
        await trial.pause(LEASE + 1)
    else:
        await trial.wait_for(lambda: _gone(trial, frozen.pid), "the others to declare it dead")
        await trial.pause(1)
    os.kill(frozen.pid, signal.SIGCONT)
    await trial.pause(1.5)
    trial.fleet.kill(name)
    trial.figures.remarks[point] = trial.figures.remarks.get(point, 0) + 1


def _stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


async def _gone(trial: Trial, pid: int) -> bool:
    with suppress(DulyError):
        return pid not in {instance.pid for instance in await trial.client._store.list_instances()}
    return False


async def block_loop(trial: Trial) -> None:
    """F09: a handler holds the event loop for more than three leases: it is lost, ends failed, and others do not."""
    blocking = await trial.client.enqueue("block", {"seconds": 3.5 * LEASE}, max_attempts=2)
    await trial.ask(6)
    ended = await trial.client.runs.wait(blocking.id, timeout=REST_WITHIN)
    if ended.status is not RunStatus.FAILED:
        trial.figures.findings.append(f"the run that held the event loop is {ended.status}: {ended.result}")


async def out_of_memory(trial: Trial) -> None:
    """F10: a run eats more than its process may have; it ends failed, the others do not."""
    with cgroup("memory", {"memory.limit_in_bytes": str(220 * 2**20)}) as group:
        (group / "cgroup.procs").write_text(str(trial.fleet.processes["a"].pid))
        hog = await trial.client.enqueue("hog", {"megabytes": 400}, queue="default", max_attempts=2)
        give_up_at = time.monotonic() + REST_WITHIN
        while not (run := await trial.client.runs.get(hog.id)) or not run.status.terminal:
            assert time.monotonic() < give_up_at, "the run that eats memory never ended"
            for name, process in list(trial.fleet.processes.items()):
                if process.poll() is not None:
                    process.wait()
                    del trial.fleet.processes[name]
                    await trial.start(name)
                (group / "cgroup.procs").write_text(str(trial.fleet.processes[name].pid))
            await asyncio.sleep(0.2)
    if run.status is not RunStatus.FAILED:
        trial.figures.findings.append(f"the run that eats memory is {run.status}")


async def no_descriptors(trial: Trial) -> None:
    """F11: a process has no file descriptors left for two leases."""
    for name in trial.setting.instances:
        resource.prlimit(trial.fleet.processes[name].pid, resource.RLIMIT_NOFILE, (96, 4096))
    await trial.ask(3, "hoard", seconds=2 * LEASE)
    await trial.ask(9)


async def starve(trial: Trial) -> None:
    """F12: one instance gets a twentieth of a core for three leases."""
    limits = {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "5000"}
    with cgroup("cpu", limits) as group:
        (group / "cgroup.procs").write_text(str(trial.fleet.processes[trial.any_instance()].pid))
        await trial.ask(9)
        await trial.pause(3 * LEASE)


async def crash_loop(trial: Trial) -> None:
    """F13: one instance dies every two seconds, for twenty."""
    end_at = time.monotonic() + 20
    while time.monotonic() < end_at:
        await trial.ask(2)
        await trial.pause(2)
        name = trial.any_instance()
        trial.kill(name)
        trial.fleet.start(name, **trial.plan_of(name))
