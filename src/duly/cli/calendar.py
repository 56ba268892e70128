"""``duly calendar``: dates on which nothing fires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from .backend import Answer, backend, take
from .each import say_each
from .failing import Refused
from .flags import read_body
from .grouping import Group
from .inputs import confirm
from .options import common_options, output_options
from .printing import Sheet, Table, printer
from .tables import Cell
from .times import moment, moment_cell, system_now

_tenant = click.option("--tenant", metavar="ID", help="Which tenant's it is.")


@click.group(cls=Group)
def command() -> None:
    """Keep named dates on which the schedules that name them do not fire."""


@command.command(name="list")
@_tenant
@output_options
@common_options
def list_(tenant: str | None) -> None:
    """List calendars, oldest first."""
    with backend() as reach:
        found = take(reach.list_calendars, _query(tenant), None)
    items = found["items"]
    printer().show(found, lambda: _table(items), names=[item["name"] for item in items])


@command.command()
@click.argument("name")
@_tenant
@output_options
@common_options
def get(name: str, tenant: str | None) -> None:
    """Show the calendar NAME."""
    with backend() as reach:
        found = reach.get_calendar(name, _query(tenant))
    _show(found)


@command.command(name="set")
@click.argument("name")
@click.option("--date", "-d", "dates", multiple=True, metavar="YYYY-MM-DD", help="A single date. Repeat it.")
@click.option("--range", "-r", "ranges", multiple=True, metavar="FIRST..LAST", help="All dates between, both counted.")
@click.option("--yearly", "-y", multiple=True, metavar="MM-DD", help="A date of every year.")
@click.option("--description", metavar="TEXT", help="For people.")
@click.option("--file", "-f", "file", metavar="FILE|-", help="A REST body; flags win over it.")
@click.option("--if-revision", type=int, metavar="N", help="Refuse if the calendar is no longer at this revision.")
@_tenant
@output_options
@common_options
def set_(
    name: str,
    dates: tuple[str, ...],
    ranges: tuple[str, ...],
    yearly: tuple[str, ...],
    description: str | None,
    file: str | None,
    if_revision: int | None,
    tenant: str | None,
) -> None:
    """Make the calendar NAME exactly what is given; it is created if it is not there.

    \b
    duly calendar set br-holidays --yearly 12-25 --yearly 09-07 --date 2027-02-09
    duly calendar set closed --range 2026-12-24..2027-01-02
    duly calendar set br-holidays -f holidays.json
    """
    body: dict[str, Any] = read_body(file) if file is not None else {}
    given = {"dates": list(dates), "ranges": [_range(one) for one in ranges], "yearly": list(yearly)}
    body |= {word: values for word, values in given.items() if values}
    if description is not None:
        body["description"] = description
    with backend(creates=True) as reach:
        made = reach.put_calendar(name, body, _query(tenant), if_revision)
    _show(made, f"calendar {made['name']} is at revision {made['revision']}")


@command.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_tenant
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@output_options
@common_options
def delete(names: tuple[str, ...], tenant: str | None, yes: bool) -> None:
    """Remove calendars that no schedule names any more."""
    confirm(f"Delete calendar {', '.join(names)}?", yes=yes)
    query = _query(tenant)
    with backend() as reach:

        def act(name: str) -> str:
            reach.get_calendar(name, query)  # a person who mistypes is told, although the API takes it for done
            reach.delete_calendar(name, query)
            return f"deleted calendar {name}"

        say_each(names, act)


def _query(tenant: str | None) -> dict[str, str]:
    return {} if tenant is None else {"tenant": tenant}


def _range(text: str) -> dict[str, str]:
    first, dots, last = text.partition("..")
    if not dots:
        raise Refused(f"--range is {text!r}; expected a first and a last date, such as 2026-12-24..2027-01-02")
    return {"from": first, "to": last}


def _show(calendar: Answer, words: str | None = None) -> None:
    out = printer()
    if words is not None:
        out.say(words)
    out.show(calendar, lambda: _sheet(calendar), names=[calendar["name"]])


def _table(calendars: Sequence[Answer]) -> Table:
    now = system_now()
    rows = [
        [
            item["name"],
            str(len(item["dates"])),
            str(len(item["ranges"])),
            str(len(item["yearly"])),
            moment_cell(item["updatedAt"], "UTC", now),
            item["description"] or "",
        ]
        for item in calendars
    ]
    head = ["NAME", "DATES", "RANGES", "YEARLY", Cell("CHANGED (UTC)", "CHANGED"), "DESCRIPTION"]
    return Table(head, rows, empty="no calendars")


def _sheet(calendar: Answer) -> Sheet:
    now = system_now()
    by = f" by {calendar['updatedBy']}" if calendar["updatedBy"] else ""
    rows: list[tuple[str, str | None]] = [
        ("name", calendar["name"]),
        ("tenant", calendar["tenantId"]),
        ("description", calendar["description"]),
        ("dates", ", ".join(calendar["dates"])),
        ("ranges", ", ".join(f"{one['from']}..{one['to']}" for one in calendar["ranges"])),
        ("yearly", ", ".join(calendar["yearly"])),
        ("revision", str(calendar["revision"])),
        ("changed", moment(calendar["updatedAt"], "UTC", now) + by),
    ]
    return Sheet([(name, value) for name, value in rows if value])
