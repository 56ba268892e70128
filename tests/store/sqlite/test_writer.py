"""The writer: calls share commits, and nothing else."""

import asyncio
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from duly.core.errors import OutcomeUnknown, RunActive, StoreError, StoreUnavailable
from duly.store.sqlite import SqliteDriver
from duly.store.sqlite.calls import Call
from duly.store.sqlite.writer import Writer
from duly.store.statements import Program, query
from duly.testing import ManualClock
from tests.store.sqlite.conftest import Opener
from tests.store.sqlite.making import Gate, add, add_then_raise, add_what_is_refused, nothing, slots, turn


def writer_of(driver: SqliteDriver) -> Writer:
    assert driver._writer is not None
    return driver._writer


def count_commits(driver: SqliteDriver) -> list[None]:
    commits: list[None] = []
    writer_of(driver)._connection.set_commit_hook(lambda: bool(commits.append(None)))  # type: ignore[func-returns-value]
    return commits


async def test_calls_that_arrive_during_a_commit_share_the_next_one(driver: SqliteDriver) -> None:
    commits = count_commits(driver)
    gate = Gate()
    first = await gate.enter(driver.write)
    calls = [asyncio.ensure_future(driver.write(add(f"t{n % 10}"))) for n in range(100)]
    await turn()
    gate.open()
    await first
    answers = await asyncio.gather(*calls)
    assert sum(slots(driver).values()) == 100
    assert sorted(answers) == sorted(list(range(1, 11)) * 10)
    assert len(commits) == 2, "one for the call in the gate, one for the hundred that waited"


async def test_a_call_alone_is_one_commit(driver: SqliteDriver) -> None:
    commits = count_commits(driver)
    for _ in range(3):
        await driver.write(add("t"))
    assert len(commits) == 3


async def test_a_call_that_fails_takes_only_its_own_writes_with_it(driver: SqliteDriver) -> None:
    gate = Gate()
    first = await gate.enter(driver.write)
    refusal = RunActive("not now")
    bug = ZeroDivisionError("a bug")
    calls = [
        asyncio.ensure_future(driver.write(transaction))
        for transaction in (
            add("before"),
            add_then_raise("refused", refusal),
            add_what_is_refused("broken"),
            add_then_raise("buggy", bug),
            add("after"),
        )
    ]
    await turn()
    gate.open()
    await first
    before, refused, broken, buggy, after = await asyncio.gather(*calls, return_exceptions=True)
    assert (before, after) == (1, 1)
    assert refused is refusal
    assert buggy is bug
    assert type(broken) is StoreError
    assert broken.details["statement"] == "take_slots"
    assert slots(driver) == {"before": 1, "after": 1}


@pytest.mark.parametrize("inline", [False, True])
async def test_a_call_that_fails_alone_leaves_nothing(opener: Opener, inline: bool) -> None:
    driver = await opener(inline=inline)
    with pytest.raises(RunActive):
        await driver.write(add_then_raise("t", RunActive("not now")))
    with pytest.raises(StoreError, match="take_slots"):
        await driver.write(add_what_is_refused("t"))
    assert slots(driver) == {}
    assert await driver.write(add("t")) == 1


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (apsw.IOError("disk I/O error"), OutcomeUnknown),
        (apsw.FullError("database or disk is full"), StoreUnavailable),
    ],
)
async def test_a_commit_that_fails_is_told_to_every_caller(
    driver: SqliteDriver, failure: Exception, error: type[Exception]
) -> None:
    def fail() -> bool:
        raise failure

    gate = Gate()
    first = await gate.enter(driver.write)
    calls = [asyncio.ensure_future(driver.write(add(f"t{n}"))) for n in range(3)]
    await turn()
    writer_of(driver)._connection.set_commit_hook(fail)
    gate.open()
    answers = await asyncio.gather(first, *calls, return_exceptions=True)
    assert [type(answer) for answer in answers] == [error] * 4
    writer_of(driver)._connection.set_commit_hook(None)
    assert slots(driver) == {}
    assert await driver.write(add("t0")) == 1


async def test_where_sqlite_rolls_the_shared_transaction_back_nobody_is_told_that_it_was_done(
    driver: SqliteDriver,
) -> None:
    """As it does when the disk is full in the middle of a statement."""

    def wreck(now: int) -> Program[int]:
        yield query("take_slots", tenant="wreck", count=1)
        writer_of(driver)._connection.execute("ROLLBACK")
        raise apsw.FullError("database or disk is full")

    gate = Gate()
    first = await gate.enter(driver.write)
    calls = [asyncio.ensure_future(driver.write(what)) for what in (add("before"), wreck, add("after"))]
    await turn()
    gate.open()
    await first
    before, wrecked, after = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(before), type(wrecked), after] == [StoreUnavailable, StoreUnavailable, 1]
    assert slots(driver) == {"after": 1}


@pytest.mark.parametrize("inline", [False, True])
async def test_a_lock_held_by_another_is_an_unavailable_store(opener: Opener, path: Path, inline: bool) -> None:
    driver = await opener(inline=inline, busy_timeout=0.01)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="nothing was done"):
        await driver.write(add("t"))
    assert await driver.read(nothing) == 7, "a reader does not mind"
    other.execute("ROLLBACK")
    other.close()
    assert await driver.write(add("t")) == 1


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """A gate in which the time of calls begins to run, however long the writer's thread takes to come there."""
    gate, wait, wait_sync = Gate(), Call.wait, Call.wait_sync

    async def wait_in_the_gate(call: Call[Any], limit: float) -> Any:
        await asyncio.to_thread(gate.wait)
        return await wait(call, limit)

    def wait_in_the_gate_sync(call: Call[Any], limit: float) -> Any:
        gate.wait()
        return wait_sync(call, limit)

    monkeypatch.setattr(Call, "wait", wait_in_the_gate)
    monkeypatch.setattr(Call, "wait_sync", wait_in_the_gate_sync)
    return gate


async def test_a_call_that_does_not_get_its_turn_in_time_is_certain_not_to_run(opener: Opener, gate: Gate) -> None:
    driver = await opener(time_limit=0.05)
    first = await gate.enter(lambda transaction: asyncio.to_thread(_shrug, driver, transaction))
    with pytest.raises(StoreUnavailable, match="nothing was done"):
        await driver.write(add("late"))
    with pytest.raises(StoreUnavailable, match="nothing was done"):
        await asyncio.to_thread(driver.write_sync, add("late"))
    gate.open()
    await first
    driver._time_limit = 60.0
    assert await driver.write(add("next")) == 1
    assert slots(driver) == {"next": 1}


def _shrug(driver: SqliteDriver, transaction) -> None:
    with pytest.raises(OutcomeUnknown, match="may still be done"):
        driver.write_sync(transaction)


async def test_a_write_that_takes_too_long_has_an_unknown_outcome(opener: Opener, gate: Gate) -> None:
    driver = await opener(time_limit=0.05)
    call = await gate.enter(driver.write)
    with pytest.raises(OutcomeUnknown, match="may still be done"):
        await call
    gate.open()


async def test_a_cancelled_call_that_still_waits_is_not_run(driver: SqliteDriver) -> None:
    gate = Gate()
    first = await gate.enter(driver.write)
    call = asyncio.ensure_future(driver.write(add("cancelled")))
    await turn()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    gate.open()
    await first
    await driver.write(add("next"))
    assert slots(driver) == {"next": 1}


@pytest.mark.parametrize("inline", [False, True])
async def test_a_thread_can_write_and_read_while_the_loop_is_blocked(opener: Opener, inline: bool) -> None:
    driver = await opener(inline=inline)
    answers: list[object] = []

    def beat() -> None:
        answers.append(driver.write_sync(add("beat")))
        answers.append(driver.read_sync(nothing))

    thread = threading.Thread(target=beat)
    thread.start()
    thread.join(30)  # blocks the loop
    assert answers == [1, 7]


async def test_the_loop_itself_may_write_synchronously(driver: SqliteDriver) -> None:
    assert driver.write_sync(add("t")) == 1


async def test_calls_submitted_before_the_close_are_done(opener: Opener) -> None:
    driver = await opener()
    gate = Gate()
    first = await gate.enter(driver.write)
    calls = [asyncio.ensure_future(driver.write(add("t"))) for _ in range(5)]
    await turn()
    closing = asyncio.ensure_future(driver.close())
    await turn()
    gate.open()
    await asyncio.gather(first, closing, *calls)
    assert slots(driver) == {"t": 5}
    with pytest.raises(StoreUnavailable, match="not open"):
        await driver.write(add("t"))


async def test_a_store_can_be_opened_again(opener: Opener) -> None:
    driver = await opener()
    await driver.write(add("t"))
    await driver.close()
    await driver.open()
    assert await driver.write(add("t")) == 2


@pytest.mark.parametrize("gone", ["removed", "replaced"])
async def test_a_file_that_went_away_under_its_users_is_told_and_nothing_is_written_to_it(
    driver: SqliteDriver, path: Path, gone: str
) -> None:
    await driver.write(add("before"))
    kept = os.fspath(path) + ".kept"
    os.rename(path, kept)
    if gone == "replaced":
        shutil.copyfile(kept, path)
    for call in (driver.write, driver.read):
        with pytest.raises(StoreUnavailable, match=r"removed or replaced while it was open.*move the file back"):
            await call(add("after"))
    os.replace(kept, path)
    await driver.write(add("again"))
    assert slots(driver) == {"before": 1, "again": 1}


class Coarse(ManualClock):
    """A clock for which waits may end too late, so that calls come early."""

    slack = 0.003


def read_clock(now: int) -> Program[int]:
    yield from ()
    return now


async def test_a_call_that_comes_a_moment_early_begins_at_its_instant_and_holds_nobody_up(path: Path) -> None:
    clock = Coarse()
    driver = SqliteDriver(path, clock=clock)
    await driver.open()
    due = clock.now() + 5
    early = asyncio.ensure_future(driver.write(read_clock, due=due))
    await turn()
    assert await driver.write(add("another")) == 1
    clock.move(milliseconds=4)
    assert await driver.write(add("another")) == 2
    assert not early.done()
    clock.move(milliseconds=1)
    assert await asyncio.wait_for(early, 30) == due
    await driver.close()


@pytest.mark.parametrize("ahead_ms", [-5, 0, 7, 60_000])
async def test_what_is_due_already_or_not_in_a_moment_begins_at_once(path: Path, ahead_ms: int) -> None:
    clock = Coarse()
    driver = SqliteDriver(path, clock=clock)
    await driver.open()
    assert await asyncio.wait_for(driver.write(read_clock, due=clock.now() + ahead_ms), 30) == clock.now()
    await driver.close()


async def test_a_call_that_came_early_is_done_before_the_close(path: Path) -> None:
    clock = Coarse()
    driver = SqliteDriver(path, clock=clock)
    await driver.open()
    early = asyncio.ensure_future(driver.write(add("early"), due=clock.now() + 5))
    await turn()
    await asyncio.wait_for(driver.close(), 30)
    assert await early == 1
