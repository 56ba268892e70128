"""The command line: ``duly``. One file per noun, each imported only when its command is asked for."""

from __future__ import annotations

from importlib import import_module

import click

from duly.core.version import VERSION

__all__ = ["main"]

COMMANDS = {"bench": "Measure duly, the machine's own limit and the peers."}
"""Each command and what it does; its code is ``command`` in the file of that name."""


class Commands(click.Group):
    """Knows the names of all commands without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"duly.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="duly")
def main() -> None:
    """A durable job scheduler: every window fires exactly once, on time, whatever crashes."""
