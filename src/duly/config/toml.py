"""A TOML file: read once, every key known, or refused with the nearest known one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duly.core.errors import ConfigurationError

from .options import OPTIONS, Option
from .unknown import nearest

SCHEDULES = "schedules"
TARGETS = "targets"
SECTIONS = frozenset(option.section for option in OPTIONS.values() if option.section)

_GROUPS = frozenset(section.partition(".")[0] for section in SECTIONS if "." in section)


@dataclass(frozen=True, slots=True)
class File:
    """What a file says, under the name a person knows it by."""

    name: str
    tables: Mapping[str, Any]

    def value(self, option: Option) -> object | None:
        table: Any = self.tables
        for section in option.section.split(".") if option.section else ():
            table = table.get(section, {})
        value: object = table.get(option.name)
        return value


def read_file(path: Path, name: str) -> File:
    """Read and check a file; raises ``OSError`` if there is none."""
    import tomllib  # most starts have no file

    try:
        tables = tomllib.loads(path.read_bytes().decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{name}: this is not TOML: {error}") from error
    except RecursionError:
        raise ConfigurationError(f"{name}: it is nested too deeply") from None
    for key, value in tables.items():
        if key in SECTIONS or key in _GROUPS:
            _check_section(name, key, value)
        elif key not in (SCHEDULES, TARGETS) and key not in OPTIONS:
            raise _unknown(name, "", key, value)
    return File(name, tables)


def _check_section(name: str, section: str, table: object) -> None:
    if not isinstance(table, dict):
        raise ConfigurationError(f"{name}: {section} is {table!r}; expected a section [{section}] with keys below it")
    for key, value in table.items():
        if f"{section}.{key}" in SECTIONS:
            _check_section(name, f"{section}.{key}", value)
        elif f"{section}.{key}" not in OPTIONS:
            raise _unknown(name, section, key, value)


def _unknown(name: str, section: str, key: str, value: object) -> ConfigurationError:
    shown = f"[{section}] {key}" if section else f"[{key}]" if isinstance(value, dict) else key
    if section and key in OPTIONS:
        return ConfigurationError(
            f"{name}: {shown} is unknown; {key} belongs to the top of the file, above all [sections]"
        )
    if isinstance(value, dict):
        meant = nearest(key, {*SECTIONS, SCHEDULES, TARGETS})
        expected = f"[{meant}]" if meant else f"[{'] ['.join(sorted(SECTIONS))}] or [[schedules]]"
    else:
        here = {option.name: option for option in OPTIONS.values() if option.section == section}
        anywhere = {option.name: option for option in OPTIONS.values()}
        meant = nearest(key, here) or nearest(key, anywhere)
        expected = (
            anywhere[meant].shown if meant and meant not in here else meant or f"one of {', '.join(sorted(here))}"
        )
    question = f"did you mean {expected}?" if meant else f"expected {expected}"
    return ConfigurationError(f"{name}: {shown} is unknown; {question}")
