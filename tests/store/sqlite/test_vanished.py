"""A database file that is gone: a start does not put an empty store in its place."""

import os
from pathlib import Path

import pytest

from duly import Duly, Every
from duly.core.errors import StoreMissing


async def used_store(path: Path) -> str:
    """Use a store as a running instance does, and return its id."""
    async with Duly(f"sqlite:////{str(path).lstrip('/')}") as app:
        await app.schedules.create("report", Every("1h"), job="work")
        state = await app._store.firing_state()
        app._store.remember(state)  # as the janitor does every few seconds
        return state.store_id


def files_of(folder: Path) -> list[tuple[str, int]]:
    return sorted((file.name, file.stat().st_size) for file in folder.iterdir())


def lose_the_file(path: Path, *, emptied: bool) -> None:
    """Delete all but what is remembered of the store."""
    for file in path.parent.glob("duly.db*"):
        if file.name != "duly.db-seen":
            file.unlink()
    if emptied:
        path.touch()


@pytest.mark.parametrize("emptied", [False, True], ids=["deleted", "emptied"])
async def test_a_start_without_the_file_of_a_known_store_is_refused(tmp_path: Path, emptied: bool) -> None:
    path = tmp_path / "duly.db"
    store_id = await used_store(path)
    lose_the_file(path, emptied=emptied)
    left = files_of(tmp_path)
    app = Duly(f"sqlite:////{str(path).lstrip('/')}")
    with pytest.raises(StoreMissing) as refused:
        await app.open()
    assert str(path) in refused.value.message
    assert f"store {store_id} was here" in refused.value.message
    assert f"delete '{path}-seen' to start with an empty store" in refused.value.message
    assert files_of(tmp_path) == left, "nothing was created or written"
    os.remove(f"{path}-seen")
    async with Duly(f"sqlite:////{str(path).lstrip('/')}") as fresh:
        assert (await fresh.schedules.list()).items == []


async def test_a_first_start_and_a_restart_need_no_word(tmp_path: Path) -> None:
    first = await used_store(tmp_path / "duly.db")
    assert await used_store(tmp_path / "other.db") != first
    async with Duly(f"sqlite:////{str(tmp_path / 'duly.db').lstrip('/')}") as app:
        assert (await app.schedules.get("report")) is not None
