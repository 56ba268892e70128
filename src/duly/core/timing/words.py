"""Words and numbers for people: lists, spans, names and lengths of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MONTHS: Final = (
    "", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
ORDINALS: Final = ("", "first", "second", "third", "fourth", "fifth")

_UNITS: Final = (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1000), ("millisecond", 1))


def held(mask: int) -> list[int]:
    """The values that a mask holds, in order."""
    return [value for value in range(mask.bit_length()) if mask >> value & 1]


def runs(values: Sequence[int]) -> list[tuple[int, int]]:
    """Ordered values as (first, last) of their unbroken runs."""
    found: list[tuple[int, int]] = []
    for value in values:
        if found and found[-1][1] == value - 1:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return found


def step_of(values: Sequence[int], size: int) -> int | None:
    """The even step from 0 that fills a whole field, so that the last step leads to the next 0; else None."""
    if len(values) < 2 or size % len(values) or values[0] != 0:
        return None
    step = size // len(values)
    return step if list(values) == list(range(0, size, step)) else None


def joined(parts: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def ordinal(number: int) -> str:
    """2nd, 3rd, 11th."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return str(number) + {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def progression(values: Sequence[int]) -> int | None:
    """The step of five or more values that are evenly apart, though not next to each other; else None."""
    if len(values) < 5 or values[1] - values[0] < 2:
        return None
    step = values[1] - values[0]
    return step if list(values) == list(range(values[0], values[-1] + 1, step)) else None


def plural(unit: str, count: int) -> str:
    """The unit as it follows a count."""
    return unit if count == 1 else f"{unit}s"


def length_of(ms: int, lone: bool = False) -> str:
    """A length of time in words; with ``lone`` a single unit goes without its 1, as in "every minute".

    A single day is called 24 hours, since a day on the wall clock may have 23 or 25.
    """
    if ms == 86_400_000:
        return "24 hours"
    parts: list[tuple[int, str]] = []
    for unit, unit_ms in _UNITS:
        count, ms = divmod(ms, unit_ms)
        if count:
            parts.append((count, unit))
    if lone and len(parts) == 1 and parts[0][0] == 1:
        return parts[0][1]
    return " ".join(f"{count} {plural(unit, count)}" for count, unit in parts)
