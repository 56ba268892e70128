"""The reference pages, made from the program itself: ``python -m tests.docs.reference`` writes them anew."""

from collections.abc import Iterator
from pathlib import Path

import click

from duly.api.http import PREFIX
from duly.api.problems import CODES
from duly.api.route import Route
from duly.api.routes import ROUTES
from duly.cli import main as duly
from tests.counting import at_least

DOCS = Path(__file__).parents[2] / "docs"
NOTE = "Made from the program itself (`python -m tests.docs.reference`); a test fails when they differ.\n"


def cli_page() -> str:
    """Every command as its ``--help`` tells it."""
    parts = ["# Every command\n", f"What each command prints with `--help`. {NOTE}"]
    for context in _commands(_context(duly, "duly", None)):
        depth = len(context.command_path.split(" "))
        parts.append(f"{'#' * min(depth + 1, 4)} {context.command_path}\n")
        parts.append(f"```text\n{context.get_help()}\n```\n")
    return "\n".join(parts)


def _commands(context: click.Context) -> Iterator[click.Context]:
    yield context
    if isinstance(context.command, click.Group):
        for name in sorted(context.command.list_commands(context)):
            command = context.command.get_command(context, name)
            assert command is not None
            yield from _commands(_context(command, name, context))


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=100,
        max_content_width=100,
        help_option_names=["-h", "--help"],
    )


def rest_page() -> str:
    """Every route with what it asks for, and every code of a problem."""
    parts = [
        "# Every route\n",
        f"All below `{PREFIX}`; `/docs` of a server shows them with their bodies and examples. {NOTE}",
        "| request | what it does | scope | query | answers | its own problems |\n|---|---|---|---|---|---|",
        *map(_row, at_least(ROUTES, 79, "operations")),
        "\n## Every code of a problem\n",
        "| code | status | when |\n|---|---|---|",
        *(f"| `{code}` | {kind.status} | {_cell(words)} |" for code, (kind, words) in sorted(CODES.items())),
    ]
    return "\n".join(parts) + "\n"


def _row(route: Route) -> str:
    cells = (
        f"`{route.method} {route.path}`",
        _cell(route.summary),
        "none" if route.scope is None else f"`{route.scope.value}`",
        ", ".join(f"`{name}`" for name in route.query),
        str(route.status),
        ", ".join(f"`{code}`" for code in route.codes),
    )
    return f"| {' | '.join(cells)} |"


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")


PAGES = {"reference-cli.md": cli_page, "reference-rest.md": rest_page}

if __name__ == "__main__":
    for name, make in PAGES.items():
        (DOCS / name).write_text(make(), "utf-8")
