"""A serving process on SQLite that counts what it writes: rows, index entries, commits, writes and syncs of files.

Rows and index entries are counted as the table of costs counts them (``tests.costs.sqlite_counter``), commits by
SQLite's commit hook, syncs by a layer between SQLite and the file system. Counting is slow, so nothing here is timed.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import apsw

from bench.inside import serve
from tests.costs.sqlite_counter import SqliteCounter

counted: Counter[str] = Counter()


class CountingFile(apsw.VFSFile):
    """A file that counts."""

    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("unix", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        counted["syncs"] += 1
        super().xSync(flags)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        counted["bytes"] += len(data)
        super().xWrite(data, offset)


class CountingFiles(apsw.VFS):
    """The file system, through files that count."""

    def __init__(self) -> None:
        super().__init__("counting", "unix")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> CountingFile:  # noqa: N802
        return CountingFile(name, flags)


async def main(url: str, **arguments: Any) -> dict[str, float]:
    """Serve as ``serve`` does, and answer the counts as well."""
    counter = SqliteCounter(Path(url.removeprefix("sqlite:///")))

    def committing() -> bool:
        counted["commits"] += 1
        return False

    layer = CountingFiles()
    apsw.set_default_vfs("counting")
    apsw.connection_hooks.append(lambda connection: connection.set_commit_hook(committing))
    with counter.installed():
        answer = await serve.main(url, **arguments)
    del layer
    return {**answer, **counted, "rows": counter.rows, "entries": counter.index_entries}
