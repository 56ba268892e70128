"""Times and tables as people read them."""

import click
import pytest

from duly.cli.printing import Printer, Sheet, Table
from duly.cli.runs import run_table
from duly.cli.tables import Cell, counted, lay_out, pairs
from duly.cli.times import in_words, local, relative

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
NOW = 1_790_000_000_000


@pytest.mark.parametrize(
    "away, words",
    [
        (0, "now"),
        (999, "now"),
        (1000, "in 1 s"),
        (90_000, "in 1 min 30 s"),
        (-5 * MINUTE, "5 min ago"),
        (3 * HOUR, "in 3 h"),
        (HOUR + 5 * MINUTE, "in 1 h 5 min"),
        (-26 * HOUR, "1 d 2 h ago"),
        (400 * DAY, "in 400 d"),
        (-26_415 * DAY, "72 years ago"),
    ],
)
def test_how_far_an_instant_is_from_now(away: int, words: str) -> None:
    assert relative(NOW + away, NOW) == words


def test_lengths_below_a_second_are_milliseconds() -> None:
    assert in_words(250) == "250 ms"


def test_a_local_time_shows_its_offset() -> None:
    assert local(NOW, "UTC") == "2026-09-21 14:13:20 UTC"
    assert local(NOW, "Asia/Kolkata") == "2026-09-21 19:43:20 +05:30"
    assert local(NOW - 20_000, "America/New_York", offset=False) == "2026-09-21 10:13"


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert lay_out(["KEY", "N"], [["a", "1"], ["long key", "20"]], None) == [
        "KEY       N",
        "a         1",
        "long key  20",
    ]


def test_the_widest_column_gives_way_first() -> None:
    lines = lay_out(["KEY", "NOTE"], [["nightly", "a very long note about nothing"]], 24)
    assert lines == ["KEY      NOTE", "nightly  a very long no…"]


def test_a_cell_cannot_write_to_the_terminal() -> None:
    (_, line) = lay_out(["NAME"], [["evil\x1b[2J\nname"]], None)
    assert line == "evil\\x1b[2J\\nname"


def test_wide_characters_keep_the_columns_straight() -> None:
    assert lay_out(["A", "B"], [["日本", "x"], ["abcd", "y"]], None)[1:] == ["日本  x", "abcd  y"]


def test_names_and_values_stand_in_two_columns() -> None:
    assert pairs([("key", "a"), ("timezone", "UTC")]) == ["key       a", "timezone  UTC"]


RUNS = [["019a8a3c-5d1e-7c3b", "failed", Cell("2026-11-17 20:55:59 (2 s ago)", "2 s ago"), "1/3", "no route to host"]]
RUNS_HEAD = ["ID", "STATUS", Cell("SCHEDULED (UTC)", "SCHEDULED"), "TRY", "WHY"]


@pytest.mark.parametrize(
    "width, line",
    [
        (None, "019a8a3c-5d1e-7c3b  failed  2026-11-17 20:55:59 (2 s ago)  1/3  no route to host"),
        (70, "019a8a3c-5d1e-7c3b  failed  2 s ago    1/3  no route to host"),
        (57, "019a8a3c-5d1e-7c3b  failed  2 s ago    no route to host"),
        (50, "019a8a3c-5d1e-7c3b  failed  2 s ago    no route t…"),
        (20, "019a8a3c-5d1e-7c3b  failed  2 s ago   no rout…"),
    ],
)
def test_a_narrow_terminal_gets_brief_times_and_fewer_columns_but_never_half_an_id(
    width: int | None, line: str
) -> None:
    assert lay_out(RUNS_HEAD, RUNS, width, spare=(3,))[1] == line


def test_a_colour_stays_on_its_column_when_another_goes() -> None:
    def paint(cell: str, row: int, column: int) -> str:
        return f"<{cell}>" if column == 4 else cell

    assert lay_out(RUNS_HEAD, RUNS, 57, paint, spare=(3,))[1].endswith("  <no route to host>")


def test_things_are_counted_in_plain_english() -> None:
    assert [counted(number, "window") for number in (0, 1, 2)] == ["0 windows", "1 window", "2 windows"]


def test_a_colour_is_on_the_status_and_not_on_a_key_that_has_the_same_word(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(["KEY", "STATUS", "JOB"], [["failed-mails", "failed", "mail"]], marked=1)
    with click.Context(click.Command("duly"), color=True):
        Printer("table", quiet=False).show(None, lambda: table)
        Printer("table", quiet=False).show(None, lambda: Sheet([("key", "failed"), ("status", "failed")]))
    shown = capsys.readouterr().out.splitlines()
    assert shown[1] == "failed-mails  \x1b[31mfailed\x1b[0m  mail"
    assert shown[2:] == ["key     failed", "status  \x1b[31mfailed\x1b[0m"]


@pytest.mark.parametrize(
    "run, why",
    [
        ({}, ""),
        ({"reason": "missed", "windowCount": 9}, "missed (9 windows)"),
        ({"reason": "overlap", "windowCount": 1}, "overlap"),
        ({"reason": "attempts_spent", "errorMessage": "ValueError: no\nmore"}, "attempts_spent: ValueError: no"),
        ({"errorMessage": "ValueError: no"}, "ValueError: no"),
        ({"reason": "excluded", "reasonDetail": "excluded by 'br'"}, "excluded by 'br'"),
        ({"reasonDetail": "gave up: ValueError: no", "errorMessage": "ValueError: no"}, "gave up: ValueError: no"),
    ],
)
def test_a_run_says_why_in_one_line(run: dict[str, object], why: str) -> None:
    bare = {"id": "1", "status": "x", "jobType": "j", "workflow": None, "kind": "window", "maxAttempts": 0}
    rest = dict.fromkeys(("durationMs", "windowCount", "reason", "reasonDetail", "errorMessage"))
    table = run_table([{**bare, **rest, "scheduledAt": "2026-09-21T14:13:20Z", **run}], "none")
    assert table.rows[0][-1] == why
