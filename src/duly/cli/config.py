"""``duly config``: the settings in force, and where each came from."""

from __future__ import annotations

from typing import Any

import click

from .options import choices_of, common_options, output_options
from .printing import Table, printer
from .reach import load_config


@click.group()
def command() -> None:
    """Show the settings in force and where each came from: flags, environment, files, defaults."""


@command.command()
@click.option("--changed", is_flag=True, help="Only what somebody chose.")
@output_options
@common_options
@click.pass_context
def show(ctx: click.Context, changed: bool) -> None:
    """Print every setting with its origin. Secrets are masked."""
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
    if value is None:
        return "-"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
