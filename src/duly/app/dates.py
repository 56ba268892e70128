"""Dates that people give: each check answers them as they are kept, in order and once each, or refuses them by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from duly.core.calendar import DateRange, MonthDay
from duly.core.errors import ValidationFailed
from duly.core.ids import KEY_EXPECTED, is_key

DateLike = date | str
RangeLike = tuple[DateLike, DateLike] | str
MonthDayLike = tuple[int, int] | str

MOST_DATES = 5000
MOST_RANGES = 1000
MOST_CALENDARS = 20
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MONTH_DAY = re.compile(r"(\d{2})-(\d{2})", re.ASCII)
_LEAP_YEAR = 2000


def check_dates(given: Iterable[DateLike], field: str) -> tuple[date, ...]:
    """Single dates: ``datetime.date``, or text such as 2026-12-25."""
    dates = enumerate(_listed(given, field, MOST_DATES, "dates"))
    return tuple(sorted({_date(value, field, place) for place, value in dates}))


def check_ranges(given: Iterable[RangeLike], field: str = "ranges") -> tuple[DateRange, ...]:
    """Pairs of a first and a last date, both counted, or text such as 2026-12-24..2027-01-02."""
    ranges = enumerate(_listed(given, field, MOST_RANGES, "pairs of dates"))
    return tuple(sorted({_range(value, field, place) for place, value in ranges}))


def check_yearly(given: Iterable[MonthDayLike], field: str = "yearly") -> tuple[MonthDay, ...]:
    """Dates of every year: pairs of month and day, or text such as 12-25."""
    days = enumerate(_listed(given, field, 366, "days of the year"))
    return tuple(sorted({_month_day(value, field, place) for place, value in days}))


def check_calendars(given: Iterable[str], field: str = "calendars") -> tuple[str, ...]:
    """Names of calendars, in the order that was given."""
    names = enumerate(_listed(given, field, MOST_CALENDARS, "names of calendars"))
    return tuple(dict.fromkeys(check_calendar_name(name, field, place) for place, name in names))


def check_calendar_name(name: Any, field: str = "name", place: int | None = None) -> str:
    """Answer a calendar's name, or refuse it; ``place`` is where it stands in a list."""
    if not isinstance(name, str) or not is_key(name):
        raise _refused(field, name, f"the name of a calendar: {KEY_EXPECTED}", place)
    return name


def _listed(given: Any, field: str, most: int, what: str) -> Sequence[Any]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise _refused(field, given, f"a list of {what}")
    values = list(given)
    if len(values) > most:
        raise ValidationFailed(
            f"{field} has {len(values)} entries; expected at most {most}", field=field, expected=f"at most {most}"
        )
    return values


def _date(value: Any, field: str, *place: object) -> date:
    if type(value) is date:
        return value
    if isinstance(value, str) and _DATE.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise _refused(field, value, "a date that exists", *place) from None
    raise _refused(field, value, "a date such as 2026-12-25", *place)


def _range(value: Any, field: str, place: int) -> DateRange:
    ends = value.split("..") if isinstance(value, str) else value
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        raise _refused(field, value, "a first and a last date, such as 2026-12-24..2027-01-02", place)
    first, last = _date(ends[0], field, place, "from"), _date(ends[1], field, place, "to")
    if last < first:
        raise _refused(field, f"{first}..{last}", "a last date that is not before the first", place)
    return DateRange(first, last)


def _month_day(value: Any, field: str, place: int) -> MonthDay:
    found = _MONTH_DAY.fullmatch(value) if isinstance(value, str) else None
    pair = (int(found[1]), int(found[2])) if found else value
    if isinstance(pair, tuple | list) and len(pair) == 2 and all(type(part) is int for part in pair):
        try:
            date(_LEAP_YEAR, *pair)
        except (ValueError, OverflowError):
            pass
        else:
            return MonthDay(*pair)
    raise _refused(field, value, "a month and a day, such as 12-25", place)


def _refused(field: str, got: Any, expected: str, *place: object) -> ValidationFailed:
    """The refusal of a value; ``place`` is where it stands in a list."""
    where = ".".join([field, *(str(step) for step in place if step is not None)])
    return ValidationFailed(
        f"{field} has {str(got)[:60]!r}; expected {expected}", field=where, got=got, expected=expected
    )
