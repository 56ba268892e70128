"""``[targets.NAME] url = "…"``: places outside that schedules may name, from files and from the environment.

A variable is ``DULY_TARGETS__NAME__URL`` (or ``…_URL_FILE``); its name counts as that of a file's target where they
differ only in case and in dashes for underscores, else it is in lower case, with dashes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from duly.core.errors import ConfigurationError

from .sources import read_pointer
from .toml import TARGETS, File

PREFIX: Final = "DULY_TARGETS__"
_URL: Final = "__URL"
_URL_FILE: Final = "__URL_FILE"


class Sourced(NamedTuple):
    """The URL of a target, and where it came from."""

    url: str
    origin: str


def read_targets(environment: Mapping[str, str], files: Sequence[File]) -> dict[str, Sourced]:
    """Every target by name; the environment is stronger than files, and earlier files than later ones."""
    found: dict[str, Sourced] = {}
    for file in reversed(files):
        for name, table in _tables(file).items():
            found[name] = Sourced(_url(file.name, name, table), file.name)
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
        chosen[name] = Sourced(read_pointer(environment, variable) if pointed else environment[variable], variable)
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


def _url(file: str, name: str, table: object) -> str:
    if not isinstance(table, dict) or set(table) != {"url"} or not isinstance(table["url"], str) or not table["url"]:
        words = ", ".join(map(str, table)) if isinstance(table, dict) else "no section"
        raise ConfigurationError(
            f"{file}: [{TARGETS}.{name}] has {words or 'nothing'}; expected one key,"
            ' url = "redis://host:6379/0?stream=NAME" or the like'
        )
    return table["url"]
