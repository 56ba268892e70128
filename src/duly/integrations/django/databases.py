"""Which database duly's tables are in: one of the project's own, or one of its own.

On PostgreSQL they are in a schema of their own in the project's database. On SQLite they are in a file of their own:
Django opens its file with the standard library's SQLite and duly with the one that apsw brings, and two copies in one
process drop each other's locks on the same file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections

from duly.core.database_schema import with_schema

from .options import Options

BESIDE = ".duly"
NOT_OF_LIBPQ = ("cursor_factory", "context", "prepare_threshold", "client_encoding", "row_factory", "autocommit")


def url_of(options: Options) -> str:
    """The URL of duly's database."""
    if options.url is not None:
        _check_apart(options.url)
        return with_schema(options.url, options.schema)
    alias = alias_of(options)
    assert alias is not None
    connection = connections[alias]
    if connection.vendor == "postgresql":
        return with_schema(_postgres_url(connection, alias), options.schema)
    if connection.vendor == "sqlite":
        return _file_url(_beside(connection, alias))
    raise ImproperlyConfigured(
        f"DATABASES[{alias!r}] is of {connection.display_name}, and duly keeps its tables in PostgreSQL or SQLite;"
        " name another with DULY['DATABASE'], or give DULY['URL']"
    )


def alias_of(options: Options) -> str | None:
    """The one of ``DATABASES`` that duly's tables go with; None if they have a URL of their own."""
    if options.url is not None:
        return None
    alias = options.database or DEFAULT_DB_ALIAS
    if alias not in connections:
        known = ", ".join(map(repr, connections))
        raise ImproperlyConfigured(f"DULY['DATABASE'] is {alias!r}; expected one of DATABASES: {known}")
    return alias


def shares_connection(options: Options, using: str) -> bool:
    """Whether duly's tables are in the very database that Django reaches under this alias."""
    return alias_of(options) == using and connections[using].vendor == "postgresql"


def _postgres_url(connection: Any, alias: str) -> str:
    given = {name: value for name, value in connection.get_connection_params().items() if name not in NOT_OF_LIBPQ}
    role = connection.settings_dict["OPTIONS"].get("assume_role")
    if role:
        given["options"] = f"{given.get('options', '')} -c role={role}".strip()
    user, password = given.pop("user", None), given.pop("password", None)
    host, port, name = str(given.pop("host", "")), str(given.pop("port", "")), given.pop("dbname", "")
    login = quote(str(user), safe="") if user else ""
    if password:
        login += f":{quote(str(password), safe='')}"
    place = ",".join(
        f"{quote(one, safe='')}{f':{number}' if number else ''}" for one, number in _hosts(host, port, alias)
    )
    rest = urlencode({key: str(value) for key, value in given.items()}, quote_via=quote)
    return f"postgresql://{login}{'@' * bool(login)}{place}/{quote(str(name), safe='')}{'?' * bool(rest)}{rest}"


def _hosts(host: str, port: str, alias: str) -> list[tuple[str, str]]:
    """Several hosts have their ports in the same order, or share one."""
    hosts, ports = host.split(","), port.split(",")
    if len(ports) == 1:
        ports *= len(hosts)
    if len(ports) != len(hosts):
        raise ImproperlyConfigured(
            f"DATABASES[{alias!r}] has {len(hosts)} hosts and {len(ports)} ports; expected one port, or one for each"
        )
    return list(zip(hosts, ports, strict=True))


def _beside(connection: Any, alias: str) -> Path:
    name = str(connection.settings_dict["NAME"])
    if connection.is_in_memory_db() or name.startswith("file:"):
        raise ImproperlyConfigured(
            f"DATABASES[{alias!r}] is {name!r}, and duly's tables go into a file beside it; give DULY['URL'] a file"
            " (a test: override_settings(DULY={'URL': 'sqlite:////tmp/...'}))"
        )
    file = Path(name).absolute()
    return file.with_name(f"{file.stem}{BESIDE}{file.suffix}")


def _file_url(file: Path) -> str:
    return f"sqlite:////{quote(str(file).lstrip('/'))}"


def _check_apart(url: str) -> None:
    """Refuse a file that Django has open: see above."""
    if not url.startswith("sqlite:///"):
        return
    from duly.app.stores import sqlite_path

    ours = Path(sqlite_path(url)).resolve()
    for alias in connections:
        connection = connections[alias]
        if connection.vendor == "sqlite" and Path(str(connection.settings_dict["NAME"])).resolve() == ours:
            raise ImproperlyConfigured(
                f"DULY['URL'] is the file of DATABASES[{alias!r}], which Django opens with another copy of SQLite, and"
                " two copies in one process drop each other's locks; expected a file of duly's own, as"
                f" '{_file_url(ours.with_name(f'{ours.stem}{BESIDE}{ours.suffix}'))}'"
            )
