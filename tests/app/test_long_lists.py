"""Lists that no index serves look at so many rows a page, and go on from there: none is lost, none is doubled."""

from typing import Any

import pytest

from duly import Duly, Every, WorkflowContext
from duly.app import paging
from duly.core.ids import named_run_id, uuid7
from duly.core.instants import to_datetime
from duly.store.methods import listing, marking, reading
from tests.app.conftest import PATIENCE, MakeApp
from tests.store_choice import postgres_too

pytestmark = postgres_too("the database sorts and filters")


@pytest.fixture
async def app(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "LOOKED_AT", 5)
    monkeypatch.setattr(listing, "LOOKED_AT", 5)
    monkeypatch.setattr(listing, "STEPPED_OVER", 5)
    monkeypatch.setattr(paging, "LOOK_FOR", PATIENCE)
    app = make_app(roles=())

    @app.workflow("order")
    async def order(ctx: WorkflowContext, input: object) -> None: ...

    async with app:
        yield app


async def test_a_rare_match_takes_several_looks_and_is_found(app: Duly, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(27):
        await app.schedules.create(
            f"k{n}" if n != 23 else "needle", Every("1h"), job="work", metadata={"tenant_id": "acme" if n % 2 else None}
        )
    (found,) = (await app.schedules.list(q="needle")).items
    assert found.key == "needle", "it looks on for a while"
    monkeypatch.setattr(paging, "LOOK_FOR", 0)
    first = await app.schedules.list(q="needle")
    assert (first.items, first.next_cursor is None) == ([], False)
    assert [s.key async for s in app.schedules.iterate(q="needle")] == ["needle"]
    of_many: list[dict[str, Any]] = [{"tenant": "acme"}, {"job": "work"}, {"tenant": "acme", "job": "work"}]
    for whose in of_many:
        first = await app.schedules.list(q="needle", **whose)
        assert (first.items, first.next_cursor is None) == ([], False), "an index finds them, and there are too many"
        assert [s.key async for s in app.schedules.iterate(q="needle", **whose)] == ["needle"]
        assert len([s async for s in app.schedules.iterate(enabled=True, limit=3, **whose)]) == 27 - 14 * (
            "tenant" in whose
        )
    of_few: list[dict[str, Any]] = [{"tenant": "nobody"}, {"job": "other"}, {"tenant": "acme", "job": "other"}]
    for whose in of_few:
        assert (await app.schedules.list(q="needle", **whose)).next_cursor is None, "an index finds that there are few"
    assert len([s async for s in app.schedules.iterate(enabled=True, limit=3)]) == 27
    assert len([s async for s in app.schedules.iterate(status="failed")]) == 0


async def test_runs_of_a_job_are_found_however_far_back(app: Duly, monkeypatch: pytest.MonkeyPatch) -> None:
    rare = await app.enqueue("rare")
    done = await app.enqueue("other")
    for _ in range(14):
        await app.enqueue("common")
    await app.runs.cancel(done.id)
    assert [run.id for run in (await app.runs.list(job="rare")).items] == [rare.id]
    monkeypatch.setattr(paging, "LOOK_FOR", 0)
    assert (await app.runs.list(job="rare")).items == []
    assert [run.id async for run in app.runs.iterate(job="rare")] == [rare.id]
    assert [run.id async for run in app.runs.iterate(status="cancelled")] == [done.id]
    assert len([run async for run in app.runs.iterate(job="common", limit=4)]) == 14


async def test_runs_with_ids_of_every_kind_are_found_in_their_order(app: Duly, monkeypatch: pytest.MonkeyPatch) -> None:
    at = app.clock.now()
    ids = []
    for n in range(48):
        # A name, one that looks like an hour ago, one that looks like an instant of the sixties, and our own.
        own = (
            named_run_id("", f"order-{n}"),
            uuid7(at - 3_600_000, n.to_bytes(10, "big")),
            f"00{n:06x}-0000-4000-8000-000000000000",
            None,
        )[n % 4]
        when = to_datetime(at + n * 61_000)
        job = "rare" if n % 16 < 4 else "common"
        ids.append((await app.enqueue(job, id=own, run_at=when)).id)
    await app.runs.cancel(ids[40])
    monkeypatch.setattr(paging, "LOOK_FOR", 0)
    rare = [id for n, id in enumerate(ids) if n % 16 < 4]
    for limit in (1, 3, 7, 50):
        assert [run.id async for run in app.runs.iterate(limit=limit)] == ids[::-1]
        assert [run.id async for run in app.runs.iterate(limit=limit, job="rare")] == rare[::-1]
        assert [run.id async for run in app.runs.iterate(limit=limit, status="cancelled")] == [ids[40]]


async def test_tagged_runs_that_are_too_many_to_be_put_in_order_are_all_found(
    app: Duly, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marking, "LOOKED_AT", 5)
    monkeypatch.setattr(paging, "LOOK_FOR", 0)
    ids = [(await app.workflows.start("order", id=f"order-{n}", tags=["vip"])).id for n in range(12)]
    for limit in (1, 2, 5, 50):
        found = [run.id async for run in app.runs.iterate(limit=limit, tags=["vip"])]
        assert sorted(found) == sorted(ids)


async def test_a_walk_through_a_list_begins_where_it_is_told(app: Duly) -> None:
    for n in range(5):
        await app.schedules.create(f"k{n}", Every("1h"), job="work")
        await app.enqueue("work", n)
        await app.calendars.put(f"c{n}")
        await app.webhooks.create(f"https://example.com/{n}", events=["run.failed"])
    walks: list[tuple[Any, dict[str, Any]]] = [
        (app.schedules, {"job": "work"}),
        (app.runs, {"job": "work"}),
        (app.calendars, {}),
        (app.webhooks, {}),
    ]
    for noun, filters in walks:
        whole = [item.id async for item in noun.iterate(limit=2, **filters)]
        page = await noun.list(limit=2, **filters)
        rest = [item.id async for item in noun.iterate(cursor=page.next_cursor, limit=2, **filters)]
        assert (len(whole), rest) == (5, whole[2:])
        assert [item.id async for item in noun.iterate(cursor=None, **filters)] == whole
