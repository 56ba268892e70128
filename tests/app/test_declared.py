"""Schedules declared in code: upserted at start, by any number of instances, and never reset by a restart."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from duly import Cron, Duly, Every, Once, Retry, Schedule
from duly.core.errors import ConfigurationError, DulyError, OutcomeUnknown, StoreUnavailable
from duly.core.instants import to_datetime
from duly.store.codec import UnreadableDefinition
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.app.conftest import MakeApp, until
from tests.store_choice import postgres_too


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


@rule("S1.4", "S1.19")
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


@postgres_too("ten instances at once")
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


@rule("S1.2")
async def test_a_restart_changes_nothing_and_new_code_changes_what_it_changed(make_app: MakeApp) -> None:
    async with declare(make_app(roles=())) as app:
        before = {s.key: s async for s in app.schedules.iterate()}
        await app.schedules.pause("often", reason="by hand")
        await app.schedules.cancel("clean-up")
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
        lambda: app.job("y")(5),  # type: ignore[call-overload]
        lambda: app.every("10 parsecs"),
    ]
    for mistake in mistakes:
        with pytest.raises(DulyError):
            mistake()


async def test_a_declared_schedule_with_a_bad_option_stops_the_start_and_leaves_nothing(make_app: MakeApp) -> None:
    app = make_app()

    @app.job("ok", cron="0 2 * * *")
    async def ok() -> None: ...

    app._declared.add({"key": "bad", "timing": Every("1h"), "job": "ok", "overlap": "sometimes"})

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
    assert await app._store.list_instances() == []
    busy = make_app()
    busy.job("other")(lambda: None)
    async with busy:
        await busy.runs.wait((await busy.enqueue("other")).id, timeout=20)  # by now a worker would have run both
    found = await app.runs.get(run.id)
    assert found is not None
    assert found.status == "pending"
    assert [s.key async for s in app.schedules.iterate()] == []
    await app.close()


@rule("A11")
async def test_a11_an_app_without_the_scheduler_role_fires_nothing_and_is_seen_as_what_it_is(make_app: MakeApp) -> None:
    ran: list[int] = []
    worker, api = make_app(roles=("worker",), name="w"), make_app(roles=("api",), name="a")

    @worker.every("1s", name="tick")
    async def tick() -> None:
        ran.append(1)

    worker.job("later")(lambda: None)
    async with worker, api:
        instances = {instance.name: instance for instance in await api._store.list_instances()}
        assert {name: instance.roles for name, instance in instances.items()} == {"w": ("worker",), "a": ("api",)}
        assert {"tick", "later"} <= set(instances["w"].jobs)
        assert instances["a"].jobs == ()
        tick_at = (await look(api, "tick")).next_window_at
        assert tick_at is not None
        later = await worker.enqueue("later", run_at=tick_at + timedelta(seconds=1))
        await worker.runs.wait(later.id, timeout=20)  # two windows would have fired by now
        assert ran == []
        assert [run.id for run in (await api.runs.list()).items] == [later.id]


def nightly(**changes: Any) -> dict[str, Any]:
    return {"key": "nightly", "timing": Cron("0 2 * * *"), "job": "report", **changes}


async def look(app: Duly, key: str = "nightly") -> Schedule:
    found = await app.schedules.get(key)
    assert found is not None
    return found


@rule("S0.10")
async def test_schedules_given_to_the_app_are_declared_too(make_app: MakeApp) -> None:
    other = {"key": "other", "timing": Every("1h"), "job": "report"}
    async with make_app(roles=(), schedules=[nightly(payload={"a": 1}, name="Night"), other]) as app:
        found = await look(app)
        assert (found.name, found.payload, found.job) == ("Night", {"a": 1}, "report")
        assert (await look(app, "other")).timing == Every("1h")


@rule("S1.4")
async def test_every_field_is_synced_and_one_that_the_code_no_longer_has_goes_back_to_its_default(
    make_app: MakeApp,
) -> None:
    full = nightly(
        name="Night", description="d", payload={"a": 1}, retry=Retry(max_attempts=5), timeout=5, overlap="queue",
        catch_up="all", jitter=(0, 10), queue="mail", priority=3, max_runs=9, tags=["x"], metadata={"owner_id": "u"},
    )  # fmt: skip
    async with make_app(roles=(), schedules=[nightly()]) as app:
        plain = await look(app)
    async with make_app(roles=(), schedules=[full]) as app:
        found = await look(app)
        assert (found.name, found.tags, found.priority, found.metadata["owner_id"]) == ("Night", ("x",), 3, "u")
        assert (found.id, found.revision) == (plain.id, 2)
    async with make_app(roles=(), schedules=[nightly()]) as app:
        again = await look(app)
    assert again.definition == plain.definition
    assert (again.name, again.description, again.tags, again.metadata["owner_id"]) == ("nightly", None, (), None)


async def test_the_database_may_be_kept_by_schedule_or_for_all(make_app: MakeApp) -> None:
    async with make_app(roles=(), schedules=[nightly(), nightly(key="mine")]) as app:
        await app.schedules.update("nightly", timing=Cron("30 4 * * *"))
        await app.schedules.update("mine", timing=Cron("30 4 * * *"))
    kept = [nightly(sync="keep_database", payload={"a": 1}), nightly(key="mine")]
    async with make_app(roles=(), schedules=kept) as app:
        found = await look(app)
        assert (found.timing, found.payload) == (Cron("30 4 * * *"), {})
        assert (await look(app, "mine")).timing == Cron("0 2 * * *")
    everything = [nightly(payload={"a": 1}), nightly(key="mine", sync="update_from_code", payload={"a": 1})]
    async with make_app(roles=(), schedules=everything, sync="keep_database") as app:
        assert (await look(app)).payload == {}
        assert (await look(app, "mine")).payload == {"a": 1}
    with pytest.raises(DulyError, match="sync"):
        make_app(sync="sometimes")
    with pytest.raises(DulyError, match="sync"):
        make_app(schedules=[nightly(sync="sometimes")])


@pytest.mark.parametrize("name", [None, "shop"])
async def test_a_schedule_that_is_no_longer_declared_is_paused_as_an_orphan_and_resumed_when_it_is_again(
    make_app: MakeApp, name: str | None
) -> None:
    both = [nightly(), nightly(key="gone", payload={"a": 1})]
    async with make_app(name=name, schedules=both) as app:
        await app.schedules.create("by-hand", Every("1h"), job="report")
    async with make_app(name=name, schedules=both[:1]) as app:
        orphan = await look(app, "gone")
        assert (orphan.enabled, orphan.next_fire_at, orphan.revision) == (False, None, 1)
        assert orphan.paused_reason is not None
        assert "orphan: no longer declared" in orphan.paused_reason
        assert (await look(app)).enabled
        assert (await look(app, "by-hand")).enabled, "nobody declared it"
    async with make_app(name=name, schedules=both) as app:
        back = await look(app, "gone")
        assert (back.enabled, back.paused_reason, back.revision, back.payload) == (True, None, 1, {"a": 1})
        assert back.next_fire_at is not None


async def test_another_app_s_schedules_are_no_orphans(make_app: MakeApp) -> None:
    async with make_app(name="shop", schedules=[nightly()]), make_app(name="mill") as app:
        assert (await look(app)).enabled
    async with make_app() as app:
        assert (await look(app)).enabled


async def test_apps_without_names_leave_each_other_s_schedules_alone_while_someone_runs_their_jobs(
    make_app: MakeApp,
) -> None:
    first, second = make_app(schedules=[nightly()]), make_app(schedules=[nightly(key="theirs", job="mill")])
    first.job("report")(lambda: None)
    second.job("mill")(lambda: None)
    async with first, second:
        assert (await look(first)).enabled
        assert (await look(first, "theirs")).enabled
    async with make_app(roles=("worker",)) as app:
        assert (await look(app)).enabled, "who does not schedule does not judge"


async def test_an_app_that_knows_no_code_takes_nothing_for_an_orphan(make_app: MakeApp) -> None:
    async with make_app(schedules=[nightly()]):
        pass
    async with make_app(roles=("scheduler",)) as bare:
        assert (await look(bare)).enabled, "it has no code that could have declared anything"
    other = make_app()
    other.job("mill")(lambda: None)
    async with other:
        assert not (await look(other)).enabled


async def test_a_person_s_word_about_an_orphan_holds(make_app: MakeApp) -> None:
    async with make_app(name="shop", schedules=[nightly(), nightly(key="ended"), nightly(key="paused")]) as app:
        await app.schedules.cancel("ended")
        await app.schedules.pause("paused", reason="by hand")
    async with make_app(name="shop") as app:
        assert (await look(app, "ended")).status == "cancelled"
        assert (await look(app, "paused")).paused_reason == "by hand"
        await app.schedules.resume("nightly")
    async with make_app(name="shop") as app:
        assert (await look(app)).enabled, "resumed by a person, it is that person's now"
    async with make_app(name="shop", schedules=[nightly(key="paused")]) as app:
        assert (await look(app, "paused")).paused_reason == "by hand"


async def test_what_the_code_disables_is_paused_until_the_code_enables_it(make_app: MakeApp) -> None:
    async with make_app(roles=(), schedules=[nightly(enabled=False)]) as app:
        assert (await look(app)).paused_reason == "disabled in the code"
    async with make_app(roles=(), schedules=[nightly()]) as app:
        assert (await look(app)).enabled
        await app.schedules.pause("nightly", reason="by hand")
    async with make_app(roles=(), schedules=[nightly(enabled=False)]) as app:
        assert (await look(app)).paused_reason == "by hand"
    async with make_app(roles=(), schedules=[nightly()]) as app:
        assert (await look(app)).paused_reason == "by hand"
        await app.schedules.resume("nightly")
    async with make_app(roles=(), schedules=[nightly(enabled=False)]) as app:
        assert (await look(app)).paused_reason == "disabled in the code"


@postgres_too("ten instances at once")
async def test_ten_instances_with_new_code_make_one_revision(make_app: MakeApp) -> None:
    async with make_app(roles=(), name="fleet", schedules=[nightly(), nightly(key="gone")]):
        pass
    apps = [make_app(roles=(), name="fleet", schedules=[nightly(payload={"a": 1}, tags=["x"])]) for _ in range(10)]
    await asyncio.gather(*(app.start() for app in apps))
    try:
        found = await look(apps[0])
        assert (found.revision, found.payload, found.tags) == (2, {"a": 1}, ("x",))
        assert not (await look(apps[0], "gone")).enabled
    finally:
        await asyncio.gather(*(app.stop() for app in apps))


async def test_a_one_shot_whose_moment_has_gone_by_does_not_keep_the_app_from_starting(make_app: MakeApp) -> None:
    clock = ManualClock()
    at = to_datetime(clock.now()) + timedelta(minutes=1)
    async with make_app(clock=clock, schedules=[{"key": "once", "timing": Once(at), "job": "work"}]) as app:
        assert (await look(app, "once")).timing == Once(at)
    clock.move(minutes=2)
    past = {"key": "never", "timing": Once(datetime(2020, 1, 1, tzinfo=UTC)), "job": "work"}
    async with make_app(clock=clock, schedules=[{"key": "once", "timing": Once(at), "job": "work"}, past]) as app:
        assert (await look(app, "once")).timing == Once(at)
        assert await app.schedules.get("never") is None


async def test_a_store_that_is_away_for_a_moment_does_not_fail_the_start(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(roles=(), schedules=[nightly()])
    put, left = app._store.put_schedules, [StoreUnavailable("away"), OutcomeUnknown("lost")]

    async def sometimes(new: Any) -> Any:
        if left:
            raise left.pop()
        return await put(new)

    monkeypatch.setattr(app._store, "put_schedules", sometimes)
    async with app:
        assert (await look(app)).enabled
    assert left == []


@pytest.mark.parametrize("wrong", [5, {"timing": Every("1h"), "job": "x"}, nightly(cron="* * * * *"), nightly(key=5)])
def test_a_wrong_declaration_is_refused_when_the_app_is_made(make_app: MakeApp, wrong: Any) -> None:
    with pytest.raises(DulyError):
        make_app(schedules=[wrong])
    with pytest.raises(ConfigurationError, match="declared twice"):
        make_app(schedules=[nightly(), nightly()])


async def test_a_server_without_an_app_judges_nothing_but_what_it_declared_itself(make_app: MakeApp) -> None:
    async with make_app(schedules=[nightly()]):
        pass
    server = make_app(schedules=[nightly(key="from-the-file")])
    server._declared.known_as("duly serve")
    async with server:
        assert (await look(server)).enabled
    server = make_app()
    server._declared.known_as("duly serve")
    async with server:
        assert (await look(server)).enabled
        assert not (await look(server, "from-the-file")).enabled


async def test_what_a_newer_version_wrote_is_left_as_it_is_and_the_old_code_starts(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with declare(make_app(roles=())):
        pass
    app = declare(make_app(roles=()), cron="30 3 * * *")
    read = app._store.get_schedule

    async def unreadable(ref: str, **where: Any) -> Schedule | None:
        if ref == "nightly":
            raise UnreadableDefinition("it says what only a newer version knows")
        return await read(ref, **where)

    monkeypatch.setattr(app._store, "get_schedule", unreadable)
    async with app:
        (nightly,) = [s async for s in app.schedules.iterate() if s.key == "nightly"]
    assert nightly.revision == 1
    assert "schedule 'nightly' is left as it is stored" in caplog.text
