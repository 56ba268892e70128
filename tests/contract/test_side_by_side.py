"""Several stores on one database at once, each with its own connections: nobody doubles, shares or loses anything."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace

import pytest

from duly.core.errors import SingletonQueueFull
from duly.core.lane import Singleton, Unique
from duly.core.policy import Overlap, Retry
from duly.core.run import Claim, Completed
from duly.core.schedule import Schedule
from duly.core.timing import Every
from duly.store.protocol import Store
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.contract.suite import TABLES, Trial, Worker
from tests.store_choice import POSTGRES
from tests.stores import ModelSubject, Subject, open_subject

pytestmark = pytest.mark.timeout(300)

SIDE_BY_SIDE = 4
MANY = 2000


@pytest.fixture(params=["sqlite-file", POSTGRES])
async def access(request: pytest.FixtureRequest, clock: ManualClock) -> AsyncIterator[Subject | ModelSubject]:
    async with open_subject(request.param, clock, request) as subject:
        yield subject


@pytest.fixture
async def stores(access: Subject) -> list[Store]:
    return [access.store, *[await access.another() for _ in range(SIDE_BY_SIDE - 1)]]


async def fire_all(trial: Trial, store: Store, limit: int = 50) -> int:
    """Fire until nothing is due, also what another instance holds at the moment."""
    runs = 0
    while True:
        fired = await store.fire_due(limit=limit, rules=trial.rules)
        assert not fired.set_aside
        assert not fired.duplicates
        runs += fired.runs
        if fired.next_fire_at is None or fired.next_fire_at > fired.now:
            return runs


async def open_runs(access: Subject) -> dict[str, list[dict[str, object]]]:
    """The open runs of each schedule."""
    found: dict[str, list[dict[str, object]]] = {}
    for row in (await access.dump())["runs"]:
        run = dict(zip(TABLES["runs"], row, strict=True))
        found.setdefault(str(run["schedule_id"]), []).append(run)
    return found


async def test_four_schedulers_fire_each_window_exactly_once(
    trial: Trial, access: Subject, stores: list[Store]
) -> None:
    for start in range(0, MANY, 500):
        new = [trial.new(f"s{n}", Every(minutes=1), overlap=Overlap.ALLOW) for n in range(start, start + 500)]
        assert all(isinstance(put, Schedule) for put in await trial.store.put_schedules(new))
    for _ in range(2):
        trial.clock.move(minutes=1)
        fired = await asyncio.gather(*(fire_all(trial, store) for store in stores))
        assert sum(fired) == MANY
    windows = Counter((row[1], row[4]) for row in (await access.dump())["runs"])
    assert len(windows) == 2 * MANY
    assert set(windows.values()) == {1}


async def test_four_workers_never_share_a_run(trial: Trial, stores: list[Store]) -> None:
    for _ in range(4):
        await trial.store.enqueue([trial.request() for _ in range(MANY // 4)])
    workers = [await trial.worker(name=f"w{n}", store=store) for n, store in enumerate(stores)]

    async def work(worker: Worker) -> list[str]:
        done: list[str] = []
        while claims := await worker.claim(limit=20):
            settled = await worker.store.settle([worker.ending(claim, Completed()) for claim in claims])
            assert not settled.lost
            done += settled.ended
        return done

    done = [id for ids in await asyncio.gather(*map(work, workers)) for id in ids]
    assert len(done) == len(set(done)) == MANY


async def test_fires_beside_settles_never_lose_a_wake_up(trial: Trial, access: Subject, stores: list[Store]) -> None:
    for n in range(12):
        await trial.put(f"s{n}", Every(seconds=1), overlap=Overlap.QUEUE, max_queued=2)
    firer, settler, *_ = stores
    worker = await trial.worker(store=settler)
    claims: list[Claim] = []
    for _ in range(60):
        trial.clock.move(seconds=1)
        endings = [worker.ending(claim, Completed()) for claim in claims]
        await asyncio.gather(
            fire_all(trial, firer, limit=4),
            *(settler.settle(endings[start : start + 3]) for start in range(0, len(endings), 3)),
            worker.beat(),
        )
        for runs in (await open_runs(access)).values():
            assert any(run["hold"] == 0 for run in runs), f"all wait and nobody runs: {runs}"
            assert sum(run["hold"] == 0 for run in runs) == 1
        claims = await worker.claim()
        assert claims
    while claims:
        await settler.settle([worker.ending(claim, Completed()) for claim in claims])
        claims = await worker.claim()
    assert await open_runs(access) == {}


async def test_claims_beside_fires_never_let_a_run_start_before_the_cancelled_one_ended(
    trial: Trial, access: Subject, stores: list[Store]
) -> None:
    for n in range(12):
        await trial.put(f"s{n}", Every(seconds=1), overlap=Overlap.CANCEL_PREVIOUS)
    firer, claimer, *_ = stores
    worker = await trial.worker(store=claimer)
    await fire_all(trial, firer)
    for _ in range(60):
        trial.clock.move(seconds=1)
        claimed, *_ = await asyncio.gather(worker.claim(), fire_all(trial, firer, limit=4), worker.beat())
        for runs in (await open_runs(access)).values():
            assert sum(run["hold"] == 0 for run in runs) == 1, f"two may run at once: {runs}"
        held = {held.id for held in (await worker.beat()).held}
        assert {claim.id for claim in claimed} == held
        await claimer.settle([worker.ending(claim, Completed()) for claim in claimed])


async def test_recovery_beside_late_settles_ends_each_run_once(
    trial: Trial, access: Subject, stores: list[Store]
) -> None:
    one, two, three, _ = stores
    for _ in range(10):
        await trial.store.enqueue([trial.request(max_attempts=1) for _ in range(40)])
        worker = await trial.worker(store=one)
        claims = await worker.claim()
        assert len(claims) == 40
        trial.clock.move(seconds=16)
        endings = [worker.ending(claim, Completed(), Retry()) for claim in claims]
        settled, *recovered = await asyncio.gather(
            one.settle(endings[::-1]),
            two.take_lost(limit=100, rules=trial.rules),
            three.take_lost(limit=100, rules=trial.rules),
        )
        taken = [id for answer in recovered for id in answer.runs]
        assert sorted([*settled.ended, *taken]) == sorted(claim.id for claim in claims)
        assert sorted(settled.lost) == sorted(taken)
    assert await open_runs(access) == {}


async def test_four_workers_together_never_run_more_than_a_queue_allows(trial: Trial, stores: list[Store]) -> None:
    """J1."""
    await trial.store.change_queue("default", lambda queue, now: replace(queue, max_running=3))
    await trial.store.enqueue([trial.request() for _ in range(300)])
    workers = [await trial.worker(name=f"w{n}", store=store) for n, store in enumerate(stores)]
    held: list[tuple[Worker, Claim]] = []

    async def claim(worker: Worker) -> None:
        held.extend([(worker, claim) for claim in await worker.claim(limit=2)])

    for _ in range(40):
        ending, held[:] = held[:2], held[2:]
        # Ended only when written: until then its place is taken, so the others may get less, never more.
        await asyncio.gather(*map(claim, workers), *(worker.complete(claimed) for worker, claimed in ending))
        assert len(held) <= 3
        await asyncio.gather(*map(claim, workers))
        assert len(held) == 3
    ids = [claimed.id for _, claimed in held]
    assert len(set(ids)) == 3


async def test_four_workers_together_never_start_more_than_a_rate_allows(trial: Trial, stores: list[Store]) -> None:
    await trial.store.change_queue("default", lambda queue, now: replace(queue, rate=7, per_ms=1000))
    await trial.store.enqueue([trial.request() for _ in range(100)])
    workers = [await trial.worker(name=f"w{n}", store=store) for n, store in enumerate(stores)]
    for _ in range(10):
        claims = await asyncio.gather(*(worker.claim(limit=3) for worker in workers))
        assert sum(map(len, claims)) == 7
        trial.clock.move(seconds=1)


@rule("G3")
async def test_ten_that_ask_at_once_for_a_unique_run_get_one(
    trial: Trial, access: Subject, stores: list[Store]
) -> None:
    """G3."""
    worker = await trial.worker()
    for n in range(12):
        asked = [trial.request(unique=Unique(key="digest", for_ms=n % 2)) for _ in range(10)]
        answers = await asyncio.gather(*(stores[i % 4].enqueue([request]) for i, request in enumerate(asked)))
        assert len({run.id for (run,) in answers}) == 1
        assert len((await access.dump())["runs"]) == 1
        trial.clock.move(milliseconds=n % 2)
        # Its end beside those who ask: each gets the one that ended, or all the same new one.
        (claim,) = await worker.claim()
        asked = [trial.request(unique=Unique(key="digest")) for _ in range(3)]
        asking = [store.enqueue([new]) for store, new in zip(stores[1:], asked, strict=True)]
        late, _ = await asyncio.gather(asyncio.gather(*asking), worker.complete(claim))
        assert len({run.id for (run,) in late} | {claim.id}) <= 2
        for rest in await worker.claim():
            await worker.complete(rest)


@rule("G5")
async def test_a_singleton_never_runs_twice_and_never_loses_a_wake_up(
    trial: Trial, access: Subject, stores: list[Store]
) -> None:
    """G5."""
    lanes = [Singleton(key=f"k{n}", max_queued=3) for n in range(3)]
    workers = [await trial.worker(name=f"w{n}", store=store) for n, store in enumerate(stores)]
    came: dict[str, list[str]] = {lane.key: [] for lane in lanes}
    went: dict[str, list[str]] = {lane.key: [] for lane in lanes}
    held: list[tuple[Worker, Claim]] = []

    async def ask(store: Store, singleton: Singleton) -> None:
        request = trial.request(payload=f'"{singleton.key}"', singleton=singleton)
        with suppress(SingletonQueueFull):
            (run,) = await store.enqueue([request])
            came[singleton.key].append(run.id)

    async def claim(worker: Worker) -> None:
        held.extend([(worker, claim) for claim in await worker.claim()])

    for n in range(25):
        ending, held[:] = list(held), []
        trial.clock.move(milliseconds=1)
        await asyncio.gather(
            *(worker.complete(claimed) for worker, claimed in ending),
            *(ask(stores[(n + i) % 4], lane) for i, lane in enumerate(lanes)),
            *(ask(stores[(n + i + 1) % 4], lane) for i, lane in enumerate(lanes)),
        )
        runs = [dict(zip(TABLES["runs"], row, strict=True)) for row in (await access.dump())["runs"]]
        for lane in lanes:
            mine = [run for run in runs if run["payload"] == f'"{lane.key}"']
            assert sum(run["hold"] == 0 for run in mine) == 1, f"none or two may go: {mine}"
            assert len(mine) <= 4
        await asyncio.gather(*map(claim, workers))
        assert len(held) == 3
        for _, claimed in held:
            went[(claimed.payload or "").strip('"')].append(claimed.id)
    for key, order in went.items():
        assert len(order) == len(set(order)) == 25
        assert set(order) <= set(came[key])


async def test_four_that_read_give_each_event_one_number(trial: Trial, stores: list[Store]) -> None:
    await asyncio.gather(*(store.watch_events(lease_ms=60_000) for store in stores))

    async def tell_and_number(store: Store, first: int) -> None:
        for n in range(first, first + 20):
            await store.put_schedules([trial.new(f"s{n}", Every(hours=1), tenant=f"t{first}")])
            await store.number_events(limit=3)

    await asyncio.gather(*(tell_and_number(store, place * 100) for place, store in enumerate(stores)))
    while await trial.store.number_events(limit=3):
        pass
    read = await trial.store.read_events(after=0, limit=1000)
    assert [event.number for event in read.events] == list(range(1, 20 * SIDE_BY_SIDE + 1))
    assert len({event.schedule_key for event in read.events}) == 20 * SIDE_BY_SIDE
    assert read.last == 20 * SIDE_BY_SIDE
