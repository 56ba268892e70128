"""``duly doctor``: check everything that a healthy duly rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from .options import Choices, choices_of, common_options, output_options
from .printing import Table, printer

if TYPE_CHECKING:
    from duly.store.inspection import Finding


@click.command()
@output_options
@common_options
@click.pass_context
def command(ctx: click.Context) -> None:
    """Check configuration, database, clocks, instances and backlog, and say what to do. Changes nothing.

    Exit code 1 if anything failed.
    """
    findings = list(_findings(choices_of(ctx)))
    value = {
        "findings": [
            {"level": found.level, "subject": found.subject, "text": found.text, "advice": found.advice}
            for found in findings
        ]
    }
    rows = [[found.level, found.subject, _words(found)] for found in findings]
    bad = [found for found in findings if found.level != "ok"]
    out = printer()
    out.show(value, lambda: Table(["", "WHAT", "HOW"], rows, marked=0), names=[found.subject for found in bad])
    failed = sum(found.level == "fail" for found in findings)
    out.say(f"{len(findings) - len(bad)} ok, {len(bad) - failed} to look at, {failed} failed")
    ctx.exit(1 if failed else 0)


def _findings(choices: Choices) -> Iterator[Finding]:
    from duly.core.errors import ConfigurationError
    from duly.store.inspection import Finding

    from . import checkup
    from .reach import OnServer, find_reach, load_config

    try:
        loaded, reach = load_config(choices), find_reach(choices)
    except ConfigurationError as error:
        yield Finding("fail", "configuration", error.message)
        return
    yield from checkup.check_config(loaded)
    yield from checkup.check_zones()
    if isinstance(reach, OnServer):
        yield from checkup.check_server(reach.url, reach.key)
    else:
        yield from checkup.check_store(
            reach.url,
            grace_ms=round(loaded.settings.catch_up_grace * 1000),
            issuer=loaded["auth.jwt.issuer"],
            sealed_with=loaded.settings.payload_keys,
        )


def _words(found: Finding) -> str:
    words = found.text if found.advice is None else f"{found.text} -> {found.advice}"
    return " ".join(words.split())
