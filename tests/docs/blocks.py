"""The fenced blocks of a page: what language each is in, and its text."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.counting import at_least

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True, slots=True)
class Block:
    """``language`` is empty where a block says none: a drawing."""

    page: str
    line: int
    language: str
    text: str


def blocks(page: str, text: str) -> list[Block]:
    """The blocks of a page, in order; also those that are indented, as in a list."""
    found: list[Block] = []
    opened: tuple[int, str, list[str]] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        fenced = line.lstrip().startswith("```")
        if opened is None and fenced:
            opened = number, line.strip().removeprefix("```"), []
        elif opened is not None and fenced:
            began, language, lines = opened
            found.append(Block(page, began, language, "\n".join(lines) + "\n"))
            opened = None
        elif opened is not None:
            opened[2].append(line)
    assert opened is None, f"{page}: a block is not closed"
    return found


def pages() -> list[str]:
    """The names of the pages right in docs/; what the folder holds and what mkdocs.yml names must agree."""
    found = sorted(path.name for path in DOCS.glob("*.md"))
    site = yaml.safe_load((DOCS.parent / "mkdocs.yml").read_text("utf-8"))
    named = [*_paths(site["nav"]), *site["not_in_nav"].split()]
    assert found == sorted(path for path in named if "/" not in path), (
        "docs/ and the pages that mkdocs.yml names differ"
    )
    return at_least(found, 30, "pages")


def _paths(nav: object) -> list[str]:
    """All paths below a part of the nav: a path, or a list or a section of such parts."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    assert isinstance(parts, Iterable)
    return [path for part in parts for path in _paths(part)]
