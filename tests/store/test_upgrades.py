"""Schema changes: one migration per dialect so far; later ones only add, so an older instance keeps working."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from duly.core.errors import SchemaMismatch
from duly.store.postgres.texts import load_migrations as postgres_migrations
from duly.store.sqlite import open_store
from duly.store.sqlite.migrating import load_migrations
from duly.testing import ManualClock
from tests.contract.suite import Trial

NOW = "2026-12-01T07:30:00Z"
FIRST_RELEASE = 1
"""The schema of the first release: later migrations only add, so an older instance keeps working beside a newer one."""
TAKES_AWAY = re.compile(
    r"\bDROP\b|\bRENAME\b|\bALTER\s+COLUMN\b|ADD COLUMN(?![^,;]*DEFAULT)[^,;]*NOT NULL", re.IGNORECASE
)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_there_is_one_migration_until_the_first_release(dialect: str) -> None:
    names = sorted(file.name for file in (files(f"duly.store.{dialect}") / "schema").iterdir())
    assert names == ["0001_initial.sql"]


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_migrations_after_the_first_release_only_add(dialect: str) -> None:
    texts = load_migrations() if dialect == "sqlite" else {n: t.decode() for n, t in postgres_migrations().items()}
    assert FIRST_RELEASE in texts
    for number, text in texts.items():
        if number > FIRST_RELEASE:
            assert not TAKES_AWAY.search(re.sub(r"--.*", "", text)), number
    for bad in ("DROP TABLE x", "ALTER TABLE x RENAME COLUMN a TO b", "ALTER TABLE x ADD COLUMN a TEXT NOT NULL"):
        assert TAKES_AWAY.search(bad)
    assert not TAKES_AWAY.search("ALTER TABLE x ADD COLUMN a TEXT NOT NULL DEFAULT ''")


async def test_an_older_duly_refuses_a_newer_schema_and_goes_on_where_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer version migrates while an older one runs: that one goes on, and is refused when it starts again."""
    older = open_store(tmp_path / "x.db", clock=ManualClock(NOW))
    await older.open()
    newer = max(load_migrations()) + 1
    monkeypatch.setitem(
        load_migrations(), newer, "ALTER TABLE duly_runs ADD COLUMN colour TEXT; CREATE TABLE duly_x (id)"
    )
    upgraded = open_store(tmp_path / "x.db", clock=ManualClock(NOW))
    await upgraded.open()
    monkeypatch.delitem(load_migrations(), newer)
    trial, other = Trial(older, ManualClock(NOW)), Trial(upgraded, ManualClock(NOW))
    run = await trial.enqueue()
    worker = await other.worker()
    assert (await worker.claim_one()).id == run.id
    made = await other.enqueue()
    assert (await (await trial.worker()).claim_one()).id == made.id
    await older.close()
    with pytest.raises(SchemaMismatch, match=f"schema {newer}"):
        await open_store(tmp_path / "x.db", clock=ManualClock(NOW)).open()
    await upgraded.close()
