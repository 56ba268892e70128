"""Calendars in the model: a dictionary, and a look at every schedule."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from duly.core.calendar import Calendar, Days
from duly.core.errors import CalendarInUse, CalendarNotFound, CalendarUnknown, RevisionStale
from duly.core.instants import to_datetime
from duly.core.rules.excluding import Exclusions, without_excluded
from duly.core.run import SkippedWindows
from duly.core.schedule import Definition, Facts
from duly.runtime.clock import Clock
from duly.store.codec import calendar_row
from duly.store.values import NewCalendar, Page, PutCalendar

COLUMNS = "tenant name id description body revision created_at created_by updated_at updated_by".split()


class CalendarModel:
    """The part of the model that knows on which dates nothing fires."""

    _clock: Clock
    facts: dict[str, Facts]
    calendars: dict[tuple[str, str], Calendar]

    def _definition(self, id: str) -> Definition:
        raise NotImplementedError

    async def put_calendar(self, new: NewCalendar, *, if_revision: int | None = None) -> PutCalendar:
        now = to_datetime(self._clock.now())
        before = self.calendars.get((new.tenant, new.name))
        if before is None:
            if if_revision:
                raise CalendarNotFound.named(new.name)
            made = Calendar(
                id=new.id,
                name=new.name,
                tenant=new.tenant,
                description=new.description,
                days=new.days,
                revision=1,
                created_at=now,
                created_by=new.by,
                updated_at=now,
                updated_by=new.by,
            )
            self.calendars[new.tenant, new.name] = made
            return PutCalendar(made, created=True, changed=True)
        if if_revision not in (None, before.revision):
            raise RevisionStale(f"calendar {new.name!r} is at revision {before.revision}")
        if (before.days, before.description) == (new.days, new.description):
            return PutCalendar(before, before.id == new.id, before.id == new.id)
        after = replace(before, days=new.days, description=new.description, revision=before.revision + 1)
        after = self.calendars[new.tenant, new.name] = replace(after, updated_at=now, updated_by=new.by)
        return PutCalendar(after, created=False, changed=True)

    async def delete_calendar(self, name: str, *, tenant: str = "", if_revision: int | None = None) -> Calendar | None:
        calendar = self.calendars.get((tenant, name))
        if calendar is None:
            return None
        if if_revision not in (None, calendar.revision):
            raise RevisionStale(f"calendar {name!r} is at revision {calendar.revision}")
        living = [facts for facts in self.facts.values() if facts.tenant == tenant and facts.ended_at is None]
        uses = sum(name in self._definition(facts.id).calendars for facts in living)
        if uses:
            raise CalendarInUse.by(name, uses)
        return self.calendars.pop((tenant, name))

    async def get_calendar(self, name: str, *, tenant: str = "") -> Calendar | None:
        return self.calendars.get((tenant, name))

    async def list_calendars(
        self, *, tenant: str | None = None, limit: int, after: str | None = None
    ) -> Page[Calendar]:
        everything = sorted(self.calendars.values(), key=lambda calendar: calendar.id)
        found = [c for c in everything if tenant in (None, c.tenant) and (after is None or c.id > after)]
        return Page(found[:limit], found[limit - 1].id if len(found) > limit else None)

    async def read_days(self, names: Collection[str], *, tenant: str = "") -> dict[str, Days]:
        return {name: self.calendars[tenant, name].days for name in names if (tenant, name) in self.calendars}

    def _unknown_calendar(self, facts: Facts, definition: Definition) -> CalendarUnknown | None:
        for name in definition.calendars:
            if (facts.tenant, name) not in self.calendars:
                return CalendarUnknown.named(facts.key, name)
        return None

    def _exclusions(self, definition: Definition, tenant: str) -> Exclusions | None:
        if not definition.excludes:
            return None
        return Exclusions(definition, [(name, self.calendars[tenant, name].days) for name in definition.calendars])

    def _parted(self, rows: Sequence[SkippedWindows], definition: Definition, tenant: str) -> list[SkippedWindows]:
        """Skipped windows of a change, those apart that are excluded."""
        exclusions = self._exclusions(definition, tenant)
        if exclusions is None:
            return list(rows)
        return [part for row in rows for part in without_excluded(row, definition, exclusions)]

    def _calendar_rows(self) -> list[list[Any]]:
        rows: list[Mapping[str, Any]] = [calendar_row(calendar) for calendar in self.calendars.values()]
        return [[row[name] for name in COLUMNS] for row in rows]
