"""Where the edits of a mutant apply: inside one SQL statement or one Python definition, and nowhere else.

A statement is found by its name through the project's own loader, a definition by its qualified name in the syntax
tree, so that a mutant survives edits elsewhere in the file and files that are split or merged.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from duly.store.sources import StatementSource, read_sources

TOP = Path(__file__).resolve().parents[2]
SRC = TOP / "src"
_SQL_FOLDERS = {"sqlite": ("queries",), "postgres": ("queries", "transactions")}
_MAX_HINTS = 3


class OutOfDate(Exception):
    """A mutant that cannot be tried, because its target, its text or its tests have changed."""


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """A statement of one dialect, by name."""

    dialect: str
    name: str

    def __str__(self) -> str:
        return f"{self.dialect} statement {self.name}"


def sql(dialect: str, name: str) -> SqlStatement:
    """Name a statement, as in ``sql("postgres", "lock_runs")``."""
    return SqlStatement(dialect, name)


Target = SqlStatement | str
"""A statement, or the qualified name of a function, class or assignment: ``duly.engine.worker.Worker._begin``."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A text that occurs exactly once in the target, and what replaces it."""

    target: Target
    text: str
    replacement: str


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a file, in characters."""

    path: Path
    start: int
    end: int


def broken_files(edits: Sequence[Edit]) -> dict[Path, str]:
    """Return the files that the edits change, by path, with their new content."""
    replacements: dict[Path, list[tuple[Span, str]]] = {}
    for edit in edits:
        span = find_text(edit.target, edit.text)
        replacements.setdefault(span.path, []).append((span, edit.replacement))
    return {path: _replace(path, spans) for path, spans in replacements.items()}


def find_text(target: Target, text: str) -> Span:
    """Find the one occurrence of a text in a target."""
    found = []
    for span in find_target(target):
        content = span.path.read_text("utf-8")
        start = content.find(text, span.start, span.end)
        while start >= 0:
            found.append(Span(span.path, start, start + len(text)))
            start = content.find(text, start + 1, span.end)
    if len(found) != 1:
        raise OutOfDate(
            f"{target} has {text!r} {len(found)} times; expected once: adapt the edit to the present source"
        )
    return found[0]


def find_target(target: Target) -> list[Span]:
    """Find a statement or a definition. An overloaded function or a property with a setter has several spans."""
    spans = [_statement(target)] if isinstance(target, SqlStatement) else _definitions(target)
    if not spans:
        similar = [name for name in _qualified_names() if _last_part(name) == _last_part(str(target))]
        hint = f", perhaps {' or '.join(similar[:_MAX_HINTS])}" if similar else ""
        raise OutOfDate(f"there is no {target}; expected the qualified name of a definition in src{hint}")
    return spans


def _statement(target: SqlStatement) -> Span:
    sources = statement_sources(target.dialect)
    if target.name not in sources:
        raise OutOfDate(f"there is no {target}; expected one that the loader of this dialect reads")
    source = sources[target.name]
    path = Path(str(source.file))
    if path.read_text("utf-8")[source.start : source.start + len(source.text)] != source.text:
        raise OutOfDate(f"{target} is not where its loader found it in {path.name}")
    return Span(path, source.start, source.start + len(source.text))


@cache
def statement_sources(dialect: str) -> Mapping[str, StatementSource]:
    """Read all statements of a dialect by name."""
    sources: dict[str, StatementSource] = {}
    for folder in _SQL_FOLDERS[dialect]:
        more = read_sources(f"duly.store.{dialect}", folder)
        assert not sources.keys() & more.keys(), f"{dialect} has two statements of one name"
        sources |= more
    return sources


def _definitions(qualified_name: str) -> list[Span]:
    parts = qualified_name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        package = SRC.joinpath(*parts[:length])
        for path in (package.with_suffix(".py"), package / "__init__.py"):
            if path.is_file():
                lines, tree = _parse(path)
                return [_lines_of(path, lines, node) for node in _below(tree, parts[length:])]
    return []


def _below(scope: ast.AST, names: Sequence[str]) -> list[ast.stmt]:
    nodes: list[ast.AST] = [scope]
    for name in names:
        nodes = [node for outer in nodes for node, known in _children(outer) if known == name]
    return [node for node in nodes if isinstance(node, ast.stmt)]


def _children(scope: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    """Yield what a scope defines itself, also below an ``if``, ``try``, ``with`` or ``for``, with its name."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node, node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for assigned in node.targets if isinstance(node, ast.Assign) else [node.target]:
                names = (name for name in ast.walk(assigned) if isinstance(name, ast.Name))
                yield from ((node, name.id) for name in names if isinstance(name.ctx, ast.Store))
        elif isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _children(node)


def _lines_of(path: Path, lines: Sequence[str], node: ast.stmt) -> Span:
    """Return the whole lines of a definition, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    assert node.end_lineno is not None
    start = sum(map(len, lines[: first - 1]))
    return Span(path, start, start + sum(map(len, lines[first - 1 : node.end_lineno])))


@cache
def _parse(path: Path) -> tuple[list[str], ast.Module]:
    content = path.read_text("utf-8")
    return content.splitlines(keepends=True), ast.parse(content)


def _qualified_names() -> Iterator[str]:
    """Yield the names of all definitions in src; only an error needs them."""
    for path in sorted(SRC.rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield from (f"{module}.{name}" for name in _names_in(_parse(path)[1]))


def _names_in(scope: ast.AST) -> Iterator[str]:
    for node, name in _children(scope):
        yield name
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            yield from (f"{name}.{inner}" for inner in _names_in(node))


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def _replace(path: Path, replacements: Sequence[tuple[Span, str]]) -> str:
    ordered = sorted(replacements, key=lambda one: one[0].start)
    for (before, _), (after, _) in pairwise(ordered):
        if after.start < before.end:
            raise OutOfDate(f"two edits overlap in {path.name} at character {after.start}; expected edits apart")
    content = path.read_text("utf-8")
    for span, replacement in reversed(ordered):
        content = content[: span.start] + replacement + content[span.end :]
    return content
