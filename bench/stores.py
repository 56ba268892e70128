"""Empty and filled stores to measure on: a PostgreSQL of our own with fsync on, SQLite files beside it."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg

from bench.processes import Children
from tests.databases import with_database
from tests.servers import Server, postgres_server

STORES = ("sqlite", "postgres")


class Stores:
    """Makes a store for each measurement, and keeps a filled one to copy from."""

    def __init__(self, folder: Path, children: Children, stack: ExitStack) -> None:
        self.folder = folder
        self._children = children
        self._stack = stack
        self._server: Server | None = None
        self._numbers = itertools.count()
        self._filled: dict[tuple[str, int], str] = {}

    @property
    def server(self) -> Server:
        """The PostgreSQL server, started when first asked for."""
        if self._server is None:
            self._server = self._stack.enter_context(postgres_server(fsync=True))
        return self._server

    def server_pid(self, kind: str) -> int | None:
        return self.server.pid if kind == "postgres" else None

    @contextmanager
    def store(self, kind: str, stored: int = 0) -> Iterator[str]:
        """Give the URL of a new store that holds ``stored`` future schedules, and remove it afterwards."""
        source = self._template(kind, stored) if stored else None
        url = self._make(kind, source)
        try:
            yield url
        finally:
            self._remove(kind, url)

    def postgres_version(self) -> str | None:
        """What the server says it is, if one was started."""
        if self._server is None:
            return None
        with psycopg.connect(self._server.url) as connection:
            row = connection.execute("show server_version").fetchone()
            return str(row[0]) if row else None

    def _template(self, kind: str, stored: int) -> str:
        """Fill a store once; later ones are copies of it."""
        known = self._filled.get((kind, stored))
        if known is None:
            known = self._make(kind, None)
            self._children.run("fill", url=known, kind="stock", n=stored, prefix="stock")
            if kind == "postgres":
                with psycopg.connect(known, autocommit=True) as connection:
                    connection.execute("vacuum analyze")
            self._filled[kind, stored] = known
        return known

    def _make(self, kind: str, source: str | None) -> str:
        name = f"bench_{next(self._numbers)}"
        if kind == "postgres":
            copied = f" template {source.rpartition('/')[2]}" if source else ""
            self._administer(f"create database {name}{copied}")
            self._administer("checkpoint")
            return with_database(self.server.url, name)
        path = self.folder / f"{name}.db"
        if source:
            shutil.copyfile(source.removeprefix("sqlite:///"), path)
            os.sync()
        return f"sqlite:///{path}"

    def _remove(self, kind: str, url: str) -> None:
        if kind == "postgres":
            self._administer(f"drop database if exists {url.rpartition('/')[2]} with (force)")
            return
        path = Path(url.removeprefix("sqlite:///"))
        for file in path.parent.glob(f"{path.name}*"):
            if file.is_dir():
                shutil.rmtree(file)
            else:
                file.unlink()

    def _administer(self, statement: str) -> None:
        with psycopg.connect(self.server.url, autocommit=True) as connection:
            connection.execute(statement)
