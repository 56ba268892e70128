"""``duly upcoming``, ``duly late`` and ``duly stats``: what fires next, what should have, and how it all fares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from .backend import backend, take
from .control import Answer
from .options import Command, common_options, output_options
from .printing import Sheet, Table, printer
from .times import instant_ms, local, relative, system_now


def listing(command: Command) -> Command:
    """The options of a list over all schedules."""
    options = (
        click.option("--owner", metavar="ID", help="Only those of this owner."),
        click.option("--tenant", metavar="ID", help="Only those of this tenant."),
        click.option(
            "--limit", type=click.IntRange(1), default=20, metavar="N", help="At most so many; 20 unless said."
        ),
        output_options,
        common_options,
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@listing
def upcoming(limit: int, **filters: str | None) -> None:
    """Show what fires next of all schedules: each with its next window, the earliest first."""
    with backend() as reach:
        _show(take(reach.list_coming, _given(filters), limit), coming_table)


@click.command()
@listing
def late(limit: int, **filters: str | None) -> None:
    """Show which schedules should have fired and did not: how late each is, and how many windows it owes."""
    with backend() as reach:
        _show(take(reach.list_late, _given(filters), limit), late_table)


@click.command()
@output_options
@common_options
def stats() -> None:
    """Show how it all fares: what is due, late, running, waiting and dead, and what was done lately."""
    with backend() as reach:
        found = reach.stats()
    printer().show(found, lambda: stats_sheet(found), names=[])


def _given(filters: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in filters.items() if value is not None}


def _show(found: Answer, table: Callable[[list[Answer]], Table]) -> None:
    items = found["items"]
    printer().show(found, lambda: table(items), names=[item["key"] for item in items])


def coming_table(items: list[Answer]) -> Table:
    now = system_now()
    noted = any(item["note"] for item in items)
    rows = [
        [
            item["key"],
            item["health"].replace("_", " "),
            local(instant_ms(item["fireAt"]), item["timezone"]),
            relative(instant_ms(item["fireAt"]), now),
            item["jobType"],
            *([item["note"] or ""] if noted else []),
        ]
        for item in items
    ]
    head = ["KEY", "HEALTH", "FIRES", "FROM NOW", "WHAT", *(["NOTE"] if noted else [])]
    return Table(head, rows, marked=1, empty="nothing is to fire")


def late_table(items: list[Answer]) -> Table:
    now = system_now()
    rows = [
        [
            item["key"],
            item["health"].replace("_", " "),
            local(instant_ms(item["fireAt"]), item["timezone"]),
            relative(instant_ms(item["fireAt"]), now),
            "1 window" if item["windowsOwed"] == 1 else f"{item['windowsOwed']} windows",
            item["jobType"],
        ]
        for item in items
    ]
    return Table(["KEY", "HEALTH", "SHOULD HAVE FIRED", "AGO", "OWES", "WHAT"], rows, marked=1, empty="nothing is late")


def stats_sheet(found: Answer) -> Sheet:
    def lately(recent: dict[str, Any]) -> str:
        parts = [
            f"{recent[name]} {name}" for name in ("fired", "completed", "failed", "cancelled", "skipped", "missed")
        ]
        return ", ".join(parts)

    rows = [
        ("firing", "paused" if found["firingPaused"] else "on"),
        ("due", f"{found['due']} ({found['late']} late)"),
        ("ready", f"{found['ready']} could start now"),
        ("queued", f"{found['queued']} wait for another run of their schedule"),
        ("running", str(found["running"])),
        ("unknown job", str(found["unknownJob"]) if found["unknownJob"] else ""),
        ("dead", f"{found['dead']} dead letters"),
        ("last hour", lately(found["lastHour"])),
        ("last day", lately(found["lastDay"])),
    ]
    return Sheet([(name, value) for name, value in rows if value])
