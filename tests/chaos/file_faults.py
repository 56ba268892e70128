"""S rows: what can happen to a database file."""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import apsw

from duly import Duly, Every
from duly.core.errors import DulyError
from duly.store.inspection import Finding
from duly.store.sqlite.connecting import LOG_KEPT
from duly.store.sqlite.inspecting import _LONG_LOG, inspect
from tests.chaos.judging import Figures
from tests.chaos.trial import LEASE, REST_WITHIN, Trial


def _file(trial: Trial) -> Path:
    return Path(trial.fleet.url.removeprefix("sqlite:///"))


async def long_reader(trial: Trial, seconds: float = 3 * LEASE) -> None:
    """S02, S06: somebody reads for long while all instances write; the log cannot be moved into the database."""
    connection = apsw.Connection(str(_file(trial)), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        with connection:
            connection.execute("SELECT count(*) FROM duly_runs").fetchall()
            end_at = time.monotonic() + seconds
            while time.monotonic() < end_at:
                await trial.ask(10, "nap", seconds=0)
                await trial.pause(0.5)
    finally:
        connection.close()
    trial.figures.remarks["WAL MB"] = max(trial.figures.remarks.get("WAL MB", 0), round(_log_size(trial) / 2**20, 1))


async def very_long_reader(trial: Trial, seconds: float = 600) -> None:
    """S06: ten minutes of it; a log that has become long is told of, and shrinks when the reader has gone."""
    await long_reader(trial, seconds)
    told = [finding.text for finding in await asyncio.to_thread(_findings, trial) if finding.subject == "log"]
    if _log_size(trial) >= _LONG_LOG and not told:
        trial.figures.findings.append(f"nothing tells of a log of {_log_size(trial) // 2**20} MiB")
    gone_at = time.monotonic()
    while _log_size(trial) > LOG_KEPT:  # the next writes move it, and start it anew
        assert time.monotonic() < gone_at + REST_WITHIN, f"the log keeps its {_log_size(trial) // 2**20} MiB"
        await trial.ask(50, "nap", seconds=0)
        await trial.pause(0.2)
    remarks = {"told": bool(told), "shrunk after s": round(time.monotonic() - gone_at, 1)}
    trial.figures.remarks |= remarks


def _log_size(trial: Trial) -> int:
    return _file(trial).with_name("duly.db-wal").stat().st_size


def _findings(trial: Trial) -> Sequence[Finding]:
    return inspect(str(_file(trial))).findings


async def moved_file(trial: Trial) -> None:
    """S05: the file and those beside it are moved away for two leases, and come back; nobody spins meanwhile."""
    await trial.ask(6)
    await trial.comes_to_rest()
    away = _file(trial).parent / "away"
    away.mkdir()
    before = {name: _cpu(process.pid) for name, process in trial.fleet.processes.items()}
    for file in _file(trial).parent.glob("duly.db*"):
        file.rename(away / file.name)
    await trial.pause(2 * LEASE)
    spent = {name: _cpu(process.pid) - before[name] for name, process in trial.fleet.processes.items()}
    for file in away.iterdir():
        target = _file(trial).parent / file.name
        with suppress(OSError):
            target.unlink()
        file.rename(target)
    away.rmdir()
    trial.figures.remarks["CPU share while away"] = round(max(spent.values()) / (2 * LEASE), 2)
    await trial.works_again(time.time())


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def flip_bytes(chance: random.Random, images: int) -> Figures:
    """S07: one byte of the file is another one; whoever looks gets a typed error, or sees what was there.

    A byte inside a payload is beyond what SQLite can notice; those are counted and told.
    """
    figures = Figures(repetitions=images)
    outcomes = {"detected": 0, "harmless": 0, "a value changed": 0}
    with tempfile.TemporaryDirectory(prefix="duly-flip-") as folder:
        path = Path(folder) / "duly.db"
        async with Duly(f"sqlite:///{path}", roles=()) as app:
            for number in range(50):
                await app.schedules.create(f"k{number}", Every(minutes=5), job="tick", payload={"number": number})
        whole = await asyncio.to_thread(path.read_bytes)
        before = await _seen(path)
        for _ in range(images):
            at = chance.randrange(len(whole))
            flipped = bytearray(whole)
            flipped[at] ^= 1 << chance.randrange(8)
            await asyncio.to_thread(path.write_bytes, flipped)
            try:
                seen = await _seen(path)
            except DulyError:
                outcomes["detected"] += 1
            except Exception as error:  # noqa: BLE001 - whatever is not ours is the finding
                figures.findings.append(f"byte {at}: {type(error).__name__}: {error}")
            else:
                outcomes["harmless" if seen == before else "a value changed"] += 1
            await asyncio.to_thread(_forget_beside, path)
    figures.remarks = outcomes
    return figures


def _forget_beside(path: Path) -> None:
    for beside in path.parent.glob("duly.db-*"):
        beside.unlink()


async def _seen(path: Path) -> list[object]:
    """What a caller sees of the schedules, after the look that follows an unclean stop."""
    async with Duly(f"sqlite:///{path}", roles=()) as app:
        page = await app.schedules.list(limit=200)
        return [(item.key, item.timing, item.job, (await app.schedules.get(item.id)).payload) for item in page.items]  # type: ignore[union-attr]
