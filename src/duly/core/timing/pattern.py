"""A whole cron expression as masks: the local times it names, without any zone.

Local times are "local seconds": seconds since 1970-01-01T00:00:00 as a wall clock shows them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from duly.core.errors import CronInvalid
from duly.core.timing.days import Days, days_of
from duly.core.timing.epoch import FIRST_DAY, FIRST_SECOND, LAST_DAY, LAST_SECOND
from duly.core.timing.fields import HOUR, MINUTE, MONTH, SECOND, parse_month_days, parse_values, parse_weekdays
from duly.core.timing.refusal import refused_as, shortened
from duly.core.timing.steps import last_values, next_values

MAX_LENGTH: Final = 256

MACROS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
"""Names that cron has for some expressions; they are not taken, and whoever gives one is told what to write."""

_ALLOWED = re.compile(r"[A-Za-z0-9*?,/# \t-]*")
_ALL_HOURS: Final = (1 << 24) - 1


class Pattern:
    """The local times that an expression names, and the search for the nearest of them."""

    __slots__ = ("_first", "_last", "_next", "_previous", "days", "every_day", "hours", "minutes", "seconds")

    def __init__(self, seconds: int, minutes: int, hours: int, days: Days) -> None:
        self.seconds = seconds
        self.minutes = minutes
        self.hours = hours
        self.days = days
        self.every_day = days.every_day
        self._next = (next_values(hours, 24), next_values(minutes, 60), next_values(seconds, 60))
        self._previous: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] | None = None
        # The first and last named second of a minute, of an hour and of a day.
        first, last = _lowest(seconds), seconds.bit_length() - 1
        of_hour, to_hour = _lowest(minutes) * 60 + first, (minutes.bit_length() - 1) * 60 + last
        self._first = (first, of_hour, _lowest(hours) * 3600 + of_hour)
        self._last = (last, to_hour, (hours.bit_length() - 1) * 3600 + to_hour)

    @property
    def open_hour(self) -> bool:
        """Whether all 24 hours are named, however that was written."""
        return self.hours == _ALL_HOURS

    def first_from(self, local: int) -> int | None:
        """The first named local second at or after ``local``."""
        if local < FIRST_SECOND:
            local = FIRST_SECOND
        elif local > LAST_SECOND:
            return None
        first_of_minute, first_of_hour, first_of_day = self._first
        day, rest = divmod(local, 86_400)
        found = day if self.every_day else self.days.first_from(day)
        if found == day:
            hours, minutes, seconds = self._next
            hour, rest = divmod(rest, 3600)
            named = hours[hour]
            if named == hour:
                minute, second = divmod(rest, 60)
                named = minutes[minute]
                if named == minute:
                    if seconds[second] >= 0:
                        return local + seconds[second] - second
                    named = minutes[minute + 1]
                if named >= 0:
                    return local + (named - minute) * 60 + first_of_minute - second
                named = hours[hour + 1]
            if named >= 0:
                return day * 86_400 + named * 3600 + first_of_hour
            found = self._day_after(day)
        return None if found is None else found * 86_400 + first_of_day

    def last_to(self, local: int) -> int | None:
        """The last named local second at or before ``local``."""
        if local > LAST_SECOND:
            local = LAST_SECOND
        elif local < FIRST_SECOND:
            return None
        last_of_minute, last_of_hour, last_of_day = self._last
        day, rest = divmod(local, 86_400)
        found = day if self.every_day else self.days.last_to(day)
        if found == day:
            hours, minutes, seconds = self._previous or self._previous_steps()
            hour, rest = divmod(rest, 3600)
            named = hours[hour]
            if named == hour:
                minute, second = divmod(rest, 60)
                named = minutes[minute]
                if named == minute:
                    if seconds[second] >= 0:
                        return local + seconds[second] - second
                    named = minutes[minute - 1]
                if named >= 0:
                    return local + (named - minute) * 60 + last_of_minute - second
                named = hours[hour - 1]
            if named >= 0:
                return day * 86_400 + named * 3600 + last_of_hour
            found = self._day_before(day)
        return None if found is None else found * 86_400 + last_of_day

    def _previous_steps(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        steps = (last_values(self.hours, 24), last_values(self.minutes, 60), last_values(self.seconds, 60))
        self._previous = steps
        return steps

    def _day_after(self, day: int) -> int | None:
        if self.every_day and day < LAST_DAY:
            return day + 1
        return self.days.first_from(day + 1)

    def _day_before(self, day: int) -> int | None:
        if self.every_day and day > FIRST_DAY:
            return day - 1
        return self.days.last_to(day - 1)


def split_fields(expr: str) -> tuple[str, ...]:
    """The 5 or 6 fields of an expression, checked for length, characters and count only."""
    if len(expr) > MAX_LENGTH:
        given = f"cron expression has {len(expr)} characters"
        raise refused_as(CronInvalid, given, "cron", f"{expr[:40]}...", f"at most {MAX_LENGTH}")
    if not _ALLOWED.fullmatch(expr):
        expected = "5 or 6 fields of ASCII letters, digits, * ? , / # -, parted by spaces, such as '0 2 * * *'"
        expected = _instead_of(expr.strip()) or expected
        raise refused_as(CronInvalid, f"cron expression is {shortened(expr)}", "cron", expr, expected)
    fields = tuple(expr.split())
    if len(fields) not in (5, 6):
        given = f"cron expression {shortened(expr)} has {len(fields)} fields"
        expected = "5 (minute hour day month weekday) such as '0 2 * * *', or 6 with seconds first"
        if len(fields) == 7:
            expected += "; a year has no field: set the start and the end of the schedule"
        raise refused_as(CronInvalid, given, "cron", expr, expected)
    return fields


def _instead_of(expr: str) -> str | None:
    """What to write instead of a form that other crons have, or None for any other text."""
    name, _, rest = expr.partition(" ")
    if name.lower() in MACROS and not rest:
        return f"its fields, which are '{MACROS[name.lower()]}'"
    if name.lower() == "@every":
        return f"5 or 6 fields; write it as an interval: Every({rest.strip()!r}), --every {rest.strip()} or everyMs"
    if name.lower() == "@reboot":
        return "5 or 6 fields; run what belongs to a start when your program starts, such as in its lifespan"
    if name.startswith(("CRON_TZ=", "TZ=")):
        zone = name.partition("=")[2]
        return f"the fields alone, {rest.strip()!r}; give {zone!r} as the timezone of the schedule"
    return None


@lru_cache(maxsize=8192)
def pattern_of(fields: tuple[str, ...]) -> Pattern:
    """The pattern of 5 or 6 fields; one that no day of any year meets is refused."""
    second, minute, hour, day, month, weekday = fields if len(fields) == 6 else ("0", *fields)
    days = days_of(parse_month_days(day), parse_values(MONTH, month), parse_weekdays(weekday))
    pattern = Pattern(parse_values(SECOND, second), parse_values(MINUTE, minute), parse_values(HOUR, hour), days)
    if not days.exist():
        given = f"cron expression '{' '.join(fields)}' never fires: month '{month}' has no day '{day}'"
        raise refused_as(CronInvalid, given, "day of month", day, "a day that exists in one of the months")
    return pattern


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
