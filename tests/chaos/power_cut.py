"""S03: what a power cut leaves of a database file.

A process works on a database through a VFS that records each write, sync and truncation, and each answer that a caller
got. From the record come the images that a power cut may leave: what was synced is there; of what was written since,
any sectors are there and any are not, in any order. In every image, what was answered must be there.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import apsw

from duly import Duly
from duly.store.sqlite import checkpointer, connecting
from tests.chaos.judging import Figures
from tests.processes.fleet import ROOT

OURS = "ours"
"""The setting that the store itself chooses, which is FULL."""

SECTOR = 512
ROUNDS = 25
CHECKPOINT_PAGES = 60  # so that the log is moved into the database often enough to be cut in the middle of it
_POWER_LOST = 0.5


@dataclass(frozen=True)
class Event:
    """One thing that happened: a write, sync, cut or delete of a file, or an answer."""

    kind: str
    file: str = ""
    at: int = 0
    data: bytes = b""
    ids: tuple[str, ...] = ()


class Record:
    """The order of everything."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._lock = Lock()

    def add(self, event: Event) -> None:
        with self._lock:
            self.events.append(event)


class RecordingFile(apsw.VFSFile):
    def __init__(self, record: Record, base: str, name: Any, flags: list[int]) -> None:
        super().__init__(base, name, flags)
        path = name if isinstance(name, str) else name.filename()
        self._record, self._name = record, os.path.basename(path)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - the names are SQLite's
        self._record.add(Event("write", self._name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._record.add(Event("sync", self._name))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._record.add(Event("truncate", self._name, newsize))
        super().xTruncate(newsize)


class RecordingVfs(apsw.VFS):
    def __init__(self, record: Record) -> None:
        self._record = record
        self._base = apsw.vfs_names()[0]
        super().__init__("recording", self._base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return RecordingFile(self._record, self._base, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self._record.add(Event("delete", os.path.basename(filename)))
        super().xDelete(filename, syncdir)


async def work(url: str, record: Record) -> None:
    """Ask for runs and wait for their ends; note each answer when it has come."""
    app = Duly(url)

    @app.job("tick")
    async def tick() -> None: ...

    async with app:
        for _ in range(ROUNDS):
            made = await app.runs.enqueue_many("tick", [{}] * 3)
            record.add(Event("asked", ids=tuple(run.id for run in made)))
            for run in made:
                await app.runs.wait(run.id, timeout=60)
            record.add(Event("ended", ids=tuple(run.id for run in made)))


def main(folder: str, synchronous: str) -> None:
    record = Record()
    vfs = RecordingVfs(record)
    set_up = connecting._set_up

    def weaker(connection: apsw.Connection, *arguments: Any) -> None:
        set_up(connection, *arguments)
        if synchronous != OURS:
            connection.pragma("synchronous", synchronous)

    for module, name, value in (
        (connecting, "_set_up", weaker),
        (checkpointer, "CHECKPOINT_PAGES", CHECKPOINT_PAGES),
        (checkpointer, "MOST_PAGES", 3 * CHECKPOINT_PAGES),
    ):
        setattr(module, name, value)
    asyncio.run(work(f"sqlite:///{folder}/duly.db", record))
    vfs.unregister()
    Path(folder, "record").write_bytes(pickle.dumps([astuple(event) for event in record.events]))


def record_work(folder: Path, synchronous: str) -> list[Event]:
    """Let a process work with this setting, and answer what it did."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    command = [sys.executable, "-m", "tests.chaos.power_cut", str(folder), synchronous]
    subprocess.run(command, env=environment, check=True, timeout=300)
    return [Event(*values) for values in pickle.loads((folder / "record").read_bytes())]


def image(events: Sequence[Event], cut: int, chance: random.Random) -> dict[str, bytes]:
    """The files as a power cut right before event ``cut`` may leave them."""
    synced: dict[str, bytearray] = {}
    waiting: dict[str, list[Event]] = {}
    for event in events[:cut]:
        match event.kind:
            case "sync":
                content = synced.setdefault(event.file, bytearray())
                for before in waiting.pop(event.file, ()):
                    _apply(content, before)
            case "write" | "truncate":
                waiting.setdefault(event.file, []).append(event)
            case "delete":
                synced.pop(event.file, None)
                waiting.pop(event.file, None)
    for file, events_of in waiting.items():
        content = synced.setdefault(file, bytearray())
        lost = chance.choice((0.0, _POWER_LOST, _POWER_LOST, 1.0))
        for event in chance.sample(events_of, len(events_of)) if chance.random() < 0.5 else events_of:
            for sector in _sectors(event):
                if chance.random() >= lost:
                    _apply(content, sector)
    return {file: bytes(content) for file, content in synced.items()}


def _sectors(event: Event) -> list[Event]:
    """The parts of a write that a disk writes one by one."""
    if event.kind == "truncate":
        return [event]
    parts, at, data = [], event.at, event.data
    while data:
        size = SECTOR - at % SECTOR
        parts.append(Event("write", event.file, at, data[:size]))
        at, data = at + len(data[:size]), data[size:]
    return parts


def _apply(content: bytearray, event: Event) -> None:
    if event.kind == "truncate":
        del content[event.at :]
        return
    content.extend(bytes(max(0, event.at - len(content))))
    content[event.at : event.at + len(event.data)] = event.data


def lost_in(files: dict[str, bytes], events: Sequence[Event], folder: Path) -> tuple[int, list[str]]:
    """How many answered things are not in an image, and what is wrong with the image itself."""
    for old in folder.glob("duly.db*"):
        old.unlink()
    for name, content in files.items():
        if name in ("duly.db", "duly.db-wal"):  # the index is made anew
            (folder / name).write_bytes(content)
    asked = {id for event in events if event.kind == "asked" for id in event.ids}
    ended = {id for event in events if event.kind == "ended" for id in event.ids}
    if "duly.db" not in files:
        return len(asked) + len(ended), []
    connection = apsw.Connection(str(folder / "duly.db"))
    try:
        found = connection.pragma("integrity_check")
        if found != "ok":
            return 0, [f"integrity_check: {found}"]
        if not connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'duly_runs'").get:
            return len(asked) + len(ended), []
        done = {row[0] for row in connection.execute("SELECT id FROM duly_history WHERE status = 'completed'")}
        there = done | {row[0] for row in connection.execute("SELECT id FROM duly_runs")}
    finally:
        connection.close()
    return len(asked - there) + len(ended - done), []


def judge_power_cuts(synchronous: str, images: int, chance: random.Random) -> Figures:
    """Work once, cut the power many times; a loss is a finding, whatever the setting."""
    figures = Figures(repetitions=images)
    with tempfile.TemporaryDirectory(prefix="duly-power-") as name:
        folder = Path(name)
        events = record_work(folder, synchronous)
        answers = [number for number, event in enumerate(events) if event.kind in ("asked", "ended")]
        kinds = {kind: sum(event.kind == kind for event in events) for kind in ("write", "sync")}
        checkpointed = sum(event.kind == "sync" and event.file == "duly.db" for event in events)
        lossy = 0
        for number in range(images):
            # Every other cut comes right after an answer: nothing has had time to be written by chance.
            cut = chance.choice(answers) + 1 if number % 2 else chance.randrange(answers[0], len(events))
            lost, wrong = lost_in(image(events, cut, chance), events[:cut], folder)
            lossy += bool(lost)
            figures.findings += [f"image {number}, cut at {cut}: {what}" for what in wrong]
            figures.findings += [f"image {number}, cut at {cut}: {lost} acknowledged writes are lost"] if lost else []
        figures.remarks = {"images": images, "with a loss": lossy, "checkpoints": checkpointed, **kinds}
    return figures


async def cut_power(chance: random.Random, images: int) -> Figures:
    """S03 as a row: FULL loses nothing; NORMAL does, which shows that the row can see a loss."""
    figures = await asyncio.to_thread(judge_power_cuts, OURS, images, chance)
    weaker = await asyncio.to_thread(judge_power_cuts, "NORMAL", min(images, 100), chance)
    if not weaker.remarks["with a loss"]:
        figures.findings.append("NORMAL lost nothing: these images show no power cut")
    figures.findings += [found for found in weaker.findings if "integrity_check" in found]
    figures.remarks |= {f"NORMAL {name}": value for name, value in weaker.remarks.items() if "loss" in name}
    return figures


if __name__ == "__main__":
    main(*sys.argv[1:])
