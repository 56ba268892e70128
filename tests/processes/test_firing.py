"""Windows fire once with many instances, and with instances that are killed at the worst moment."""

import signal
import time
from collections import Counter

import pytest

from duly import Every, RunStatus
from duly.core.instants import to_datetime
from tests.acceptance.rules import rule
from tests.processes.fleet import STEADY, Fleet, check_windows, history, until, window_ms, windows_between

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes"), pytest.mark.timeout(180, func_only=True)]


@rule("S3.1", "S3.76", "S0.27", "S4.24", "A3")
async def test_a3_ten_instances_fire_each_window_once(fleet: Fleet) -> None:
    """A1 as well: on every window ten schedulers try at the same instant, and none of them makes noise."""
    await fleet.start_all(*[f"i{number}" for number in range(10)], settings={"poll": 0.5, **STEADY})
    async with fleet.client() as client:
        made = await client.schedules.create(
            "every-second", Every(seconds=1), job="tick", overlap="allow", catch_up="all"
        )
        created = round(made.created_at.timestamp() * 1000)
        enough = created + 15_000
        await until(lambda: time.time() * 1000 > enough and _newest(fleet) > enough, fleet, "fifteen windows")
        await client.schedules.pause("every-second")
        runs = await until(lambda: _settled(client), fleet, "the last run to end")
        check_windows(runs, windows_between(created, window_ms(runs[-1]), 1000))
        assert len(runs) >= 15
        assert {(run.status, run.attempt) for run in runs} == {(RunStatus.COMPLETED, 1)}
        lateness = sorted((run.fired_at - run.scheduled_at).total_seconds() for run in runs)
        assert lateness[0] >= 0, "never early"
        assert lateness[len(lateness) // 2] < 5, "on time, on a machine that has much else to do"
    starts = fleet.ledger("start")
    assert sorted(line["window"] for line in starts) == [run.window_key for run in runs], "each was executed once"
    assert {line["loop"] for line in fleet.ledger("failed")} == set(), "without error noise"
    fleet.check_ledger()
    assert await fleet.terminate(*[f"i{number}" for number in range(10)]) == [0] * 10


def _newest(fleet: Fleet) -> int:
    return max((int(line["window"].rpartition(":")[2]) for line in fleet.ledger("start")), default=0)


async def _settled(client):
    runs = await history(client, "every-second")
    return runs if all(run.status.terminal for run in runs) else None


@rule("S3.48", "A4")
async def test_a4_killed_right_after_the_fire_was_committed_the_window_is_not_fired_again(fleet: Fleet) -> None:
    """A5 as well: the window is there with its run, or not at all."""
    doomed = fleet.start("doomed", failpoint="after fire")
    async with fleet.client() as client:
        await until(lambda: _sessions(client), fleet, "the instance to be up")
        made = await client.schedules.create("k", Every(seconds=2), job="tick", overlap="allow", catch_up="all")
        created = round(made.created_at.timestamp() * 1000)
        await until(lambda: doomed.poll() is not None, fleet, "the failpoint")
        assert [line["name"] for line in fleet.ledger("failpoint")] == ["after fire"]
        assert fleet.ledger("start") == []
        orphans = await history(client, "k")  # one, or more where the machine was busy
        check_windows(orphans, windows_between(created, window_ms(orphans[-1]), 2000))
        await fleet.start_all("a", "b", settings=STEADY)
        least = len(orphans) + 2
        await until(lambda: _ended(client, least), fleet, "the windows to be worked off")
        await client.schedules.pause("k")
        runs = await until(lambda: _ended(client, least), fleet, "the last run to end")
        check_windows(runs, windows_between(created, window_ms(runs[-1]), 2000))
        assert {run.status for run in runs} == {RunStatus.COMPLETED}
        fired = {run.id: run.fired_at for run in runs}
        assert {run.id: fired[run.id] for run in orphans} == {run.id: run.fired_at for run in orphans}
    executed = [line["run"] for line in fleet.ledger("start")]
    assert sorted(executed) == sorted(run.id for run in runs), "each was executed once"
    fleet.check_ledger()


async def _sessions(client):
    return [i for i in await client._store.list_instances() if i.name != "client"]


async def _ended(client, least: int):
    runs = await history(client, "k")
    return runs if len(runs) >= least and all(run.status.terminal for run in runs) else None


@rule("S3.1", "S0.27", "S4.24", "A3")
async def test_a3_a_frozen_and_a_killed_instance_neither_miss_nor_double_a_window(fleet: Fleet) -> None:
    """A13 as well: to the frozen one no time has passed; it wakes up past its lease, and goes on to fire."""
    await fleet.start_all("frozen", "killed")
    await fleet.start_all("steady", settings=STEADY)
    async with fleet.client() as client:
        made = await client.schedules.create("k", Every(seconds=1), job="tick", overlap="allow", catch_up="all")
        created = round(made.created_at.timestamp() * 1000)
        await until(lambda: len(fleet.ledger("end")) >= 2, fleet, "two windows")
        await fleet.freeze("frozen")
        fleet.kill("killed")
        await until(lambda: _only(client, "steady"), fleet, "both leases to run out")
        alone_at = to_datetime(round(time.time() * 1000))
        await until(lambda: _passed(client, alone_at), fleet, "a window that is fired without them")
        fleet.signal("frozen", signal.SIGCONT)
        await until(lambda: fleet.ledger("session lost"), fleet, "the zombie to notice")
        goal = to_datetime(round(time.time() * 1000) + 1500)
        await until(lambda: _passed(client, goal), fleet, "windows of both")
        await client.schedules.pause("k")
        runs = await until(lambda: _ended(client, 5), fleet, "every run to end")
        check_windows(runs, windows_between(created, window_ms(runs[-1]), 1000))
        assert {run.status for run in runs} == {RunStatus.COMPLETED}
    # What was in the zombie's hands may have begun again; but no claim was begun twice, and nothing else was begun.
    begun = Counter((line["run"], line["fence"]) for line in fleet.ledger("start"))
    assert max(begun.values()) == 1
    assert {run_id for run_id, _ in begun} == {run.id for run in runs}


async def _only(client, name: str) -> bool:
    return {instance.name for instance in await _sessions(client)} == {name}


@rule("S3.76", "S4.23")
async def test_f03_all_instances_killed_at_once_miss_no_window_under_catch_up_all(fleet: Fleet) -> None:
    names = ("a", "b", "c")
    await fleet.start_all(*names)
    async with fleet.client() as client:
        made = await client.schedules.create("k", Every(seconds=1), job="tick", overlap="allow", catch_up="all")
        created = round(made.created_at.timestamp() * 1000)
        await until(lambda: len(fleet.ledger("end")) >= 2, fleet, "two windows")
        for name in names:
            fleet.kill(name)
        down_at = time.time()
        await until(lambda: time.time() > down_at + 2.5, fleet, "the downtime to pass")
        await fleet.start_all(*[f"{name}2" for name in names])
        goal = to_datetime(round(time.time() * 1000) + 1500)
        await until(lambda: _passed(client, goal), fleet, "windows after the restart")
        await client.schedules.pause("k")
        runs = await until(lambda: _ended(client, 5), fleet, "every run to end")
        check_windows(runs, windows_between(created, window_ms(runs[-1]), 1000))
        assert {run.status for run in runs} == {RunStatus.COMPLETED}
    fleet.check_ledger()


async def _passed(client, goal):
    runs = await history(client, "k")
    return runs and runs[-1].window_at > goal
