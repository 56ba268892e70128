"""Random cron expressions, as the sets they mean beside the text that says so."""

from dataclasses import dataclass
from datetime import datetime

from hypothesis import strategies as st


@dataclass(frozen=True)
class Meaning:
    """What an expression picks, told without any parser: None is every value."""

    text: str
    minutes: frozenset[int] | None
    hours: frozenset[int] | None
    dates: frozenset[int] | None
    months: frozenset[int] | None
    weekdays: frozenset[int] | None

    @property
    def open_hour(self) -> bool:
        return self.hours is None or len(self.hours) == 24

    def names(self, local: datetime) -> bool:
        """Whether a naive local minute is picked; either day is enough when both are restricted."""
        dated = self.dates is None or local.day in self.dates
        weekday = self.weekdays is None or local.isoweekday() % 7 in self.weekdays
        day = dated or weekday if self.dates is not None and self.weekdays is not None else dated and weekday
        return (
            day
            and (self.months is None or local.month in self.months)
            and (self.hours is None or local.hour in self.hours)
            and (self.minutes is None or local.minute in self.minutes)
        )


def _field(low: int, high: int, most: int) -> st.SearchStrategy[frozenset[int]]:
    return st.frozensets(st.integers(low, high), min_size=1, max_size=most)


def _text(values: frozenset[int] | None) -> str:
    return "*" if values is None else ",".join(map(str, sorted(values)))


@st.composite
def meanings(draw: st.DrawFn, near_hours: tuple[int, ...] = ()) -> Meaning:
    """Expressions of five fields; with ``near_hours`` most of them name hours at which the clocks change."""
    minutes = draw(st.one_of(st.just(None), _field(0, 59, 4), st.sampled_from([frozenset({0}), frozenset({0, 30})])))
    hour = _field(0, 23, 4)
    if near_hours:
        hour = st.one_of(hour, st.frozensets(st.sampled_from(near_hours), min_size=1))
    hours = draw(st.one_of(st.just(None), hour, hour, hour, st.just(frozenset(range(24)))))
    dates = draw(st.one_of(st.just(None), st.just(None), _field(1, 28, 5)))
    months = draw(st.one_of(st.just(None), st.just(None), _field(1, 12, 6)))
    weekdays = draw(st.one_of(st.just(None), st.just(None), _field(0, 6, 3)))
    text = " ".join(map(_text, (minutes, hours, dates, months, weekdays)))
    return Meaning(text, minutes, hours, dates, months, weekdays)
