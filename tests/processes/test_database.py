"""The database server is killed under a working fleet and comes back."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from duly import Every, Retry, RunStatus
from tests.processes.fleet import Fleet, all_ended, check_windows, history, until, window_ms, windows_between
from tests.servers import Server, ServerAbsent, postgres_server
from tests.store.postgres.proxy import Fault, proxy_before

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes"), pytest.mark.timeout(180, func_only=True)]


@pytest.fixture
def server(own_place: None) -> Iterator[Server]:
    try:
        with postgres_server() as server:
            yield server
    except ServerAbsent as absent:
        pytest.skip(f"server absent: postgres: {absent.reason}")


async def test_p02_a_killed_server_loses_no_run_and_doubles_no_window(server: Server, tmp_path: Path) -> None:
    fleet = Fleet(server.url, tmp_path)
    try:
        await fleet.start_all("a", "b", "c")
        async with fleet.client() as client:
            # Two outages may cost two attempts, and a busy machine further ones.
            patient: dict[str, Any] = {"overlap": "allow", "catch_up": "all", "retry": Retry(max_attempts=20)}
            made = await client.schedules.create("k", Every(seconds=1), job="tick", **patient)
            created = round(made.created_at.timestamp() * 1000)
            runs = await client.runs.enqueue_many(
                "nap", [{"seconds": number % 3} for number in range(20)], max_attempts=20
            )
            await until(lambda: len(fleet.ledger("start")) >= 10, fleet, "work to begin")
            for _ in range(2):
                ends, failures = len(fleet.ledger("end")), len(fleet.ledger("failed"))
                server.kill()
                await until(partial(_more, fleet, "failed", failures), fleet, "the fleet to notice")
                server.start()
                await until(partial(_more, fleet, "end", ends), fleet, "work to go on")
            ended = await until(lambda: all_ended(client, runs), fleet, "every run to end")
            assert {run.status for run in ended} == {RunStatus.COMPLETED}
            await client.schedules.pause("k")
            ticks = await until(lambda: _all(client), fleet, "every window to end")
            check_windows(ticks, windows_between(created, window_ms(ticks[-1]), 1000))
            assert {run.status for run in ticks} == {RunStatus.COMPLETED}
        accepted = {run.id: run.result for run in ended}
        for run_id, result in accepted.items():
            fences = [line["fence"] for line in fleet.ledger("start") if line["run"] == run_id]
            assert result == f"fence {max(fences)}", "ended by its newest attempt"
        fleet.check_ledger()
        assert await fleet.terminate("a", "b", "c") == [0, 0, 0]
    finally:
        fleet.close()


async def test_p05_an_instance_in_a_black_hole_stops_its_work_before_another_begins_it(
    fresh_postgres: str, own_place: None, tmp_path: Path
) -> None:
    """Nothing passes and nothing is closed: no call fails for longer than the lease lasts."""
    # Who is cut off has a tenth of its lease to stop in, by real clocks.
    settings = {"lease": 15}
    fleet = Fleet(fresh_postgres, tmp_path)
    with proxy_before(fresh_postgres) as proxy:
        try:
            await fleet.start_all("cut", url=proxy.url, roles=["worker"], settings=settings)
            async with fleet.client() as client:
                runs = await client.runs.enqueue_many("nap", [{"seconds": 2, "first": 100}] * 3)
                await until(lambda: len(fleet.ledger("start")) == 3, fleet, "work to begin")
                await fleet.start_all("other", settings=settings)
                proxy.set(Fault.SWALLOW_ALL)
                ended = await until(lambda: all_ended(client, runs), fleet, "the other to do the work")
            assert {(run.status, run.attempt) for run in ended} == {(RunStatus.COMPLETED, 2)}
            stopped = {line["run"]: line["at"] for line in fleet.ledger("stopped")}
            begun = {line["run"]: line["at"] for line in fleet.ledger("start") if line["instance"] == "other"}
            assert stopped.keys() == begun.keys()
            assert all(stopped[run] < begun[run] for run in begun), "no two bodies at the same time"
            fleet.check_ledger()
        finally:
            fleet.close()


def _more(fleet: Fleet, event: str, seen: int) -> bool:
    return len(fleet.ledger(event)) > seen


async def _all(client):
    runs = await history(client, "k")
    return runs if all(run.status.terminal for run in runs) else None
