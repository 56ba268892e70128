"""``[targets.NAME] url = "…"``: places outside that schedules may name, from files and from the environment.

``owners = […]`` and ``tenants = […]`` beside the URL say whose schedules may; those are only in files.

A variable is ``DULY_TARGETS__NAME__URL`` (or ``…_URL_FILE``); its name counts as that of a file's target where they
differ only in case and in dashes for underscores, else it is in lower case, with dashes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from duly.core.errors import ConfigurationError
from duly.core.outside import EVERYBODYS, Grant

from .sources import read_pointer
from .toml import TARGETS, File

PREFIX: Final = "DULY_TARGETS__"
_URL: Final = "__URL"
_URL_FILE: Final = "__URL_FILE"
_WHOSE: Final = ("owners", "tenants")


class Sourced(NamedTuple):
    """The URL of a target, where it came from, and whose schedules may name it."""

    url: str
    origin: str
    grant: Grant = EVERYBODYS


def read_targets(environment: Mapping[str, str], files: Sequence[File]) -> dict[str, Sourced]:
    """Every target by name; the environment is stronger than files, and earlier files than later ones."""
    found: dict[str, Sourced] = {}
    for file in reversed(files):
        for name, table in _tables(file).items():
            found[name] = _read(file.name, name, table)
    known = {_plain(name): name for name in found}
    chosen: dict[str, Sourced] = {}
    for variable in sorted(environment):
        word = _word(variable)
        if word is None or not environment[variable]:
            continue
        name = known.get(word, word)
        if name in chosen:
            raise ConfigurationError(f"{chosen[name].origin} and {variable} are both set; keep one of them")
        pointed = variable.endswith(_URL_FILE)
        url = read_pointer(environment, variable) if pointed else environment[variable]
        chosen[name] = Sourced(url, variable, found[name].grant if name in found else EVERYBODYS)
    return found | chosen


def _word(variable: str) -> str | None:
    """The target that a variable is of, in the spelling that all of them share."""
    if not variable.startswith(PREFIX):
        return None
    for ending in (_URL_FILE, _URL):
        if variable.endswith(ending) and len(variable) > len(PREFIX + ending):
            return _plain(variable[len(PREFIX) : -len(ending)])
    raise ConfigurationError(f"environment variable {variable} is unknown; expected {PREFIX}NAME{_URL}")


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def _tables(file: File) -> Mapping[str, Any]:
    tables = file.tables.get(TARGETS, {})
    if not isinstance(tables, dict):
        raise ConfigurationError(f"{file.name}: {TARGETS} is {tables!r}; expected a section [{TARGETS}.NAME] for each")
    return tables


def _read(file: str, name: str, table: object) -> Sourced:
    url = table.get("url") if isinstance(table, dict) else None
    if not isinstance(table, dict) or set(table) - {"url", *_WHOSE} or not isinstance(url, str) or not url:
        words = ", ".join(map(str, table)) if isinstance(table, dict) else "no section"
        raise ConfigurationError(
            f"{file}: [{TARGETS}.{name}] has {words or 'nothing'}; expected one key,"
            ' url = "redis://host:6379/0?stream=NAME" or the like, and owners and tenants if not everybody may name it'
        )
    return Sourced(url, file, Grant(*(_names(file, name, word, table.get(word)) for word in _WHOSE)))


def _names(file: str, name: str, word: str, given: object) -> frozenset[str]:
    """The owners or tenants that were named; an empty list would let everybody in, so it is refused."""
    if given is None:
        return frozenset()
    if not isinstance(given, list) or not given or not all(isinstance(one, str) and one for one in given):
        raise ConfigurationError(f'{file}: [{TARGETS}.{name}] {word} is {given!r}; expected names, e.g. ["ann"]')
    return frozenset(given)
