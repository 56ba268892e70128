"""A serving process on SQLite that counts what it writes: rows, index entries, commits, writes and syncs of files.

Rows come from SQLite's own pre-update hook, commits from its commit hook, syncs from a layer between SQLite and the
file system. Index entries are worked out: each written row is tested against the predicate and the key of each index.
Counting is slow, so nothing here is timed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apsw

from bench.inside import serve

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


@dataclass(frozen=True, slots=True)
class Index:
    """Which rows an index holds, and by what key."""

    places: tuple[int, ...]
    test: str | None

    def key(self, row: tuple[Any, ...] | None, scratch: apsw.Connection) -> tuple[Any, ...] | None:
        """The key of a row, or None where the index does not hold it."""
        if row is None or (self.test and not scratch.execute(self.test, row).fetchall()[0][0]):
            return None
        return tuple(row[place] for place in self.places)


class Indexes:
    """Counts the entries that a written row adds."""

    def __init__(self, path: str) -> None:
        self._scratch = apsw.Connection(":memory:")
        self._of: dict[str, list[Index]] = {}
        connection = apsw.Connection(path)
        tables: Any = connection.execute("select name from sqlite_schema where type = 'table'").fetchall()
        for (table,) in tables:
            self._of[table] = list(self._read(connection, table))
        connection.close()

    def _read(self, connection: apsw.Connection, table: str) -> Iterator[Index]:
        info = "select name from pragma_table_info(?) order by cid"
        columns = [name for (name,) in connection.execute(info, (table,)).fetchall()]
        row = ", ".join(f"?{place} as {name}" for place, name in enumerate(columns, 1))
        listed = connection.execute("select name, origin from pragma_index_list(?)", (table,)).fetchall()
        whole = "select sql like '%WITHOUT ROWID%' from sqlite_schema where name = ?"
        keyed = connection.execute(whole, (table,)).fetchall()[0][0]
        for name, origin in listed:
            if origin == "pk" and keyed:
                continue  # the table itself is the tree of its key
            keys: Any = connection.execute("select cid from pragma_index_xinfo(?) where cid >= 0", (name,)).fetchall()
            text: Any = connection.execute("select sql from sqlite_schema where name = ?", (name,)).fetchall()[0][0]
            where = text.partition("WHERE")[2] if text else ""
            yield Index(tuple(cid for (cid,) in keys), f"select {where} from (select {row})" if where else None)

    def added(self, table: str, old: tuple[Any, ...] | None, new: tuple[Any, ...] | None) -> int:
        """How many entries the change of one row inserts."""
        entries = 0
        for index in self._of.get(table, ()):
            key = index.key(new, self._scratch)
            if key is not None and key != index.key(old, self._scratch):
                entries += 1
        return entries


async def main(url: str, **arguments: Any) -> dict[str, float]:
    """Serve as ``serve`` does, and answer the counts as well."""
    indexes = Indexes(url.removeprefix("sqlite:///"))

    def written(change: apsw.PreUpdate) -> None:
        counted["rows"] += 1
        counted["entries"] += indexes.added(change.table_name, change.old, change.new)

    def committing() -> bool:
        counted["commits"] += 1
        return False

    def watch(connection: apsw.Connection) -> None:
        connection.preupdate_hook(written)
        connection.set_commit_hook(committing)

    layer = CountingFiles()
    apsw.set_default_vfs("counting")
    apsw.connection_hooks.append(watch)
    answer = await serve.main(url, **arguments)
    del layer
    return {**answer, **counted}
