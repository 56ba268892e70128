"""Random cron expressions, as the sets they mean beside two texts that say so."""

from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from hypothesis import strategies as st

Values = frozenset[int]
LAST_DAY = 32
"""Among dates: the last of the month."""
LAST = 6
"""Among weekdays, 10 * n + weekday is the nth of the month, and the last one is written as this n."""

Words = Mapping[int, tuple[str, ...]]
"""How a value may be written, where that is not its number alone."""
PLAIN: Words = {}
DATES: Words = {LAST_DAY: ("L",)}
MONTHS: Words = {
    number: (str(number), name, name.lower())
    for number, name in enumerate("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(), 1)
}
_DAYS = {number: (str(number), name, name.lower()) for number, name in enumerate("SUN MON TUE WED THU FRI SAT".split())}
WEEKDAYS: Words = _DAYS | {
    10 * number + weekday: tuple(f"{name}L" if number == LAST else f"{name}#{number}" for name in names)
    for weekday, names in _DAYS.items()
    for number in range(1, LAST + 1)
}


@dataclass(frozen=True)
class Meaning:
    """What an expression picks, told without any parser: None is every value. ``also`` is another text for it."""

    text: str
    minutes: Values | None
    hours: Values | None
    dates: Values | None
    months: Values | None
    weekdays: Values | None
    also: str = ""

    @property
    def open_hour(self) -> bool:
        return self.hours is None or len(self.hours) == 24

    def names(self, local: datetime) -> bool:
        """Whether a naive local minute is picked; either day is enough when both are restricted."""
        days, weekday = monthrange(local.year, local.month)[1], local.isoweekday() % 7
        date = {local.day, *([LAST_DAY] if local.day == days else [])}
        place = {
            weekday,
            10 * ((local.day + 6) // 7) + weekday,
            *([10 * LAST + weekday] if local.day + 7 > days else []),
        }
        dated = self.dates is None or not self.dates.isdisjoint(date)
        placed = self.weekdays is None or not self.weekdays.isdisjoint(place)
        day = dated or placed if self.dates is not None and self.weekdays is not None else dated and placed
        return (
            day
            and (self.months is None or local.month in self.months)
            and (self.hours is None or local.hour in self.hours)
            and (self.minutes is None or local.minute in self.minutes)
        )


def _some(low: int, high: int, most: int) -> st.SearchStrategy[Values]:
    return st.frozensets(st.integers(low, high), min_size=1, max_size=most)


@st.composite
def _steps(draw: st.DrawFn, low: int, high: int) -> Values:
    """What a range or a range with steps picks."""
    first = draw(st.integers(low, high))
    return frozenset(range(first, draw(st.integers(first, high)) + 1, draw(st.integers(1, high - low + 1))))


def _spelled(luck: Random, values: Values | None, low: int, high: int, words: Words) -> str:
    """One of the ways to write what a field picks."""
    if values is None:
        return "*"
    if words is not WEEKDAYS and luck.random() < 0.5:
        for step in range(1, high - low + 2):
            if values == frozenset(range(low, high + 1, step)):
                return f"*/{step}"
    left, parts = sorted(values), []
    while left:
        run = _run(left, high) if luck.random() < 0.7 else left[:1]
        left = [value for value in left if value not in run]
        first, last = (luck.choice(words.get(value, (str(value),))) for value in (run[0], run[-1]))
        step = run[1] - run[0] if len(run) > 1 else 1
        parts.append(first if len(run) == 1 else f"{first}-{last}" + (f"/{step}" if step > 1 else ""))
    luck.shuffle(parts)
    return ",".join(parts)


def _run(values: Sequence[int], high: int) -> list[int]:
    """The longest row of even steps that begins with the first value."""
    row = [value for value in values[:2] if value <= high] or [values[0]]
    step = row[-1] - row[0]
    while step and row[-1] + step in values and row[-1] + step <= high:
        row.append(row[-1] + step)
    return row


@st.composite
def meanings(draw: st.DrawFn, near_hours: tuple[int, ...] = ()) -> Meaning:
    """Expressions of five fields; with ``near_hours`` most of them name hours at which the clocks change."""
    any_value = st.just(None)
    minutes = draw(st.one_of(any_value, _some(0, 59, 4), st.just(frozenset({0, 30})), _steps(0, 59)))
    hour = st.one_of(_some(0, 23, 4), _steps(0, 23))
    if near_hours:
        hour = st.one_of(hour, st.frozensets(st.sampled_from(near_hours), min_size=1))
    hours = draw(st.one_of(any_value, hour, hour, hour, st.just(frozenset(range(24)))))
    months = draw(st.one_of(any_value, any_value, _some(1, 12, 6), _steps(1, 12)))
    latest = 31 if months is None else 28  # else it might never fire, and be refused
    date = st.one_of(
        _some(1, latest, 5), _steps(1, latest), st.just(frozenset({LAST_DAY})), st.just(frozenset({1, LAST_DAY}))
    )
    dates = draw(st.one_of(any_value, any_value, date))
    place = st.builds(lambda number, weekday: 10 * number + weekday, st.integers(1, LAST), st.integers(0, 6))
    weekday = st.one_of(
        _some(0, 6, 3), _steps(0, 6), st.frozensets(st.one_of(place, st.integers(0, 6)), min_size=1, max_size=3)
    )
    weekdays = draw(st.one_of(any_value, any_value, weekday))
    fields = [
        (minutes, 0, 59, PLAIN), (hours, 0, 23, PLAIN), (dates, 1, 31, DATES), (months, 1, 12, MONTHS),
        (weekdays, 0, 6, WEEKDAYS),
    ]  # fmt: skip
    luck = Random(draw(st.integers(0, 2**32)))
    text, also = (" ".join(_spelled(luck, *field) for field in fields) for _ in range(2))
    return Meaning(text, minutes, hours, dates, months, weekdays, also)
