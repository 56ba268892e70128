"""``client.schedules``: what ``app.schedules`` can do, on a server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeVar, Unpack

from duly.core.saying import job_said_once
from duly.core.timing import Jitter, Timing

from .control import BulkSchedules
from .making import API, UNSET, get, given, many, path_of, post, write
from .wording import ScheduleChanges, ScheduleOptions, day_text, jitter_body, schedule_body, timing_body

R = TypeVar("R")
Body = Mapping[str, Any]


class Schedules(BulkSchedules[R]):
    """``/schedules``. Ids and keys are both accepted where one is asked for.

    What describes a schedule can be said in the words of ``app.schedules``, or as the body that REST takes.
    """

    def create(
        self, key: str | Body | None = None, timing: Timing | None = None, **options: Unpack[ScheduleOptions]
    ) -> R:
        """Store a new schedule: ``create("nightly", Cron("0 2 * * *"), job="report")``, or the body of a create."""
        return self._send(post(f"{API}/schedules", _described(key, timing, options)))

    def get(self, ref: str, *, tenant: str | None = None) -> R:
        """The schedule; one that is not there raises NotFound. ``tenant``: of several with this key, whose."""
        return self._send(get(path_of("schedules", ref), {"tenant": tenant}))

    def list(
        self,
        *,
        owner: str | None = None,
        tenant: str | None = None,
        job: str | None = None,
        topic: str | None = None,
        tag: str | None = None,
        status: str | None = None,
        enabled: bool | None = None,
        q: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> R:
        """One page, oldest first, without payloads."""
        query: dict[str, Any] = {"owner": owner, "tenant": tenant, "jobType": job, "topic": topic, "tag": tag}
        query |= {"status": status, "enabled": enabled, "q": q, "limit": limit, "cursor": cursor}
        return self._send(get(f"{API}/schedules", query))

    def iterate(self, **filters: Any) -> Any:
        """All pages, one schedule after another; to be iterated with ``async for`` on an ``AsyncClient``."""
        return self._each(self.list, **filters)

    def update(
        self,
        ref: str,
        body: Body | None = None,
        *,
        if_revision: int | None = None,
        **changes: Unpack[ScheduleChanges],
    ) -> R:
        """Merge the changes; refused if the schedule is no longer at ``if_revision``."""
        return self._send(
            write("PATCH", path_of("schedules", ref), {**(body or {}), **schedule_body(changes)}, if_revision)
        )

    def put(
        self,
        key: str,
        timing: Timing | Body,
        call: Any = None,
        *,
        if_revision: int | None = None,
        **options: Unpack[ScheduleOptions],
    ) -> R:
        """Create the schedule of this key, or make it exactly what is given."""
        if call is not None:
            options["job"] = job_said_once(call, options.get("job"))
        body = {**timing_body(timing), **schedule_body(options)}
        return self._send(write("PUT", path_of("schedules", key), body, if_revision))

    def apply(
        self,
        schedules: Sequence[Body],
        *,
        set: str | None = None,
        prune: str | None = None,
        keep: Sequence[str] = (),
        dry_run: bool = False,
    ) -> R:
        """Make schedules exactly what is given, each by its key; twice is fine. They are bodies of creates.

        With ``prune`` ("pause" or "delete"), what belongs to the set and is not given goes, but for the ids and keys
        to keep.
        """
        body = {"schedules": [dict(one) for one in schedules], "keep": many(keep), "dryRun": dry_run}
        return self._send(post(f"{API}/schedules:apply", body | given(set=set, prune=prune), repeatable=True))

    def delete(
        self, ref: str, *, cancel_running: bool = False, purge: bool = False, if_revision: int | None = None
    ) -> R:
        """Remove the schedule and keep its runs, or ``purge`` them too. Twice is fine.

        The answer is empty, or the operation that removes what is left.
        """
        query = given(cancelRunning=cancel_running or None, purge=purge or None)
        return self._send(write("DELETE", path_of("schedules", ref), UNSET, if_revision, query))

    def pause(
        self,
        ref: str,
        *,
        reason: str | None = None,
        until: datetime | str | None = None,
        if_revision: int | None = None,
    ) -> R:
        """Stop firing, with a reason and if wished an end."""
        body, path = given(reason=reason, until=until), path_of("schedules", ref, "pause")
        return self._send(post(path, body, if_revision=if_revision, repeatable=True))

    def resume(self, ref: str, *, catch_up: bool = False, if_revision: int | None = None) -> R:
        """Fire again, from now on or with what was passed by."""
        # Repeatable only without a catch-up: that would count the time since the first resume.
        body, path = {"catchUp": catch_up}, path_of("schedules", ref, "resume")
        return self._send(post(path, body, if_revision=if_revision, repeatable=not catch_up))

    def reschedule(self, ref: str, timing: Timing | Body, *, if_revision: int | None = None) -> R:
        """Replace a schedule that never fired by one with another timing, under a new id and the old key."""
        path = path_of("schedules", ref, "reschedule")
        return self._send(post(path, timing_body(timing), if_revision=if_revision))

    def trigger(
        self,
        ref: str,
        payload: Any = UNSET,
        *,
        force: bool = False,
        if_revision: int | None = None,
        id: str | None = None,
    ) -> R:
        """Make a run now, without moving the schedule. A repeat with the same ``id`` returns the run that exists."""
        given = {"force": force, "payload": payload, "id": UNSET if id is None else id}
        body = {name: value for name, value in given.items() if value is not UNSET}
        return self._send(post(path_of("schedules", ref, "trigger"), body, if_revision=if_revision))

    def cancel(self, ref: str, *, if_revision: int | None = None) -> R:
        """End the schedule and its waiting runs. Twice is fine."""
        return self._send(post(path_of("schedules", ref, "cancel"), if_revision=if_revision, repeatable=True))

    def executions(self, ref: str, *, status: str | None = None, limit: int = 50, cursor: str | None = None) -> R:
        """One page of the schedule's runs, newest first."""
        query = {"status": status, "limit": limit, "cursor": cursor}
        return self._send(get(path_of("schedules", ref, "executions"), query))

    def upcoming(self, ref: str, count: int = 10) -> R:
        """The next windows of a schedule as it is now."""
        return self._send(get(path_of("schedules", ref, "upcoming"), {"count": count}))

    def preview(
        self,
        timing: Timing | Body,
        *,
        after: datetime | str | None = None,
        count: int | None = None,
        key: str | None = None,
        jitter: Jitter | tuple[int, int] | None = None,
        calendars: Iterable[str] = (),
        exclude_dates: Iterable[date | str] = (),
        tenant: str = "",
    ) -> R:
        """The windows that a timing would have; nothing is stored."""
        body = timing_body(timing) | given(
            after=after,
            count=count,
            key=key,
            jitter=jitter_body(jitter),
            calendars=[*calendars] or None,
            excludeDates=[day_text(day) for day in exclude_dates] or None,
            tenantId=tenant or None,
        )
        return self._send(post(f"{API}/schedules:preview", body, repeatable=True))


def _described(key: str | Body | None, timing: Timing | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """A schedule in words, or the body that it is already."""
    if isinstance(key, Mapping):
        return {**key, **schedule_body(options)}
    described = {} if timing is None else timing_body(timing)
    return given(key=key) | described | schedule_body(options)
