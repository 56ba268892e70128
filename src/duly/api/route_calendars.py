"""``/calendars``: dates on which nothing fires."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope

from . import queries
from .bodies import CalendarBody
from .http import Call
from .matching import meant, there
from .operations import calendars
from .replies import Reply
from .route import Route
from .shapes import CalendarAnswer, CalendarPage


async def _list(app: Duly, call: Call) -> Reply:
    return Reply(await calendars.list_calendars(app, call.query))


async def _get(app: Duly, call: Call) -> Reply:
    found = await calendars.get_calendar(app, call.ref, call.query)
    return Reply(found, revision=found["revision"])


async def _put(app: Duly, call: Call) -> Reply:
    calendars.check_name(call.ref)
    with there(call.if_match):
        revision = 0 if call.if_absent else await _revision(app, call)  # of 0 there must be none
        put = await calendars.put_calendar(app, call.ref, call.body, call.query, revision, by=call.by)
    made = put.calendar
    if put.created:
        return Reply(made, 201, made["revision"], f"/calendars/{made['name']}")
    return Reply(made, revision=made["revision"])


async def _delete(app: Duly, call: Call) -> Reply:
    await calendars.delete_calendar(app, call.ref, call.query, await _revision(app, call, gone=True))
    return Reply(status=204)


async def _revision(app: Duly, call: Call, *, gone: bool = False) -> int | None:
    """The one revision that the request is meant for."""

    async def present() -> int:
        return (await calendars.get_calendar(app, call.ref, call.query))["revision"]

    return await meant(call.if_match, present, gone=gone)


CALENDARS = (
    Route(
        method="GET",
        path="/calendars",
        name="listCalendars",
        summary="List calendars, oldest first",
        run=_list,
        scope=Scope.READ,
        query=queries.CALENDARS,
        answer=CalendarPage,
    ),
    Route(
        method="GET",
        path="/calendars/{ref}",
        name="getCalendar",
        summary="Look at a calendar",
        run=_get,
        scope=Scope.READ,
        query=queries.CALENDAR,
        answer=CalendarAnswer,
        etag=True,
    ),
    Route(
        method="PUT",
        path="/calendars/{ref}",
        name="putCalendar",
        summary="Create a calendar, or replace it",
        said="Create a calendar by its name, or make it exactly what is given. It holds at once for every window that "
        "has not fired, of every schedule that names it.",
        run=_put,
        scope=Scope.ADMIN,
        query=queries.CALENDAR,
        body=CalendarBody,
        answer=CalendarAnswer,
        also=201,
        if_match=True,
        etag=True,
    ),
    Route(
        method="DELETE",
        path="/calendars/{ref}",
        name="deleteCalendar",
        summary="Delete a calendar that no schedule names; twice is fine",
        run=_delete,
        scope=Scope.ADMIN,
        query=queries.CALENDAR,
        status=204,
        if_match=True,
        codes=("CALENDAR_IN_USE",),
    ),
)
