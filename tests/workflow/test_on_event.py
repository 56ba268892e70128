"""Events that start jobs and workflows: at once, after quiet, many at a time, and each event once."""

from functools import partial
from typing import Any

import pytest

import duly
from duly import Duly, OnEvent, Published, RunStatus, WorkflowContext
from duly.core.errors import ConfigurationError, ValidationFailed
from duly.core.on_event import EventHandler, add_event, begin_gathering
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.app.conftest import PATIENCE, until
from tests.workflow.test_workflows import suspended


def made(app: Duly, done: list[Any], name: str, on_event: Any) -> None:
    @app.workflow(name, on_event=on_event)
    async def body(ctx: WorkflowContext, input: Any) -> Any:
        done.append((name, input))
        return input


@rule("S0d.47", "G2")
async def test_g2_the_same_event_id_twice_is_one_run_per_subscriber(app: Duly) -> None:
    done: list[Any] = []
    made(app, done, "ship", "paid")
    made(app, done, "mail", ["paid", "lost"])

    @app.job("count", on_event="paid")
    def count(order: int) -> None:
        done.append(("count", order))

    @app.workflow("waiting")
    async def waiting(ctx: WorkflowContext) -> Any:
        return [await ctx.wait_for_event("paid"), await ctx.wait_for_event("paid")]

    async with app:
        waits = await app.workflows.start("waiting")
        await until(partial(suspended, app, waits.id))
        first = await app.workflows.publish("paid", {"order": 7}, id="p-7")
        again = await app.workflows.publish("paid", {"order": 8}, id="p-7")
        assert (first.told, len(first.runs), again) == (1, 3, Published(repeated=True))
        runs = [await app.runs.wait(run, timeout=PATIENCE) for run in first.runs]
        assert {run.status for run in runs} == {RunStatus.COMPLETED}
        assert (await app.workflows.publish("paid", {"order": 9}, id="p-7")).repeated, "after their end too"
        ship = await app.runs.get("evt:p-7:ship")
        assert ship is not None
        assert ship.id in first.runs
        assert sorted(done, key=str) == [("count", 7), ("mail", {"order": 7}), ("ship", {"order": 7})]
        await app.workflows.publish("paid", {"order": 8})
        assert (await app.runs.wait(waits.id, timeout=PATIENCE)).result == [{"order": 7}, {"order": 8}]


@rule("S0d.48")
async def test_a_quiet_time_starts_one_run_with_the_newest_payload(duly_app: Duly, duly_clock: ManualClock) -> None:
    done: list[Any] = []
    made(duly_app, done, "index", OnEvent("edited", debounce="10s"))
    async with duly_app as app:
        (run,) = (await app.workflows.publish("edited", 1)).runs
        for payload in (2, 3):
            await duly_clock.advance(seconds=9)
            assert (await app.workflows.publish("edited", payload)).runs == [run]
        await duly_clock.advance(milliseconds=9999)
        assert done == []
        await duly_clock.advance(milliseconds=1)
        assert (await app.runs.wait(run)).result == 3
        (other,) = (await app.workflows.publish("edited", 4)).runs
        await duly_clock.advance(seconds=10)
        assert (await app.runs.wait(other)).result == 4
        assert done == [("index", 3), ("index", 4)]


async def test_events_that_never_end_do_not_keep_a_run_for_longer_than_it_says(
    duly_app: Duly, duly_clock: ManualClock
) -> None:
    done: list[Any] = []
    made(duly_app, done, "index", OnEvent("edited", debounce="10s", within="25s"))
    async with duly_app as app:
        (run,) = (await app.workflows.publish("edited", 0)).runs
        for n in (1, 2, 3):
            await duly_clock.advance(seconds=7)
            assert (await app.workflows.publish("edited", n)).runs == [run]
        await duly_clock.advance(milliseconds=3999)
        assert done == []
        await duly_clock.advance(milliseconds=1)
        assert (await app.runs.wait(run)).result == 3


@rule("S0d.48")
async def test_many_events_start_one_run_when_they_are_enough_or_have_waited(
    duly_app: Duly, duly_clock: ManualClock
) -> None:
    done: list[Any] = []
    made(duly_app, done, "bill", OnEvent("call", batch=3, within="5s"))
    async with duly_app as app:
        runs = [(await app.workflows.publish("call", n, id=f"c{n}")).runs for n in (1, 2, 3, 4)]
        assert (await app.workflows.publish("call", 4, id="c4")).repeated
        assert (await app.runs.wait(runs[0][0])).result == [1, 2, 3]
        await duly_clock.advance(milliseconds=4999)
        assert done == [("bill", [1, 2, 3])]
        await duly_clock.advance(milliseconds=1)
        assert (await app.runs.wait(runs[3][0])).result == [4]


async def test_an_event_while_no_worker_lives_starts_a_run_and_a_new_start_decides_about_the_next(url: str) -> None:
    done: list[Any] = []
    first = Duly(url)
    made(first, done, "ship", "paid")
    async with first:
        pass
    looks = Duly(url)
    await looks.open()
    (run,) = (await looks.workflows.publish("paid", 1)).runs
    await looks.close()
    second = Duly(url)
    made(second, done, "ship", "sent")
    async with second as app:
        assert (await app.runs.wait(run, timeout=PATIENCE)).result == 1
        assert [(one.event, one.name) for one in await app.workflows.on_event()] == [("sent", "ship")]
        assert (await app.workflows.publish("paid", 2)).runs == []
        assert await app.workflows.drop_on_event("ship")
        assert not await app.workflows.drop_on_event("ship")
        assert (await app.workflows.publish("sent", 2)).runs == []


async def test_the_newest_version_decides_what_starts_it(app: Duly) -> None:
    for version, event in (("9", "old"), ("10", "new"), ("2", "older")):
        app.workflow("ship", version=version, on_event=event)(lambda_body())
    async with app:
        assert [one.event for one in await app.workflows.on_event()] == ["new"]


def lambda_body() -> Any:
    async def body(ctx: WorkflowContext) -> None: ...

    return body


@rule("S0d.48")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"event": ""}, "expected 1 to 100"),
        ({"event": "x" * 101}, "expected 1 to 100"),
        ({"event": 7}, "expected 1 to 100"),
        ({"debounce": "1s", "batch": 2, "within": "1s"}, "both debounce and batch"),
        ({"batch": 2}, "give both"),
        ({"within": "1s"}, "give both"),
        ({"batch": 1, "within": "1s"}, "expected 2 to 1000"),
        ({"batch": True, "within": "1s"}, "expected 2 to 1000"),
        ({"debounce": "soon"}, "debounce: "),
        ({"debounce": "10s", "within": "9s"}, "no less than debounce"),
    ],
)
def test_what_cannot_be_is_refused_where_it_is_written(words: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        OnEvent(**{"event": "e"} | words)


@pytest.mark.parametrize("id", ["", "x" * 81, "a\n", 7])
async def test_a_bad_id_is_refused_and_publishes_nothing(duly_app: Duly, id: Any) -> None:
    async with duly_app as app:
        with pytest.raises(ValidationFailed, match="id is"):
            await app.workflows.publish("e", id=id)


def test_what_a_run_gathers_is_one_list_until_it_is_full_or_too_large() -> None:
    handler = EventHandler(event="e", job="workflow:w", queue="q", max_attempts=1, most=3, within_ms=50)
    so_far = begin_gathering(handler, "1", 100)
    assert so_far == ("[1]", 150, 1, 100)
    more = add_event(handler, so_far, '"ä"', 120, 9)
    assert more == ('[1,"ä"]', 150, 2, 100)
    assert more is not None
    assert add_event(handler, more, "2", 130, 9) is None
    assert add_event(handler, more, "2", 130, 10) == ('[1,"ä",2]', 130, 3, 100)
    assert duly.OnEvent("e", debounce="2s").handled_by("j", max_attempts=1, timeout_ms=None).quiet_ms == 2000


@pytest.mark.parametrize("name", ["", "a\x00b", "\ud800", "x" * 201, 5])
async def test_a_name_that_no_store_can_keep_is_refused_by_itself(app: Duly, name: Any) -> None:
    app.workflow("flow")(_flow)
    async with app:
        run = await app.workflows.start("flow")
        for call in (
            app.workflows.publish(name),
            app.workflows.signal(run.id, name),
            app.workflows.query(run.id, name),
        ):
            with pytest.raises(ValidationFailed, match="name is"):
                await call


async def _flow(ctx: WorkflowContext) -> None: ...
