"""``duly schedule apply`` and ``diff``: files say which schedules there are to be."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import click

from duly.cli.backend import backend
from duly.cli.failing import FAILED, Refused
from duly.cli.files import Files, read_files, told_by_file
from duly.cli.inputs import confirm
from duly.cli.options import common_options, output_options
from duly.cli.printing import Table, printer

from .knowing import warn_of_unknown_jobs

Answer = dict[str, Any]

_FILES = click.option(
    "--file", "-f", "names", multiple=True, required=True, metavar="FILE|FOLDER|-",
    help="YAML, TOML or JSON; repeat it for several.",
)  # fmt: skip
_SET = click.option("--set", "set_name", metavar="NAME", help="What is applied together; else as the files say.")
_PRUNE = click.option(
    "--prune", is_flag=False, flag_value="pause", type=click.Choice(["pause", "delete"]), metavar="[=delete]",
    help="Pause, or delete, what the set had before and has no more.",
)  # fmt: skip


@click.command()
@_FILES
@_SET
@_PRUNE
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before --prune=delete.")
@output_options
@common_options
def apply(names: tuple[str, ...], set_name: str | None, prune: str | None, dry_run: bool, yes: bool) -> None:
    """Make schedules what the files say, each by its key. The second time changes nothing.

    \b
    duly schedule apply -f schedules/ --set shop --prune
    duly schedule apply -f schedules.yaml --dry-run
    """
    files, set_name = _read(names, set_name, prune)
    with told_by_file(files), backend(creates=not dry_run) as reach:
        asked: dict[str, Any] = {"set": set_name, "prune": prune}
        if prune == "delete" and not dry_run and not yes:
            _ask(reach.apply_schedules(files.bodies, **asked, dry_run=True))
        done = reach.apply_schedules(files.bodies, **asked, dry_run=dry_run)
        warn_of_unknown_jobs(reach, (body.get("jobType") for body in files.bodies))
    if dry_run:
        _show_differences(done)
    else:
        _show_outcomes(done)


@click.command()
@_FILES
@_SET
@_PRUNE
@output_options
@common_options
def diff(names: tuple[str, ...], set_name: str | None, prune: str | None) -> int:
    """Show what `apply` would change. The exit code is 0 where nothing differs, 1 where something does."""
    files, set_name = _read(names, set_name, prune)
    with told_by_file(files), backend() as reach:
        foretold = reach.apply_schedules(files.bodies, set=set_name, prune=prune, dry_run=True)
    _show_differences(foretold)
    return FAILED if _different(foretold) else 0


def _read(names: tuple[str, ...], set_name: str | None, prune: str | None) -> tuple[Files, str | None]:
    files = read_files(names)
    set_name = set_name or files.set
    if prune is not None and set_name is None:
        raise Refused(
            "--prune needs the name of a set: only what was applied under it before is pruned",
            "--set NAME, or `set: NAME` beside `schedules` in a file",
        )
    return files, set_name


def _ask(foretold: Answer) -> None:
    doomed = [item["key"] for item in foretold["items"] if item["outcome"] == "deleted"]
    if doomed:
        confirm(f"Delete schedule {', '.join(doomed)}?", yes=False)


def _different(answer: Answer) -> list[Answer]:
    return [item for item in answer["items"] if item["outcome"] != "unchanged"]


def _show_outcomes(done: Answer) -> None:
    rows = [
        [item["key"], item["outcome"], ", ".join(change["field"] for change in item["changes"])]
        for item in done["items"]
    ]
    out = printer()
    out.say(_summary(done))
    out.show(done, lambda: Table(["KEY", "OUTCOME", "FIELDS"], rows, marked=1), names=_names(done))


def _show_differences(foretold: Answer) -> None:
    rows: list[list[str]] = []
    for item in _different(foretold):
        changes = item["changes"] or [{"field": "", "old": None, "new": None}]
        rows += [
            [item["key"], item["outcome"], change["field"], _value(change["old"]), _value(change["new"])]
            for change in changes
        ]
    head = ["KEY", "OUTCOME", "FIELD", "NOW", "THEN"]
    out = printer()
    out.say(f"not applied: {_summary(foretold)}")
    out.show(foretold, lambda: Table(head, rows, marked=1, empty="nothing differs"), names=_names(foretold))


def _summary(answer: Answer) -> str:
    counts = Counter(item["outcome"] for item in answer["items"])
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "no schedules"
    return f"{told} in set {answer['set']}" if answer["set"] else told


def _names(answer: Answer) -> list[str]:
    return [item["key"] for item in _different(answer)]


def _value(value: Any) -> str:
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
