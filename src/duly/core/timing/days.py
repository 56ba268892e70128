"""Which days a cron expression picks, as one bit mask per kind of year.

A year is one of 14 kinds: the weekday of its first of January, and whether it is a leap year. Days are counted from
1970-01-01; bit ``i`` of a year's mask is its day ``i``, counted from 0.
"""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from itertools import accumulate
from typing import Final

from duly.core.timing.epoch import EPOCH_ORDINAL, FIRST_DAY, LAST_DAY
from duly.core.timing.fields import MonthDays, Weekdays

_LENGTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LONGEST: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ALL_MONTHS: Final = sum(1 << month for month in range(1, 13))
_ALL_DATES: Final = sum(1 << day for day in range(1, 32))
_ALL_WEEKDAYS: Final = 0b1111111
_EVERY_WEEK: Final = sum(1 << 7 * week for week in range(5))


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


# Indexed by year; the entry for year 0 only keeps the index simple.
_YEAR_START: Final = tuple(accumulate((365 + _is_leap(year) for year in range(10_000)), initial=FIRST_DAY - 366))
# 1970-01-01 was a Thursday, weekday 4 when Sunday is 0.
_YEAR_KIND: Final = tuple((start + 4) % 7 * 2 + _is_leap(year) for year, start in enumerate(_YEAR_START))


class Days:
    """The days that the day-of-month, month and day-of-week fields pick together.

    Both day fields restricted: a day needs either. Otherwise it needs both, and the unrestricted one is always met.
    """

    __slots__ = ("_masks", "_sums", "every_day", "month_days", "months", "weekdays")

    def __init__(self, month_days: MonthDays, months: int, weekdays: Weekdays) -> None:
        self.month_days = month_days
        self.months = months
        self.weekdays = weekdays
        self._masks: list[int | None] = [None] * 14
        self._sums: tuple[int, ...] = ()
        self.every_day = months == _ALL_MONTHS and self._all_dates_and_weekdays()

    def exist(self) -> bool:
        """Whether any day at all is picked, in any year."""
        # Weekdays come in every month, a fifth one too (in February of some leap years); only dates can be missing.
        if self.every_day or self.weekdays.restricted or self.month_days.last:
            return True
        longest = max(length for month, length in enumerate(_LONGEST, start=1) if self.months >> month & 1)
        return self.month_days.mask & ((2 << longest) - 1) != 0

    def first_from(self, day: int) -> int | None:
        """The first picked day at or after ``day``."""
        if not FIRST_DAY <= day <= LAST_DAY:
            return None
        year = date.fromordinal(day + EPOCH_ORDINAL).year
        start = _YEAR_START[year]
        rest = self._mask(_YEAR_KIND[year]) >> (day - start)
        if rest:
            return day + (rest & -rest).bit_length() - 1
        for later in range(year + 1, 10_000):
            mask = self._mask(_YEAR_KIND[later])
            if mask:
                return _YEAR_START[later] + (mask & -mask).bit_length() - 1
        return None

    def last_to(self, day: int) -> int | None:
        """The last picked day at or before ``day``."""
        if not FIRST_DAY <= day <= LAST_DAY:
            return None
        year = date.fromordinal(day + EPOCH_ORDINAL).year
        start = _YEAR_START[year]
        rest = self._mask(_YEAR_KIND[year]) & ((2 << (day - start)) - 1)
        if rest:
            return start + rest.bit_length() - 1
        for earlier in range(year - 1, 0, -1):
            mask = self._mask(_YEAR_KIND[earlier])
            if mask:
                return _YEAR_START[earlier] + mask.bit_length() - 1
        return None

    def count_before(self, day: int) -> int:
        """How many picked days lie before ``day``, counted from an arbitrary but fixed year on."""
        day = min(max(day, FIRST_DAY), LAST_DAY)
        year = date.fromordinal(day + EPOCH_ORDINAL).year
        # The calendar repeats every 400 years, and a whole number of weeks lies between.
        cycle, years = divmod(year - 1, 400)
        sums = self._sums or self._count_years()
        in_year = self._mask(_YEAR_KIND[year]) & ((1 << (day - _YEAR_START[year])) - 1)
        return cycle * sums[400] + sums[years] + in_year.bit_count()

    def _count_years(self) -> tuple[int, ...]:
        """How many days are picked in the first n years of 400, for each n."""
        counts = (self._mask(_YEAR_KIND[year]).bit_count() for year in range(1, 401))
        self._sums = tuple(accumulate(counts, initial=0))
        return self._sums

    def _all_dates_and_weekdays(self) -> bool:
        dates, weekdays = self.month_days.mask == _ALL_DATES, self.weekdays.mask == _ALL_WEEKDAYS
        either = self.month_days.restricted and self.weekdays.restricted
        return dates or weekdays if either else dates and weekdays

    def _mask(self, kind: int) -> int:
        mask = self._masks[kind]
        if mask is None:
            mask = self._masks[kind] = self._year_mask(kind)
        return mask

    def _year_mask(self, kind: int) -> int:
        weekday, is_leap = divmod(kind, 2)
        mask = day = 0
        for month, usual in enumerate(_LENGTHS, start=1):
            length = usual + (month == 2 and is_leap)
            if self.months >> month & 1:
                mask |= self._month_mask((weekday + day) % 7, length) << day
            day += length
        return mask

    def _month_mask(self, first_weekday: int, length: int) -> int:
        by_date = self.month_days.mask >> 1
        if self.month_days.last:
            by_date |= 1 << (length - 1)
        by_weekday = _weekdays_of_month(self.weekdays, first_weekday, length)
        either = self.month_days.restricted and self.weekdays.restricted
        both = by_date | by_weekday if either else by_date & by_weekday
        return both & ((1 << length) - 1)


def _weekdays_of_month(weekdays: Weekdays, first_weekday: int, length: int) -> int:
    week = weekdays.mask << 7 | weekdays.mask
    mask = (week >> first_weekday & 0b1111111) * _EVERY_WEEK
    for weekday, nth in weekdays.nth:
        mask |= 1 << ((weekday - first_weekday) % 7 + 7 * (nth - 1))
    for weekday in range(7):
        if weekdays.last >> weekday & 1:
            first = (weekday - first_weekday) % 7
            mask |= 1 << (first + (length - 1 - first) // 7 * 7)
    return mask


@lru_cache(maxsize=2048)
def days_of(month_days: MonthDays, months: int, weekdays: Weekdays) -> Days:
    """The shared ``Days`` of three fields: most schedules pick their days in one of a few ways."""
    return Days(month_days, months, weekdays)
