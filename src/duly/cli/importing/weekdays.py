"""Days as APScheduler writes them: weekdays from Monday, ``2nd tue``, ``last``."""

from __future__ import annotations

import re

from .values import Left

NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ITEM = re.compile(r"(?:\*|([a-z]{3}|[0-6])(?:-([a-z]{3}|[0-6]))?)(?:/(\d+))?")
_NTH = re.compile(r"(1st|2nd|3rd|4th|5th|last)\s+([a-z]{3})")


def weekdays_of(text: str) -> str:
    """The field as cron has it: names, because the numbers mean other days."""
    if text == "*":
        return "*"
    days: set[int] = set()
    for item in (part.strip() for part in text.split(",")):
        found = _ITEM.fullmatch(item)
        if found is None:
            raise Left(f"its day_of_week is {text[:40]!r}; expected days such as mon-fri or 0-4, 0 for Monday")
        first, last, step = found.groups()
        low = 0 if first is None else _number(first)
        high = 6 if first is None or (last is None and step is not None) else _number(last or first)
        if low > high or step == "0":
            raise Left(f"its day_of_week is {text[:40]!r}; expected days such as mon-fri or 0-4, 0 for Monday")
        days |= set(range(low, high + 1, int(step or 1)))
    return "*" if len(days) == len(NAMES) else ",".join(NAMES[day] for day in sorted(days))


def days_of(text: str) -> tuple[str, str | None]:
    """The day of the month, and the weekday that it asks for instead of one."""
    if text == "last":
        return "L", None
    found = _NTH.fullmatch(text)
    if found is None:
        if any(char.isalpha() for char in text):
            raise Left(f"its day is {text[:40]!r}; expected days of the month, last, or one such as '2nd tue'")
        return text, None
    which, name = found.groups()
    day = (_number(name) + 1) % 7
    return "*", f"{day}L" if which == "last" else f"{day}#{which[0]}"


def _number(word: str) -> int:
    if word.isdecimal():
        return int(word)
    if word not in NAMES:
        raise Left(f"{word!r} is not a weekday; expected one of {', '.join(NAMES)}")
    return NAMES.index(word)
