"""``update``, ``put``, ``preview`` and ``upcoming``: what an edit moves, and what it must not."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from duly import Cron, Duly, Every, Jitter, Once, Retry, RunStatus
from duly.core.errors import (
    Conflict,
    IntervalTooShort,
    Invalid,
    NotCancellable,
    NotFound,
    RevisionStale,
    ValidationFailed,
)
from duly.core.instants import to_datetime
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.app.conftest import MakeApp
from tests.store_choice import postgres_too

FUTURE = datetime(2099, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
async def app(make_app: MakeApp):
    """An app that neither fires nor works: what it stores stays as it is."""
    app = make_app(roles=())

    @app.job("typed")
    async def typed(user: int) -> None: ...

    async with app:
        yield app


async def test_an_update_changes_what_is_given_and_leaves_the_rest(app: Duly) -> None:
    made = await app.schedules.create(
        "k", Every("30m", anchor="start"), job="work", payload={"a": 1}, retry=Retry(max_attempts=5), queue="mail",
        description="old", tags=["x"], metadata={"owner_id": "u1", "correlation_id": "c1"},
    )  # fmt: skip
    edited = await app.schedules.update("k", payload={"a": 2}, name="Tax", tags=["y"], metadata={"owner_id": "u2"})
    found = await app.schedules.get(made.id)
    assert found is not None
    assert found.definition == edited.definition
    assert (edited.payload, edited.name, edited.tags) == ({"a": 2}, "Tax", ("y",))
    assert (edited.retry, edited.queue, edited.description) == (Retry(max_attempts=5), "mail", "old")
    assert (edited.metadata["owner_id"], edited.metadata["correlation_id"]) == ("u2", "c1")
    assert (edited.revision, edited.next_window_at) == (2, made.next_window_at)


async def test_a_payload_or_policy_edit_does_not_move_time_and_a_timing_does(make_app: MakeApp) -> None:
    clock = ManualClock()
    app = make_app(roles=(), clock=clock)
    await app.open()
    made = await app.schedules.create("k", Cron("0 2 * * *"), job="work")
    edited = await app.schedules.update("k", overlap="queue", max_queued=5, timeout=None, priority=3)
    assert edited.next_window_at == made.next_window_at
    assert (edited.overlap, edited.definition.max_queued, edited.timeout, edited.priority) == ("queue", 5, None, 3)
    moved = await app.schedules.update("k", timing=Cron("30 3 * * *"))
    assert moved.next_window_at is not None
    assert (moved.next_window_at.hour, moved.next_window_at.minute) == (3, 30)
    assert moved.next_window_at > to_datetime(clock.now())
    assert moved.revision == 3
    await app.close()


async def test_none_brings_an_option_back_to_its_default(app: Duly) -> None:
    await app.schedules.create(
        "k", Every("1h"), job="work", name="N", overlap="queue", catch_up="all", queue="mail", priority=5,
        jitter=(0, 10), end_at=FUTURE, max_runs=3, tags=["t"], payload={"a": 1}, description="d",
    )  # fmt: skip
    words = ("name", "overlap", "catch_up", "queue", "priority", "jitter", "end_at", "max_runs", "tags", "payload",
             "description")  # fmt: skip
    plain = await app.schedules.update("k", **dict.fromkeys(words))  # type: ignore[arg-type]
    fresh = await app.schedules.create("fresh", Every("1h"), job="work")
    assert plain.name == "k"
    assert plain.tags == ()
    assert plain.description is None
    for word in ("overlap", "catch_up", "queue", "priority", "jitter", "end_at", "max_runs", "payload"):
        assert getattr(plain.definition, word) == getattr(fresh.definition, word), word


async def test_a_stale_revision_changes_nothing(app: Duly) -> None:
    await app.schedules.create("k", Every("1h"), job="work")
    await app.schedules.update("k", if_revision=1, payload={"a": 1})
    for stale in (
        app.schedules.update("k", if_revision=1, payload={"a": 2}),
        app.schedules.update("k", if_revision=1, name="other"),
        app.schedules.put("k", Every("2h"), "work", if_revision=1),
    ):
        with pytest.raises(RevisionStale) as raised:
            await stale
        assert raised.value.details["revision"] == 2
    found = await app.schedules.get("k")
    assert found is not None
    assert (found.payload, found.name, found.revision) == ({"a": 1}, "k", 2)


@postgres_too("ten writers at once")
async def test_of_ten_edits_of_one_revision_one_wins(app: Duly) -> None:
    await app.schedules.create("k", Every("1h"), job="work")
    answers = await asyncio.gather(
        *(app.schedules.update("k", if_revision=1, payload={"n": n}) for n in range(10)), return_exceptions=True
    )
    assert sum(isinstance(answer, RevisionStale) for answer in answers) == 9
    found = await app.schedules.get("k")
    assert found is not None
    assert found.revision == 2


async def test_an_update_that_changes_nothing_writes_nothing(app: Duly) -> None:
    made = await app.schedules.create("k", Every(hours=1, anchor="start"), job="work", payload={"a": 1}, tags=["x"])
    same = await app.schedules.update("k", payload={"a": 1}, tags=["x"], timing=Every(hours=1, anchor="start"))
    assert (same.revision, same.updated_at, same.next_window_at) == (1, made.updated_at, made.next_window_at)
    assert (await app.schedules.update("k")).updated_at == made.updated_at


async def test_enabled_pauses_and_resumes_and_a_reason_given_before_stays(app: Duly) -> None:
    await app.schedules.create("k", Every("1h"), job="work")
    await app.schedules.pause("k", reason="on leave")
    still = await app.schedules.update("k", enabled=False, payload={"a": 1})
    assert (still.enabled, still.paused_reason, still.next_fire_at) == (False, "on leave", None)
    moved = await app.schedules.update("k", timing=Every("2h"))
    assert (moved.enabled, moved.next_fire_at) == (False, None), "an edit does not wake a paused schedule"
    on = await app.schedules.update("k", enabled=True, priority=1)
    assert (on.enabled, on.priority, on.paused_reason) == (True, 1, None)
    assert on.next_fire_at == on.next_window_at
    off = await app.schedules.update("k", enabled=False, timing=Every("3h"))
    assert (off.enabled, off.next_fire_at, off.timing) == (False, None, Every("3h"))


async def test_a_bad_update_is_refused_and_changes_nothing(app: Duly) -> None:
    made = await app.schedules.create("k", Every("1h"), job="typed", payload={"user": 1}, start_at=FUTURE)
    refusals = [
        {"payload": {"user": "x"}}, {"overlap": "maybe"}, {"timing": None},
        {"timing": "0 2 * * *"}, {"end_at": FUTURE - timedelta(days=1)}, {"cron": "0 2 * * *"}, {"key": "other"},
        {"job": "a", "workflow": "b"}, {"metadata": {"tenant_id": "t"}}, {"metadata": {"client_request_id": "r"}},
        {"metadata": {"owner": "x"}}, {"timing": Once(datetime(2020, 1, 1, tzinfo=UTC))}, {"enabled": "no"},
    ]  # fmt: skip
    for changes in refusals:
        with pytest.raises(Invalid):
            await app.schedules.update("k", **changes)  # type: ignore[arg-type]
    found = await app.schedules.get("k")
    assert found is not None
    assert (found.facts, found.definition) == (made.facts, made.definition)
    with pytest.raises(NotFound):
        await app.schedules.update("nope", name="x")


async def test_another_job_takes_the_payload_that_its_signature_asks_for(app: Duly) -> None:
    await app.schedules.create("k", Every("1h"), job="work", payload={"a": 1})
    with pytest.raises(ValidationFailed, match="user"):
        await app.schedules.update("k", job="typed")
    edited = await app.schedules.update("k", job="typed", payload={"user": 5})
    assert (edited.job, edited.payload) == ("typed", {"user": 5})
    assert [s.key for s in (await app.schedules.list(job="typed")).items] == ["k"]


async def test_an_ended_schedule_may_be_renamed_but_not_edited(app: Duly) -> None:
    await app.schedules.create("k", Every("1h"), job="work")
    await app.schedules.cancel("k")
    assert (await app.schedules.update("k", name="Old")).name == "Old"
    with pytest.raises(Conflict):
        await app.schedules.update("k", payload={"a": 1})


async def test_put_creates_then_replaces_and_says_whether_anything_changed(app: Duly) -> None:
    first = await app.schedules.put("k", Every("1h"), "work", payload={"a": 1}, tags=["x"], description="d")
    assert (first.created, first.changed, first.key, first.schedule.tags) == (True, True, "k", ("x",))
    same = await app.schedules.put("k", Every("1h"), "work", payload={"a": 1}, tags=["x"], description="d")
    assert (same.created, same.changed, same.revision, same.id) == (False, False, 1, first.id)
    other = await app.schedules.put("k", Every("2h"), "work", overlap="queue")
    assert (other.created, other.changed, other.revision, other.id) == (False, True, 2, first.id)
    assert (other.payload, other.tags, other.description, other.overlap) == ({}, (), None, "queue")
    renamed = await app.schedules.put("k", Every("2h"), "work", overlap="queue", name="N")
    assert (renamed.changed, renamed.revision, renamed.name) == (True, 3, "N")


async def test_put_is_told_the_job_once(app: Duly) -> None:
    with pytest.raises(ValidationFailed, match="job is given twice: 'work' and 'other'"):
        await app.schedules.put("k", Every("1h"), "work", job="other")
    assert await app.schedules.get("k") is None


async def test_put_leaves_a_pause_alone_unless_it_is_told(app: Duly) -> None:
    await app.schedules.put("k", Every("1h"), "work")
    await app.schedules.pause("k", reason="on leave")
    kept = await app.schedules.put("k", Every("2h"), "work")
    assert (kept.enabled, kept.paused_reason, kept.changed) == (False, "on leave", True)
    assert (await app.schedules.put("k", Every("2h"), "work", enabled=True)).enabled


async def test_put_with_a_revision_creates_nothing(app: Duly) -> None:
    with pytest.raises(NotFound):
        await app.schedules.put("k", Every("1h"), "work", if_revision=1)
    assert await app.schedules.get("k") is None


async def test_putting_an_interval_from_its_start_again_does_not_move_it(app: Duly) -> None:
    first = await app.schedules.put("k", Every(hours=1, anchor="start"), "work")
    again = await app.schedules.put("k", Every(hours=1, anchor="start"), "work")
    assert (again.changed, again.next_window_at) == (False, first.next_window_at)


@postgres_too("ten writers at once")
async def test_ten_puts_of_one_key_at_once_make_one_schedule_at_its_first_revision(
    app: Duly, make_app: MakeApp
) -> None:
    async with make_app(roles=()) as other:
        stored = await asyncio.gather(*(a.schedules.put("k", Every("1h"), "work") for a in (app, other) * 5))
    assert len({s.id for s in stored}) == 1
    assert sum(s.created for s in stored) == sum(s.changed for s in stored) == 1
    assert {s.revision for s in stored} == {1}


@pytest.mark.parametrize("every", ["1h", "2h"])
async def test_a_put_where_one_was_cancelled_makes_a_new_one(app: Duly, every: str) -> None:
    old = await app.schedules.create("k", Every("1h", anchor="start"), job="work")
    run = await app.schedules.trigger("k")
    await app.schedules.cancel("k")
    with pytest.raises(RevisionStale):
        await app.schedules.put("k", Every(every, anchor="start"), "work", if_revision=7)
    new = await app.schedules.put("k", Every(every, anchor="start"), "work")
    assert (new.created, new.changed, new.status, new.replaces) == (True, True, "pending", old.id)
    assert (await app.schedules.get("k")).id == new.id  # type: ignore[union-attr]
    assert [r.id for r in (await app.runs.list(schedule=old.id)).items] == [run.id], "history stays"


@rule("S2.34")
async def test_a_reschedule_moves_the_key_to_a_new_schedule_and_links_the_two(app: Duly) -> None:
    old = await app.schedules.create(
        "k",
        Once(FUTURE),
        job="work",
        payload={"a": 1},
        tags=["x"],
        metadata={"owner_id": "u", "client_request_id": "r"},
    )
    new = await app.schedules.reschedule("k", timing=Once(FUTURE + timedelta(days=1)), by="ann")
    assert new.id != old.id
    assert (new.key, new.status, new.replaces, new.replaced_by) == ("k", "pending", old.id, None)
    assert (new.payload, new.tags, new.metadata["owner_id"], new.created_by) == ({"a": 1}, ("x",), "u", "ann")
    assert new.next_window_at == FUTURE + timedelta(days=1)
    gone = await app.schedules.get(old.id)
    assert gone is not None
    assert (gone.status, gone.replaced_by, gone.next_fire_at) == ("cancelled", new.id, None)
    assert (await app.schedules.get("k")).id == new.id  # type: ignore[union-attr]
    again = await app.schedules.reschedule(new.id, timing=Every(hours=1, anchor="start"))
    assert (again.replaces, again.key) == (new.id, "k")
    nameless = await app.schedules.create(timing=Once(FUTURE), job="work")
    heir = await app.schedules.reschedule(nameless.id, timing=Every("1h"))
    assert (heir.key, (await app.schedules.get(nameless.id)).key) == (heir.id, nameless.id)  # type: ignore[union-attr]


@rule("I11")
async def test_only_a_schedule_that_never_fired_is_rescheduled(app: Duly) -> None:
    await app.schedules.create("k", Every("1h"), job="work")
    await app.schedules.cancel("k")
    with pytest.raises(NotCancellable) as refused:
        await app.schedules.reschedule("k", timing=Every("2h"))
    assert refused.value.code == "SCHEDULE_JOB_NOT_CANCELLABLE"
    with pytest.raises(NotFound):
        await app.schedules.reschedule("nope", timing=Every("2h"))
    await app.schedules.create("waits", Every("1h"), job="work")
    for wrong in (Once(datetime(2020, 1, 1, tzinfo=UTC)), None, "1h"):
        with pytest.raises(Invalid):
            await app.schedules.reschedule("waits", timing=wrong)  # type: ignore[arg-type]
    found = await app.schedules.get("waits")
    assert found is not None
    assert (found.status, found.replaced_by) == ("pending", None)


@postgres_too("ten writers at once")
async def test_of_ten_reschedules_at_once_none_loses_the_key(app: Duly) -> None:
    await app.schedules.create("k", Once(FUTURE), job="work")
    await asyncio.gather(*(app.schedules.reschedule("k", timing=Once(FUTURE + timedelta(days=n))) for n in range(10)))
    kept = [s async for s in app.schedules.iterate()]
    assert len(kept) == 11
    assert [s.key for s in kept if not s.status.ended] == ["k"]


async def test_preview_shows_windows_local_times_and_what_the_clocks_do(app: Duly) -> None:
    cron = Cron("30 2 * * *", "America/New_York")
    seen = await app.schedules.preview(cron, after=datetime(2027, 3, 13, 12, tzinfo=UTC), count=2)
    assert [item.window_at for item in seen] == [
        datetime(2027, 3, 14, 7, tzinfo=UTC),
        datetime(2027, 3, 15, 6, 30, tzinfo=UTC),
    ]
    assert seen[0].local_time.isoformat() == "2027-03-14T03:00:00-04:00"
    assert seen[0].note is not None
    assert "02:30 does not exist that day" in seen[0].note
    assert (seen[1].note, seen[1].fire_at) == (None, seen[1].window_at)
    assert len(await app.schedules.preview(Every("1h"))) == 10
    assert len(await app.schedules.preview(Once(FUTURE), count=3)) == 1
    assert await app.schedules.preview(Once(FUTURE), after=FUTURE) == []
    late = await app.schedules.preview(Every("1h"), key="k", jitter=(60_000, 61_000), count=1)
    assert timedelta(minutes=1) <= late[0].fire_at - late[0].window_at < timedelta(seconds=61)
    for wrong in ({"count": 0}, {"count": 101}, {"after": datetime(2027, 1, 1)}, {"key": "a b"}):  # noqa: DTZ001
        with pytest.raises(Invalid):
            await app.schedules.preview(cron, **wrong)
    with pytest.raises(Invalid):
        await app.schedules.preview("0 2 * * *")  # type: ignore[arg-type]


async def test_upcoming_begins_where_the_cursor_stands(app: Duly) -> None:
    made = await app.schedules.create("k", Every("1h"), job="work", jitter=Jitter(1000, 2000), max_runs=3)
    seen = await app.schedules.upcoming("k")
    assert len(seen) == 3
    assert (seen[0].window_at, seen[0].fire_at) == (made.next_window_at, made.next_fire_at)
    assert seen[1].window_at - seen[0].window_at == timedelta(hours=1)
    assert len(await app.schedules.upcoming(made.id, count=2)) == 2
    await app.schedules.pause("k")
    assert await app.schedules.upcoming("k") == []
    until = datetime.now(UTC) + timedelta(days=1)
    await app.schedules.pause("k", until=until)
    assert until < (await app.schedules.upcoming("k"))[0].window_at <= until + timedelta(hours=1)
    await app.schedules.cancel("k")
    assert await app.schedules.upcoming("k") == []
    with pytest.raises(NotFound):
        await app.schedules.upcoming("nope")


async def test_upcoming_of_an_interval_after_completion_is_one_window(app: Duly) -> None:
    await app.schedules.create("k", Every("1h", after_completion=True), job="work")
    assert len(await app.schedules.upcoming("k")) == 1
    assert len(await app.schedules.preview(Every("1h", after_completion=True))) == 1


async def test_a_run_keeps_the_revision_it_was_made_under(app: Duly) -> None:
    await app.schedules.create("k", Every("1h"), job="work", payload={"a": 1})
    run = await app.schedules.trigger("k")
    await app.schedules.update("k", payload={"a": 2})
    found = await app.runs.get(run.id)
    assert found is not None
    assert (found.payload, found.status) == ({"a": 1}, RunStatus.PENDING)


async def test_a_server_with_a_longer_least_interval_refuses_a_shorter_update(make_app: MakeApp) -> None:
    from duly import Settings

    async with make_app(roles=(), settings=Settings(min_interval_ms=60_000)) as app:
        await app.schedules.create("k", Every("1h"), job="work")
        for call in (app.schedules.update("k", timing=Every("59s")), app.schedules.preview(Every("59s"))):
            with pytest.raises(IntervalTooShort):
                await call
