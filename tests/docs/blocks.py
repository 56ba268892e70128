"""The fenced blocks of a page: what language each is in, and its text."""

from dataclasses import dataclass


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
