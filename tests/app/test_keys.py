"""Singleton and unique keys of ``app.enqueue``."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from duly import Duly, Fatal, Retry, RunContext, RunStatus
from duly.core.errors import SingletonQueueFull, UniqueKeyInUse, ValidationFailed
from duly.core.policy import Backoff
from tests.acceptance.rules import rule
from tests.app.conftest import MakeApp
from tests.store_choice import postgres_too


@rule("G5")
async def test_runs_of_a_singleton_key_go_one_after_another_on_two_instances(make_app: MakeApp) -> None:
    """G5: in order, through a retry and a death; the one that ends may be on an instance, the next on the other."""
    order: list[tuple[int, int]] = []
    running: set[int] = set()
    apps = [make_app(), make_app()]

    async def step(run: RunContext, n: int) -> None:
        assert not running
        running.add(n)
        order.append((n, run.attempt))
        await asyncio.sleep(0)
        running.discard(n)
        if n == 1 and run.attempt == 1:
            raise ValueError("once more")
        if n == 2:
            raise Fatal("no use")

    for app in apps:
        app.job("step", retry=Retry(backoff=Backoff.FIXED, delay=0))(step)
    async with apps[0] as one, apps[1]:
        runs = await one.runs.enqueue_many("step", [{"n": n} for n in range(8)], singleton="import", max_attempts=3)
        ended = [await one.runs.wait(run.id, timeout=20) for run in runs]
    assert order == [(0, 1), (1, 1), (1, 2), *((n, 1) for n in range(2, 8))]
    assert [run.status.value for run in ended] == ["completed", "completed", "failed", *["completed"] * 5]


async def test_a_full_line_refuses_and_stores_nothing(app: Duly) -> None:
    await app.open()
    first = await app.enqueue("import", singleton="warehouse", max_queued=1)
    await app.enqueue("import", singleton="warehouse", max_queued=1)
    with pytest.raises(SingletonQueueFull, match=r"'warehouse' has 1 run.* and 1 that wait") as refusal:
        await app.enqueue("import", singleton="warehouse", max_queued=1)
    assert refusal.value.code == "SINGLETON_QUEUE_FULL"
    assert len((await app.runs.list()).items) == 2
    await app.runs.cancel(first.id)
    assert (await app.enqueue("import", singleton="warehouse", max_queued=1)).status is RunStatus.PENDING
    await app.close()


@rule("G3")
@postgres_too("many writers at once")
async def test_a_unique_run_is_answered_or_refused_while_the_first_is_open(app: Duly) -> None:
    """G3."""
    await app.open()
    runs = await asyncio.gather(*(app.enqueue("digest", {"n": n}, unique="digest-42") for n in range(10)))
    assert len({run.id for run in runs}) == 1
    with pytest.raises(UniqueKeyInUse) as refusal:
        await app.enqueue("digest", unique="digest-42", on_conflict="refuse")
    assert (refusal.value.code, refusal.value.existing_id) == ("UNIQUE_KEY_IN_USE", runs[0].id)
    await app.runs.cancel(runs[0].id)
    again = await app.enqueue("digest", unique="digest-42", unique_for="5m")
    assert again.id != runs[0].id
    await app.runs.cancel(again.id)
    assert (await app.enqueue("digest", unique="digest-42", unique_for=300)).id == again.id
    await app.close()


def test_keys_hold_without_a_loop_too(sqlite_app: Duly) -> None:
    first = sqlite_app.sync.enqueue("digest", unique="digest-42", singleton="mail", max_queued=0)
    assert sqlite_app.sync.enqueue("digest", unique="digest-42").id == first.id
    with pytest.raises(SingletonQueueFull):
        sqlite_app.sync.runs.enqueue_many("digest", [{}, {}], singleton="mail", max_queued=1)
    sqlite_app.sync.close()


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"singleton": ""}, "singleton"),
        ({"singleton": "k" * 201}, "singleton"),
        ({"singleton": "a\x7f"}, "singleton"),
        ({"singleton": "k", "max_running": 0}, "max_running"),
        ({"singleton": "k", "max_running": True}, "max_running"),
        ({"singleton": "k", "max_queued": -1}, "max_queued"),
        ({"singleton": "k", "run_at": datetime(2099, 1, 1, tzinfo=UTC)}, "run_at"),
        ({"max_running": 2}, "max_running"),
        ({"max_queued": 2}, "max_queued"),
        ({"unique": ""}, "unique"),
        ({"unique": "k", "unique_for": 0}, "unique_for"),
        ({"unique": "k", "unique_for": "soon"}, "unique_for"),
        ({"unique": "k", "unique_for": float("nan")}, "unique_for"),
        ({"unique": "k", "unique_for": "400d"}, "unique_for"),
        ({"unique": "k", "on_conflict": "ignore"}, "on_conflict"),
        ({"unique_for": 5}, "unique_for"),
        ({"on_conflict": "refuse"}, "on_conflict"),
    ],
)
async def test_a_bad_word_is_refused_by_name(sqlite_app: Duly, words: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationFailed, match=field) as refusal:
        await sqlite_app.enqueue("import", **words)
    assert refusal.value.field == field


@pytest.fixture
def sqlite_app(tmp_path: Path) -> Duly:
    return Duly(f"sqlite:///{tmp_path / 'duly.db'}")
