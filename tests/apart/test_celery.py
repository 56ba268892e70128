"""Celery as a target: the contract on its broker, and a real worker that executes what duly schedules."""

import base64
import itertools
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import redis.asyncio

pytest.importorskip("celery", reason="server absent: celery: it lives apart, run scripts/test-apart")

from duly import Duly, Every
from duly.targets.celery import CeleryTarget
from duly.targets.target import Confirmed, Refused
from duly.testing.contract import target as contract
from duly.testing.contract.target import Received, TestTargetAway, message
from tests.targets.relay import Relay

__all__ = ["TestTargetAway"]

_numbers = itertools.count(1)


class TestTarget(contract.TestTarget):
    """The contract, but for the bodies: a task is called, and has none."""

    test_a_body_arrives_as_it_was_stored = None  # type: ignore[assignment]
    test_every_format_arrives = None  # type: ignore[assignment]


class CeleryPlace:
    """One queue of Celery on a Redis behind a relay."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.relay = Relay(url)
        self.queue = f"reports-{next(_numbers)}"

    def make(self) -> CeleryTarget:
        return CeleryTarget("reports", f"celery+{self.relay.url}?queue={self.queue}")

    async def received(self) -> list[Received]:
        """A task has no body of ours: the one that a message would have had is made of its call."""
        found = []
        for one in await self.all():
            arguments, words, _ = json.loads(base64.b64decode(one["body"]))
            value = words if words or not arguments else arguments
            found.append(Received(one["headers"]["id"], one["headers"]["duly-type"], json.dumps(value).encode()))
        return found

    async def all(self) -> list[dict[str, Any]]:
        async with redis.asyncio.Redis.from_url(self.url) as client:
            return [json.loads(one) for one in reversed(await client.lrange(self.queue, 0, -1))]

    async def stop(self) -> None:
        await self.relay.stop()

    async def start(self) -> None:
        await self.relay.start()


@pytest_asyncio.fixture
async def place(redis_url: str) -> AsyncIterator[CeleryPlace]:
    place = CeleryPlace(redis_url)
    await place.start()
    yield place
    await place.stop()


@pytest.mark.parametrize(
    "payload, arguments, words",
    [('{"user": 42}', [], {"user": 42}), ("[1, 2]", [1, 2], {}), ("7", [7], {}), ("null", [], {}), ('"x"', ["x"], {})],
)
async def test_the_payload_is_the_call(place: CeleryPlace, payload: str, arguments: list, words: dict):
    target = place.make()
    assert await target.send([message(payload=payload)]) == [Confirmed()]
    await target.close()
    [one] = await place.all()
    assert json.loads(base64.b64decode(one["body"]))[:2] == [arguments, words]
    assert one["headers"]["task"] == "reports.nightly"
    assert one["headers"]["duly-window-key"] == "sched:report:1"


async def test_the_task_is_named_by_the_schedule_or_the_url_or_the_topic(place: CeleryPlace):
    one = message(1)
    by_schedule = replace(one, headers={**one.headers, "task": "app.tasks.clean_up"})
    by_nobody = replace(one, topic=None)
    target = place.make()
    verdicts = await target.send([by_schedule, one, by_nobody])
    await target.close()
    assert [type(verdict) for verdict in verdicts] == [Confirmed, Confirmed, Refused]
    assert [task["headers"]["task"] for task in await place.all()] == ["app.tasks.clean_up", "reports.nightly"]


@pytest.fixture
def worker(redis_url: str) -> Iterator[None]:
    """A worker as anybody starts it."""
    command = [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "examples.consumers.celery_tasks",
        "worker",
        "-P",
        "solo",
        "-l",
        "ERROR",
    ]
    environment = {**os.environ, "CELERY_BROKER_URL": redis_url}
    with subprocess.Popen([*command, "--without-gossip", "--without-mingle"], env=environment) as process:
        yield
        process.kill()


@pytest.mark.timeout(300)
async def test_a_celery_worker_executes_a_scheduled_task_once_per_window(worker: None, redis_url: str, tmp_path: Path):
    """duly in the place of beat: the worker knows nothing of it, and each window is one task with the run's id."""
    app = Duly(f"sqlite:///{tmp_path}/duly.db", targets={"celery": f"celery+{redis_url}"})
    async with redis.asyncio.Redis.from_url(redis_url) as client:
        async with app:
            await app.schedules.create(
                key="nightly",
                timing=Every(seconds=1),
                target={"kind": "queue", "name": "celery", "headers": {"task": "reports.nightly"}},
                payload={"user": 42},
                overlap="allow",
                max_runs=3,
            )
            executed: list[dict[str, Any]] = []
            while len(executed) < 3:
                if (popped := await client.blpop(["reports:made"], timeout=1)) is not None:
                    executed.append(json.loads(popped[1]))
            # A machine that sleeps too long skips windows, and says so; what fired is what is sent.
            runs = [run for run in (await app.runs.list()).items if run.status != "skipped"]
        assert [one["user"] for one in executed] == [42] * 3
        assert sorted(one["id"] for one in executed) == sorted(run.id for run in runs)
        assert await client.blpop(["reports:made"], timeout=1) is None
