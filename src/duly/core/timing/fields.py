"""The strict reader of one cron field: text in, bit mask out, or an error that says what was expected.

Bit ``v`` of a mask stands for the value ``v``. Sunday is bit 0 of the weekdays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from duly.core.errors import CronInvalid
from duly.core.timing.refusal import refused_as

MONTH_NAMES: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAY_NAMES: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

_ITEM = re.compile(r"(?:(\*)|([0-9]+|[A-Z]{3})(?:-([0-9]+|[A-Z]{3}))?)(?:/([0-9]+))?")
_NTH = re.compile(r"([0-9]|[A-Z]{3})(?:(L)|#([1-5]))")


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """What one field may hold; ``high`` is the largest value that may be written, ``top`` the last one of ``*``."""

    name: str
    low: int
    high: int
    top: int
    expected: str
    names: tuple[str, ...] = ()


SECOND: Final = Field("second", 0, 59, 59, "0-59")
MINUTE: Final = Field("minute", 0, 59, 59, "0-59")
HOUR: Final = Field("hour", 0, 23, 23, "0-23")
DAY: Final = Field("day of month", 1, 31, 31, "1-31 or L")
MONTH: Final = Field("month", 1, 12, 12, "1-12 or JAN-DEC", MONTH_NAMES)
WEEKDAY: Final = Field("day of week", 0, 7, 6, "0-7 or SUN-SAT, also 5L or 5#2", WEEKDAY_NAMES)


@dataclass(frozen=True, slots=True)
class MonthDays:
    """The day-of-month field; ``restricted`` when it is not exactly ``*`` or ``?``."""

    mask: int
    last: bool
    restricted: bool


@dataclass(frozen=True, slots=True)
class Weekdays:
    """The day-of-week field: plain weekdays, the last of a month, and (weekday, n) for the n-th of a month."""

    mask: int
    last: int
    nth: tuple[tuple[int, int], ...]
    restricted: bool


@lru_cache(maxsize=4096)
def parse_values(field: Field, text: str) -> int:
    """The mask of a field that holds only values, ranges, steps and lists of them."""
    mask = 0
    for item in text.upper().split(","):
        mask |= _item_mask(field, item, text)
    return mask


@lru_cache(maxsize=2048)
def parse_month_days(text: str) -> MonthDays:
    """The day-of-month field, where ``L`` is the last day and ``?`` is ``*``."""
    if text in ("*", "?"):
        return MonthDays(parse_values(DAY, "*"), last=False, restricted=False)
    mask, last = 0, False
    for item in text.upper().split(","):
        if item == "L":
            last = True
        else:
            mask |= _item_mask(DAY, item, text)
    return MonthDays(mask, last, restricted=True)


@lru_cache(maxsize=2048)
def parse_weekdays(text: str) -> Weekdays:
    """The day-of-week field, where 0 and 7 are Sunday, ``5L`` is the last Friday and ``5#2`` the second."""
    if text in ("*", "?"):
        return Weekdays(0b1111111, last=0, nth=(), restricted=False)
    mask = last = 0
    nth: set[tuple[int, int]] = set()
    for item in text.upper().split(","):
        special = _NTH.fullmatch(item)
        if special is None:
            mask |= _item_mask(WEEKDAY, item, text)
            continue
        weekday = _value(WEEKDAY, special[1], item, text) % 7
        if special[2]:
            last |= 1 << weekday
        else:
            nth.add((weekday, int(special[3])))
    return Weekdays(_sunday_as_zero(mask), last, tuple(sorted(nth)), restricted=True)


def _item_mask(field: Field, item: str, text: str) -> int:
    shape = _ITEM.fullmatch(item)
    if shape is None:
        raise _refused(field, item, text, _instead_of(field, item) or field.expected)
    star, first, last, step = shape.groups()
    low = field.low if star else _value(field, first, item, text)
    if last is not None:
        high = _range_end(field, last, item, text)
    elif star:
        high = field.top
    else:
        high = field.high if step else low
    if low > high:
        raise _refused(field, item, text, f"a range from low to high; write {low}-{field.top},{field.low}-{high}")
    if step and not star and last is None and field is WEEKDAY:
        raise _refused(field, item, text, "a range before the step, such as 1-5/2")
    every = _step(field, step, item, text)
    if every == 1:
        return (2 << high) - (1 << low)
    return sum(1 << value for value in range(low, high + 1, every))


def _instead_of(field: Field, item: str) -> str | None:
    """What to write instead of a form that other crons have, or None for any other text."""
    if field is DAY and "W" in item:
        return (
            f"{DAY.expected}; W (the nearest or last weekday) is not supported: name the days of the week, or exclude"
            " dates by a calendar"
        )
    if field is DAY and item.startswith("L-"):
        return f"{DAY.expected}; days before the last one are not supported: name the days, such as 28"
    if field is WEEKDAY and item.endswith("#L"):
        return f"{WEEKDAY.expected}; write {item.removesuffix('#L')}L for the last one of the month"
    return None


def _value(field: Field, token: str, item: str, text: str) -> int:
    if token.isdigit():
        value = int(token)
        if field.low <= value <= field.high:
            return value
    elif token in field.names:
        return field.names.index(token) + field.low
    raise _refused(field, item, text, field.expected)


def _range_end(field: Field, token: str, item: str, text: str) -> int:
    return 7 if field is WEEKDAY and token == "SUN" else _value(field, token, item, text)


def _step(field: Field, token: str | None, item: str, text: str) -> int:
    if token is None:
        return 1
    size = field.top - field.low + 1
    step = int(token)
    if not 1 <= step <= size:
        raise _refused(field, item, text, f"a step of 1-{size}")
    return step


def _sunday_as_zero(mask: int) -> int:
    return (mask | mask >> 7) & 0b1111111


def _refused(field: Field, item: str, text: str, expected: str) -> CronInvalid:
    given = f"is '{text}'" if item == text.upper() else f"has '{item}' in '{text}'"
    return refused_as(CronInvalid, f"cron field '{field.name}' {given}", field.name, text, expected)
