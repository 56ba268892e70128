"""``duly events``: follow what happens in the fleet."""

from __future__ import annotations

from itertools import islice
from typing import Any

import click

from .backend import backend
from .options import common_options, output_options
from .printing import COLOURS, printer
from .times import instant_ms, local

WIDTH = max(len(name) for name in ("schedule.cancelled", "run.completed", "stream.reset"))


@click.command()
@click.option("--type", "types", multiple=True, metavar="NAME", help="Only these, as run.failed; repeat for more.")
@click.option("--schedule", metavar="REF", help="Only of this schedule, by id or key.")
@click.option("--job", metavar="NAME", help="Only of this job.")
@click.option("--owner", metavar="ID", help="Only of this owner.")
@click.option("--tenant", metavar="ID", help="Only of this tenant.")
@click.option("--after", type=click.IntRange(0), metavar="ID", help="Begin after the event of this id.")
@click.option("--count", type=click.IntRange(1), metavar="N", help="Stop after so many.")
@output_options
@common_options
def command(types: tuple[str, ...], after: int | None, count: int | None, **where: str | None) -> None:
    """Follow what happens to schedules and runs, in every process of the fleet, until Ctrl-C.

    With -o json, each event is one line.

    \b
    Examples:
      duly events
      duly events --type run.failed --type run.retrying --job nightly-report
      duly events --schedule nightly -o json --count 1
    """
    names = {"schedule": "scheduleId", "job": "jobType", "owner": "owner", "tenant": "tenant"}
    query = {names[name]: value for name, value in where.items() if value is not None}
    if types:
        query["type"] = ",".join(types)
    out = printer()
    with backend() as reach:
        for event in islice(reach.events(query, after), count):
            _show(event, out.output)


def _show(event: dict[str, Any], output: str) -> None:
    if output == "table":
        click.echo(_line(event))
    elif output == "name":
        click.echo(event["runId"] or event["scheduleKey"] or event["type"])
    elif output == "yaml":
        from .yaml import to_yaml

        click.echo("---\n" + to_yaml(event), nl=False)
    else:
        import json

        click.echo(json.dumps(event))


def _line(event: dict[str, Any]) -> str:
    words = [
        event["scheduleKey"],
        event["jobType"] if event["jobType"] != event["scheduleKey"] else None,
        event["runId"],
        f"attempt {event['attemptNumber']}" if event["attemptNumber"] else None,
        event["reason"],
        (event["errorMessage"] or "").partition("\n")[0],
    ]
    name = event["type"]
    shown = click.style(name.ljust(WIDTH), fg=COLOURS.get(name.partition(".")[2]))
    text = "  ".join(word for word in words if word)
    plain = "".join(char if char.isprintable() else "?" for char in text)
    return f"{local(instant_ms(event['at']), 'UTC', offset=False)}  {shown}  {plain}"
