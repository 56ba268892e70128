"""``app.schedules.coming`` and ``stats``: what fires next of all schedules, and how it all fares."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from duly.core.calendar import Days
from duly.core.errors import ValidationFailed
from duly.core.ids import is_id
from duly.core.naming import ON_TIME_MS
from duly.core.rules.excluding import Exclusions
from duly.core.schedule import Schedule
from duly.store.sql import SqlStore
from duly.store.values import Page, Stats

from .checking import check_limit
from .owning import Owning
from .upcoming import Upcoming, upcoming

_PLACE = re.compile(r"(-?\d{1,16})\.(\d{1,18})\.(.{36})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Coming:
    """The next window of a schedule."""

    schedule: Schedule
    window: Upcoming


class Overview:
    """The part of ``app.schedules`` that looks over all of them."""

    _store: SqlStore
    _owning: Owning

    async def coming(
        self, *, tenant: str | None = None, owner: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[Coming]:
        """One page of what fires next: each schedule once, with its next window, the earliest fire first.

        What is paused does not fire, and is not among them; what is overdue comes first.
        """
        if self._owning.whose is not None and owner is None:
            tenant, owner = tenant or self._owning.whose.tenant, self._owning.whose.owner  # they have an index
        page = await self._store.list_upcoming(
            limit=check_limit(limit), after=check_place(cursor), tenant=tenant, owner=owner
        )
        days = await self._days(page.items)
        coming = (_coming(schedule, days[schedule.facts.tenant]) for schedule in page.items)
        return Page([one for one in coming if one is not None], page.next_cursor)

    async def stats(self) -> Stats:
        """How the store fares: what is due, late, running, waiting and dead, and what was done in an hour and a day.

        Counts stop at 10,000, and no more runs than that are looked at, the newest: ``since`` says how far they reach.
        """
        return await self._store.stats(late_ms=ON_TIME_MS)

    async def _days(self, schedules: list[Schedule]) -> dict[str, dict[str, Days]]:
        """The dates of the calendars that they name, by tenant."""
        names: dict[str, set[str]] = defaultdict(set)
        for schedule in schedules:
            names[schedule.facts.tenant].update(schedule.definition.calendars)
        return {
            tenant: await self._store.read_days(named, tenant=tenant) if named else {}
            for tenant, named in names.items()
        }


def check_place(cursor: str | None) -> str | None:
    """Answer where a page ended, or refuse it."""
    found = _PLACE.fullmatch(cursor) if isinstance(cursor, str) else None
    if cursor is not None and (found is None or not is_id(found[3])):
        raise ValidationFailed(f"cursor is {cursor!r}; expected the next_cursor of the page before", field="cursor")
    return cursor


def _coming(schedule: Schedule, days: dict[str, Days]) -> Coming | None:
    definition = schedule.definition
    exclusions = None
    if definition.excludes:
        exclusions = Exclusions(definition, [(name, days[name]) for name in definition.calendars if name in days])
    found = upcoming(schedule, 1, exclusions)
    return Coming(schedule, found[0]) if found else None
