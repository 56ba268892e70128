"""What S2, a page on a schedule domain, promises; lines that older tests show are not repeated here."""

from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import pytest

from duly import Cron, Duly, Every, Once, Retry, RunContext
from duly.config import Settings
from duly.core.errors import DulyError, IntervalTooShort, MomentInPast, TopicInvalid
from duly.core.instants import to_datetime
from duly.core.rules import editing
from duly.core.run import RunStatus
from tests.acceptance.rules import rule
from tests.engine.lab import Lab

FUTURE = datetime(2099, 1, 1, 12, tzinfo=UTC)
PLAIN = Retry(max_attempts=2, delay=5, jitter=0)


def soon(lab: Lab) -> Once:
    return Once(to_datetime(lab.clock.now() + 10_000))


@rule("S2.1")
async def test_a_schedule_and_its_runs_have_uuids_of_version_7(url: str) -> None:
    app = Duly(url, roles=())
    async with app:
        made = await app.schedules.create("k", Every("1h"), job="work")
        run = await app.schedules.trigger("k")
    for id in (made.id, run.id):
        assert (UUID(id).version, str(UUID(id))) == (7, id)
        assert abs((UUID(id).int >> 80) / 1000 - made.created_at.timestamp()) < 60, "it begins with its instant"


@rule("S2.3", "S2.5", "S2.6", "S2.7", "S2.8")
async def test_a_schedule_has_the_timing_of_its_kind_and_no_other(url: str) -> None:
    timings: dict[str, Cron | Every | Once] = {
        "once": Once(FUTURE),
        "cron": Cron("0 2 * * *", "America/Mexico_City"),
        "interval": Every("90s"),
    }
    app = Duly(url, roles=())
    async with app:
        for kind, timing in timings.items():
            made = await app.schedules.create(kind, timing, job="work")
            shown = (made.schedule_type, made.once_at, made.cron_expression, made.every_ms, made.timezone)
            assert (
                shown
                == {
                    "once": ("once", FUTURE, None, None, "UTC"),
                    "cron": ("cron", None, "0 2 * * *", None, "America/Mexico_City"),
                    "interval": ("interval", None, None, 90_000, "UTC"),
                }[kind]
            )


@rule("S2.4", "S2.18", "S2.19", "S2.20")
async def test_a_one_shot_goes_from_pending_by_active_to_completed(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None:
        await lab.nap(5)

    await lab.start()
    made = await lab.create("k", soon(lab))
    statuses = [made.status]
    for seconds in (9, 2, 5):
        await lab.clock.advance(seconds=seconds)
        found = await lab.plain.get_schedule("k")
        assert found is not None
        statuses.append(found.status)
    assert statuses == ["pending", "pending", "active", "completed"]
    (run,) = await lab.runs(made)
    assert run.started_at == made.next_window_at, "fired at is the first entry of a worker"


@rule("S2.4", "S2.17", "S2.21")
async def test_a_one_shot_out_of_attempts_is_failed_and_keeps_its_last_error(lab: Lab) -> None:
    @lab.job("work")
    async def work(run: RunContext) -> None:
        raise ValueError(f"try {run.attempt}")

    await lab.start()
    made = await lab.create("k", soon(lab), retry=PLAIN)
    assert made.last_error is None
    await lab.clock.advance(seconds=12)
    (run,) = await lab.runs(made)
    waiting = await lab.plain.get_schedule("k")
    assert waiting is not None
    assert (waiting.status, run.status, run.attempt) == ("active", RunStatus.PENDING, 1), "between two attempts"
    await lab.clock.advance(seconds=10)
    (run,) = await lab.runs(made)
    ended = await lab.plain.get_schedule("k")
    assert ended is not None
    assert (ended.status, run.status, run.attempt) == ("failed", RunStatus.FAILED, 2)
    assert (await lab.run(run.id)).error_message == "ValueError: try 2"


@rule("S2.4", "S2.22", "I11")
async def test_a_cancel_before_its_moment_keeps_it_from_firing(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None: ...

    await lab.start()
    made = await lab.create("k", soon(lab))
    await lab.plain.change_schedule("k", partial(editing.cancel, by=None))
    await lab.clock.advance(minutes=5)
    found = await lab.plain.get_schedule("k")
    assert found is not None
    assert (found.status, await lab.runs(made)) == ("cancelled", [])


@rule("S2.24")
@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
async def test_what_has_ended_stays_as_it_is(lab: Lab, end: str) -> None:
    @lab.job("work")
    async def work() -> None:
        if end == "failed":
            raise ValueError

    await lab.start()
    made = await lab.create("k", soon(lab), retry=Retry(max_attempts=1))
    if end == "cancelled":
        await lab.plain.change_schedule("k", partial(editing.cancel, by=None))
    await lab.clock.advance(seconds=20)
    before = await lab.plain.get_schedule("k")
    assert before is not None
    assert before.status == end
    await lab.plain.change_schedule("k", partial(editing.cancel, by=None))
    await lab.plain.change_schedule("k", partial(editing.pause, reason="too late", by=None))
    with pytest.raises(DulyError):
        await lab.plain.change_schedule("k", partial(editing.resume, by=None))
    await lab.clock.advance(minutes=5)
    after = await lab.plain.get_schedule("k")
    assert after is not None
    assert (after.status, after.next_fire_at, after.enabled) == (end, None, True)
    assert len(await lab.runs(made)) == (0 if end == "cancelled" else 1)


@rule("S2.14", "S2.16")
async def test_without_a_policy_of_its_own_a_schedule_takes_the_server_s(lab: Lab) -> None:
    tries: dict[str, int] = {}

    @lab.job("work")
    async def work(run: RunContext) -> None:
        tries[str(run.window_key)] = run.attempt
        raise OSError

    lab.settings = Settings(default_max_attempts=5)
    await lab.start()
    own = await lab.create("own", soon(lab), retry=PLAIN)
    silent = await lab.create("silent", soon(lab))
    assert silent.retry is None
    await lab.clock.advance(minutes=5)
    (one,), (other,) = await lab.runs(own), await lab.runs(silent)
    assert (one.attempt, one.max_attempts, other.attempt, other.max_attempts) == (2, 2, 5, 5)
    assert sorted(tries.values()) == [2, 5]
    assert Settings().default_max_attempts == 3


TOPICS = ["a", "task-reminder", "notifications.task-reminder", "a1.b2.c3", "x-.y-.z-"]
NO_TOPICS = ["", ".", "a.", ".a", "a..b", "a.b.c.d", "A", "1a", "-a", "a_b", "a b", "a.B", "a.1", "é", "a\n", "a.b\n"]


@rule("S2.2", "S2.25")
async def test_a_topic_is_one_to_three_lower_case_words(url: str) -> None:
    app = Duly(url, roles=())
    async with app:
        for topic in TOPICS:
            assert (await app.schedules.create(timing=Every("1h"), topic=topic)).topic == topic
        for topic in NO_TOPICS:
            with pytest.raises(TopicInvalid):
                await app.schedules.create(timing=Every("1h"), topic=topic)
        assert len((await app.schedules.list()).items) == len(TOPICS)


@rule("S2.27")
async def test_a_one_shot_must_lie_after_now_to_the_millisecond(lab: Lab) -> None:
    for early in (0, -1, -86_400_000):
        with pytest.raises(MomentInPast):
            await lab.create("k", Once(to_datetime(lab.clock.now() + early)))
    assert await lab.plain.get_schedule("k") is None
    assert (await lab.create("k", Once(to_datetime(lab.clock.now() + 1)))).status == "pending"


@rule("S2.29")
async def test_an_interval_is_a_second_or_more(url: str) -> None:
    app = Duly(url, roles=())
    async with app:
        with pytest.raises(IntervalTooShort):
            await app.schedules.create("k", Every(milliseconds=999), job="work")
        assert (await app.schedules.create("k", Every(milliseconds=1000), job="work")).every_ms == 1000


@rule("S2.10", "S2.11", "S2.12", "S2.37")
async def test_metadata_is_for_finding_and_tracing_and_lets_nobody_in_or_out(url: str) -> None:
    app = Duly(url, roles=())
    metadata = {"owner_id": "ann", "tenant_id": "acme", "correlation_id": "c1"}
    async with app:
        made = await app.schedules.create("k", Every("1h"), job="work", metadata=metadata)
        assert [s.id for s in (await app.schedules.list(owner="ann", tenant="acme")).items] == [made.id]
        assert (await app.schedules.list(owner="bob")).items == []
        assert (await app.schedules.pause(made.id, by="bob")).enabled is False, "the caller authorises"
        assert {**made.metadata, "client_request_id": None} == {**metadata, "client_request_id": None}
