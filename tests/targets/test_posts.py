"""Schedules with a webhook: each run is posted to a real server, signed with the schedule's own secret."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from duly import Duly, Retry, Settings
from duly.core.errors import DestinationNotAllowed, ValidationFailed
from duly.core.signing import write_secret
from tests.targets.conftest import SELDOM
from tests.targets.receiving import Receiver, answer

SECRET = write_secret(b"p" * 32)


@pytest_asyncio.fixture
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    await receiver.start()
    yield receiver
    await receiver.stop()


@pytest_asyncio.fixture
async def app(tmp_path: Path) -> AsyncIterator[Duly]:
    async with Duly(f"sqlite:///{tmp_path}/x.db", settings=Settings(webhook_allow=("127.0.0.1",))) as app:
        yield app


async def create(app: Duly, url: str, **words: Any) -> Any:
    target = {"kind": "webhook", "url": url, "secret": SECRET, **words.pop("target", {})}
    return await app.schedules.create(
        key="hook", timing=SELDOM, target=target, payload={"user": 42}, retry=Retry(max_attempts=1), **words
    )


async def test_a_run_is_posted_and_completed_when_it_is_taken(app: Duly, receiver: Receiver) -> None:
    schedule = await create(app, receiver.url, topic="reports.nightly", target={"headers": {"X-Team": "blue"}})
    run = await app.schedules.trigger(schedule.id)
    done = await app.runs.wait(run.id, timeout=30)
    assert done.status == "completed"
    [came] = receiver.came
    assert came.id == run.id
    assert came.signed_by(SECRET)
    assert came.headers["x-team"] == "blue"
    event = json.loads(came.body)
    assert (event["id"], event["type"]) == (run.id, "schedule.reports.nightly.arrived")
    assert event["data"]["userPayload"] == {"user": 42}
    assert SECRET not in came.body.decode()
    assert SECRET not in str(came.headers)


async def test_without_a_secret_it_is_not_signed(app: Duly, receiver: Receiver) -> None:
    schedule = await create(app, receiver.url, target={"secret": None, "format": "raw"})
    await app.runs.wait((await app.schedules.trigger(schedule.id)).id, timeout=30)
    [came] = receiver.came
    assert "webhook-signature" not in came.headers
    assert json.loads(came.body) == {"user": 42}


async def test_410_pauses_the_schedule_and_says_why(app: Duly, receiver: Receiver) -> None:
    receiver.say = lambda came: answer(410)
    schedule = await create(app, receiver.url)
    done = await app.runs.wait((await app.schedules.trigger(schedule.id)).id, timeout=30)
    assert done.status == "failed"
    found = await app.schedules.get(schedule.id)
    assert found is not None
    assert not found.enabled
    assert "410" in str(found.paused_reason)


async def test_what_is_not_taken_fails_by_the_policy_of_the_schedule(app: Duly, receiver: Receiver) -> None:
    receiver.say = lambda came: answer(500)
    schedule = await create(app, receiver.url)
    done = await app.runs.wait((await app.schedules.trigger(schedule.id)).id, timeout=30)
    assert (done.status, done.error_message) == ("failed", "webhook: it answered 500")


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ({"url": "https://10.0.0.1/"}, DestinationNotAllowed),
        ({"url": "ftp://example.com/"}, DestinationNotAllowed),
        ({"secret": "hunter2"}, ValidationFailed),
        *(({"headers": {name: "x"}}, ValidationFailed) for name in ("Host", "webhook-signature", "Authorization")),
        *(({"headers": {"x-team": value}}, ValidationFailed) for value in ("bl\u00fc", " blue", "blue ")),
        ({"name": "notification-queue"}, ValidationFailed),
    ],
)
async def test_what_cannot_be_is_refused_at_create_and_at_update(
    app: Duly, receiver: Receiver, words: dict[str, Any], kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        await create(app, receiver.url, target=words)
    schedule = await create(app, receiver.url)
    with pytest.raises(kind) as refused:
        await app.schedules.update(schedule.id, target={"kind": "webhook", "url": receiver.url, **words})
    assert "hunter2" not in str(refused.value)
