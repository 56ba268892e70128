"""The pages of docs/: their programs run as they stand, their commands are commands, their tables are computed."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import pytest

from duly import Cron, explain
from duly.core.errors import CronInvalid
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
    assert len(rows) == 10
    for cron, knob, value, spring, autumn in rows:
        timing = Cron(cron, timezone="America/New_York", **({knob: value} if knob else {}))
        assert local_times(timing, 2027, 3, 14) == spring, cron
        assert local_times(timing, 2027, 11, 7) == autumn, cron


def test_a_gap_that_ends_on_another_day_moves_the_window_to_that_day() -> None:
    window = Cron("45 23 * * SAT", timezone="America/Scoresbysund").next_after(datetime(2027, 3, 25, tzinfo=UTC))
    assert window is not None
    assert f"{window.astimezone(ZoneInfo('America/Scoresbysund')):%A %H:%M}" == "Sunday 00:00"
    assert "`45 23 * * SAT` then fires at 00:00 on\nSunday" in (DOCS / "dst.md").read_text("utf-8")


def test_the_examples_of_cron_expressions_mean_what_the_page_says() -> None:
    text = (DOCS / "cron.md").read_text("utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| ([A-Z][^|]+) \|$", text.partition("## Examples")[2], re.MULTILINE)
    for expression, words in at_least(rows, 10, "examples of cron expressions"):
        assert explain(Cron(expression)) == words, expression


def test_what_other_crons_accept_is_rejected_as_the_page_says() -> None:
    table = (DOCS / "cron.md").read_text("utf-8").partition("## What other crons accept")[2]
    forms = [
        form for row in re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE) for form in re.findall(r"`([^`]+)`", row)
    ]
    whole = {"5-1": "0 0 * * 5-1", "FRI-MON": "0 0 * * FRI-MON", "22-2": "0 22-2 * * *", "LW": "0 0 LW * *",
             "15W": "0 0 15W * *", "L-3": "0 0 L-3 * *", "FRI#L": "0 0 * * FRI#L"}  # fmt: skip
    for form in at_least(forms, 13, "forms that are rejected"):
        with pytest.raises(CronInvalid):
            Cron(whole.get(form, form))
