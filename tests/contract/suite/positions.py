"""The order of lists of runs: newest first by the instant that a run is for, whatever its id begins with."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from duly.core.credential import Whose
from duly.core.ids import named_run_id, uuid7
from duly.core.marks import make_marks, wanted_attributes, wanted_tag
from duly.core.policy import Overlap
from duly.core.run import RunStatus
from duly.core.schedule import Schedule
from duly.store.dead import DeadFilter
from duly.store.protocol import Store
from duly.store.values import RunFilter
from tests.contract.suite.trial import Trial

EACH = 12


async def mixed(trial: Trial, schedule: Schedule | None = None, *, series: int = 0, **words: Any) -> list[str]:
    """Runs with ids of every kind, a minute after one another, oldest first."""
    ids = []
    for n in range(series * EACH, series * EACH + EACH):
        trial.clock.move(seconds=61)
        now, tail = trial.clock.now(), n.to_bytes(10, "big")
        own = (
            None,
            named_run_id("", f"order-{n}"),
            f"{n:08x}-0000-4000-8000-000000000000",
            f"fe{n:06x}-0000-4000-8000-000000000000",
            uuid7(now + 10**10, tail),
            uuid7(now - 10**10, tail),
        )[n % 6]
        if schedule is None:
            ids.append((await trial.enqueue(id=own, **words)).id)
        else:
            ids.append((await trial.trigger(schedule, run_id=own)).run.id)
    return ids


async def walk(store: Store, where: RunFilter, limit: int) -> list[str]:
    """All that a list answers, page by page."""
    found: list[str] = []
    cursor = None
    for number in count():
        if number and cursor is None:
            break
        page = await store.list_runs(where, limit=limit, after=cursor)
        assert page.items
        found += [run.id for run in page.items]
        cursor = page.next_cursor
    return found


class TestPositions:
    @pytest.mark.parametrize("limit", [1, 2, 5, 11, 12, 50])
    async def test_runs_with_ids_of_every_kind_are_listed_newest_first(self, trial: Trial, limit: int) -> None:
        ids = await mixed(trial)
        assert await walk(trial.store, RunFilter(), limit) == ids[::-1]

    async def test_runs_of_one_instant_are_listed_by_id(self, trial: Trial) -> None:
        own = [f"{n:02x}0aaaaa-0000-4000-8000-000000000000" for n in range(6)]
        same = [*own, *(trial.id() for _ in range(3)), *(named_run_id("", f"order-{n}") for n in range(3))]
        await trial.store.enqueue([trial.request(id=id) for id in same])
        assert await walk(trial.store, RunFilter(), 2) == sorted(same, reverse=True)

    async def test_a_run_that_is_to_start_later_stands_where_it_is_to_start(self, trial: Trial) -> None:
        now = trial.clock.now()
        later = await trial.enqueue(id=named_run_id("", "later"), run_at=now + 100_000)
        sooner = await trial.enqueue(id=uuid7(now, bytes(10)), run_at=now + 90_000)
        much_later = await trial.enqueue(id=uuid7(2**42, bytes(10)), run_at=2**42)
        at_once = await trial.enqueue()
        between = await trial.enqueue(id=uuid7(now + 95_000, bytes(10)), run_at=now + 95_000)
        listed = await walk(trial.store, RunFilter(), 2)
        assert listed == [run.id for run in (much_later, later, between, sooner, at_once)]

    async def test_paging_neither_repeats_nor_loses_runs_that_end_meanwhile(self, trial: Trial) -> None:
        ids = await mixed(trial)
        worker = await trial.worker()
        found: list[str] = []
        cursor = None
        for claim in await worker.claim(limit=EACH):
            page = await trial.store.list_runs(RunFilter(), limit=1, after=cursor)
            found += [run.id for run in page.items]
            cursor = page.next_cursor
            await worker.complete(claim)
        assert found == ids[::-1]
        assert cursor is None
        assert await walk(trial.store, RunFilter(status=RunStatus.COMPLETED), 5) == ids[::-1]

    async def test_filters_keep_the_order(self, trial: Trial) -> None:
        ids = await mixed(trial, job="other", tenant="acme", owner="ann")
        await mixed(trial, series=1, job="else")
        flows = await mixed(trial, series=2, job="workflow:w@1")
        assert (await walk(trial.store, RunFilter(job="other"), 5))[:3] == ids[:-4:-1]
        assert await walk(trial.store, RunFilter(tenant="acme"), 5) == ids[::-1]
        assert await walk(trial.store, RunFilter(owner="ann"), 5) == ids[::-1]
        assert await walk(trial.store, RunFilter(workflow="workflow:w"), 5) == flows[::-1]
        assert await walk(trial.store.seen_by(Whose("acme", "ann")), RunFilter(), 5) == ids[::-1]
        worker = await trial.worker("other")
        for claim in await worker.claim(limit=EACH):
            if claim.id in ids[:6]:
                await worker.complete(claim)
        assert await walk(trial.store, RunFilter(status=RunStatus.COMPLETED), 4) == ids[5::-1]
        assert await walk(trial.store, RunFilter(status=RunStatus.RUNNING), 4) == ids[:5:-1]

    async def test_the_runs_of_a_schedule_are_listed_newest_first(self, trial: Trial) -> None:
        put = await trial.put("busy", overlap=Overlap.ALLOW)
        other = await trial.put("other", overlap=Overlap.ALLOW)
        ids = await mixed(trial, put)
        await mixed(trial, other, series=1)
        worker = await trial.worker()
        for claim in await worker.claim(limit=EACH):
            await worker.complete(claim)
        assert await walk(trial.store, RunFilter(schedule_id=put.id), 5) == ids[::-1]

    async def test_the_dead_are_listed_newest_first(self, trial: Trial) -> None:
        ids = await mixed(trial)
        worker = await trial.worker()
        for claim in await worker.claim(limit=EACH):
            await worker.fail(claim, fatal=True)
        found: list[str] = []
        cursor = None
        while not found or cursor is not None:
            page = await trial.store.list_dead(DeadFilter(), limit=5, after=cursor)
            found += [run.id for run in page.items]
            cursor = page.next_cursor
        assert found == ids[::-1]

    async def test_a_cursor_of_a_former_version_is_read_as_the_place_of_its_id(self, trial: Trial) -> None:
        ids = [(await trial.enqueue()).id for _ in range(3)]
        page = await trial.store.list_runs(RunFilter(), limit=5, after=ids[2])
        assert [run.id for run in page.items] == [ids[1], ids[0]]

    async def test_runs_with_a_tag_are_listed_newest_first(self, trial: Trial) -> None:
        ids = await mixed(trial, job="workflow:w@1", marks=make_marks(["vip"], {"n": 5}))
        await mixed(trial, series=1, job="workflow:w@1")
        vip, some = wanted_tag("vip"), wanted_attributes({"n": ("gt", 3)})
        assert await walk(trial.store, RunFilter(marks=(vip,)), 5) == ids[::-1]
        assert await walk(trial.store, RunFilter(marks=some), 1) == ids[::-1]
