"""The API by noun: each method makes a ``Call`` and hands it to whoever sends it.

``R`` is what sending answers: a dictionary, or something to await that answers one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from .calls import Call
from .control import BulkSchedules
from .making import API, UNSET, get, given, path_of, post, write

R = TypeVar("R")


class Schedules(BulkSchedules[R]):
    """``/schedules``. Ids and keys are both accepted where one is asked for."""

    def create(self, body: Mapping[str, Any]) -> R:
        """Store a new schedule; the body is that of ``POST /schedules``.

        Not sent twice by itself: after a broken connection, a key or a ``clientRequestId`` makes that safe for you.
        """
        return self._send(post(f"{API}/schedules", dict(body)))

    def get(self, ref: str) -> R:
        return self._send(get(path_of("schedules", ref)))

    def list(self, **query: Any) -> R:
        """One page, oldest first: enabled, jobType, owner, tenant, topic, tag, status, q, limit, cursor."""
        return self._send(get(f"{API}/schedules", query))

    def update(self, ref: str, changes: Mapping[str, Any], *, if_revision: int | None = None) -> R:
        """Merge the changes; refused if the schedule is no longer at ``if_revision``."""
        return self._send(write("PATCH", path_of("schedules", ref), changes, if_revision))

    def put(self, ref: str, body: Mapping[str, Any], *, if_revision: int | None = None) -> R:
        """Create the schedule of this key, or make it exactly what the body says."""
        return self._send(write("PUT", path_of("schedules", ref), body, if_revision))

    def apply(
        self,
        schedules: Sequence[Mapping[str, Any]],
        *,
        set: str | None = None,
        prune: str | None = None,
        keep: Sequence[str] = (),
        dry_run: bool = False,
    ) -> R:
        """Make schedules exactly what is given, each by its key; twice is fine.

        With ``prune`` ("pause" or "delete"), what belongs to the set and is not given goes, but for the ids to keep.
        """
        body = {"schedules": [dict(one) for one in schedules], "keep": [*keep], "dryRun": dry_run}
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

    def reschedule(self, ref: str, timing: Mapping[str, Any], *, if_revision: int | None = None) -> R:
        """Replace a schedule that never fired by one with another timing, under a new id and the old key."""
        return self._send(post(path_of("schedules", ref, "reschedule"), dict(timing), if_revision=if_revision))

    def trigger(self, ref: str, payload: Any = UNSET, *, force: bool = False, if_revision: int | None = None) -> R:
        """Make a run now, without moving the schedule."""
        body = {"force": force} if payload is UNSET else {"force": force, "payload": payload}
        return self._send(post(path_of("schedules", ref, "trigger"), body, if_revision=if_revision))

    def cancel(self, ref: str, *, if_revision: int | None = None) -> R:
        """End the schedule and its waiting runs. Twice is fine."""
        return self._send(post(path_of("schedules", ref, "cancel"), if_revision=if_revision, repeatable=True))

    def executions(self, ref: str, **query: Any) -> R:
        """One page of the schedule's runs, newest first: status, limit, cursor."""
        return self._send(get(path_of("schedules", ref, "executions"), query))

    def upcoming(self, ref: str, *, count: int = 10) -> R:
        return self._send(get(path_of("schedules", ref, "upcoming"), {"count": count}))

    def preview(self, body: Mapping[str, Any]) -> R:
        """The windows that a timing would have; nothing is stored."""
        return self._send(post(f"{API}/schedules:preview", dict(body), repeatable=True))


class Runs(Generic[R]):
    """``/runs``. Window keys (``sched:<key>:<ms>``) are accepted as ids."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def create(self, body: Mapping[str, Any]) -> R:
        """Ask for one run of a job: jobType, payload, runAt, queue, priority, maxAttempts, fairnessKey.

        With singleton (maxRunning, maxQueued) or unique (uniqueFor, onConflict) other runs decide if and when it goes.
        """
        return self._send(post(f"{API}/runs", dict(body)))

    def get(self, ref: str) -> R:
        return self._send(get(path_of("runs", ref)))

    def list(self, **query: Any) -> R:
        """One page, newest first: scheduleId, jobType, status, limit, cursor."""
        return self._send(get(f"{API}/runs", query))

    def cancel(self, ref: str) -> R:
        """End a waiting run, tell a running one to stop; an ended one stays as it is."""
        return self._send(post(path_of("runs", ref, "cancel"), repeatable=True))

    def redrive(self, ref: str, payload: Any = UNSET, *, force: bool = False) -> R:
        """Let a dead run go again: the same run, or with another payload a new one that is linked to it."""
        body = {"force": force} if payload is UNSET else {"force": force, "payload": payload}
        # Sent twice it would redrive twice only if the run died again in between.
        return self._send(post(path_of("runs", ref, "redrive"), body, repeatable=True))


class DeadLetters(Generic[R]):
    """``/dead-letters``: runs that failed for good, until they are redriven or acknowledged."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def list(self, **query: Any) -> R:
        """One page, newest first: scheduleId, jobType, queue, tenant, error, limit, cursor."""
        return self._send(get(f"{API}/dead-letters", query))

    def groups(self, **query: Any) -> R:
        """How many there are of each job and error: scheduleId, jobType, queue, tenant, error, limit."""
        return self._send(get(f"{API}/dead-letters:groups", query))

    def redrive(self, body: Mapping[str, Any]) -> R:
        """Let many go again: ``ids`` or ``filter``, ``limit``, ``force``. While ``more`` is true, ask again."""
        return self._send(post(f"{API}/dead-letters:redrive", dict(body)))

    def acknowledge(self, body: Mapping[str, Any]) -> R:
        """Take many out of the dead letters: ``ids`` or ``filter``, ``limit``."""
        return self._send(post(f"{API}/dead-letters:acknowledge", dict(body), repeatable=True))


class Queues(Generic[R]):
    """``/queues``. Any name is a queue; one that nobody set up has no limits."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def list(self) -> R:
        """Every queue that was set up or has open runs, and what is in it."""
        return self._send(get(f"{API}/queues"))

    def get(self, name: str) -> R:
        return self._send(get(path_of("queues", name)))

    def put(self, name: str, body: Mapping[str, Any]) -> R:
        """Limit the queue exactly so: maxRunning, rateLimit, fair, newestFirst. A pause stays."""
        return self._send(write("PUT", path_of("queues", name), dict(body), None))

    def update(self, name: str, changes: Mapping[str, Any]) -> R:
        """Change some of its limits; null takes one away."""
        return self._send(write("PATCH", path_of("queues", name), dict(changes), None))

    def pause(self, name: str, reason: str | None = None) -> R:
        """Let nothing of the queue start."""
        return self._send(post(path_of("queues", name, "pause"), given(reason=reason), repeatable=True))

    def resume(self, name: str) -> R:
        return self._send(post(path_of("queues", name, "resume"), repeatable=True))


class Calendars(Generic[R]):
    """``/calendars``: dates on which nothing fires; ``tenant`` says whose."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def list(self, **query: Any) -> R:
        """One page, oldest first: tenant, limit, cursor."""
        return self._send(get(f"{API}/calendars", query))

    def get(self, name: str, *, tenant: str | None = None) -> R:
        return self._send(get(path_of("calendars", name), {"tenant": tenant}))

    def put(
        self, name: str, body: Mapping[str, Any], *, tenant: str | None = None, if_revision: int | None = None
    ) -> R:
        """Create the calendar, or make it exactly what the body says: dates, ranges, yearly, description."""
        return self._send(write("PUT", path_of("calendars", name), dict(body), if_revision, {"tenant": tenant}))

    def delete(self, name: str, *, tenant: str | None = None, if_revision: int | None = None) -> R:
        """Remove a calendar that no schedule names. Twice is fine."""
        return self._send(write("DELETE", path_of("calendars", name), UNSET, if_revision, {"tenant": tenant}))


class Server(Generic[R]):
    """What the server says about itself."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def ready(self) -> R:
        return self._send(get("/readyz"))

    def instances(self) -> R:
        """The processes that are alive, with the jobs that they know."""
        return self._send(get(f"{API}/instances"))


def event_query(
    types: Sequence[str], schedule: str | None, job: str | None, owner: str | None, tenant: str | None
) -> dict[str, str]:
    """The query of ``GET /events``."""
    return given(type=",".join(types) or None, scheduleId=schedule, jobType=job, owner=owner, tenant=tenant)
