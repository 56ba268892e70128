"""``app.schedules``: what people do with schedules, by id and by key, on both stores."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from duly import CatchUp, Cron, Duly, Every, Once, Retry, RunStatus, ScheduleStatus
from duly.core.errors import ClientRequestIdInUse, DulyError, KeyInUse, NotFound, RunActive, ValidationFailed
from duly.core.instants import to_datetime
from duly.engine.instance import Instance
from duly.runtime.clock import SystemClock
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.app.conftest import PATIENCE, QUICK, MakeApp, until
from tests.store_choice import postgres_too

FUTURE = datetime(2099, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
async def app(make_app: MakeApp):
    """An app that neither fires nor works: what it stores stays as it is."""
    app = make_app(roles=())
    app.job("work")(_work)
    async with app:
        yield app


async def _work() -> None: ...


class Ahead(SystemClock):
    """The clock of a machine that is a minute ahead of its database's."""

    def now(self) -> int:
        return super().now() + 60_000


@pytest.mark.parametrize("call", ["create", "put", "create_many"])
async def test_the_start_of_an_interval_is_the_store_s_whatever_the_caller_s_clock_shows(
    make_app: MakeApp, call: str
) -> None:
    timing = Every("1h", anchor="start")
    async with make_app(roles=(), clock=Ahead()) as app:
        match call:
            case "create":
                made = await app.schedules.create("k", timing, job="work")
            case "put":
                made = (await app.schedules.put("k", timing, "work")).schedule
            case _:
                (made,) = await app.schedules.create_many([{"key": "k", "timing": timing, "job": "work"}])
    assert made.next_window_at is not None
    assert made.next_window_at - made.created_at == timedelta(hours=1), "the start itself is no window"


@rule("S2.31", "S2.32")
async def test_create_answers_what_was_stored_and_get_finds_it_by_id_and_by_key(app: Duly) -> None:
    made = await app.schedules.create(
        key="u42-tax",
        timing=Cron("0 2 * * *", "America/Sao_Paulo"),
        job="send",
        name="Tax",
        description="once a day",
        payload={"user": 42},
        retry=Retry(max_attempts=5),
        timeout=600,
        overlap="queue",
        catch_up=CatchUp("all", max_runs=7),
        jitter=(0, 5000),
        end_at=FUTURE,
        queue="mail",
        priority=3,
        tags=["a", "b", "a"],
        metadata={"owner_id": "u42", "correlation_id": "c1", "client_request_id": "r1"},
    )
    for ref in (made.id, "u42-tax"):
        found = await app.schedules.get(ref)
        assert found is not None
        assert found.definition == made.definition
        assert found.facts == made.facts
    assert (made.key, made.name, made.description, made.job) == ("u42-tax", "Tax", "once a day", "send")
    assert (made.payload, made.timeout, made.queue, made.priority) == ({"user": 42}, 600, "mail", 3)
    assert (made.overlap, made.catch_up.policy, made.tags) == ("queue", "all", ("a", "b"))
    assert made.metadata == {"owner_id": "u42", "tenant_id": None, "correlation_id": "c1", "client_request_id": "r1"}
    assert (made.status, made.enabled, made.revision) == (ScheduleStatus.PENDING, True, 1)
    assert made.next_window_at is not None
    assert made.next_window_at.hour == 5, "02:00 in Sao Paulo"


async def test_names_and_keys_have_defaults(app: Duly) -> None:
    plain = await app.schedules.create("k", Every("30m"), job="work")
    nameless = await app.schedules.create(timing=Every("30m"), job="work")
    assert (plain.name, nameless.key, nameless.name) == ("k", nameless.id, nameless.id)
    assert (plain.payload, plain.timeout, plain.overlap) == ({}, 3600, "skip")


async def test_a_key_and_a_client_request_id_are_used_once(app: Duly) -> None:
    first = await app.schedules.create("k", Every("30m"), job="work", metadata={"client_request_id": "r"})
    with pytest.raises(KeyInUse) as refused:
        await app.schedules.create("k", Every("1h"), job="work")
    assert (refused.value.existing_id, refused.value.code) == (first.id, "SCHEDULE_KEY_IN_USE")
    with pytest.raises(ClientRequestIdInUse) as doubled:
        await app.schedules.create("other", Every("1h"), job="work", metadata={"client_request_id": "r"})
    assert doubled.value.existing_id == first.id


@rule("A6")
@postgres_too("ten writers at once")
async def test_g1_ten_creates_of_one_key_at_once_make_one_schedule(app: Duly, make_app: MakeApp) -> None:
    async with make_app(roles=()) as other:
        answers = await asyncio.gather(
            *(a.schedules.create("k", Every("30m"), job="work") for a in (app, other) * 5), return_exceptions=True
        )
    made = [answer for answer in answers if not isinstance(answer, BaseException)]
    assert len(made) == 1
    assert all(
        isinstance(answer, KeyInUse) and answer.existing_id == made[0].id for answer in answers if answer not in made
    )


async def test_create_many_answers_in_order_in_one_go(app: Duly) -> None:
    made = await app.schedules.create_many(
        [
            {"key": f"u{number}", "timing": Once(FUTURE), "job": "work", "payload": {"n": number}}
            for number in range(2500)
        ]
    )
    assert [schedule.key for schedule in made] == [f"u{number}" for number in range(2500)]
    assert (await app.schedules.get("u1234")).payload == {"n": 1234}  # type: ignore[union-attr]
    assert await app.schedules.create_many([]) == []
    lazily = ({"key": f"lazy-{n}", "timing": Every(hours=1), "job": "x"} for n in range(3))
    assert [one.key for one in await app.schedules.create_many(lazily)] == ["lazy-0", "lazy-1", "lazy-2"]


async def test_only_what_fires_before_a_poll_wakes_the_scheduler(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[Instance] = []
    monkeypatch.setattr(Instance, "wake_scheduler", woken.append)
    async with make_app(roles=("scheduler",), settings=replace(QUICK, poll=20.0)) as app:
        await app.schedules.create("far", Once(FUTURE), job="work")
        await app.schedules.create_many([{"key": f"far-{n}", "timing": Once(FUTURE), "job": "work"} for n in range(3)])
        await app.schedules.create("resting", Every(seconds=1), job="work", enabled=False)
        assert woken == []
        await app.schedules.create("now", Every(seconds=1), job="work", fire_current_window=True)
        await app.schedules.create("soon", Every(seconds=30, after_completion=True), job="work")
        assert len(woken) == 2
        await app.schedules.create("later", Every(seconds=300, after_completion=True), job="work")
        assert len(woken) == 2
        await app.schedules.update("far", timing=Every(hours=1))
        assert len(woken) == 3, "an edit always does"


async def test_create_many_makes_of_each_what_create_makes_of_it(app: Duly) -> None:
    often, zone = Every("30m"), Cron("0 9 * * *", "Europe/Berlin")
    tags = ["a"]
    wanted: list[dict[str, Any]] = [
        {"timing": often, "job": "work", "payload": {"n": 1}},
        {"timing": zone, "job": "work", "name": "Second", "tags": tags},
        {"timing": Every("1h", anchor="start"), "job": "work", "start_at": FUTURE, "metadata": {"owner_id": "me"}},
        {"timing": often, "job": "work", "queue": "slow", "retry": Retry(max_attempts=7)},
        {"timing": often, "job": "other", "queue": "slow", "overlap": "allow"},
        {"timing": Once(FUTURE), "topic": "a.b", "payload": {"n": 2}},
        {"timing": Once(FUTURE), "topic": "a.b", "payload": {"n": 3}, "description": None},
        {"timing": often, "job": "work", "payload": {"n": 4}},
        {"timing": zone, "job": "work", "payload": {"n": 5}},
        {"timing": often, "job": "work", "name": "Third", "tags": ["b"], "enabled": False},
        {"timing": zone, "job": "work", "name": "Fourth", "tags": ["c", "d"], "enabled": True},
        {"timing": zone, "job": "work", "metadata": {"owner_id": "me", "tenant_id": "acme"}},
        {"timing": often, "job": "work", "metadata": {"owner_id": "you"}},
    ]
    many = await app.schedules.create_many([{"key": f"many{n}", **one} for n, one in enumerate(wanted)])
    for n, (one, made) in enumerate(zip(wanted, many, strict=True)):
        alone = await app.schedules.create(f"many{n}.alone", **one)
        assert made.definition == replace(alone.definition, key=made.key)
        assert (made.name, made.tags, made.metadata) == (one.get("name", made.key), alone.tags, alone.metadata)
        assert made.enabled == alone.enabled


async def test_many_are_listed_in_the_order_in_which_they_were_given(app: Duly) -> None:
    made = await app.schedules.create_many([{"timing": Once(FUTURE), "job": "work"} for _ in range(50)])
    assert [schedule.id for schedule in made] == sorted(schedule.id for schedule in made)
    assert [schedule.id for schedule in (await app.schedules.list(limit=50)).items] == [one.id for one in made]


@pytest.mark.parametrize(
    ("word", "right", "wrong"),
    [("priority", 1, True), ("enabled", True, 1), ("max_runs", 2, 2.0), ("fire_current_window", False, 0)],
)
async def test_an_option_that_only_equals_the_one_before_is_checked(
    app: Duly, word: str, right: Any, wrong: Any
) -> None:
    good = {"timing": Once(FUTURE), "job": "work", word: right}
    with pytest.raises(ValidationFailed, match=word) as refused:
        await app.schedules.create_many([good, good, {**good, word: wrong}])
    assert refused.value.details["item"] == 2
    assert "item 2 of create_many" in refused.value.__notes__[0]
    assert not (await app.schedules.list()).items


async def test_what_only_the_store_refuses_tells_its_place_and_nothing_of_its_batch_is_stored(app: Duly) -> None:
    often: dict[str, Any] = {"timing": Every("1h"), "job": "work"}
    past = Once(datetime(2020, 1, 1, tzinfo=UTC))
    await app.schedules.create("taken", **often)
    refusals: list[dict[str, Any]] = [{"key": "taken"}, {"timing": past}, {"calendars": ["none"]}]
    refusals.append({"key": "good"})
    told: list[str] = []
    app.schedules._tell = lambda event, *made: told.extend(one.key for one in made)
    for bad in refusals:
        with pytest.raises(DulyError) as refused:
            await app.schedules.create_many([{"key": "good", **often}, {**often, **bad}])
        assert refused.value.details["item"] == 1
        assert "nothing of its batch is stored" in refused.value.__notes__[0]
        assert [one.key async for one in app.schedules.iterate()] == ["taken"]
    assert told == []


async def test_a_batch_that_is_refused_leaves_those_before_it(app: Duly) -> None:
    often: dict[str, Any] = {"timing": Every("1h"), "job": "work"}
    await app.schedules.create("taken", **often)
    with pytest.raises(KeyInUse) as refused:
        await app.schedules.create_many([*({"key": f"k{n}", **often} for n in range(1005)), {"key": "taken", **often}])
    assert refused.value.details["item"] == 1005
    assert "which begins at item 1000" in refused.value.__notes__[0]
    assert [await app.schedules.get(key) is not None for key in ("k0", "k999", "k1000", "k1004")] == [
        True, True, False, False,
    ]  # fmt: skip


@rule("S2.35")
async def test_lists_page_through_everything_and_filter(app: Duly) -> None:
    await app.schedules.create_many(
        [
            {"key": f"k{n:03}", "timing": Once(FUTURE), "job": "even" if n % 2 == 0 else "odd",
             "tags": ["ten"] if n % 10 == 0 else [], "metadata": {"owner_id": f"u{n % 3}"}}
            for n in range(45)
        ]
    )  # fmt: skip
    first = await app.schedules.list(limit=20)
    second = await app.schedules.list(limit=20, cursor=first.next_cursor)
    third = await app.schedules.list(limit=20, cursor=second.next_cursor)
    keys = [schedule.key for page in (first, second, third) for schedule in page.items]
    assert sorted(keys) == [f"k{n:03}" for n in range(45)]
    assert third.next_cursor is None
    assert len([s async for s in app.schedules.iterate(limit=7)]) == 45
    assert len([s async for s in app.schedules.iterate(job="odd")]) == 22
    assert len([s async for s in app.schedules.iterate(owner="u1")]) == 15
    assert {s.key for s in (await app.schedules.list(tag="ten")).items} == {"k000", "k010", "k020", "k030", "k040"}
    await app.schedules.pause("k007")
    assert [s.key for s in (await app.schedules.list(enabled=False)).items] == ["k007"]


async def test_a_list_does_not_tell_an_empty_payload_where_it_leaves_it_out(app: Duly) -> None:
    await app.schedules.create("k", Every("30m"), job="work", payload={"a": 1})
    assert [schedule.payload for schedule in (await app.schedules.list()).items] == [None]
    assert (await app.schedules.get("k")).payload == {"a": 1}  # type: ignore[union-attr]


async def test_pause_and_resume_by_id_or_key_with_a_reason(app: Duly) -> None:
    made = await app.schedules.create("k", Every("30m"), job="work")
    paused = await app.schedules.pause(made.id, reason="on leave", until=FUTURE)
    assert (paused.enabled, paused.paused_reason, paused.paused_until) == (False, "on leave", FUTURE)
    assert paused.next_fire_at is None
    resumed = await app.schedules.resume("k")
    assert (resumed.enabled, resumed.paused_reason) == (True, None)
    assert resumed.next_fire_at is not None


async def test_trigger_makes_a_run_also_while_paused_and_does_not_move_the_schedule(app: Duly) -> None:
    made = await app.schedules.create("k", Every("30m"), job="work", payload={"a": 1})
    paused = await app.schedules.pause("k")
    run = await app.schedules.trigger("k", {"a": 2})
    assert (run.status, run.kind, run.schedule_id, run.window_key) == (RunStatus.PENDING, "manual", made.id, None)
    assert (await app.runs.get(run.id)).payload == {"a": 2}  # type: ignore[union-attr]
    with pytest.raises(RunActive):
        await app.schedules.trigger(made.id)
    forced = await app.schedules.trigger(made.id, force=True)
    assert forced.id != run.id
    again = await app.schedules.trigger("k", id=forced.id)
    assert again.id == forced.id, "the same id finds the run it made"
    after = await app.schedules.get("k")
    assert after is not None
    assert after.next_window_at == paused.next_window_at


@rule("S2.33")
async def test_cancel_twice_is_fine_and_delete_frees_the_key_and_keeps_the_runs(app: Duly) -> None:
    made = await app.schedules.create("k", Every("30m", anchor="start"), job="work")
    run = await app.schedules.trigger("k")
    for _ in range(2):
        assert (await app.schedules.cancel("k")).status is ScheduleStatus.CANCELLED
    assert (await app.runs.get(run.id)).status is RunStatus.CANCELLED  # type: ignore[union-attr]
    for ref in ("k", "k", made.id):
        await app.schedules.delete(ref)
    assert await app.schedules.get("k") is None
    assert await app.schedules.get(made.id) is None
    assert [r.id for r in (await app.runs.list(schedule=made.id)).items] == [run.id], "history stays"
    reborn = await app.schedules.create("k", Every("30m"), job="work")
    assert reborn.id != made.id


@rule("S2.36")
async def test_unknown_refs_are_none_for_get_and_not_found_for_the_others(app: Duly) -> None:
    for ref in ("nope", "01890000-0000-7000-8000-000000000000", "", "sched:nope:5", "x" * 500):
        assert await app.schedules.get(ref) is None
        for call in (
            app.schedules.pause,
            app.schedules.resume,
            app.schedules.trigger,
            app.schedules.cancel,
            app.schedules.delete,
        ):
            with pytest.raises(NotFound) as raised:
                await call(ref)
            assert raised.value.code == "SCHEDULE_JOB_NOT_FOUND"


async def test_a_schedule_created_while_running_fires_on_time(make_app: MakeApp) -> None:
    """The clock stands at the very instant: who looked later would never fire it."""
    clock = ManualClock()
    app = make_app(clock=clock, settings=replace(QUICK, poll=3600))
    seen: list[datetime] = []

    @app.job("work")
    async def work(run) -> None:
        seen.append(run.scheduled_at)

    async with app:
        at = to_datetime(clock.now()) + timedelta(seconds=0.4)
        made = await app.schedules.create("soon", Once(at), job="work")
        clock.move_to(at)
        await until(lambda: seen)
        (run,) = (await app.runs.list(schedule="soon")).items
        assert run.window_at == at
        assert run.fired_at == at
        by_window = await app.runs.wait(f"sched:soon:{round(at.timestamp() * 1000)}", timeout=PATIENCE)
        assert (by_window.id, by_window.status, by_window.window_key) == (
            run.id,
            RunStatus.COMPLETED,
            made.window_key(round(at.timestamp() * 1000)),
        )
        done = await until(lambda: _ended(app, made.id))
    assert done.status is ScheduleStatus.COMPLETED
    assert seen == [at]


async def _ended(app: Duly, ref: str):
    schedule = await app.schedules.get(ref)
    return schedule if schedule and schedule.status.ended else None


async def test_the_scheduler_of_another_instance_learns_of_a_new_schedule(make_app: MakeApp) -> None:
    """A writer without roles and an engine elsewhere, as a web process and its worker."""
    engine, writer = make_app(), make_app(roles=())
    engine.job("work")(_work)
    async with engine, writer:
        soon = Once(datetime.now(UTC) + timedelta(seconds=0.3), on_past="fire")
        await writer.schedules.create("soon", soon, job="work")
        runs = await until(lambda: _runs(writer, "soon"))
        assert (await writer.runs.wait(runs[0].id, timeout=PATIENCE)).status is RunStatus.COMPLETED


async def _runs(app: Duly, key: str):
    return (await app.runs.list(schedule=key)).items
