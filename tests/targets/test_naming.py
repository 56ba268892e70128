"""Targets by name: what an app knows, what it refuses, and what a schedule may say of its target."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from duly import Duly, Retry
from duly.core.errors import ConfigurationError, ValidationFailed
from duly.targets.delivering import DELIVERY_RETRY
from tests.acceptance.rules import rule
from tests.app.conftest import until
from tests.targets.conftest import SELDOM
from tests.targets.memory import Memory

MAIL = {"kind": "queue", "name": "mail"}


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
async def app(tmp_path: Path, memory: Memory):
    app = Duly(f"sqlite:////{str(tmp_path / 'duly.db').lstrip('/')}", targets={"mail": memory.make()})
    async with app:
        yield app


@rule("S4.29")
async def test_an_unknown_name_is_refused_where_names_are_known(app: Duly) -> None:
    with pytest.raises(ValidationFailed, match=r"target.name is 'fax'.*expected one of mail") as caught:
        await app.schedules.create("k", SELDOM, target={"kind": "queue", "name": "fax"})
    assert caught.value.field == "target.name"
    await app.schedules.create("k", SELDOM, target=MAIL)
    with pytest.raises(ValidationFailed, match=r"target\.name is 'fax'"):
        await app.schedules.update("k", target={"kind": "queue", "name": "fax"})


async def test_a_trigger_a_backfill_and_a_redrive_are_delivered(app: Duly, memory: Memory) -> None:
    schedule = await app.schedules.create("k", SELDOM, target={**MAIL, "format": "raw"}, payload={"n": 1})
    run = await app.schedules.trigger("k", payload={"n": 2})
    assert (await app.runs.wait(run.id, timeout=30)).status == "completed"
    assert (memory.messages[0].id, memory.messages[0].body) == (run.id, b'{"n":2}')
    assert memory.messages[0].headers["duly-schedule-id"] == schedule.id
    assert memory.messages[0].key == "k"
    await app.schedules.update("k", retry=Retry(max_attempts=1))
    await memory.stop()
    dead = await app.schedules.trigger("k")
    assert (await app.runs.wait(dead.id, timeout=30)).error_message == "mail: the memory is down"
    await memory.start()
    await app.runs.redrive(dead.id)
    await until(lambda: len(memory.messages) == 2)
    assert memory.messages[1].id == dead.id
    since, until_then = datetime(2009, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC)
    await app.schedules.backfill("k", since, until_then, payload={"n": 3})
    await until(lambda: len(memory.messages) == 4)
    assert [message.body for message in memory.messages[2:]] == [b'{"n":3}'] * 2


@pytest.mark.parametrize("payload", [[1, 2], "text", 7, None, {"run": 1, "self": 2}], ids=repr)
async def test_a_payload_may_be_any_json(app: Duly, memory: Memory, payload: Any) -> None:
    await app.schedules.create("k", SELDOM, target={**MAIL, "format": "raw"}, payload=payload)
    run = await app.schedules.trigger("k")
    assert (await app.runs.wait(run.id, timeout=30)).status == "completed"
    assert json.loads(memory.messages[0].body) == payload


async def test_a_delivery_waits_in_the_queue_of_its_target_and_is_tried_for_hours(app: Duly) -> None:
    made = await app.schedules.create("k", SELDOM, target=MAIL)
    assert (made.queue, made.retry) == ("target:mail", DELIVERY_RETRY)
    assert (await app.schedules.update("k", queue="target:mail", retry=Retry(max_attempts=2))).max_attempts == 2
    back = await app.schedules.update("k", target=None, job="work")
    assert (back.queue, back.job) == ("default", "work")


@pytest.mark.parametrize(
    "options, field",
    [
        ({"target": MAIL, "queue": "mine"}, "queue"),
        ({"job": "work", "queue": "target:mail"}, "queue"),
        ({"target": {**MAIL, "format": "xml"}}, "target.format"),
        ({"target": {**MAIL, "format": 7}}, "target.format"),
        ({"target": {**MAIL, "expect": "answer"}}, "target.expect"),
        ({"target": {**MAIL, "ordered": "yes"}}, "target.ordered"),
        ({"target": {**MAIL, "ordered": True}, "overlap": "allow", "max_concurrent": 2}, "max_concurrent"),
        ({"target": {**MAIL, "headers": "x"}}, "target.headers"),
        ({"target": {**MAIL, "headers": {"a b": "x"}}}, "target.headers.a b"),
        ({"target": {**MAIL, "headers": {"x": "a\r\nb"}}}, "target.headers.x"),
        ({"target": {**MAIL, "headers": {"x": 7}}}, "target.headers.x"),
        ({"target": {**MAIL, "headers": {"Duly-Run-Id": "forged"}}}, "target.headers.Duly-Run-Id"),
        ({"target": {**MAIL, "stream": "x"}}, "target.stream"),
        ({"target": {**MAIL, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}}, "target.secret"),
        ({"target": {**MAIL, "url": "https://example.com/"}}, "target.url"),
        ({"target": {"kind": "queue"}}, "target.name"),
        ({"target": {"kind": "webhook", "name": "mail"}}, "target.url"),
        ({"target": {"kind": "job", "name": "work"}}, "target.kind"),
        ({"target": {}}, "target.kind"),
    ],
    ids=repr,
)
async def test_what_cannot_be_meant_is_refused(app: Duly, options: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        await app.schedules.create("k", SELDOM, **options)
    assert caught.value.field == field
    assert await app.schedules.get("k") is None


async def test_order_is_a_lane_unless_another_policy_was_chosen(app: Duly) -> None:
    ordered = {**MAIL, "ordered": True}
    plain = await app.schedules.create("a", SELDOM, target=ordered)
    assert (plain.overlap, plain.max_concurrent, plain.max_queued) == ("allow", 1, 1000)
    queue = await app.schedules.create("b", SELDOM, target=ordered, overlap="queue", max_queued=5)
    assert (queue.overlap, queue.max_concurrent, queue.max_queued) == ("queue", None, 5)
    skip = await app.schedules.create("c", SELDOM, target=ordered, overlap="skip")
    assert (skip.overlap, skip.max_concurrent) == ("skip", None)


@pytest.mark.parametrize("targets", [{"a b": "redis://x"}, {"a": 7}, {"a": "nothing"}, {"a": "gopher://x"}, ["a"], "a"])
def test_targets_that_are_none_are_refused_before_anything_runs(targets: Any) -> None:
    with pytest.raises(ConfigurationError, match="target"):
        Duly("sqlite:///never.db", targets=targets)


async def test_an_app_that_knows_no_targets_takes_any_name(tmp_path: Path) -> None:
    app = Duly(f"sqlite:////{str(tmp_path / 'duly.db').lstrip('/')}", roles=())
    async with app:
        assert (await app.schedules.create("k", SELDOM, target=MAIL)).queue == "target:mail"
