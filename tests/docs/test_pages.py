"""The pages of docs/: their programs run as they stand, their commands are commands, their tables are computed."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import pytest

from duly import Cron
from tests.docs.commands import check_command, commands

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
PROGRAMS = ("howto.md", "dst.md", "webhooks.md", "dashboard.md")
"""Pages whose programs have no test of their own."""


def programs() -> list[tuple[str, str]]:
    return [
        (f"{page}-{number}", code)
        for page in PROGRAMS
        for number, code in enumerate(re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL))
    ]


@pytest.mark.parametrize(("name", "code"), programs(), ids=lambda value: value if "\n" not in value else "")
def test_a_program_runs(name: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, name, "exec"), {"__name__": "page"})


@pytest.mark.parametrize("page", PAGES)
def test_commands_are_commands(page: str) -> None:
    for arguments in commands((DOCS / page).read_text("utf-8")):
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
