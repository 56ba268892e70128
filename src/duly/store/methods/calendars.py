"""Calendars: kept by name, read by the fires of schedules that name them.

A schedule that is made holds the calendars it names until the commit, and a delete counts the schedules while it has
the calendar locked: so no schedule is left with a name that means nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from threading import Lock
from typing import NamedTuple

from duly.core.calendar import Calendar, Days
from duly.core.errors import CalendarInUse, CalendarNotFound, CalendarUnknown, Conflict, RevisionStale
from duly.core.instants import to_datetime
from duly.core.rules.editing import check_asked_revision, told_revision
from duly.core.rules.excluding import Exclusions
from duly.core.schedule import Definition, Facts
from duly.store.codec import calendar_row, decode_days, read_calendar
from duly.store.statements import Batch, Program, Row, batch, columns, query
from duly.store.values import NewCalendar, Page, PutCalendar

Name = tuple[str, str]
"""A tenant, and the name that a calendar has there."""

Known = Mapping[Name, Days]
MOST_TURNS = 5


class _Kept(NamedTuple):
    id: str
    revision: int
    days: Days


class Asked(NamedTuple):
    """A question for calendars, and what was known when it was asked: only what is newer is sent."""

    step: Batch
    kept: Mapping[Name, _Kept]


class Calendars:
    """A bounded cache of the dates of calendars, asked at every use whether they are still the same."""

    def __init__(self, most: int = 1000) -> None:
        self.used = False
        """Whether this process has met a definition that names a calendar; until then no fire looks for one."""
        self._most = most
        self._kept: dict[Name, _Kept] = {}
        self._lock = Lock()

    def ask(self, names: Collection[Name]) -> Asked:
        """The question for these calendars; none asks nothing."""
        kept = {name: known for name in names if (known := self._kept.get(name)) is not None}
        return Asked(_question(names, kept), kept)

    def read(self, asked: Asked, rows: Iterable[Row]) -> dict[Name, Days]:
        """The dates of the calendars that are there."""
        found: dict[Name, Days] = {}
        for tenant, name, id, revision, body in rows:
            if body is None:
                found[tenant, name] = asked.kept[tenant, name].days
            else:
                found[tenant, name] = decode_days(body)
                self._keep((tenant, name), _Kept(id, revision, found[tenant, name]))
        return found

    def load(self, names: Collection[Name]) -> Program[dict[Name, Days]]:
        asked = self.ask(names)
        return self.read(asked, (yield asked.step)) if names else {}

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()

    def _keep(self, name: Name, kept: _Kept) -> None:
        with self._lock:
            if len(self._kept) >= self._most:
                self._kept.clear()
            self._kept[name] = kept


def exclusions_of(definition: Definition, tenant: str, known: Known) -> Exclusions:
    """The dates on which a schedule does not fire; LookupError where one of its calendars is not stored."""
    named: list[tuple[str, Days]] = []
    for name in definition.calendars:
        days = known.get((tenant, name))
        if days is None:
            raise LookupError(f"its calendar {name!r} is not stored; put it back, or edit the schedule")
        named.append((name, days))
    return Exclusions(definition, named)


def load_exclusions(definition: Definition, tenant: str) -> Program[Exclusions]:
    """The dates on which a schedule does not fire, by the calendars that are there."""
    known = yield from Calendars().load([(tenant, name) for name in definition.calendars])
    return Exclusions(
        definition, [(name, known[tenant, name]) for name in definition.calendars if (tenant, name) in known]
    )


def unknown_calendars(names: Collection[Name]) -> Program[set[Name]]:
    """Hold the calendars of these names until the commit; answer the names that are none."""
    rows = yield batch("hold_calendars", columns(("tenant", "name"), sorted(names)))
    return set(names) - {(row[0], row[1]) for row in rows}


def calendar_refusal(facts: Facts, definition: Definition, unknown: Collection[Name]) -> CalendarUnknown | None:
    """Why a schedule with these calendars is refused, or None."""
    missing = [name for name in definition.calendars if (facts.tenant, name) in unknown]
    return CalendarUnknown.named(facts.key, missing[0]) if missing else None


def put_calendar(now: int, new: NewCalendar, if_revision: int | None) -> Program[PutCalendar]:
    """Make a calendar what is given; see ``Calendars.put_calendar``."""
    at = to_datetime(now)
    for _ in range(MOST_TURNS):
        found = yield query("lock_calendar", tenant=new.tenant, name=new.name)
        if found:
            before = read_calendar(found[0])
            _check_revision(before, if_revision)
            if (before.days, before.description) == (new.days, new.description):
                return PutCalendar(before, created=before.id == new.id, changed=before.id == new.id)
            after = replace(
                before,
                description=new.description,
                days=new.days,
                revision=before.revision + 1,
                updated_at=at,
                updated_by=new.by,
            )
            yield query("update_calendar", **_changed(after))
            return PutCalendar(after, created=False, changed=True)
        if if_revision:  # of 0 there must be none
            raise CalendarNotFound.named(new.name)
        made = Calendar(
            id=new.id,
            name=new.name,
            tenant=new.tenant,
            description=new.description,
            days=new.days,
            revision=1,
            created_at=at,
            created_by=new.by,
            updated_at=at,
            updated_by=new.by,
        )
        if (yield query("insert_calendar", **calendar_row(made))):
            return PutCalendar(made, created=True, changed=True)
    raise Conflict(f"calendar {new.name!r} was made and deleted by others all the while; try again", name=new.name)


def delete_calendar(now: int, name: str, tenant: str, if_revision: int | None) -> Program[Calendar | None]:
    """Remove a calendar that no schedule needs; see ``Calendars.delete_calendar``."""
    found = yield query("lock_calendar", tenant=tenant, name=name)
    if not found:
        return None
    calendar = read_calendar(found[0])
    _check_revision(calendar, if_revision)
    rows = yield query("count_calendar_uses", tenant=tenant, name=name)
    if rows[0][0]:
        raise CalendarInUse.by(name, rows[0][0])
    yield query("delete_calendar", tenant=tenant, name=name)
    return calendar


def find_calendar(now: int, name: str, tenant: str) -> Program[Calendar | None]:
    rows = yield query("find_calendar", tenant=tenant, name=name)
    return read_calendar(rows[0]) if rows else None


def list_calendars(now: int, tenant: str | None, limit: int, after: str | None) -> Program[Page[Calendar]]:
    """One page in id order, which is the order of creation."""
    rows = yield query("list_calendars", tenant=tenant, after=after, limit=limit + 1)
    calendars = [read_calendar(row) for row in rows[:limit]]
    return Page(calendars, calendars[-1].id if len(rows) > limit else None)


def read_days(now: int, names: Collection[str], tenant: str) -> Program[dict[str, Days]]:
    """The dates of those calendars that are there."""
    known = yield from Calendars().load([(tenant, name) for name in names])
    return {name: days for (_, name), days in known.items()}


def _question(names: Collection[Name], kept: Mapping[Name, _Kept]) -> Batch:
    asked = []
    for tenant, name in sorted(names):
        known = kept.get((tenant, name))
        asked.append((tenant, name, known and known.id, known and known.revision))
    return batch("read_calendars", columns(("tenant", "name", "id", "revision"), asked))


def _check_revision(calendar: Calendar, expected: int | None) -> None:
    check_asked_revision(expected)
    if expected is not None and expected != calendar.revision:
        wanted = told_revision(expected)
        raise RevisionStale(
            f"calendar {calendar.name!r} is at revision {calendar.revision}, not {wanted}; read it again",
            id=calendar.id,
            revision=calendar.revision,
            expected=expected,
        )


def _changed(calendar: Calendar) -> dict[str, object]:
    fixed = ("id", "created_at", "created_by")
    return {name: value for name, value in calendar_row(calendar).items() if name not in fixed}
