"""``app.queues``: limits, pauses and figures."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from duly import Duly, RunStatus
from duly.core.errors import ValidationFailed
from tests.app.conftest import MakeApp, until


async def test_a_queue_that_nobody_set_up_has_no_limits(app: Duly) -> None:
    await app.open()
    queue = await app.queues.get("mail")
    assert (queue.name, queue.max_running, queue.rate, queue.per, queue.paused) == ("mail", None, None, None, False)
    assert await app.queues.list() == []
    await app.close()


async def test_limits_are_set_one_by_one_and_taken_away_by_none(app: Duly) -> None:
    await app.open()
    await app.queues.set("mail", max_running=5)
    queue = await app.queues.set("mail", rate=100, per=timedelta(minutes=1))
    assert (queue.max_running, queue.rate, queue.per) == (5, 100, 60)
    queue = await app.queues.set("mail", max_running=None)
    assert (queue.max_running, queue.rate, queue.per) == (None, 100, 60)
    queue = await app.queues.set("mail", rate=None)
    assert (queue.rate, queue.per) == (None, None)
    assert (await app.queues.set("mail", rate=7)).per == 1
    await app.close()


async def test_a_pause_says_why_since_when_and_by_whom(app: Duly) -> None:
    await app.open()
    paused = await app.queues.pause("mail", reason="provider is down", by="ann")
    assert (paused.paused, paused.paused_reason, paused.paused_by) == (True, "provider is down", "ann")
    again = await app.queues.pause("mail", reason="still down")
    assert (again.paused_at, again.paused_reason) == (paused.paused_at, "still down")
    resumed = await app.queues.resume("mail")
    assert (resumed.paused, resumed.paused_at, resumed.paused_reason, resumed.paused_by) == (False, None, None, None)
    await app.close()


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"max_running": 0}, "max_running"),
        ({"max_running": True}, "max_running"),
        ({"rate": -1}, "rate"),
        ({"rate": 1.5}, "rate"),
        ({"rate": 1, "per": 0}, "per"),
        ({"rate": 1, "per": "60"}, "per"),
        ({"rate": 1, "per": 10**9}, "per"),
        ({"name": ""}, "queue"),
        ({"name": "a\x00"}, "queue"),
    ],
)
async def test_a_bad_value_is_refused_by_name_and_changes_nothing(app: Duly, words: dict[str, Any], field: str) -> None:
    await app.open()
    with pytest.raises(ValidationFailed) as refused:
        await app.queues.set(**{"name": "mail", **words})
    assert refused.value.field == field
    assert await app.queues.list() == []
    await app.close()


async def test_runs_of_a_limited_and_of_a_paused_queue(make_app: MakeApp) -> None:
    app = make_app()
    running = most = 0
    go_on = asyncio.Event()

    @app.job("work")
    async def work() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await go_on.wait()
        running -= 1

    async with app:
        await app.queues.set("narrow", max_running=2)
        runs = [await app.enqueue("work", queue="narrow") for _ in range(5)]
        await until(lambda: running == 2)
        queue = await app.queues.get("narrow")
        assert (queue.running, queue.waiting) == (2, 3)
        await app.queues.pause("closed")
        waits = await app.enqueue("work", queue="closed")
        go_on.set()
        ended = [await app.runs.wait(run.id, timeout=30) for run in runs]
        assert {run.status for run in ended} == {RunStatus.COMPLETED}
        assert most == 2
        found = await app.runs.get(waits.id)
        assert found is not None
        assert found.status is RunStatus.PENDING
        await app.queues.resume("closed")
        assert (await app.runs.wait(waits.id, timeout=30)).status is RunStatus.COMPLETED


def test_queues_have_twins_without_await(make_app: MakeApp) -> None:
    app = make_app()
    with app.sync as sync:
        sync.queues.set("mail", max_running=2)
        sync.queues.pause("mail", reason="flood")
        assert [(queue.name, queue.max_running, queue.paused) for queue in sync.queues.list()] == [("mail", 2, True)]
        assert not sync.queues.resume("mail").paused
        assert sync.queues.get("mail").max_running == 2
