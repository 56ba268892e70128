"""Workers that are killed, frozen, restarted or poisoned: every run ends once, by its newest attempt."""

import asyncio
import signal
import time
from typing import Any

import pytest

from duly import Duly, Run, RunStatus
from duly.app.stores import own_transaction
from duly.core.run import Reason
from tests.acceptance.rules import rule
from tests.databases import in_store
from tests.processes.fleet import PATIENCE, STEADY, Fleet, all_ended, until

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes"), pytest.mark.timeout(180, func_only=True)]


@rule("E1")
async def test_e1_a_frozen_worker_s_late_writes_are_refused_and_each_run_ends_once(fleet: Fleet) -> None:
    """F07: SIGSTOP past the lease, then SIGCONT; void unless late writes were really seen.

    The lease ends by our hand, in the store alone: one that sees it over when it wakes up stops and writes nothing.
    """
    await fleet.start_all("zombie", roles=["worker"], settings={"lease": 60, "heartbeat": 20})
    async with fleet.client() as client:
        runs = await client.runs.enqueue_many("nap", [{"seconds": 1.0, "first": 5.0}] * 5)
        await until(lambda: len(fleet.ledger("start")) == 5, fleet, "the zombie to begin")
        await fleet.freeze("zombie")
        frozen_at = time.monotonic()
        await fleet.start_all("a", "b", settings=STEADY)
        with own_transaction(fleet.url) as connection:
            connection.execute(in_store(fleet.url, "UPDATE duly_instances SET expires_at = 0 WHERE name = 'zombie'"))
        # Long enough to be still at it when the zombie wakes up, or done: both must hold.
        await until(lambda: len(fleet.ledger("start")) == 10, fleet, "the runs to be taken over")
        await until(lambda: time.monotonic() > frozen_at + 5, fleet, "the zombie's naps to be over")
        fleet.signal("zombie", signal.SIGCONT)
        await until(lambda: len(fleet.ledger("late")) >= 5, fleet, "the late writes")
        ended = await until(lambda: all_ended(client, runs), fleet, "every run to end")
    newest = {line["run"]: line["fence"] for line in fleet.ledger("start") if line["instance"] != "zombie"}
    for run in ended:
        assert (run.status, run.attempt, run.fence) == (RunStatus.COMPLETED, 2, newest[run.id])
        assert run.result == f"fence {newest[run.id]}", "the newer attempt's own result"
        assert run.instance in ("a", "b")
    late = {line["run"] for line in fleet.ledger("late")}
    assert late == {run.id for run in runs}
    assert {line["instance"] for line in fleet.ledger("late")} == {"zombie"}
    await until(lambda: fleet.ledger("session lost"), fleet, "the zombie to notice")
    fleet.check_ledger()
    fleet.kill("a")
    fleet.kill("b")
    async with fleet.client() as client:
        again = await client.runs.enqueue_many("nap", [{"seconds": 0}])
        (done,) = await until(lambda: all_ended(client, again), fleet, "the healed zombie to work")
    assert (done.status, done.instance) == (RunStatus.COMPLETED, "zombie")


async def test_e1_a_worker_frozen_past_its_lease_ends_no_run_that_others_have_by_then(fleet: Fleet) -> None:
    """The same with a lease that runs out by itself: what it then knows is its own affair, what it ends is nothing."""
    await fleet.start_all("zombie", roles=["worker"])
    async with fleet.client() as client:
        runs = await client.runs.enqueue_many("nap", [{"seconds": 1.0, "first": 60.0}] * 5)
        await until(lambda: len(fleet.ledger("start")) == 5, fleet, "the zombie to begin")
        await fleet.freeze("zombie")
        await fleet.start_all("a", "b", settings=STEADY)
        await until(lambda: len(fleet.ledger("start")) == 10, fleet, "the runs to be taken over when the lease is out")
        fleet.signal("zombie", signal.SIGCONT)
        ended = await until(lambda: all_ended(client, runs), fleet, "every run to end")
        await until(lambda: fleet.ledger("session lost"), fleet, "the zombie to notice")
    newest = {line["run"]: line["fence"] for line in fleet.ledger("start") if line["instance"] != "zombie"}
    for run in ended:
        assert (run.status, run.attempt, run.fence) == (RunStatus.COMPLETED, 2, newest[run.id])
        assert run.result == f"fence {newest[run.id]}", "the newer attempt's own result"
    fleet.check_ledger()


async def test_f01_a_killed_worker_s_runs_are_done_by_others_within_lease_and_poll(fleet: Fleet) -> None:
    await fleet.start_all("victim", roles=["worker"])
    async with fleet.client() as client:
        runs = await client.runs.enqueue_many("nap", [{"seconds": 1.5, "first": 600}] * 4)
        await until(lambda: len(fleet.ledger("start")) == 4, fleet, "the victim to begin")
        fleet.kill("victim")
        await fleet.start_all("a", "b", settings=STEADY)
        up_at = time.time()
        ended = await until(lambda: all_ended(client, runs), fleet, "every run to end")
    assert {(run.status, run.attempt) for run in ended} == {(RunStatus.COMPLETED, 2)}
    again = [line["at"] - up_at for line in fleet.ledger("start") if line["instance"] != "victim"]
    assert len(again) == 4
    assert max(again) < 3 + 1 + 30, "lease, half a heartbeat, poll, and much patience with a busy machine"
    fleet.check_ledger()


@pytest.mark.parametrize("fleet", ["sqlite"], indirect=True)
async def test_s01_on_one_machine_a_killed_worker_s_runs_are_taken_without_waiting_for_its_lease(fleet: Fleet) -> None:
    plan = {"settings": {"lease": 10 * PATIENCE, "heartbeat": 2}}
    await fleet.start_all("victim", roles=["worker"], **plan)
    async with fleet.client() as client:
        runs = await client.runs.enqueue_many("nap", [{"seconds": 0.5, "first": 600}] * 3)
        await until(lambda: len(fleet.ledger("start")) == 3, fleet, "the victim to begin")
        fleet.kill("victim")
        await fleet.start_all("a", **plan)
        ended = await until(lambda: all_ended(client, runs), fleet, "every run to end, long before the lease")
    assert {(run.status, run.attempt) for run in ended} == {(RunStatus.COMPLETED, 2)}
    fleet.check_ledger()


async def supervised(fleet: Fleet, client: Duly, runs: list[Run], **plan: Any) -> list[Run]:
    """Start another instance for each that dies, as a supervisor does, until the runs have ended."""
    give_up_at = time.monotonic() + 2 * PATIENCE
    while (ended := await all_ended(client, runs)) is None:
        assert time.monotonic() < give_up_at, fleet.logs()
        for name, process in list(fleet.processes.items()):
            if process.poll() is not None:
                del fleet.processes[name]
                fleet.start(f"{name}x", **plan)
        await asyncio.sleep(0.1)
    return ended


@rule("E5")
async def test_e5_a_run_that_kills_its_process_ends_failed_after_its_attempts(fleet: Fleet) -> None:
    plan = {"settings": {"lease": 8}}
    await fleet.start_all("w0", "w1", **plan)
    async with fleet.client() as client:
        (poison,) = await client.runs.enqueue_many("poison", [{"how": "kill"}], max_attempts=2)
        (done,) = await supervised(fleet, client, [poison], **plan)
        assert (done.status, done.reason, done.attempt) == (RunStatus.FAILED, Reason.LOST, 2)
        others = await client.runs.enqueue_many("nap", [{"seconds": 0.1}] * 10)
        ended = await supervised(fleet, client, others, **plan)
    assert {(run.status, run.attempt) for run in ended} == {(RunStatus.COMPLETED, 1)}
    poisoned = [line["attempt"] for line in fleet.ledger("start") if line["run"] == poison.id]
    assert poisoned == [1, 2], "no endless loop"
    fleet.check_ledger()


async def test_i11_the_runs_beside_one_that_kills_its_process_are_not_failed_with_it(fleet: Fleet) -> None:
    # On their last attempt they have no second chance: a busy machine must not be taken for a death.
    plan = {"settings": {"lease": 10, "heartbeat": 1}}
    await fleet.start_all("w0", "w1", **plan)
    async with fleet.client() as client:
        requests = [client.runs.request("nap", {"seconds": 0.5}, max_attempts=2) for _ in range(10)]
        requests.append(client.runs.request("poison", {"how": "exit"}, max_attempts=2))
        *others, poison = await client._store.enqueue(requests)
        *ended, done = await supervised(fleet, client, [*others, poison], **plan)
    assert done.status is RunStatus.FAILED
    assert [run for run in ended if run.status is not RunStatus.COMPLETED] == []
    fleet.check_ledger()


async def test_f05_a_rolling_restart_fails_nothing_and_spends_no_attempt(fleet: Fleet) -> None:
    """Handlers longer than the grace are cut off and taken again at once, not after the lease."""
    plan = {"settings": {"shutdown_timeout": 0.5, "lease": 300, "heartbeat": 10}}
    await fleet.start_all("a1", "b1", "c1", **plan)
    async with fleet.client() as client:
        runs = await client.runs.enqueue_many("nap", [{"seconds": number % 16} for number in range(16)], max_attempts=1)
        await until(lambda: len(fleet.ledger("start")) >= 8, fleet, "work to begin")
        for old, new in (("a1", "a2"), ("b1", "b2"), ("c1", "c2")):
            assert await fleet.terminate(old) == [0], "in time, although nobody's lease has run out"
            await fleet.start_all(new, **plan)
        ended = await until(lambda: all_ended(client, runs), fleet, "every run to end")
    assert {(run.status, run.attempt) for run in ended} == {(RunStatus.COMPLETED, 1)}
    starts, ends = fleet.ledger("start"), fleet.ledger("end")
    assert len(starts) > len(runs), "some were cut off: else the test is void"
    assert len({line["run"] for line in ends}) == len(ends) == len(runs), "and each was finished once"
    assert fleet.ledger("late") == []
    fleet.check_ledger()
