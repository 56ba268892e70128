"""A leader that is frozen for longer than its lease, in a process of its own."""

import signal

import pytest

from duly import Duly, Every
from tests.acceptance.rules import rule
from tests.processes.fleet import Fleet, history, until, window_ms

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes"), pytest.mark.timeout(180, func_only=True)]


@rule("S3.41")
@pytest.mark.parametrize("fleet", ["postgres"], indirect=True)
async def test_f07_a_frozen_leader_is_followed_and_fires_nothing_when_it_wakes(fleet: Fleet) -> None:
    settings = {"election": "database", "lease": 10}
    await fleet.start_all("frozen", settings=settings)
    async with fleet.client() as client:
        await client.schedules.create(key="tick", timing=Every(seconds=1), job="tick")
        await until(lambda: fleet.ledger("start"), fleet, "the leader to fire")
        await fleet.start_all("standby", settings=settings)
        fleet.signal("frozen", signal.SIGSTOP)
        taken = await until(
            lambda: [line for line in fleet.ledger("gained") if line["instance"] == "standby"], fleet, "a new leader"
        )
        count = len(await history(client, "tick"))
        fleet.signal("frozen", signal.SIGCONT)
        await until(lambda: fleet.ledger("lost"), fleet, "the old leader to notice")
        await until(lambda: _grown(client, count + 3), fleet, "windows of the new leader")
        runs = await history(client, "tick")
        found = await client.audit(late=30)
    assert [line["term"] for line in taken] == [2]
    assert [line["term"] for line in fleet.ledger("gained") if line["instance"] == "frozen"] == [1]
    windows = [window_ms(run) for run in runs]
    assert len(windows) == len(set(windows))
    assert found.clean, found.findings


async def _grown(client: Duly, most: int) -> bool:
    return len(await history(client, "tick")) >= most
