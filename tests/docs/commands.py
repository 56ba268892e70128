"""Commands of ``duly`` in texts: found, and parsed as the program would, without being run."""

import re
import shlex

import click

from duly.cli import main

LINE = re.compile(r"(?:^|\| )duly ([^|#\n]+)", re.MULTILINE)
ANY = re.compile(r"\$\(|\bCOMMAND\b")
SPAN = re.compile(r"`duly ([^`\n]+)`")


def commands(page: str) -> list[list[str]]:
    """The words of every command of a page, in its blocks of shell and between backquotes."""
    blocks = re.findall(r"```(?:sh|console)\n(.*?)```", page, re.DOTALL)
    found = [line for block in blocks for line in LINE.findall(block)]
    # What another command says, or stands for any command, is not known here.
    return [shlex.split(text.replace("\\|", "|")) for text in found + SPAN.findall(page) if not ANY.search(text)]


def check_command(arguments: list[str]) -> None:
    """Parse a command line as ``duly`` would, without running it; a group by itself is none."""
    command: click.Command = main
    context = click.Context(main, info_name="duly", help_option_names=["-h", "--help"])  # a command keeps its own
    while isinstance(command, click.Group) and arguments:
        name, *arguments = arguments
        found = command.get_command(context, name)
        assert found is not None, f"there is no command {name!r}"
        command, context = found, click.Context(found, parent=context, info_name=name)
    command.make_parser(context).parse_args(list(arguments))
