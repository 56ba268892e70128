"""What can be said with every command: where to look, and how to print. Accepted before and after the command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from duly.app import Duly

FORMATS = ("table", "json", "yaml", "name")

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(slots=True)
class Choices:
    """What the command line asked for; filled while click reads it, the words after the command last.

    What it did not ask for, ``duly.config`` finds in the environment and in files.
    """

    database_url: str | None = None
    server: str | None = None
    token: str | None = None
    app: str | None = None
    config: str | None = None
    output: str = "table"
    quiet: bool = False
    debug: bool = False
    own: Callable[[], Duly] | None = None
    """Makes the app of the program that this command line is a part of, where neither an app nor a server was named."""


def choices_of(ctx: click.Context) -> Choices:
    """The choices of the command that runs in this context."""
    return ctx.ensure_object(Choices)


def common_options(command: Command) -> Command:
    """Where to look: a store or a server."""
    for decorate in reversed((
        _kept("--database-url", metavar="URL", help="The store to work on."),
        _kept("--server", metavar="URL", help="The server to work on instead."),
        _kept("--token", metavar="KEY", help="The key for the server."),
        _kept("--app", metavar="MODULE:APP", help="Use the store of this app."),
        _kept("--config", metavar="FILE", help="The file of settings."),
    )):  # fmt: skip
        command = decorate(command)
    return command


def output_options(command: Command) -> Command:
    """How to print what was asked for."""
    for decorate in reversed((
        _kept("--output", "-o", type=click.Choice(FORMATS), help="How to print data; table unless said."),
        _kept("--quiet", "-q", is_flag=True, default=None, help="No words on stderr but errors."),
    )):  # fmt: skip
        command = decorate(command)
    return command


def display_options(command: Command) -> Command:
    """What the root alone reads: output, colours, debugging.

    Click reads these variables, since ``duly.config`` would cost more time than most of the commands that need nothing
    else of it.
    """
    for decorate in (
        _hidden("DULY_DEBUG", _set_debug),
        _hidden("NO_COLOR", lambda ctx, _, value: _colour(ctx, False) if value else None),
        _hidden("FORCE_COLOR", lambda ctx, _, value: _colour(ctx, True) if value else None),
    ):
        command = decorate(command)
    return output_options(command)


def _kept(*names: str, **options: Any) -> Callable[[Command], Command]:
    """An option whose value goes to the choices instead of the function."""
    return click.option(*names, expose_value=False, callback=_keep, **options)


def _keep(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value is not None:
        setattr(choices_of(ctx), str(parameter.name), value)


def _hidden(envvar: str, callback: Callable[..., None]) -> Callable[[Command], Command]:
    name = f"--{envvar.lower().replace('_', '-')}"
    return click.option(name, envvar=envvar, hidden=True, expose_value=False, callback=callback)


def _set_debug(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    choices_of(ctx).debug = value not in (None, "", "0")


def _colour(ctx: click.Context, wanted: bool) -> None:
    # NO_COLOR is read last (decorators stack), and wins where both are set.
    ctx.color = wanted
