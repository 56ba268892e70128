"""``app.calendars``: named sets of dates on which schedules do not fire."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any

from duly.core.calendar import Calendar, Days
from duly.core.ids import is_key
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.sql import SqlStore
from duly.store.values import NewCalendar, Page

from .checking import check_cursor, check_limit, check_named, check_prose, check_text
from .dates import DateLike, MonthDayLike, RangeLike, check_calendar_name, check_dates, check_ranges, check_yearly
from .filtering import check_filters, naming
from .paging import walked


@dataclass(frozen=True, slots=True)
class StoredCalendar:
    """What ``put`` did. The attributes of the calendar can be read here too."""

    calendar: Calendar
    created: bool
    changed: bool

    def __getattr__(self, name: str) -> Any:
        return getattr(self.calendar, name)


class Calendars:
    """Schedules name calendars (``calendars=["br-holidays"]``); a change holds for every window not yet fired."""

    def __init__(self, store: SqlStore, clock: Clock, chance: Chance) -> None:
        self._store = store
        self._clock = clock
        self._chance = chance

    async def put(
        self,
        name: str,
        *,
        dates: Iterable[DateLike] = (),
        ranges: Iterable[RangeLike] = (),
        yearly: Iterable[MonthDayLike] = (),
        description: str | None = None,
        tenant: str = "",
        if_revision: int | None = None,
        by: str | None = None,
    ) -> StoredCalendar:
        """Create the calendar, or make it exactly what is given here.

        ``dates`` are single ones, ``ranges`` pairs of a first and a last, ``yearly`` come every year. Each is a
        ``date`` or text: ``2026-12-25``, ``2026-12-24..2027-01-02``, ``12-25``. With ``if_revision`` nothing is
        created, and RevisionStale is raised where somebody else came first; of 0 there must be no calendar yet.
        """
        new = NewCalendar(
            id=self._chance.id(self._clock),
            name=check_calendar_name(name),
            days=days_of(dates, ranges, yearly),
            tenant=check_text(tenant, "tenant", 128) or "",
            description=check_prose(description, "description", 10_000),
            by=check_text(by, "by", 100),
        )
        put = await self._store.put_calendar(new, if_revision=if_revision)
        return StoredCalendar(put.calendar, put.created, put.changed)

    async def get(self, name: str, *, tenant: str = "") -> Calendar | None:
        """The calendar, or None."""
        return await self._store.get_calendar(name, tenant=tenant) if _may_be_there(name, tenant) else None

    @naming("calendars.list")
    async def list(self, *, tenant: str | None = None, limit: int = 50, cursor: str | None = None) -> Page[Calendar]:
        """One page, oldest first."""
        check_filters(tenant=tenant)
        return await self._store.list_calendars(tenant=tenant, limit=check_limit(limit), after=check_cursor(cursor))

    @naming("calendars.iterate")
    async def iterate(
        self, *, tenant: str | None = None, limit: int = 200, cursor: str | None = None
    ) -> AsyncIterator[Calendar]:
        """All pages, one calendar after another."""
        async for calendar in walked(self.list, tenant=tenant, limit=limit, cursor=cursor):
            yield calendar

    async def delete(self, name: str, *, tenant: str = "", if_revision: int | None = None) -> None:
        """Remove a calendar; CalendarInUse while schedules name it that have not ended. Twice is fine."""
        if _may_be_there(name, tenant):
            await self._store.delete_calendar(name, tenant=tenant, if_revision=if_revision)


def _may_be_there(name: object, tenant: str) -> bool:
    """Whether a calendar may have this name; what can be none because it is no text is refused."""
    check_filters(tenant=tenant)
    return is_key(check_named(name, "name", "a calendar"))


def days_of(dates: Iterable[DateLike], ranges: Iterable[RangeLike], yearly: Iterable[MonthDayLike]) -> Days:
    """The set of these dates, or a refusal of what is none."""
    return Days(check_dates(dates, "dates"), check_ranges(ranges), check_yearly(yearly))
