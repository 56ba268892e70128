"""What can be asked about calendars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duly.api import queries
from duly.api.answers import calendar_answer
from duly.api.bodies import CalendarBody
from duly.api.findings import telling
from duly.api.queries import read_query
from duly.api.reading import read
from duly.api.shapes import CalendarAnswer, CalendarPage
from duly.app import Duly
from duly.app.calendars import days_of
from duly.core.errors import CalendarNotFound
from duly.core.ids import is_key


@dataclass(frozen=True, slots=True)
class PutCalendarAnswer:
    """A calendar that was put, and whether it is new or another than before."""

    calendar: CalendarAnswer
    created: bool
    changed: bool


async def list_calendars(app: Duly, query: Mapping[str, str]) -> CalendarPage:
    """One page, oldest first."""
    page = await app.calendars.list(**read_query(query, queries.CALENDARS))
    return {"items": [calendar_answer(calendar) for calendar in page.items], "nextCursor": page.next_cursor}


async def get_calendar(app: Duly, name: str, query: Mapping[str, str] | None = None) -> CalendarAnswer:
    """One calendar, by its name."""
    tenant = _tenant(query)
    found = await app.calendars.get(name, tenant=tenant) if is_key(name) else None
    if found is None:
        raise CalendarNotFound.named(name)
    return calendar_answer(found)


async def put_calendar(
    app: Duly,
    name: str,
    body: object,
    query: Mapping[str, str] | None = None,
    if_revision: int | None = None,
    *,
    by: str | None = None,
) -> PutCalendarAnswer:
    """Create the calendar of this name, or make it what the body says."""
    given = read(CalendarBody, body)
    tenant = _tenant(query)
    check_name(name)
    with telling():
        put = await app.calendars.put(
            name, **_days(given), description=given.description or None, tenant=tenant, if_revision=if_revision, by=by
        )
    return PutCalendarAnswer(calendar_answer(put.calendar), put.created, put.changed)


def check_name(name: str) -> None:
    """Raise where no calendar can ever be."""
    if not is_key(name):
        raise CalendarNotFound.named(name)


async def check_calendar(body: object) -> None:
    """Raise what a put would, as far as that can be told without the store."""
    given = read(CalendarBody, body)
    with telling():
        days_of(**_days(given))


async def delete_calendar(
    app: Duly, name: str, query: Mapping[str, str] | None = None, if_revision: int | None = None
) -> None:
    """Remove a calendar that no schedule needs. Twice is fine."""
    tenant = _tenant(query)
    check_name(name)
    await app.calendars.delete(name, tenant=tenant, if_revision=if_revision)


def _days(given: CalendarBody) -> dict[str, Any]:
    return {
        "dates": given.dates or (),
        "ranges": [(one.from_, one.to) for one in given.ranges or ()],
        "yearly": given.yearly or (),
    }


def _tenant(query: Mapping[str, str] | None) -> str:
    tenant: str = read_query(query or {}, queries.CALENDAR).get("tenant", "")
    return tenant
