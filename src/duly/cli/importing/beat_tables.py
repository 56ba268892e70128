"""Rows of django-celery-beat, read from the database that Django keeps them in. Neither Django nor Celery is needed.

They are read as ``manage.py dumpdata`` would write them, so that both ways have one reader (``celery.read_dump``).
Every column is asked for, whatever they are: older versions have fewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from duly.app.stores import sqlite_path
from duly.cli.failing import UNREACHABLE, Refused
from duly.config.masking import mask_url

from .values import Imported, Left

SCHEMES = ("sqlite://", "postgresql://", "postgres://")
TABLES = ("periodictask", "crontabschedule", "intervalschedule", "clockedschedule", "solarschedule")
TIMES = ("expires", "start_time", "clocked_time")
LINKS = ("crontab", "interval", "solar", "clocked")
FLAGS = ("enabled", "one_off")
WITHOUT_OFFSET = "its times have no offset, and were read as UTC, as Django keeps them with USE_TZ"
CONNECT_WITHIN = 10

Rows = list[dict[str, Any]]
Row = dict[str, Any]


def is_database(source: str) -> bool:
    """Whether a source is the URL of a database."""
    return source.startswith(SCHEMES)


def read_tables(url: str, into: Imported) -> Rows:
    """The rows of a database in the form of a dump."""
    found = _sqlite(url) if url.startswith("sqlite:") else _postgres(url)
    naive = False
    dump: Rows = []
    for table in TABLES:
        for row in found[table]:
            fields = {name: value for name, value in row.items() if name != "id"}
            for link in LINKS:
                if f"{link}_id" in fields:
                    fields[link] = fields.pop(f"{link}_id")
            for flag in FLAGS:
                if flag in fields:
                    fields[flag] = bool(fields[flag])
            for name in TIMES:
                if fields.get(name) is not None:
                    fields[name], without = _instant(fields[name])
                    naive = naive or without
            dump.append({"model": f"django_celery_beat.{table}", "pk": row["id"], "fields": fields})
    if naive:
        into.notes.append(f"{mask_url(url)}: {WITHOUT_OFFSET}")
    return dump


def _instant(value: Any) -> tuple[str, bool]:
    """A time as RFC 3339, and whether it had no offset."""
    at = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    without = at.tzinfo is None
    utc = at if without else at.astimezone(UTC).replace(tzinfo=None)
    return f"{utc.isoformat()}Z", without


def _statement(table: str) -> str:
    return files(__package__).joinpath("queries", f"{table}.sql").read_text("utf-8")


def _sqlite(url: str) -> Mapping[str, Rows]:
    import apsw

    path = sqlite_path(url)
    if not Path(path).is_file():
        raise Refused(f"there is no file {path!r}", "give the file of Django's DATABASES", code=UNREACHABLE)
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(CONNECT_WITHIN * 1000)
            return {table: _dicts(connection.execute(_statement(table))) for table in TABLES}
        finally:
            connection.close()
    except apsw.Error as error:
        raise Left(_told(str(error))) from error


def _dicts(cursor: Any) -> Rows:
    # The names are known while there are rows to come, and not after the last.
    return [dict(zip((column[0] for column in cursor.get_description()), row, strict=True)) for row in cursor]


def _postgres(url: str) -> Mapping[str, Rows]:
    try:
        import psycopg
        from psycopg.rows import dict_row
    except ImportError as error:
        raise Refused("PostgreSQL needs psycopg", "pip install 'duly[postgres]'") from error
    try:
        with psycopg.connect(url, connect_timeout=CONNECT_WITHIN, row_factory=dict_row) as connection:
            connection.read_only = True
            return {table: connection.execute(_statement(table).encode()).fetchall() for table in TABLES}
    except psycopg.OperationalError as error:
        told = " ".join(str(error).split())
        raise Refused(f"{mask_url(url)} cannot be read: {told}", code=UNREACHABLE) from error
    except psycopg.Error as error:
        raise Left(_told(" ".join(str(error).split()))) from error


def _told(error: str) -> str:
    return f"the tables of django-celery-beat cannot be read: {error}; expected a database that its migrations made"
