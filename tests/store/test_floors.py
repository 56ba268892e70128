"""Floors: not every claim pays for what waits for others, and what comes in below a floor is found all the same."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from duly.core.lane import Singleton
from duly.store.methods.floors import LASTS_MS, MOST, WORTH, Floors, Place
from duly.store.statements import Group, Program, Step, Transaction
from duly.testing import ManualClock
from tests.contract.suite import Trial, Worker
from tests.stores import memory_subject


class Noting:
    """A driver that writes down the statements of writes, with their parameters."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self.asked: list[tuple[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    async def write(self, transaction: Transaction[Any], *, engine: bool = False, due: int | None = None) -> Any:
        def begin(now: int) -> Program[Any]:
            program, answer = transaction(now), None
            while True:
                try:
                    step: Step = program.send(answer)
                except StopIteration as end:
                    return end.value
                self.asked += [(one.name, one.params) for one in (step.steps if isinstance(step, Group) else [step])]
                answer = yield step

        return await self._driver.write(begin, engine=engine, due=due)


class Looked(Trial):
    """A trial whose claims are looked at."""

    noting: Noting

    async def backlog(self, count: int = WORTH) -> None:
        """Let so many runs of another job wait, for long enough that nobody else is about to commit one among them."""
        await self.store.enqueue([self.request("other") for _ in range(count)])
        self.clock.move(seconds=10)

    async def claim(self, worker: Worker, limit: int = 10) -> tuple[list[str], int, bool]:
        """What is claimed, from where on, and whether it was counted what was passed over."""
        self.noting.asked.clear()
        ids = [claim.id for claim in await worker.claim(limit)]
        (floor,) = (params["floor"] for name, params in self.noting.asked if name == "claim_ready")
        return ids, floor, "count_passed" in dict(self.noting.asked)


@pytest.fixture
async def trial() -> AsyncIterator[Looked]:
    clock = ManualClock()
    async with memory_subject(clock) as subject:
        store: Any = subject.store
        store.driver = noting = Noting(store.driver)
        trial = Looked(store, clock)
        trial.noting = noting
        yield trial


async def test_behind_a_backlog_of_another_job_claims_begin_where_the_last_one_came_out(trial: Looked) -> None:
    await trial.backlog()
    worker = await trial.worker()
    assert await trial.claim(worker) == ([], 0, True)
    now = trial.clock.now()
    mine = await trial.enqueue()
    ids, floor, looked = await trial.claim(worker)
    assert (ids, looked) == ([mine.id], False)
    assert now - LASTS_MS < floor < now


async def test_those_that_found_their_first_run_behind_a_backlog_begin_with_it(trial: Looked) -> None:
    await trial.backlog()
    mine = [await trial.enqueue() for _ in range(3)]
    trial.clock.move(seconds=10)
    worker = await trial.worker()
    assert await trial.claim(worker, limit=1) == ([mine[0].id], 0, True)
    ids, floor, _ = await trial.claim(worker)
    assert set(ids) == {mine[1].id, mine[2].id}
    assert floor > 0


async def test_what_waits_for_nobody_else_costs_no_look(trial: Looked) -> None:
    await trial.store.enqueue([trial.request() for _ in range(30)])
    trial.clock.move(seconds=10)
    worker = await trial.worker()
    for _ in range(3):
        ids, floor, looked = await trial.claim(worker)
        assert (len(ids), floor, looked) == (10, 0, False)


async def test_a_few_runs_of_others_are_passed_over_and_not_counted_again_at_once(trial: Looked) -> None:
    await trial.backlog(WORTH - 1)
    worker = await trial.worker()
    assert await trial.claim(worker) == ([], 0, True)
    assert await trial.claim(worker) == ([], 0, False)
    trial.clock.move(milliseconds=LASTS_MS)
    assert await trial.claim(worker) == ([], 0, True)


async def test_what_comes_in_below_is_found_when_the_floor_is_forgotten(trial: Looked) -> None:
    await trial.backlog()
    worker = await trial.worker()
    await trial.claim(worker)
    late = await trial.enqueue(run_at=trial.clock.now() - 60_000)
    trial.clock.move(milliseconds=LASTS_MS - 1)
    ids, floor, _ = await trial.claim(worker)
    assert ids == []
    assert floor > 0
    trial.clock.move(milliseconds=1)
    assert await trial.claim(worker) == ([late.id], 0, False)


async def test_what_was_due_a_moment_ago_and_is_committed_only_now_is_found_at_once(trial: Looked) -> None:
    await trial.backlog()
    worker = await trial.worker()
    await trial.claim(worker)
    late = await trial.enqueue(run_at=trial.clock.now() - 1_500)
    assert (await trial.claim(worker))[0] == [late.id]


async def test_what_an_end_lets_go_is_found_at_once_however_long_it_has_been_due(trial: Looked) -> None:
    singleton = Singleton(key="warehouse")
    first, second = [await trial.enqueue(singleton=singleton) for _ in range(2)]
    worker = await trial.worker()
    claim = await worker.claim_one()
    assert claim.id == first.id
    await trial.backlog()
    assert (await trial.claim(worker))[2]
    await worker.complete(claim)
    assert (await trial.claim(worker))[0] == [second.id]


async def test_other_jobs_and_other_lines_have_floors_of_their_own(trial: Looked) -> None:
    await trial.backlog()
    await trial.claim(await trial.worker())
    ids, floor, looked = await trial.claim(await trial.worker("other"))
    assert (len(ids), floor, looked) == (10, 0, False)
    urgent = await trial.enqueue(priority=5, run_at=trial.clock.now() - 60_000)
    assert [claim.id for claim in await (await trial.worker()).claim()] == [urgent.id]


def test_a_floor_does_not_outlive_its_time_nor_a_clock_that_is_set_back() -> None:
    floors, place = Floors(), Place("mail", 0, ("work",))
    floors.keep(place, 700, 1_000)
    assert [floors.of(place, now) for now in (999, 1_000, 999 + LASTS_MS, 1_000 + LASTS_MS)] == [None, 700, 700, None]
    assert floors.of(place._replace(queue="sms"), 1_000) is None


def test_floors_are_bounded() -> None:
    floors = Floors()
    for n in range(MOST + 1):
        floors.keep(Place(str(n), 0, ()), 700, 1_000)
    assert floors.of(Place("0", 0, ()), 1_000) is None
    assert floors.of(Place(str(MOST), 0, ()), 1_000) == 700
