"""Schedules declared in code: upserted at start, by any number of instances, and never reset by a restart."""

import asyncio

import pytest

from duly import Cron, Duly, Every, Retry
from duly.core.errors import ConfigurationError, DulyError
from tests.app.conftest import MakeApp, until


def declare(app: Duly, *, cron: str = "0 2 * * *") -> Duly:
    @app.job("nightly", cron=cron, timezone="America/Sao_Paulo", retry=Retry(max_attempts=5), timeout=600,
             overlap="queue", payload={"a": 1}, tags=["x"])  # fmt: skip
    async def nightly(payload: dict) -> None: ...

    @app.every("10m", name="often")
    async def often() -> None: ...

    @app.cron("*/5 * * * *")
    async def clean_up() -> None: ...

    @app.job("from-start", every=Every(hours=1, anchor="start"))
    async def from_start() -> None: ...

    @app.job("plain")
    async def plain() -> None: ...

    return app


async def test_decorators_declare_schedules_of_the_job_s_key(make_app: MakeApp) -> None:
    async with declare(make_app(roles=())) as app:
        found = {s.key: s async for s in app.schedules.iterate()}
        assert set(found) == {"nightly", "often", "clean-up", "from-start"}
        nightly = await app.schedules.get("nightly")
    assert nightly is not None
    assert nightly.timing == Cron("0 2 * * *", "America/Sao_Paulo")
    assert (nightly.job, nightly.overlap, nightly.payload, nightly.timeout) == ("nightly", "queue", {"a": 1}, 600)
    assert nightly.retry == Retry(max_attempts=5)
    assert found["often"].timing == Every("10m")


async def test_ten_instances_that_start_at_once_make_each_schedule_once(make_app: MakeApp) -> None:
    """E10 as well: the first of them sets up the empty database."""
    apps = [declare(make_app(roles=(), name="fleet")) for _ in range(10)]
    await asyncio.gather(*(app.start() for app in apps))
    try:
        found = [s async for s in apps[0].schedules.iterate()]
        assert sorted((s.key, s.revision) for s in found) == [
            ("clean-up", 1),
            ("from-start", 1),
            ("nightly", 1),
            ("often", 1),
        ]
    finally:
        await asyncio.gather(*(app.stop() for app in apps))


async def test_a_restart_changes_nothing_and_new_code_changes_what_it_changed(make_app: MakeApp) -> None:
    async with declare(make_app(roles=())) as app:
        before = {s.key: s async for s in app.schedules.iterate()}
        await app.schedules.pause("often", reason="by hand")
        await app.schedules.cancel("clean-up")
    await asyncio.sleep(0.01)
    async with declare(make_app(roles=())) as app:
        after = {s.key: s async for s in app.schedules.iterate()}
        assert {s.revision for s in after.values()} == {1}
        assert after["from-start"].timing == before["from-start"].timing, "it counts from its first start"
        assert after["from-start"].next_window_at == before["from-start"].next_window_at
        assert (after["often"].enabled, after["often"].paused_reason) == (False, "by hand")
        assert after["clean-up"].status == "cancelled", "what a person ended stays ended"
    async with declare(make_app(roles=()), cron="30 3 * * *") as app:
        changed = {s.key: s async for s in app.schedules.iterate()}
        assert changed["nightly"].timing == Cron("30 3 * * *", "America/Sao_Paulo")
        assert changed["nightly"].revision == 2
        assert changed["nightly"].id == before["nightly"].id
        assert {changed[key].revision for key in ("often", "from-start")} == {1}


async def test_a_declared_schedule_fires(make_app: MakeApp) -> None:
    app = make_app()
    seen: list[str | None] = []

    @app.every("1s")
    async def tick(run) -> None:
        seen.append(run.window_key)

    async with app:
        await until(lambda: len(seen) >= 2)
    assert len(seen) == len(set(seen))
    assert all(key and key.startswith("sched:tick:") for key in seen)


def test_a_mistake_shows_when_it_is_declared(make_app: MakeApp) -> None:
    app = make_app()

    def work() -> None: ...

    app.job("x", cron="0 2 * * *")(work)
    mistakes = [
        lambda: app.job("y", cron="0 2 * * *", every="1h"),
        lambda: app.job("y", overlap="queue"),
        lambda: app.job("y", payload={"a": 1}),
        lambda: app.job("x", cron="0 3 * * *")(work),
        lambda: app.job("x")(lambda: None),
        lambda: app.job("y", cron="banana"),
        lambda: app.job("y", timeout=0)(work),
        lambda: app.job("topic:y")(work),
        lambda: app.job("y")(lambda a, /: None),
        lambda: app.job("y")(lambda *a: None),
        lambda: app.job("y")(5),  # type: ignore[type-var]
        lambda: app.every("10 parsecs"),
    ]
    for mistake in mistakes:
        with pytest.raises(DulyError):
            mistake()


async def test_a_declared_schedule_with_a_bad_option_stops_the_start_and_leaves_nothing(make_app: MakeApp) -> None:
    app = make_app()

    @app.job("ok", cron="0 2 * * *")
    async def ok() -> None: ...

    @app.job("bad", cron="0 2 * * *", overlap="sometimes")
    async def bad() -> None: ...

    with pytest.raises(DulyError, match="overlap"):
        await app.start()
    async with make_app(roles=()) as look:
        assert [s.key async for s in look.schedules.iterate()] == []


async def test_an_app_runs_once_at_a_time_and_may_run_again(make_app: MakeApp) -> None:
    app = make_app()

    @app.job("work")
    async def work() -> str:
        return "done"

    for _ in range(3):
        async with app:
            with pytest.raises(ConfigurationError, match="already running"):
                await app.start()
            run = await app.enqueue("work")
            assert (await app.runs.wait(run.id, timeout=30)).result == "done"
    await app.stop()
    await app.close()


async def test_an_app_that_is_only_opened_creates_and_looks_but_runs_nothing(make_app: MakeApp) -> None:
    app = make_app()

    @app.job("work", cron="0 2 * * *")
    async def work() -> None: ...

    await app.open()
    run = await app.enqueue("work")
    await asyncio.sleep(0.2)
    found = await app.runs.get(run.id)
    assert found is not None
    assert found.status == "pending"
    assert await app._store.list_instances() == []
    await app.close()


async def test_a11_an_app_without_the_scheduler_role_fires_nothing_and_is_seen_as_what_it_is(make_app: MakeApp) -> None:
    ran: list[int] = []
    worker, api = make_app(roles=("worker",), name="w"), make_app(roles=("api",), name="a")

    @worker.every("1s", name="tick")
    async def tick() -> None:
        ran.append(1)

    async with worker, api:
        instances = {instance.name: instance for instance in await api._store.list_instances()}
        assert {name: instance.roles for name, instance in instances.items()} == {"w": ("worker",), "a": ("api",)}
        assert (instances["w"].jobs, instances["a"].jobs) == (("tick",), ())
        await asyncio.sleep(2.2)  # two windows would have fired by now
        assert ran == []
        assert (await api.runs.list()).items == []
