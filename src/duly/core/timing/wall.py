"""Wall-clock words: times of day, days of the week and days of the month, as cron text."""

from __future__ import annotations

import re
from typing import Final

from duly.core.timing.fields import WEEKDAY_NAMES
from duly.core.timing.refusal import refused

_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})")
_DAY_EXPECTED: Final = "0-7 (0 and 7 are Sunday) or SUN-SAT"


def time_of_day(time: object) -> str:
    """``"14:05"`` as the cron fields ``"5 14"``."""
    shape = _TIME.fullmatch(time) if isinstance(time, str) else None
    if shape is None or int(shape[1]) > 23 or int(shape[2]) > 59:
        raise refused("time", time, "a time of day from 00:00 to 23:59, such as '14:30'")
    return f"{int(shape[2])} {int(shape[1])}"


def day_of_week(day: object) -> int:
    """``"MON"`` or 1 as 1; Sunday is 0."""
    if isinstance(day, str):
        if day.upper() in WEEKDAY_NAMES:
            return WEEKDAY_NAMES.index(day.upper())
        if day in {"0", "1", "2", "3", "4", "5", "6", "7"}:
            return int(day) % 7
    elif isinstance(day, int) and not isinstance(day, bool) and 0 <= day <= 7:
        return day % 7
    raise refused("day of week", day, _DAY_EXPECTED)


def day_of_month(day: object) -> str:
    """15 as ``"15"``; ``"L"`` and ``"last"`` as ``"L"``."""
    if isinstance(day, str):
        if day.upper() in {"L", "LAST"}:
            return "L"
        if re.fullmatch(r"[0-9]{1,2}", day) and 1 <= int(day) <= 31:
            return str(int(day))
    elif isinstance(day, int) and not isinstance(day, bool) and 1 <= day <= 31:
        return str(day)
    raise refused("day of month", day, "1-31, or 'L' for the last day")
