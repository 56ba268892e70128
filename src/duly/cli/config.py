"""``duly config``: the settings in force, and where each came from."""

from __future__ import annotations

from typing import Any

import click

from .grouping import Group
from .options import choices_of, common_options, output_options
from .printing import Sheet, Table, printer
from .reach import load_config


@click.group(cls=Group)
def command() -> None:
    """Show the settings in force and where each came from: flags, environment, files, defaults."""


@command.command()
@output_options
@common_options
@click.pass_context
def check(ctx: click.Context) -> None:
    """Say whether a server could start with these settings, schedules and targets; open nothing. Exit code 78 if not.

    \b
    duly config check --config /etc/duly/config.toml
    """
    from duly.app.serving import check as check_serving

    loaded = load_config(choices_of(ctx))
    check_serving(loaded)
    out = printer()
    for warning in loaded.warnings:
        out.say(f"warning: {warning}")
    value = {"files": list(loaded.files), "warnings": list(loaded.warnings), "schedules": len(loaded.schedules)}
    read = ", ".join(loaded.files) or "no file; environment and defaults"
    rows = [("read", read), ("schedules", str(value["schedules"])), ("warnings", str(len(loaded.warnings)))]
    out.show(value, lambda: Sheet(rows), names=loaded.files)


@command.command()
@click.option("--changed", is_flag=True, help="Only what somebody chose.")
@output_options
@common_options
@click.pass_context
def show(ctx: click.Context, changed: bool) -> None:
    """Print every setting with its origin. Secrets are masked.

    \b
    duly config show --changed
    """
    loaded = load_config(choices_of(ctx))
    rows = [row for row in loaded.rows() if row.origin != "default" or not changed]
    out = printer()
    for warning in loaded.warnings:
        out.say(f"warning: {warning}")
    value = {row.name: {"value": row.value, "origin": row.origin} for row in rows}
    out.show(
        value,
        lambda: Table(
            ["SETTING", "VALUE", "ORIGIN"],
            [[row.name, _shown(row.value), row.origin] for row in rows],
            empty="everything is at its default",
        ),
        names=[row.name for row in rows],
    )


def _shown(value: Any) -> str:
    """A value as one would write it into a file; ``-`` for none."""
    match value:
        case None | "" | [] | ():
            return "-"
        case bool():
            return str(value).lower()
        case float():
            return f"{value:g}" if value < 1e6 else f"{value:.0f}"
        case list() | tuple():
            return ", ".join(map(str, value))
        case _:
            return str(value)
