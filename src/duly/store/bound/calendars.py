"""Calendars, bound to their programs."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from duly.core.calendar import Calendar, Days
from duly.store.methods import calendars
from duly.store.values import NewCalendar, Page, PutCalendar

from .base import Bound


class BoundCalendars(Bound):
    """``protocol.Calendars`` on a driver."""

    async def put_calendar(self, new: NewCalendar, *, if_revision: int | None = None) -> PutCalendar:
        return await self._write(partial(calendars.put_calendar, new=new, if_revision=if_revision))

    async def delete_calendar(self, name: str, *, tenant: str = "", if_revision: int | None = None) -> Calendar | None:
        return await self._write(partial(calendars.delete_calendar, name=name, tenant=tenant, if_revision=if_revision))

    async def get_calendar(self, name: str, *, tenant: str = "") -> Calendar | None:
        return await self._read(partial(calendars.find_calendar, name=name, tenant=tenant))

    async def list_calendars(
        self, *, tenant: str | None = None, limit: int, after: str | None = None
    ) -> Page[Calendar]:
        return await self._read(partial(calendars.list_calendars, tenant=tenant, limit=limit, after=after))

    async def read_days(self, names: Collection[str], *, tenant: str = "") -> dict[str, Days]:
        """The dates of those calendars that are there, for whoever looks ahead."""
        return await self._read(partial(calendars.read_days, names=names, tenant=tenant))
