"""Checkpoints: the log is kept short beside the commits."""

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from duly.store.sqlite import SqliteDriver, checkpointer, connecting
from tests.app.conftest import until
from tests.store.sqlite.conftest import Opener
from tests.store.sqlite.making import add


async def write_until_the_log_starts_anew(driver: SqliteDriver) -> int:
    """Write until the log is shorter than before; answer how long it was."""
    assert driver._writer is not None
    log = driver._writer._checkpointer
    for n in range(100_000):
        before = log._pages
        await driver.write(add(f"t{n}"))
        if log._pages < before:
            return before
    raise AssertionError("the log only ever grew")


async def come_to_rest(driver: SqliteDriver) -> None:
    """Let a move end that is under way.

    A commit between its last page and its word that all is done starts the log anew; then the writer moves the few
    pages of the new log, and the commit after that starts it anew once more.
    """
    assert driver._writer is not None
    log = driver._writer._checkpointer
    await until(lambda: log._moved or not log._moving)
    for n in range(2):
        await driver.write(add(f"rest{n}"))


async def test_a_long_log_is_moved_beside_the_commits(driver: SqliteDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpointer, "CHECKPOINT_PAGES", 50)
    for _ in range(3):
        assert await write_until_the_log_starts_anew(driver) >= 50
        await come_to_rest(driver)


async def test_a_log_that_grew_too_long_is_moved_by_the_writer(
    driver: SqliteDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpointer, "CHECKPOINT_PAGES", 1_000_000)
    monkeypatch.setattr(checkpointer, "MOST_PAGES", 50)
    await write_until_the_log_starts_anew(driver)  # the schema alone may have made it longer than that
    for _ in range(3):
        assert 50 <= await write_until_the_log_starts_anew(driver) < 60


def size(path: str) -> int:
    return Path(path).stat().st_size


async def test_what_a_long_reader_made_the_log_grow_to_is_given_back_when_it_has_gone(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpointer, "CHECKPOINT_PAGES", 50)
    monkeypatch.setattr(connecting, "LOG_KEPT", 100 * 4096)
    driver = await opener()
    log = f"{driver.path}-wal"
    with closing(apsw.Connection(driver.path)) as reader, reader:
        reader.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        for n in range(400):
            await driver.write(add(f"held{n}"))
        assert size(log) > 2 * connecting.LOG_KEPT
    await write_until_the_log_starts_anew(driver)
    assert size(log) <= connecting.LOG_KEPT
