"""The pages of docs/: their programs run as they stand, their commands are commands, their tables are computed."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import pytest

from duly import Cron
from tests.counting import at_least
from tests.docs.blocks import pages
from tests.docs.commands import check_command, commands

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS = {page: commands((DOCS / page).read_text("utf-8")) for page in pages()}
"""The commands of each page; some pages have none."""
PROGRAMS = ("index.md", "howto.md", "dst.md", "webhooks.md", "dashboard.md")
"""Pages whose programs have no test of their own."""


def programs() -> list[tuple[str, str]]:
    found = {page: re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL) for page in PROGRAMS}
    assert all(found.values()), "a page without programs is not in PROGRAMS"
    named = [(f"{page}-{number}", code) for page, codes in found.items() for number, code in enumerate(codes)]
    return at_least(named, 16, "programs")


@pytest.mark.parametrize(("name", "code"), programs(), ids=lambda value: value if "\n" not in value else "")
def test_a_program_runs(name: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, name, "exec"), {"__name__": "page"})


def test_there_are_commands() -> None:
    at_least([arguments for found in COMMANDS.values() for arguments in found], 233, "commands on pages")


@pytest.mark.parametrize("page", COMMANDS)
def test_commands_are_commands(page: str) -> None:
    for arguments in COMMANDS[page]:
        try:
            check_command(arguments)
        except click.UsageError as error:
            pytest.fail(f"`duly {' '.join(arguments)}`: {error}")


ZONE = ZoneInfo("America/New_York")


def local_times(timing: Cron, *date: int) -> str:
    day = datetime(*date, tzinfo=ZONE)  # type: ignore[misc, arg-type]
    start, end = (instant.astimezone(UTC) for instant in (day, day + timedelta(days=1)))
    before = timedelta(milliseconds=1)
    found = [window.astimezone(ZONE) for window in timing.between(start - before, end - before)]
    if len(found) > 3:
        return f"{len(found)} times"
    return ", ".join(f"{window:%H:%M %Z}" for window in found) or "does not fire"


def test_the_table_of_clock_changes_is_true() -> None:
    text = (DOCS / "dst.md").read_text("utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (?:`(\w+)=\"(\w+)\"`)? ?\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)
    assert len(rows) == 8
    for cron, knob, value, spring, autumn in rows:
        timing = Cron(cron, timezone="America/New_York", **({knob: value} if knob else {}))
        assert local_times(timing, 2027, 3, 14) == spring, cron
        assert local_times(timing, 2027, 11, 7) == autumn, cron
