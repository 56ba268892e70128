"""Derives the command line from the click tree: commands, flags, choices, defaults and exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from duly.cli import failing, main
from duly.core import errors
from duly.core.errors import DulyError
from tests.surface.diff import Tree


def derive() -> Tree:
    """Return each command with its flags and arguments, the exit codes, and the exit code of each error."""
    tree: Tree = {path: _parameters(command, context) for path, command, context in commands(main, "duly")}
    codes = {code for name, code in vars(failing).items() if name.isupper() and type(code) is int}
    tree["exit codes"] = {"code": sorted(codes)}
    tree["exit code of"] = {
        kind.code: failing.exit_code(kind.__new__(kind))
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, DulyError)
    }
    return tree


def commands(
    command: click.Command, name: str, parent: click.Context | None = None
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield a command and its subcommands with their paths."""
    context = click.Context(command, info_name=name, parent=parent, help_option_names=["-h", "--help"])
    yield context.command_path, command, context
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None, inner
            yield from commands(found, inner, context)


def _parameters(command: click.Command, context: click.Context) -> Tree:
    tree: Tree = {}
    position = 0
    for parameter in command.get_params(context):
        names = [*parameter.opts, *parameter.secondary_opts]
        found = {"type": parameter.type.name, **_values(parameter.type), **_marks(parameter, context)}
        if isinstance(parameter, click.Option):
            long = max(names, key=len)
            if len(names) > 1:
                found["also"] = sorted(set(names) - {long})
            tree[long] = found
        else:
            position += 1
            tree[str(parameter.name).upper()] = {**found, "position": position}
    return tree


def _values(kind: click.ParamType) -> Tree:
    match kind:
        case click.Choice():
            return {"choices": sorted(map(str, kind.choices))}
        case click.IntRange() | click.FloatRange():
            return {name: value for name, value in (("min", kind.min), ("max", kind.max)) if value is not None}
        case click.DateTime():
            return {"choices": sorted(kind.formats)}
        case _:
            return {}


def _marks(parameter: click.Parameter, context: click.Context) -> Tree:
    """Return what sets the parameter apart from an optional one with a single value."""
    default = parameter.get_default(context, call=False)
    marks: dict[str, Any] = {
        "required": parameter.required,
        "many": parameter.multiple or parameter.nargs == -1,
        "values": parameter.nargs if parameter.nargs not in (1, -1) else None,
        "flag": getattr(parameter, "is_flag", False),
        "count": getattr(parameter, "count", False),
        "hidden": getattr(parameter, "hidden", False),
        "environment": parameter.envvar,
        "default": default if isinstance(default, str | int | float | list | tuple) else None,
    }
    return {name: value for name, value in marks.items() if value not in (None, False, (), [])}
