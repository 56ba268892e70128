"""``app.webhooks`` end to end: what happens is told to a real server, signed, retried and given up."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from duly import Duly, Every, Fatal, Retry, Settings
from duly.core.errors import DestinationNotAllowed, ValidationFailed, WebhookNotFound
from duly.core.instants import to_datetime
from duly.core.signing import write_secret
from duly.core.webhook import EVENTS, GIVEN_UP_AFTER_MS, JOB, Webhook
from tests.acceptance.rules import rule
from tests.targets.receiving import Receiver, answer

ALLOWED = Settings(webhook_allow=("127.0.0.1",))


@pytest_asyncio.fixture
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    await receiver.start()
    yield receiver
    await receiver.stop()


@pytest_asyncio.fixture
async def app(tmp_path: Path) -> AsyncIterator[Duly]:
    app = Duly(f"sqlite:///{tmp_path}/x.db", settings=ALLOWED)

    @app.job("good")
    async def good() -> None: ...

    @app.job("bad")
    async def bad() -> None:
        raise Fatal("no luck")

    async with app:
        yield app


async def notification(app: Duly, number: int = 0) -> Any:
    """A run that tells a webhook, as it has ended."""
    page = await app.runs.list(job=JOB)
    return await app.runs.wait(page.items[number].id, timeout=30)


@rule("E8")
async def test_what_happens_is_told_and_signed(app: Duly, receiver: Receiver) -> None:
    made = await app.webhooks.create(receiver.url, events=["run.failed"])
    await app.enqueue("good")
    run = await app.enqueue("bad")
    [came] = await receiver.until(1)
    assert came.signed_by(made.secret)
    told = json.loads(came.body)
    assert (told["type"], told["specversion"], told["id"]) == ("run.failed", "1.0", came.id)
    assert told["data"]["runId"] == run.id
    assert told["data"]["jobType"] == "bad"
    assert told["data"]["reason"] == "fatal"
    assert came.headers["content-type"] == "application/cloudevents+json"
    assert (await notification(app)).status == "completed"
    assert len(receiver.came) == 1


@rule("K4")
@pytest.mark.parametrize(("switch", "told"), [({}, None), ({"webhook_errors": True}, "Fatal: no luck")])
async def test_k4_what_an_error_says_goes_out_only_when_switched_on(
    tmp_path: Path, receiver: Receiver, switch: dict[str, Any], told: str | None
) -> None:
    app = Duly(f"sqlite:///{tmp_path}/x.db", settings=replace(ALLOWED, **switch))

    @app.job("bad")
    async def bad() -> None:
        raise Fatal("no luck")

    async with app:
        await app.webhooks.create(receiver.url, events=["run.failed"])
        await app.enqueue("bad")
        [came] = await receiver.until(1)
    assert (b"no luck" in came.body) is (told is not None)
    assert json.loads(came.body)["data"]["errorMessage"] == told


async def test_a_heartbeat_is_pinged_and_bad_news_go_elsewhere(app: Duly, receiver: Receiver) -> None:
    """The schedule of a dead man's switch: as long as it is well, somebody hears of it."""
    schedule = await app.schedules.create(key="beat", timing=Every(hours=1, anchor="start"), job="good")
    await app.webhooks.create(receiver.url + "?x=1", kind="heartbeat", schedule="beat")
    await app.enqueue("good")  # not of that schedule
    await app.schedules.trigger(schedule.id)
    await receiver.until(1)
    await app.schedules.update(schedule.id, job="bad")
    await app.schedules.trigger(schedule.id)
    await receiver.until(2)
    assert [came.path for came in receiver.came] == ["/hook?x=1", "/hook/fail?x=1"]


async def test_a_test_message_is_sent_at_once_and_once(app: Duly, receiver: Receiver) -> None:
    made = await app.webhooks.create(receiver.url, events=["run.failed"])
    receiver.say = lambda came: answer(500)
    run = await app.runs.wait((await app.webhooks.test(made.id)).id, timeout=30)
    assert (run.status, run.error_message) == ("failed", "it answered 500")
    assert json.loads(receiver.came[0].body)["type"] == "webhook.test"
    with pytest.raises(WebhookNotFound):
        await app.webhooks.test("019cc9a0-0000-7000-8000-000000000001")


@rule("E8")
async def test_410_ends_it_and_says_why(app: Duly, receiver: Receiver) -> None:
    made = await app.webhooks.create(receiver.url, events=["run.completed"])
    receiver.say = lambda came: answer(410)
    await app.enqueue("good")
    await receiver.until(1)
    assert (await notification(app)).status == "failed"
    found = await app.webhooks.get(made.id)
    assert found is not None
    assert not found.enabled
    assert found.disabled_reason == "it answered 410: it wants nothing more"
    run = await app.enqueue("good")
    await app.runs.wait(run.id, timeout=30)
    assert len((await app.runs.list(job=JOB)).items) == 1, "nothing more is made for it"
    receiver.say = lambda came: answer(200)
    again = await app.webhooks.update(made.id, enabled=True)
    assert (again.enabled, again.disabled_reason) == (True, None)
    await app.runs.redrive((await app.runs.list(job=JOB)).items[0].id)
    await receiver.until(2)


async def test_after_a_rotation_both_secrets_are_good_for_a_while(app: Duly, receiver: Receiver) -> None:
    made = await app.webhooks.create(receiver.url, events=["run.completed"])
    fresh = await app.webhooks.rotate(made.id)
    await app.webhooks.test(made.id)
    await receiver.until(1)
    assert receiver.came[0].signed_by(made.secret)
    assert receiver.came[0].signed_by(fresh.secret)
    last = await app.webhooks.rotate(made.id, keep=timedelta(0))
    await app.webhooks.test(made.id)
    await receiver.until(2)
    assert receiver.came[1].signed_by(last.secret)
    assert receiver.came[1].headers["webhook-signature"].count("v1,") == 1


async def test_a_deleted_one_is_told_nothing_more(app: Duly, receiver: Receiver) -> None:
    made = await app.webhooks.create(receiver.url, events=["run.completed"])
    await app.webhooks.delete(made.id)
    await app.webhooks.delete(made.id)
    run = await app.enqueue("good")
    await app.runs.wait(run.id, timeout=30)
    assert (await app.runs.list(job=JOB)).items == []
    assert await app.webhooks.get(made.id) is None


async def test_one_that_takes_nothing_for_days_is_given_up(app: Duly, receiver: Receiver) -> None:
    made = await app.webhooks.create(receiver.url, events=["run.completed"])

    async def tell() -> Webhook:
        await app.runs.wait((await app.webhooks.test(made.id)).id, timeout=30)
        found = await app.webhooks.get(made.id)
        assert found is not None
        return found

    receiver.say = lambda came: answer(503)
    failing = await tell()
    assert failing.failing_since is not None
    assert (await tell()).failing_since == failing.failing_since
    receiver.say = lambda came: answer(200)
    assert (await tell()).failing_since is None
    receiver.say = lambda came: answer(503)
    long_ago = lambda one, now: replace(one, failing_since=to_datetime(now - GIVEN_UP_AFTER_MS))
    await app._store.change_webhook(made.id, long_ago)
    given_up = await tell()
    assert not given_up.enabled
    assert str(given_up.disabled_reason).startswith("it has taken nothing since")


async def test_a_secret_is_shown_once_and_in_no_text(app: Duly, receiver: Receiver) -> None:
    mine = write_secret(b"x" * 40)
    made = await app.webhooks.create(receiver.url, events=EVENTS, secret=mine)
    assert made.secret == mine
    assert mine not in repr(made)
    assert mine not in repr(await app.webhooks.get(made.id))
    assert mine not in repr(await app.webhooks.list())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"events": []}, "events is empty; expected some of run.cancelled"),
        ({}, "events is empty"),
        ({"events": ["run.exploded"]}, "events has 'run.exploded'"),
        ({"events": "run.failed,run.completed"}, "events has 'run.failed,run.completed'"),
        ({"events": ["run.started"]}, "events has 'run.started'"),
        ({"events": [["run.failed"]]}, "events has"),
        ({"kind": "heartbeat", "events": ["run.failed"]}, "events is given for a heartbeat"),
        ({"kind": "pulse"}, "kind is 'pulse'"),
        ({"events": ["run.failed"], "schedule": "none"}, "schedule is 'none'"),
        ({"events": ["run.failed"], "secret": "hunter2"}, "secret does not begin with whsec_"),
        ({"events": ["run.failed"], "enabled": "no"}, "enabled is 'no'"),
        ({"events": ["run.failed"], "tag": "x" * 51}, "tag"),
    ],
)
async def test_what_cannot_be_is_refused(app: Duly, receiver: Receiver, words: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationFailed, match=said.replace("(", "\\(")):
        await app.webhooks.create(receiver.url, **words)
    assert (await app.webhooks.list()).items == []


async def test_it_may_not_lead_inside(app: Duly) -> None:
    with pytest.raises(DestinationNotAllowed):
        await app.webhooks.create("https://10.0.0.1/", events=["run.failed"])
    made = await app.webhooks.create("https://example.com/", events=["run.failed"])
    with pytest.raises(DestinationNotAllowed):
        await app.webhooks.update(made.id, url="http://169.254.169.254/")


async def test_retries_are_those_of_the_handler(app: Duly) -> None:
    handler = app._registry.get(JOB)
    assert handler is not None
    assert handler.retry == Retry(max_attempts=16, delay=5, max_delay=21_600)
