"""Where values come from: the process's environment and the usual places of a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from duly.core.database_schema import check_schema_name, with_schema
from duly.core.errors import ConfigurationError

DEFAULT_DATABASE_URL: Final = "sqlite:///duly.db"
SCHEMA_VARIABLES: Final = ("DULY_DATABASE_SCHEMA", "DULY_DATABASE__SCHEMA")
FILE_HERE: Final = "duly.toml"
FILE_OF_MACHINE: Final = Path("/etc/duly/config.toml")


def process_environment() -> Mapping[str, str]:
    return os.environ  # noqa: TID251 - the one place that reads it


def database_url(given: str | None, environment: Mapping[str, str] | None = None) -> str:
    """The store of an app: what was given, else ``DULY_DATABASE_URL``, else a SQLite file in this folder.

    Where a URL of PostgreSQL names no schema, ``DULY_DATABASE_SCHEMA`` does.
    """
    if given is not None and not (isinstance(given, str) and given):
        raise ConfigurationError(
            f"the database URL is {given!r}; expected text such as 'sqlite:///duly.db' or 'postgresql://host/name'"
        )
    found = process_environment() if environment is None else environment
    url = given or found.get("DULY_DATABASE_URL") or DEFAULT_DATABASE_URL
    schema = next((found[name] for name in SCHEMA_VARIABLES if found.get(name)), None)
    return with_schema(url, schema and check_schema_name(schema, SCHEMA_VARIABLES[0]))


def debugging(environment: Mapping[str, str] | None = None) -> bool:
    """Whether somebody asked for stacks with ``DULY_DEBUG=1``."""
    found = process_environment() if environment is None else environment
    return found.get("DULY_DEBUG", "").lower() not in ("", "0", "false", "no")


def service_manager(pid: int, environment: Mapping[str, str] | None = None) -> tuple[str | None, float | None]:
    """Where the manager of this process wants to hear from it, and within how many seconds; see ``sd_notify(3)``."""
    found = process_environment() if environment is None else environment
    address = found.get("NOTIFY_SOCKET") or None
    within = found.get("WATCHDOG_USEC", "")
    meant = found.get("WATCHDOG_PID", str(pid)) == str(pid)  # else it is for our parent, whose environment we have
    return address, int(within) / 1_000_000 if meant and within.isdecimal() and int(within) else None


def wants_colour(is_terminal: bool, environment: Mapping[str, str] | None = None) -> bool:
    """Whether to write in colour: ``NO_COLOR`` and ``FORCE_COLOR`` decide before the terminal does."""
    found = process_environment() if environment is None else environment
    if found.get("NO_COLOR"):
        return False
    return bool(found.get("FORCE_COLOR")) or (is_terminal and found.get("TERM") != "dumb")


def read_pointer(environment: Mapping[str, str], variable: str) -> str:
    """The secret in the file that a variable names."""
    place = environment[variable]
    try:
        return Path(place).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigurationError(f"{variable} is {place!r}, which cannot be read: {why}") from error


def usual_files(environment: Mapping[str, str], folder: Path) -> list[Path]:
    """The files that are read when they exist, the stronger first."""
    home = environment.get("HOME")
    user = environment.get("XDG_CONFIG_HOME") or (home and f"{home}/.config")
    users = [Path(user) / "duly" / "config.toml"] if user else []
    return [folder / FILE_HERE, *users, FILE_OF_MACHINE]
