"""Groups of commands: lazy ones, and the root, which turns every failure into one line and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from .examples import with_examples
from .failing import CTRL_C, READER_GONE, report
from .options import Choices
from .streams import discard_output, escape_unprintable

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Group(click.Group):
    """Lists its commands with all of their first sentence, and gives each its examples."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        return command and with_examples(f"{ctx.info_name} {cmd_name}", command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.commands[name].get_short_help_str(200)) for name in sorted(self.commands)])


class LazyGroup(click.Group):
    """Knows the names of its commands, and what they do, without importing any."""

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._lazy:
            return None
        file, _, name = self._lazy[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"duly.cli.{file}"), name)
        return with_examples(self._path(cmd_name), command)

    def _path(self, cmd_name: str) -> str:
        return f"{self.name} {cmd_name}"

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        if name not in self._lazy and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(name, self._lazy, 1)
            raise click.UsageError(
                f"there is no command {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""), ctx
            )
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=words) for name, (_, words) in sorted(self._lazy.items())]
        # Past the group's own method, which would import every command to ask what it does.
        return [item for item in names if item.value.startswith(incomplete)] + click.Command.shell_complete(
            self, ctx, incomplete
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in sorted(self._lazy.items())])


def lazy_group(name: str, words: str, lazy: Mapping[str, tuple[str, str]]) -> LazyGroup:
    """A group whose commands are where ``lazy`` says, below ``duly.cli``."""
    return LazyGroup(name, lazy=lazy, help=words)


class Root(LazyGroup):
    """``duly`` itself, whose commands are told in sections."""

    def __init__(self, *args: Any, sections: Mapping[str, Mapping[str, tuple[str, str]]], **options: Any) -> None:
        super().__init__(*args, **options)
        self._sections = sections

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, self._lazy))
        for title, commands in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), words) for name, (_, words) in commands.items()])

    def _path(self, cmd_name: str) -> str:
        return cmd_name

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            discard_output()
            ctx.exit(READER_GONE)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and exit: 0, or what ``failing.report`` says of the failure."""
        choices = extra.setdefault("obj", Choices())
        escape_unprintable()
        try:
            answer = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.Abort as abort:
            sys.exit(CTRL_C if isinstance(abort.__cause__, KeyboardInterrupt) else 1)
        except Exception as error:  # whatever it is, the user gets a line and not a trace
            code = report(error)
            if choices.debug:
                raise
            sys.exit(code)
        sys.exit(answer if isinstance(answer, int) else 0)
