"""``app.run()`` owns the signals: the first one stops in order, the second one at once."""

import asyncio
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from duly import RunStatus
from tests.processes.fleet import PATIENCE, STEADY, Fleet, all_ended, until
from tests.warm import WarmProcess

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes"), pytest.mark.timeout(120, func_only=True)]

PATIENT: dict[str, Any] = {"settings": {"shutdown_timeout": 600, **STEADY}}


@pytest.fixture
def fleet(tmp_path: Path, sqlite_url: str, own_place: None):
    fleet = Fleet(sqlite_url, tmp_path)
    yield fleet
    fleet.close()


async def ends(process: subprocess.Popen[bytes] | WarmProcess) -> int:
    return await asyncio.to_thread(process.wait, PATIENCE)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_first_signal_lets_what_runs_finish_within_the_grace(fleet: Fleet, number: signal.Signals) -> None:
    await fleet.start_all("a", **PATIENT)
    async with fleet.client() as client:
        runs = await client.runs.enqueue_many("nap", [{"seconds": 1}] * 2)
        await until(lambda: len(fleet.ledger("start")) == 2, fleet, "work to begin")
        fleet.signal("a", number)
        await until(lambda: fleet.ledger("stopping"), fleet, "the signal to be heard")
        late = await client.runs.enqueue_many("nap", [{"seconds": 0}])
        assert await ends(fleet.processes["a"]) == 0
        ended = await all_ended(client, runs)
        assert ended is not None
        assert {run.status for run in ended} == {RunStatus.COMPLETED}
        assert (await client.runs.get(late[0].id)).status is RunStatus.PENDING  # type: ignore[union-attr]
        assert [i.name for i in await client._store.list_instances()] == ["client"]
    assert [line["event"] for line in fleet.ledger()][-1] == "down"


async def test_the_second_signal_ends_it_at_once(fleet: Fleet) -> None:
    await fleet.start_all("a", **PATIENT)
    async with fleet.client() as client:
        (run,) = await client.runs.enqueue_many("nap", [{"seconds": 600}])
        await until(lambda: fleet.ledger("start"), fleet, "work to begin")
        fleet.signal("a", signal.SIGTERM)
        # The first one must have been heard: of two at once the system delivers the smaller number first.
        await until(lambda: fleet.ledger("stopping"), fleet, "the first signal to be heard")
        fleet.signal("a", signal.SIGINT)
        assert await ends(fleet.processes["a"]) == 128 + signal.SIGINT, "neither the nap nor the grace is over yet"
        assert fleet.ledger("down") == []
        await fleet.start_all("b", settings=STEADY)
        again = await until(lambda: _taken(client, run.id), fleet, "another to take the run over")
    assert again.attempt == 2


async def _taken(client, run_id: str):
    run = await client.runs.get(run_id)
    return run if run.attempt == 2 else None


async def test_sigterm_during_the_start_ends_in_order(fleet: Fleet) -> None:
    process = fleet.start("a")
    await until(lambda: fleet.ledger("up"), fleet, "the process to come up")
    process.send_signal(signal.SIGTERM)
    assert await ends(process) in (0, -signal.SIGTERM), "before the loop runs the signal is the system's"


@pytest.mark.parametrize("job", ["deaf", "lodge"])
async def test_work_that_does_not_end_is_given_back_and_left_behind(fleet: Fleet, job: str) -> None:
    """A handler that swallows its cancellation, and a thread that its handler awaited."""
    await fleet.start_all("a", settings={"shutdown_timeout": 0.2, **STEADY})
    async with fleet.client() as client:
        (run,) = await client.runs.enqueue_many(job, [{}])
        await until(lambda: fleet.ledger("start"), fleet, "work to begin")
        fleet.signal("a", signal.SIGTERM)
        assert await ends(fleet.processes["a"]) == 0
        found = await client.runs.get(run.id)
    assert found is not None
    assert (found.status, found.attempt) == (RunStatus.PENDING, 0)
    assert fleet.ledger("down") == [], "there was no other way to end"
    assert "leaves behind what does not" in fleet.logs()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signals_end_a_process_whose_event_loop_is_blocked(fleet: Fleet, number: signal.Signals) -> None:
    await fleet.start_all("a", **PATIENT)
    process = fleet.processes["a"]
    async with fleet.client() as client:
        await client.runs.enqueue_many("stuck", [{}])
        await until(lambda: fleet.ledger("start"), fleet, "work to begin")
        fleet.signal("a", number)

        def again() -> bool:
            if process.poll() is None:
                fleet.signal("a", number)
            return process.poll() is not None

        await until(again, fleet, "a signal that is no echo of the first")
    assert await ends(process) == 128 + number
