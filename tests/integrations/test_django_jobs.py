"""Jobs of a Django project: found in its apps, called with connections that work and are given back."""

import asyncio
from typing import Any

import pytest

from duly import Jobs
from tests.integrations.conftest import Shop


def test_the_jobs_of_every_app_are_found(shop: Shop) -> None:
    from duly.integrations.django import scheduler

    assert {"send-receipt", "count-orders", "close-the-books"} <= scheduler()._registry.names


@pytest.fixture
def more_jobs(django: Any, monkeypatch: pytest.MonkeyPatch) -> Jobs:
    """Jobs beside those of the project."""
    from orders import jobs as module

    more = Jobs()
    monkeypatch.setattr(module, "more", more, raising=False)
    return more


async def test_a_job_gives_its_connection_back(shop: Shop, more_jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a request: a worker that runs for weeks must not hold on to connections that time out."""
    from django.db import connections

    from duly.integrations.django import scheduler

    monkeypatch.setitem(connections.settings[shop.using], "CONN_MAX_AGE", 0)
    seen: list[Any] = []

    @more_jobs.job("in-a-thread")
    def in_a_thread() -> int:
        count = int(shop.orders.count())
        seen.append(connections[shop.using])
        assert connections[shop.using].connection is not None
        return count

    @more_jobs.job("on-the-loop")
    async def on_the_loop() -> int:
        return int(await shop.orders.acount())

    async with scheduler() as app:
        for job in ("in-a-thread", "on-the-loop"):
            run = await app.enqueue(job)
            assert (await app.runs.wait(run.id, timeout=30)).result == 0, job
        assert seen[0].connection is None, "closed in its own thread"
        assert app is scheduler()

        def asks_from_a_thread() -> list[str]:
            return [one.key for one in scheduler().sync.schedules.list().items]

        assert "count-orders" in await asyncio.to_thread(asks_from_a_thread)


def test_the_command_line_is_duly_s_own(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    from django.core.management import call_command

    from duly import Every
    from duly.integrations.django.management.commands.duly import Command

    shop.sync.schedules.create("k", Every("1h"), job="send-receipt", payload={"order": 1})
    with pytest.raises(SystemExit) as ended:
        call_command("duly", "schedule", "list")
    assert (ended.value.code, "k " in capsys.readouterr().out) == (0, True)
    words = ["manage.py", "duly", "--settings", "a.b", "schedule", "get", "nope", "--pythonpath=/x", "-o", "json"]
    with pytest.raises(SystemExit) as ended:
        Command().run_from_argv(words)
    assert (ended.value.code, "nope" in capsys.readouterr().err) == (3, True)
