"""Times and tables as people read them."""

import pytest

from duly.cli.tables import lay_out, pairs
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
