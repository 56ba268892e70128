"""Where a database may lie, and what is said when it may not."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import pytest

from duly.core.errors import ConfigurationError
from duly.store.sqlite import open_store
from duly.store.sqlite.connecting import LOG_KEPT, check_version
from duly.store.sqlite.inspecting import find_schema
from duly.testing import ManualClock
from tests.store.sqlite.conftest import Opener
from tests.store.sqlite.making import add

NOBODY = 65534


@pytest.mark.parametrize("inline", [False, True])
async def test_a_path_without_its_directory_is_refused_by_name(opener: Opener, tmp_path: Path, inline: bool) -> None:
    with pytest.raises(ConfigurationError, match=r"missing/duly\.db.*does not exist; create it first"):
        await opener(path=tmp_path / "missing" / "duly.db", inline=inline)


async def test_a_directory_is_refused_by_name(opener: Opener, tmp_path: Path) -> None:
    for path in (tmp_path, ""):
        with pytest.raises(ConfigurationError, match="is a directory; expected a file"):
            await opener(path=path)


async def test_a_file_that_is_not_a_database_is_refused_by_name(opener: Opener, path: Path) -> None:
    _write_diary(path)
    with pytest.raises(ConfigurationError, match=r"duly\.db' is not a SQLite database"):
        await opener()
    assert _is_diary(path)


def _write_diary(path: Path) -> None:
    path.write_text("Dear diary, " * 100)


def _is_diary(path: Path) -> bool:
    return path.read_text() == "Dear diary, " * 100


async def test_a_read_only_file_is_refused_by_name(opener: Opener, read_only: Path) -> None:
    with _as_somebody(), pytest.raises(ConfigurationError, match=r"duly\.db' is read-only"):
        await opener(path=read_only)


async def test_a_folder_that_may_not_be_written_in_is_named(opener: Opener, read_only: Path) -> None:
    connection = apsw.Connection(str(read_only))  # root, or the owner of a file whose rights come later
    connection.pragma("journal_mode", "wal")
    connection.close()
    told = r"duly\.db' cannot be opened: this process may not write in '.*', and SQLite keeps files beside a database"
    with _as_somebody():
        with pytest.raises(ConfigurationError, match=told):
            find_schema(str(read_only))
        with pytest.raises(ConfigurationError, match=told.replace("duly", "new")):
            await opener(path=read_only.with_name("new.db"))


@pytest.fixture
def read_only() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        connection = apsw.Connection(str(folder / "duly.db"))
        connection.execute("CREATE TABLE orders (id)")
        connection.close()
        (folder / "duly.db").chmod(0o444)
        folder.chmod(0o555)
        yield folder / "duly.db"
        folder.chmod(0o755)


@contextmanager
def _as_somebody() -> Iterator[None]:
    """Step down from root, whom no permission stops."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(was)


@pytest.mark.parametrize("version", ["3.40.1", "3.51.2", "3.9.99"])
def test_a_sqlite_with_the_fault_in_its_log_is_refused(version: str) -> None:
    with pytest.raises(ConfigurationError, match=f"SQLite {version}.*install apsw >= 3.51.3"):
        check_version(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.54.1", "4.0.0"])
def test_a_sound_sqlite_is_taken(version: str) -> None:
    check_version(version)


async def test_a_database_in_memory_needs_no_threads(clock: ManualClock) -> None:
    store = open_store(":memory:", clock=clock)
    await store.open()
    assert await store.driver.write(add("t")) == 1
    assert await store.now() == clock.now()
    await store.close()


async def test_every_connection_is_durable(opener: Opener) -> None:
    driver = await opener()
    assert driver._writer is not None
    connection = driver._writer._connection
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2
    assert connection.pragma("mmap_size") == 0
    assert connection.pragma("journal_size_limit") == LOG_KEPT


@pytest.mark.parametrize("umask, file, folder", [(0o022, 0o640, 0o750), (0o000, 0o640, 0o750), (0o077, 0o600, 0o700)])
async def test_what_is_made_is_not_for_others_to_read(
    opener: Opener, path: Path, umask: int, file: int, folder: int
) -> None:
    before = os.umask(umask)
    try:
        store = await opener()
        await store.write(add("k"))
        store.presence.enter(5)
        made = {found.name: found.stat().st_mode & 0o777 for found in path.parent.rglob(f"{path.name}*")}
        inside = [found.stat().st_mode & 0o777 for found in path.parent.glob(f"{path.name}-sessions/*")]
    finally:
        os.umask(before)
    assert made == {
        path.name: file, f"{path.name}-wal": file, f"{path.name}-shm": file, f"{path.name}-sessions": folder
    }  # fmt: skip
    assert inside == [file]


@pytest.fixture
def shared(path: Path) -> Path:
    path.touch()
    path.chmod(0o664)
    return path


async def test_the_rights_of_a_file_that_is_there_stay_as_they_are(opener: Opener, shared: Path) -> None:
    await opener()
    assert os.stat(shared).st_mode & 0o777 == 0o664
