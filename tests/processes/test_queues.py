"""Limits of a queue over several processes: they hold for all together, and over restarts and crashes."""

import time
from itertools import pairwise

import pytest

from duly import Duly, Run, RunStatus
from tests.acceptance.rules import rule
from tests.processes.fleet import STEADY, Fleet, all_ended, until

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes"), pytest.mark.timeout(180, func_only=True)]


def most_at_once(fleet: Fleet) -> int:
    """How many handlers were running at the same time, by their own notes."""
    steps = sorted((line["at"], 1 if line["event"] == "start" else -1) for line in fleet.ledger() if "run" in line)
    running = most = 0
    for _, step in steps:
        running += step
        most = max(most, running)
    return most


@rule("J1")
async def test_j1_the_cap_of_a_queue_holds_for_two_processes_together(fleet: Fleet) -> None:
    async with fleet.client() as client:
        await client.queues.set("narrow", max_running=3)
        # Neither can take all three places, so both must work.
        await fleet.start_all("a", "b", settings={"concurrency": 2, **STEADY})
        runs = await client.runs.enqueue_many("nap", [{"seconds": 0.3}] * 24, queue="narrow")
        ended = await until(lambda: all_ended(client, runs), fleet, "every run to end")
    assert {run.status for run in ended} == {RunStatus.COMPLETED}
    assert {run.instance for run in ended} == {"a", "b"}
    assert most_at_once(fleet) == 3


@rule("J2")
async def test_j2_the_rate_of_a_queue_holds_over_a_restart(fleet: Fleet) -> None:
    async with fleet.client() as client:
        await client.queues.set("slow", rate=4, per=5)
        await fleet.start_all("first")
        runs = await client.runs.enqueue_many("tick", [{}] * 10, queue="slow")
        # In the store: what it only noted in the ledger would be lost with it, and start again.
        await until(lambda: _four_ended(client, runs), fleet, "the first window to be used up")
        fleet.kill("first")
        await fleet.start_all("a", "b", settings=STEADY)
        up_at = round(time.time() * 1000)
        ended = await until(lambda: all_ended(client, runs), fleet, "every run to end")
    starts = sorted(round(run.started_at.timestamp() * 1000) for run in ended if run.started_at is not None)
    assert len(starts) == 10
    windows = [starts[0:4], starts[4:8], starts[8:]]
    for one, other in pairwise(windows):
        assert other[0] - one[0] >= 5000, "a window had more starts than the rate allows"
    assert starts[-1] - max(up_at, starts[0] + 5000) < 5000 + 30_000, "and nobody waited for nothing"


async def _four_ended(client: Duly, runs: list[Run]) -> bool:
    found = [await client.runs.get(run.id) for run in runs]
    return sum(run is not None and run.status.terminal for run in found) >= 4


@rule("J4")
async def test_j4_a_crashed_holder_s_place_is_freed_a_live_one_s_is_kept(fleet: Fleet) -> None:
    plan = {"settings": {"lease": 8}}
    async with fleet.client() as client:
        await client.queues.set("single", max_running=1)
        await fleet.start_all("holder", **plan)
        (long,) = await client.runs.enqueue_many("nap", [{"seconds": 10}], queue="single")
        await until(lambda: fleet.ledger("start"), fleet, "the long run to begin")
        await fleet.start_all("other", **plan)
        (next_one,) = await client.runs.enqueue_many("nap", [{"seconds": 600}], queue="single")
        await until(lambda: len(fleet.ledger("start")) == 2, fleet, "the next run to begin")
        ended, begun = fleet.ledger("end")[0], fleet.ledger("start")[1]
        assert (ended["run"], begun["run"]) == (long.id, next_one.id)
        assert ended["at"] <= begun["at"], "it took longer than the lease, and kept its place"
        holder = fleet.ledger("start")[1]["instance"]
        fleet.kill(holder)
        killed_at = time.time()
        await until(lambda: len(fleet.ledger("start")) == 3, fleet, "the place to be freed")
        again = fleet.ledger("start")[2]
    assert again["run"] == next_one.id
    assert again["instance"] != holder
    assert again["at"] - killed_at < 8 + 30, "its lease, and much patience with a busy machine"
    fleet.check_ledger()
