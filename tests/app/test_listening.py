"""``@app.on``: topics with their arrivals, and what happens to runs and schedules inside the process."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from duly import Cron, Duly, Event, Every, Fatal, Once, Retry, RunStatus, ScheduleArrived, Settings
from duly.app.serving import prepare
from duly.config import load
from duly.core.errors import ConfigurationError, TopicInvalid, ValidationFailed
from tests.acceptance.rules import rule
from tests.app.conftest import MakeApp, until

TOPIC = "notifications.task-reminder"
QUICK_RETRY = Retry(max_attempts=2, delay=0.01, jitter=0)
METADATA = {"owner_id": "ann", "tenant_id": "acme", "correlation_id": "c-1", "client_request_id": "r-1"}


def soon() -> Once:
    return Once(datetime.now(UTC) + timedelta(milliseconds=50), on_past="fire")


async def ended_run(app: Duly, schedule_id: str) -> Any:
    async def look() -> Any:
        page = await app.runs.list(schedule=schedule_id)
        return page.items and page.items[0].status.terminal and page.items[0]

    return await until(look)


@rule("S2.9", "S2.12", "S2.38", "S2.39")
async def test_an_arrival_has_every_field_and_both_names(app: Duly) -> None:
    heard: list[tuple[str, ScheduleArrived]] = []

    @app.on("schedule.arrived")
    async def any_topic(event: ScheduleArrived) -> None:
        heard.append(("any", event))

    @app.on(f"schedule.{TOPIC}.arrived")
    def this_topic(event: ScheduleArrived) -> None:
        assert threading.current_thread() is not threading.main_thread()
        heard.append(("this", event))

    async with app:
        timing = soon()
        schedule = await app.schedules.create(
            "remind", timing, topic=TOPIC, payload={"task": 7}, metadata=METADATA, retry=QUICK_RETRY
        )
        run = await ended_run(app, schedule.id)
    assert sorted(name for name, _ in heard) == ["any", "this"]
    event = heard[0][1]
    assert event == heard[1][1]
    assert (event.id, event.scheduled_job_id, event.topic) == (run.id, schedule.id, TOPIC)
    assert (event.user_payload, event.metadata, event.timezone) == ({"task": 7}, METADATA, "UTC")
    assert event.original_scheduled_at == timing.at
    assert event.fired_at >= event.original_scheduled_at
    assert (event.attempt, event.max_attempts) == (1, 2)
    assert event.names == ("schedule.arrived", f"schedule.{TOPIC}.arrived")
    assert event.window_key == f"sched:remind:{round(timing.at.timestamp() * 1000)}"
    assert (run.status, run.reason) == (RunStatus.COMPLETED, None)


@rule("S2.38")
async def test_a_listener_is_told_the_zone_of_a_cron(app: Duly) -> None:
    zones: list[str] = []

    @app.on("schedule.ticks.arrived")
    async def hear(event: ScheduleArrived) -> None:
        zones.append(event.timezone)

    async with app:
        await app.schedules.create("tick", Cron("* * * * * *", "America/New_York"), topic="ticks")
        await until(lambda: zones)
    assert set(zones) == {"America/New_York"}


async def test_the_run_fails_if_any_listener_raises_and_is_tried_again_for_all(app: Duly) -> None:
    calls: list[str] = []

    @app.on("schedule.arrived")
    async def fine(event: ScheduleArrived) -> None:
        calls.append(f"fine {event.attempt}")

    @app.on("schedule.bills.arrived")
    async def broken(event: ScheduleArrived) -> None:
        calls.append(f"broken {event.attempt}")
        raise ValueError("no bills")

    async with app:
        schedule = await app.schedules.create("bills", soon(), topic="bills", retry=QUICK_RETRY)
        run = await ended_run(app, schedule.id)
    assert (run.status, run.error_message, run.attempt) == (RunStatus.FAILED, "ValueError: no bills", 2)
    assert sorted(calls) == ["broken 1", "broken 2", "fine 1", "fine 2"]


async def test_a_fatal_listener_ends_the_run_at_once_unless_another_may_still_succeed(app: Duly) -> None:
    @app.on("schedule.a.arrived")
    async def fatal(event: ScheduleArrived) -> None:
        raise Fatal("never")

    @app.on("schedule.b.arrived")
    async def fatal_too(event: ScheduleArrived) -> None:
        raise Fatal("never")

    @app.on("schedule.b.arrived")
    async def passing(event: ScheduleArrived) -> None:
        if event.attempt == 1:
            raise ValueError("not yet")

    async with app:
        a = await app.schedules.create("a", soon(), topic="a", retry=QUICK_RETRY)
        b = await app.schedules.create("b", soon(), topic="b", retry=QUICK_RETRY)
        assert [(await ended_run(app, schedule.id)).attempt for schedule in (a, b)] == [1, 2]


async def test_a_topic_without_a_listener_ends_completed_and_says_so(make_app: MakeApp, caplog: Any) -> None:
    app = make_app(settings=Settings(lease=0.9, heartbeat=0.3, poll=0.05))

    @app.on("schedule.other.arrived")
    async def hear(event: ScheduleArrived) -> None: ...

    async with app:
        schedule = await app.schedules.create("lonely", soon(), topic="lonely")
        run = await ended_run(app, schedule.id)
        assert (run.status, run.reason, run.attempt) == (RunStatus.COMPLETED, "no_listener", 0)
        found = await app.schedules.get(schedule.id)
        assert found is not None
        assert found.status == "completed"
    assert "nobody listens to topic 'lonely'" in caplog.text


@rule("E8")
async def test_lifecycle_events_are_told_and_a_failing_listener_changes_nothing(app: Duly) -> None:
    told: list[Event] = []
    names = ["run.started", "run.completed", "run.failed", "run.retrying", "run.cancelled", "run.skipped"]
    names += [f"schedule.{what}" for what in ("created", "updated", "paused", "resumed", "cancelled", "deleted")]
    for name in names:
        app.on(name)(told.append)

    @app.on("run.started")
    async def broken(event: Event) -> None:
        raise RuntimeError("a listener's own fault")

    @app.job("good")
    async def good() -> None: ...

    @app.job("bad", retry=QUICK_RETRY)
    async def bad() -> None:
        raise ValueError("no")

    @app.job("slow")
    async def slow() -> None:
        await asyncio.sleep(60)

    async with app:
        await app.runs.wait((await app.enqueue("good")).id, timeout=30)
        failed = await app.runs.wait((await app.enqueue("bad")).id, timeout=30)
        slow_run = await app.enqueue("slow")
        await until(lambda: any(event.run_id == slow_run.id for event in told))
        await app.runs.cancel(slow_run.id)
        await app.runs.wait(slow_run.id, timeout=30)
        schedule = await app.schedules.create("busy", Every(seconds=1), job="slow")
        await app.schedules.update("busy", description="x")
        await until(lambda: any(event.name == "run.skipped" for event in told))
        await app.schedules.pause("busy", reason="enough")
        await app.schedules.pause("busy", reason="enough")
        await app.schedules.resume("busy")
        await app.schedules.cancel("busy")
        await app.schedules.cancel("busy")  # nothing happens
        await app.schedules.delete("busy")
        await until(lambda: sum(event.schedule_id == schedule.id and event.run_id is None for event in told) >= 7)
    assert failed.status == RunStatus.FAILED
    of_bad = [(e.name, e.attempt, e.error) for e in told if e.run_id == failed.id]
    assert of_bad.count(("run.started", 1, None)) == of_bad.count(("run.started", 2, None)) == 1
    assert ("run.retrying", 1, "ValueError: no") in of_bad
    assert ("run.failed", 2, "ValueError: no") in of_bad
    assert [e.name for e in told if e.run_id == slow_run.id] == ["run.started", "run.cancelled"]
    assert {e.reason for e in told if e.name == "run.skipped"} == {"overlap"}
    of_schedule = [e.name.partition(".")[2] for e in told if e.schedule_id == schedule.id and e.run_id is None]
    assert sorted(of_schedule) == ["cancelled", "created", "deleted", "paused", "paused", "resumed", "updated"]


@pytest.mark.parametrize("name", ["schedule.Bad Topic.arrived", "schedule.a.b.c.d.arrived", "run.exploded", ""])
def test_an_unknown_event_is_refused(app: Duly, name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"expected 'schedule\.arrived'"):
        app.on(name)


def test_a_listener_that_takes_no_event_is_refused(app: Duly) -> None:
    with pytest.raises(ConfigurationError, match="takes the event"):
        app.on("run.completed")(lambda: None)  # type: ignore[type-var]


async def test_a_bad_topic_is_refused_before_anything_is_stored(app: Duly) -> None:
    await app.open()
    with pytest.raises(TopicInvalid) as raised:
        await app.schedules.create("x", Every(seconds=5), topic="Not.OK")
    assert raised.value.code == "SCHEDULE_TOPIC_INVALID"
    assert await app.schedules.get("x") is None
    await app.close()


@pytest.mark.parametrize("payload", [3, "x", None, [1]])
async def test_a_topic_takes_an_object_only(app: Duly, payload: Any) -> None:
    await app.open()
    with pytest.raises(ValidationFailed, match="expected an object"):
        await app.schedules.create("x", Every(seconds=5), topic="a.b", payload=payload)
    await app.schedules.create("y", Every(seconds=5), topic="a.b")
    with pytest.raises(ValidationFailed, match="expected an object"):
        await app.schedules.trigger("y", payload)
    await app.close()


async def test_listeners_hear_of_the_store_that_the_app_was_given_last(tmp_path: Path) -> None:
    """`duly serve --app` gives an app its store after its code has declared who listens."""
    app, heard = Duly(), []

    @app.on("schedule.a.arrived")
    async def listen(event: ScheduleArrived) -> None:
        heard.append(event.metadata["owner_id"])

    prepare(app, load({"database.url": f"sqlite:///{tmp_path / 'given.db'}"}))
    async with app:
        await app.schedules.create("t", Every(hours=1), topic="a", metadata={"owner_id": "ann"})
        run = await app.schedules.trigger("t")
        done = await app.runs.wait(run.id, timeout=60)
    assert (done.status, heard) == ("completed", ["ann"]), done.error_message
