"""What the guarantees rest on, looked at when an app starts and by ``duly doctor``."""

import logging
from pathlib import Path

import psycopg
import pytest

from duly import Duly
from duly.store.postgres import checking
from duly.store.postgres.inspecting import inspect as inspect_postgres
from duly.store.sqlite import inspecting
from duly.store.sqlite.inspecting import _library, find_warnings, inspect


def test_an_sqlite_with_the_wal_reset_fault_is_told() -> None:
    assert [_library(version)[0].level for version in ("3.40.1", "3.51.2", "3.51.3", "3.54.1")] == [
        "warn", "warn", "ok", "ok",
    ]  # fmt: skip


def test_a_network_file_system_is_told(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/x {tmp_path} nfs4 rw 0 0\n")
    (told,) = find_warnings(str(tmp_path / "duly.db"), mounts)
    assert "is on nfs4: SQLite's locks do not hold there; move the file to a local disk" in told
    mounts.write_text(f"/dev/x {tmp_path} ext4 rw 0 0\n")
    assert find_warnings(str(tmp_path / "duly.db"), mounts) == []


async def test_a_start_on_a_server_that_forgets_or_is_crowded_is_logged(
    fresh_postgres: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "FEW_CONNECTIONS", 100_000)
    app = Duly(fresh_postgres, roles=("scheduler",))
    with caplog.at_level(logging.WARNING, "duly.app"):
        async with app:
            pass
    told = [record.getMessage() for record in caplog.records if record.name == "duly.app"]
    assert "database: fsync is off: a crash of the machine may lose or damage everything" in told
    assert any("connections are free" in text for text in told)


def _size(path: str) -> int:
    return Path(path).stat().st_size


async def test_a_log_that_somebody_keeps_from_being_moved_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "duly.db")
    async with Duly(f"sqlite:///{path}", roles=()):
        assert "log" not in {finding.subject for finding in inspect(path).findings}
        monkeypatch.setattr(inspecting, "_LONG_LOG", _size(f"{path}-wal"))
        (told,) = [finding for finding in inspect(path).findings if finding.subject == "log"]
    assert told.level == "warn"
    assert "it grows for as long as somebody reads on" in told.text


def test_a_snapshot_that_is_held_for_long_is_told(ready_postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> list[str]:
        return [finding.text for finding in inspect_postgres(ready_postgres).findings if "snapshot" in finding.text]

    with psycopg.connect(ready_postgres) as holder:
        holder.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        holder.execute("SELECT count(*) FROM duly.duly_runs")
        assert told() == [], "a short one is nothing to tell"
        monkeypatch.setattr(checking, "OLD_SNAPSHOT", 0)
        assert "vacuum cannot sweep up what ended since" in told()[0]
