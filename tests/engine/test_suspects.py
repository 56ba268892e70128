"""Runs that were lost with their process are tried apart: a poison run dies alone, and the rest is soon done."""

import asyncio
from dataclasses import dataclass, field

import pytest

from duly import RunContext
from duly.core.run import Reason, Run, RunStatus
from duly.store.values import Instance
from tests.engine.lab import Lab


@dataclass
class Ward:
    """Handlers that take ``seconds``; ``starts`` tells for each how many were running when it had begun."""

    lab: Lab
    seconds: float = 2
    running: set[str] = field(default_factory=set)
    starts: list[int] = field(default_factory=list)

    def open(self) -> None:
        @self.lab.job("innocent")
        async def innocent(run: RunContext) -> None:
            self.running.add(run.id)
            self.starts.append(len(self.running))
            try:
                await self.lab.nap(self.seconds)
            finally:
                self.running.discard(run.id)

    async def lose(self, count: int) -> list[Run]:
        """Let a process die with this many runs in its hands."""
        lab = self.lab
        runs = await lab.plain.enqueue([lab.request("innocent", {}) for _ in range(count)])
        doomed = Instance(
            session=lab.chance.session(),
            name="doomed",
            host="here",
            pid=1,
            roles=("worker",),
            version="",
            tz_version="",
        )
        await lab.plain.open_session(doomed, lease_ms=1)
        claimed = await lab.plain.claim_runs(doomed.session, jobs=["innocent"], limit=count)
        assert len(claimed.claims) == count
        await lab.clock.advance(milliseconds=2)
        await lab.plain.take_lost(limit=count, rules=lab.settings.fire_rules)
        return runs


@pytest.fixture
def ward(lab: Lab) -> Ward:
    ward = Ward(lab)
    ward.open()
    return ward


async def test_an_ordinary_crash_is_worked_off_in_ever_larger_groups(lab: Lab, ward: Ward) -> None:
    runs = await ward.lose(10)
    await lab.start()
    assert ward.starts == [1]
    await lab.clock.advance(milliseconds=2500)
    assert ward.starts == [1, 1, 2]
    await lab.clock.advance(seconds=2)
    assert ward.starts[3:] == [1, 2, 3, 4], "two ended in order: four beside one another"
    await lab.clock.advance(seconds=4)
    assert {(await lab.run(run.id)).status for run in runs} == {RunStatus.COMPLETED}


async def test_the_next_suspect_waits_until_the_end_of_the_one_before_it_is_written(lab: Lab, ward: Ward) -> None:
    """It may kill this process, and with it an end that nobody has kept."""
    await ward.lose(3)
    written = lab.store.gate("settle")
    await lab.start()
    await lab.clock.advance(seconds=5)
    assert (ward.starts, ward.running) == ([1], set())
    written.set()
    await lab.clock.advance(milliseconds=100)
    assert ward.starts == [1, 1, 2]


async def test_runs_that_take_hours_need_not_end_for_the_others_to_begin(lab: Lab, ward: Ward) -> None:
    ward.seconds = 7200
    await ward.lose(7)
    instance = await lab.start()
    assert instance.active == 1
    await lab.clock.advance(seconds=14)
    assert instance.active == 1, "on probation for as long as a lease"
    await lab.clock.advance(seconds=3)
    assert instance.active == 3
    await lab.clock.advance(seconds=17)
    assert instance.active == 7


async def test_fresh_work_goes_on_beside_a_suspect(lab: Lab, ward: Ward) -> None:
    await ward.lose(3)
    instance = await lab.start()
    for _ in range(4):
        await lab.enqueue("innocent")
    assert instance.active == 5


async def test_what_one_crash_allowed_is_not_kept_for_the_next(lab: Lab, ward: Ward) -> None:
    instance = await lab.start()
    await ward.lose(6)
    await lab.clock.advance(seconds=10)
    assert max(ward.starts) == 3
    await lab.clock.advance(seconds=16)
    ward.starts.clear()
    await ward.lose(6)
    await lab.clock.advance(seconds=1)
    assert instance.active == 1


@pytest.mark.parametrize("max_attempts", [2, 3, 4])
async def test_i11_a_run_that_kills_its_process_dies_alone(lab: Lab, ward: Ward, max_attempts: int) -> None:
    deaths = 0

    @lab.job("poison")
    async def poison(run: RunContext) -> None:
        """The process that runs it is gone, with all it holds."""
        nonlocal deaths
        deaths += 1
        lab.crash(next(i for i in lab.instances if run.id in i._worker._active))
        await asyncio.Event().wait()

    await lab.start(roles=("scheduler",))  # somebody has to find the dead
    jobs = ["innocent"] * 5 + ["poison"] + ["innocent"] * 4
    await lab.plain.enqueue([lab.request(job, {}, max_attempts=max_attempts) for job in jobs])
    for _ in range(300):
        if len(lab.instances) < 2:
            await lab.start(roles=("worker",))  # a supervisor
        await lab.clock.advance(seconds=1)
        runs = await lab.runs()
        if all(run.status.terminal for run in runs):
            break
    by_job = {job: [run for run in runs if run.job == job] for job in ("poison", "innocent")}
    (killer,) = by_job["poison"]
    assert (killer.status, killer.reason, killer.attempt) == (RunStatus.FAILED, Reason.LOST, max_attempts)
    assert deaths == max_attempts
    assert {run.status for run in by_job["innocent"]} == {RunStatus.COMPLETED}
    assert max(run.attempt for run in by_job["innocent"]) <= 3, "at most two attempts were lost for its sake"
