"""``pause_many`` and its like, and the operations behind them."""

from datetime import UTC, datetime

import pytest

from duly import Duly, Every
from duly.app.watching import carry_on
from duly.core.errors import NotFound, ValidationFailed
from duly.core.operation import Operation
from duly.store.orders import PauseOrder
from duly.store.values import ScheduleFilter
from tests.app.conftest import BRIEF, MakeApp, until
from tests.store_choice import postgres_too


@pytest.fixture
async def app(make_app: MakeApp):
    """An app that neither fires nor works."""
    async with make_app(roles=()) as app:
        yield app


async def fill(app: Duly, count: int, **options: object) -> None:
    await app.schedules.create_many(
        [{"key": f"s{n}", "timing": Every("1h"), "job": "work", "tags": ["etl"], **options} for n in range(count)]
    )


async def test_many_are_paused_resumed_cancelled_and_deleted(app: Duly) -> None:
    await fill(app, 450)
    await app.schedules.create("other", Every("1h"), job="work")
    seen: list[Operation] = []
    paused = await app.schedules.pause_many(
        tag="etl", reason="incident", until=datetime(2099, 1, 1, tzinfo=UTC), by="ann", on_progress=seen.append
    )
    assert (paused.matched, paused.changed, paused.by) == (450, 450, "ann")
    assert len(seen) > 1
    assert seen[-1] == paused == await app.operations.get(paused.id)
    assert len([s async for s in app.schedules.iterate(enabled=True)]) == 1
    assert (await app.schedules.resume_many(tag="etl", reason="another")).changed == 0
    assert (await app.schedules.resume_many(tag="etl", reason="incident")).changed == 450
    assert (await app.schedules.cancel_many(job="work", q="s4")).changed == 61
    assert (await app.schedules.delete_many(everything=True)).changed == 451
    assert (await app.schedules.list()).items == []
    assert len((await app.operations.list()).items) == 5


async def test_the_same_id_does_nothing_twice(app: Duly) -> None:
    await fill(app, 3)
    first = await app.schedules.pause_many(tag="etl")
    await app.schedules.resume("s0")
    assert await app.schedules.pause_many(tag="etl", id=first.id) == first
    found = await app.schedules.get("s0")
    assert found is not None
    assert found.enabled


async def test_a_filter_that_matches_everything_must_be_meant(app: Duly) -> None:
    with pytest.raises(ValidationFailed, match="everything=True"):
        await app.schedules.delete_many()
    with pytest.raises(ValidationFailed, match="status"):
        await app.schedules.pause_many(status="asleep")
    with pytest.raises(ValidationFailed, match="no option 'colour'"):
        await app.schedules.pause_many(colour="red")  # type: ignore[call-arg]
    with pytest.raises(NotFound):
        await app.operations.drive("01980000-0000-7000-8000-000000000000")
    assert await app.operations.get("nothing") is None


@postgres_too("two instances on one store")
async def test_the_janitor_goes_on_with_what_somebody_left(make_app: MakeApp) -> None:
    async with make_app(roles=()) as gone:
        await fill(gone, 30)
        order = PauseOrder(where=ScheduleFilter(tag="etl"))
        left = await gone.operations.begin(order)
    async with make_app(roles=("scheduler",), settings=BRIEF) as app:

        async def finished() -> bool:
            found = await app.operations.get(left.id)
            return found is not None and found.finished

        await until(finished)
        assert [s async for s in app.schedules.iterate(enabled=True)] == []


async def test_those_that_are_named_each_say_what_became_of_them(app: Duly) -> None:
    await fill(app, 3)
    await app.schedules.pause("s1")
    done = await app.schedules.pause_many(ids=["s0", "s1", "nobody"], reason="incident", by="ann")
    made = {ref: await app.schedules.get(ref) for ref in ("s0", "s1")}
    told = {item.id: str(item.became) for item in done.items}
    assert told == {made["s0"].id: "changed", made["s1"].id: "unchanged", "nobody": "not_found"}  # type: ignore[union-attr]
    assert (done.matched, done.changed) == (2, 1)
    triggered = await app.schedules.trigger_many(tag="etl")
    assert (triggered.kind, triggered.changed) == ("trigger", 3)
    assert len((await app.runs.list()).items) == 3
    assert (await app.schedules.trigger_many(ids=["s0"])).refused == 1, "a run has not ended"
    with pytest.raises(ValidationFailed, match="ids and tag were given"):
        await app.schedules.delete_many(ids=["s0"], tag="etl")
    assert (await app.schedules.delete_many(ids=[])).finished


async def test_how_many_match_is_counted_before(app: Duly) -> None:
    await fill(app, 7)
    found = await app.schedules.count(tag="etl")
    assert (found.count, found.more, len(found.keys)) == (7, False, 5)
    assert (await app.schedules.count(ids=["s0", "nobody"])).count == 1
    with pytest.raises(ValidationFailed, match="everything=True"):
        await app.schedules.count()


@postgres_too("two instances on one store")
async def test_what_this_process_carries_on_it_leaves_to_others_when_it_ends(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        await fill(app, 30)
        plan = await app.schedules.plan("pause", tag="etl")
        begun = await app.operations.begin(plan.order)
        carry_on(app, begun.id)
        carry_on(app, begun.id)

        async def finished() -> bool:
            found = await app.operations.get(begun.id)
            return found is not None and found.finished

        await until(finished)
        left = await app.operations.begin((await app.schedules.plan("resume", tag="etl")).order)
        carry_on(app, left.id)
    async with make_app(roles=()) as other:
        found = await other.operations.get(left.id)
        assert found is not None
        assert not found.finished, "it did not hold up the end"
