"""Durations: ISO 8601 and the short form."""

import pytest

from duly.core.errors import ValidationFailed
from duly.core.timing import parse_duration

HOUR = 3_600_000


@pytest.mark.parametrize(
    "text, expected",
    [
        ("5m", 300_000),
        ("1h30m", 5_400_000),
        ("1h 30m", 5_400_000),
        ("90s", 90_000),
        ("500ms", 500),
        ("1s500ms", 1500),
        ("1.5h", 5_400_000),
        ("0.25s", 250),
        ("2d", 48 * HOUR),
        ("1w2d", 9 * 24 * HOUR),
        ("5M", 300_000),
        ("PT15M", 900_000),
        ("PT1H30M", 5_400_000),
        ("P14D", 14 * 24 * HOUR),
        ("P2W", 14 * 24 * HOUR),
        ("P1DT12H", 36 * HOUR),
        ("PT0.5S", 500),
        ("PT1,5M", 90_000),
        ("PT36H", 36 * HOUR),
        ("P3650D", 3650 * 24 * HOUR),
    ],
)
def test_a_duration_is_whole_milliseconds(text, expected):
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "5", "m", "5 m", "1 0s", "m5", "5x", "-5m", "+5m", "30m1h", "5m5m", "1e3s", "0.5ms", "0.0001s", "0s",
        "PT", "P", "P1DT", "P1Y", "P1M", "P1Y2M", "PT-5M", "-PT5M", "pt5m", "PT5", "P5H", "PT0S", "PT0.0001S", "P4000D",
        "9" * 40 + "s", "\u0665m", "\uff15m", "5m\n", "1h, 30m", "forever", "5m" * 100, None, 5, 5.0, b"5m",
    ],
)  # fmt: skip
def test_what_has_no_fixed_length_or_no_meaning_is_refused(text):
    with pytest.raises(ValidationFailed, match="expected a duration such as"):
        parse_duration(text)
