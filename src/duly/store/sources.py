"""Read the statements of a dialect from its ``.sql`` files."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable


@dataclass(frozen=True, slots=True)
class StatementSource:
    """The text of one statement, and at which character of its file it starts."""

    file: Traversable
    start: int
    text: str


def read_sources(package: str, folder: str) -> dict[str, StatementSource]:
    """Read the statements of one folder of a package, by name. A file holds one statement and gives it its name."""
    found = (file for file in files(package).joinpath(folder).iterdir() if file.name.endswith(".sql"))
    return {file.name.removesuffix(".sql"): StatementSource(file, 0, file.read_text("utf-8")) for file in found}
