"""What can be asked about schedules."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from msgspec import UNSET

from duly.api import queries
from duly.api.answers import preview_answer, run_answer, schedule_answer, started_answer, upcoming_answer
from duly.api.arguments import create_arguments, instant, jitter_of, new_timing, other_timing, update_changes
from duly.api.bodies import (
    NoBody,
    PatchBody,
    PauseBody,
    PreviewBody,
    RescheduleBody,
    ResumeBody,
    ScheduleBody,
    TriggerBody,
)
from duly.api.findings import Findings, telling
from duly.api.queries import read_query
from duly.api.reading import read
from duly.api.shapes import PreviewAnswer, RunPage, ScheduleAnswer, SchedulePage, StartedRunAnswer, UpcomingPage
from duly.app import Duly
from duly.core.errors import KeyInUse, NotFound, RevisionStale
from duly.core.ids import KEY_EXPECTED, check_key, is_id, is_key, window_run_id
from duly.core.rules import editing
from duly.core.run import Run
from duly.core.schedule import Schedule
from duly.core.timing import Once, Timing, moved_note
from duly.core.timing.epoch import parse_datetime

MERGE_TRIES = 200
"""Each try that fails is another's change that went through: whoever asked for no revision only waits for them."""


@dataclass(frozen=True, slots=True)
class PutAnswer:
    """A schedule that was put, and whether it is new."""

    schedule: ScheduleAnswer
    created: bool
    changed: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where a schedule is put: its key, its tenant where that is known, and what is there."""

    key: str
    tenant: str | None = None
    holder: Schedule | None = None

    async def present(self) -> int:
        if self.holder is None:
            raise unknown(self.key)
        return self.holder.revision


async def create_schedule(app: Duly, body: object, *, id: str | None = None, by: str | None = None) -> ScheduleAnswer:
    """Store a new schedule; one of that ``id`` is answered as it is."""
    arguments = create_arguments(read(ScheduleBody, body), app.settings)
    made = None if id is None else await app.schedules.get(id)
    with telling():
        return await _answer(app, made or await app.schedules.create(id=id, by=by, **arguments))


async def check_schedule(app: Duly, body: object) -> None:
    """Raise what a create would, as far as that can be told without the store, which need not be open."""
    arguments = create_arguments(read(ScheduleBody, body), app.settings)
    with telling():
        await app.schedules.check(**arguments)


async def get_schedule(app: Duly, ref: str) -> ScheduleAnswer:
    """One schedule, by id or key."""
    return await _answer(app, await find(app, ref))


async def list_schedules(app: Duly, query: Mapping[str, str]) -> SchedulePage:
    """One page, oldest first, without payloads."""
    where = read_query(query, queries.SCHEDULES)
    if "jobType" in where:
        where["job"] = where.pop("jobType")
    page = await app.schedules.list(**where)
    now = app.clock.now()
    items = [schedule_answer(schedule, app.settings, now, whole=False) for schedule in page.items]
    return {"items": items, "nextCursor": page.next_cursor}


async def patch_schedule(
    app: Duly, ref: str, body: object, if_revision: int | None = None, *, by: str | None = None
) -> ScheduleAnswer:
    """Change what the body says and leave the rest."""
    patch = read(PatchBody, body)
    for last in range(MERGE_TRIES - 1, -1, -1):
        before = await find(app, ref)
        check_revision(before, if_revision)
        changes = update_changes(patch, before, app.settings)
        try:
            with telling():
                # Half a timing was merged with what was read, so what was read must still hold.
                changed = await app.schedules.update(before.id, if_revision=before.revision, by=by, **changes)
                return await _answer(app, changed)
        except RevisionStale:
            if if_revision is not None or not last:
                raise
    raise AssertionError("the last try answers or raises")


async def put_schedule(
    app: Duly,
    place: Place,
    body: object,
    if_revision: int | None = None,
    *,
    if_absent: bool = False,
    by: str | None = None,
) -> PutAnswer:
    """Create the schedule of this place, or make it exactly what the body says; ``if_absent`` only creates."""
    arguments = create_arguments(read(ScheduleBody, body), app.settings, place.key, place.tenant)
    with telling():
        if if_absent:
            return PutAnswer(await _answer(app, await _create_only(app, place.key, arguments, by)), True, True)
        stored = await app.schedules.put(if_revision=if_revision, by=by, **arguments)
        return PutAnswer(await _answer(app, stored.schedule), stored.created, stored.changed)


async def place_to_put(app: Duly, ref: str, body: object, tenant: str | None = None) -> Place:
    """Where a body is to be put: under a key that may be new, or in the place of the schedule that is meant.

    A key means the tenant that is asked for or, if none is, the one that the body names or that holds the key.
    """
    if is_id(ref):
        found = await find(app, ref, tenant)
        return Place(found.key, found.facts.tenant, found)
    if not is_key(ref):
        raise NotFound(
            f"{ref[:200]!r} is no key and no id, so nothing can be put there; a key is {KEY_EXPECTED}", ref=ref
        )
    metadata = read(ScheduleBody, body).metadata
    named = metadata.tenant_id if metadata else UNSET
    of = tenant if tenant is not None or named is UNSET else named or ""
    there = await app.schedules.get(ref, tenant=of)
    return Place(ref, of if there is None else there.facts.tenant, there)


async def _create_only(app: Duly, key: str, arguments: dict[str, Any], by: str | None) -> Schedule:
    try:
        return await app.schedules.create(by=by, **arguments)
    except KeyInUse as error:
        raise RevisionStale(
            f"schedule {key!r} is there already, and If-None-Match asks for none", id=error.details.get("existing_id")
        ) from error


async def pause_schedule(
    app: Duly, ref: str, body: object = None, if_revision: int | None = None, *, by: str | None = None
) -> ScheduleAnswer:
    """Stop firing, with a reason and if wished an end."""
    given = read(PauseBody, {} if body is None else body)
    findings = Findings()
    with findings.at("/until"):
        until = instant(given.until, "until")
    findings.check()
    reason = given.reason if isinstance(given.reason, str) else None
    return await _changed(
        app, ref, lambda: app.schedules.pause(ref, reason=reason, until=until, if_revision=if_revision, by=by)
    )


async def resume_schedule(
    app: Duly, ref: str, body: object = None, if_revision: int | None = None, *, by: str | None = None
) -> ScheduleAnswer:
    """Fire again from now on; with ``catchUp`` also what was passed by."""
    given = read(ResumeBody, {} if body is None else body)
    return await _changed(
        app, ref, lambda: app.schedules.resume(ref, catch_up=given.catch_up, if_revision=if_revision, by=by)
    )


async def cancel_schedule(
    app: Duly, ref: str, body: object = None, if_revision: int | None = None, *, by: str | None = None
) -> ScheduleAnswer:
    """End the schedule and its waiting runs. Twice is fine."""
    read(NoBody, {} if body is None else body)
    return await _changed(app, ref, lambda: app.schedules.cancel(ref, if_revision=if_revision, by=by))


async def reschedule_schedule(
    app: Duly, ref: str, body: object, if_revision: int | None = None, *, by: str | None = None
) -> ScheduleAnswer:
    """Put another schedule with another timing in the place of one that never fired."""
    given = read(RescheduleBody, body)
    timing = other_timing(given, await find(app, ref), app.settings)
    return await _changed(
        app, ref, lambda: app.schedules.reschedule(ref, timing=timing, if_revision=if_revision, by=by)
    )


async def trigger_schedule(
    app: Duly, ref: str, body: object = None, if_revision: int | None = None, *, id: str | None = None
) -> StartedRunAnswer:
    """Make a run now, without moving the schedule."""
    given = read(TriggerBody, {} if body is None else body)
    if not is_ref(ref):
        raise unknown(ref)
    with telling(payload="/payload", id="/id"):
        run = await app.schedules.trigger(
            ref, given.payload, force=given.force, if_revision=if_revision, id=given.id or id
        )
    return started_answer(run, given.id)


async def list_executions(app: Duly, ref: str, query: Mapping[str, str]) -> RunPage:
    """The runs of one schedule, newest first."""
    where = read_query(query, queries.EXECUTIONS)
    schedule = await find(app, ref)
    page = await app.runs.list(schedule=schedule.id, **where)
    return {"items": [run_answer(run, whole=False) for run in page.items], "nextCursor": page.next_cursor}


async def upcoming(app: Duly, ref: str, query: Mapping[str, str]) -> UpcomingPage:
    """The next windows of a schedule as it is now."""
    count = read_query(query, queries.UPCOMING).get("count", 10)
    if not is_ref(ref):
        raise unknown(ref)
    windows = await app.schedules.upcoming(ref, count)
    return {"items": [upcoming_answer(window) for window in windows], "nextCursor": None}


async def preview(app: Duly, body: object) -> PreviewAnswer:
    """The windows that a timing would have; nothing is stored."""
    given = read(PreviewBody, body)
    findings = Findings()
    with findings.at("/after"):
        after = instant(given.after, "after")
    with findings.at("/jitter", max_ms="/jitter/maxMs"):
        jitter = jitter_of(given.jitter or None)
    with findings.at():
        key = check_key(given.key) if isinstance(given.key, str) else None
    timing = new_timing(given, app.settings, findings)
    with telling():
        windows = await app.schedules.preview(
            timing,
            after=after,
            count=given.count,
            key=key,
            jitter=jitter,
            calendars=given.calendars or (),
            exclude_dates=given.exclude_dates or (),
            tenant=given.tenant_id or "",
        )
    if windows and (moved := _moved(timing, given.once_at)):
        windows = [replace(windows[0], note="; ".join(filter(None, (moved, windows[0].note))))]
    return preview_answer(timing, given.timezone or "UTC", windows)


def _moved(timing: Timing, once_at: object) -> str | None:
    """That the local time of a one-shot is one that its clock leaves out."""
    asked = parse_datetime(once_at) if isinstance(once_at, str) else None
    if asked is None or asked.tzinfo is not None or not isinstance(timing, Once):
        return None
    return moved_note(timing, asked)


async def find(app: Duly, ref: str, tenant: str | None = None) -> Schedule:
    """The schedule of an id or key; what is neither is as unknown as one that is not there."""
    found = await app.schedules.get(ref, tenant=tenant) if is_ref(ref) else None
    if found is None:
        raise unknown(ref)
    return found


def is_ref(ref: str) -> bool:
    return is_id(ref) or is_key(ref)


async def _changed(app: Duly, ref: str, change: Callable[[], Awaitable[Schedule]]) -> ScheduleAnswer:
    if not is_ref(ref):
        raise unknown(ref)
    with telling():
        return await _answer(app, await change())


async def _answer(app: Duly, schedule: Schedule) -> ScheduleAnswer:
    return schedule_answer(schedule, app.settings, app.clock.now(), await _last_run(app, schedule))


async def _last_run(app: Duly, schedule: Schedule) -> Run | None:
    if schedule.seen.whole:
        return schedule.seen.last
    window_at = schedule.cursor.window_at
    if schedule.cursor.last_fired_at is None or window_at is None:
        return None
    return await app.runs.get(window_run_id(schedule.id, window_at))


def check_revision(schedule: Schedule, if_revision: int | None) -> None:
    """Refuse what was meant for another revision; None is any."""
    editing.check_revision(schedule.facts, if_revision)


def unknown(ref: str) -> NotFound:
    """The error of an id or key that is nobody's."""
    return NotFound(f"there is no schedule with id or key {ref[:200]!r}", ref=ref)
