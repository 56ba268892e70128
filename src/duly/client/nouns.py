"""The API by noun: each method makes a ``Call`` and hands it to whoever sends it.

``R`` is what sending answers: a dictionary, or something to await that answers one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from .calls import NOTHING, Call

R = TypeVar("R")
UNSET: Any = NOTHING
API = "/api/v1"


class Schedules(Generic[R]):
    """``/schedules``. Ids and keys are both accepted where one is asked for."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def create(self, body: Mapping[str, Any]) -> R:
        """Store a new schedule; the body is that of ``POST /schedules``.

        Not sent twice by itself: after a broken connection, a key or a ``clientRequestId`` makes that safe for you.
        """
        return self._send(_post(f"{API}/schedules", dict(body)))

    def get(self, ref: str) -> R:
        return self._send(_get(_schedule(ref)))

    def list(self, **query: Any) -> R:
        """One page, oldest first: enabled, jobType, owner, tenant, topic, tag, status, q, limit, cursor."""
        return self._send(_get(f"{API}/schedules", query))

    def update(self, ref: str, changes: Mapping[str, Any], *, if_revision: int | None = None) -> R:
        """Merge the changes; refused if the schedule is no longer at ``if_revision``."""
        return self._send(_write("PATCH", _schedule(ref), changes, if_revision))

    def put(self, ref: str, body: Mapping[str, Any], *, if_revision: int | None = None) -> R:
        """Create the schedule of this key, or make it exactly what the body says."""
        return self._send(_write("PUT", _schedule(ref), body, if_revision))

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
        return self._send(_post(f"{API}/schedules:apply", body | _given(set=set, prune=prune), repeatable=True))

    def delete(self, ref: str, *, cancel_running: bool = False, if_revision: int | None = None) -> R:
        """Remove the schedule and keep its runs. Twice is fine."""
        query = {"cancelRunning": True} if cancel_running else {}
        return self._send(_write("DELETE", _schedule(ref), UNSET, if_revision, query))

    def pause(self, ref: str, *, reason: str | None = None, until: str | None = None) -> R:
        body = _given(reason=reason, until=until)
        return self._send(_post(_schedule(ref, "pause"), body, repeatable=True))

    def resume(self, ref: str, *, catch_up: bool = False) -> R:
        # Repeatable only without a catch-up: that would count the time since the first resume.
        return self._send(_post(_schedule(ref, "resume"), {"catchUp": catch_up}, repeatable=not catch_up))

    def reschedule(self, ref: str, timing: Mapping[str, Any]) -> R:
        """Replace a schedule that never fired by one with another timing, under a new id and the old key."""
        return self._send(_post(_schedule(ref, "reschedule"), dict(timing)))

    def trigger(self, ref: str, *, payload: Any = UNSET, force: bool = False) -> R:
        """Make a run now, without moving the schedule."""
        body = {"force": force} if payload is UNSET else {"force": force, "payload": payload}
        return self._send(_post(_schedule(ref, "trigger"), body))

    def cancel(self, ref: str) -> R:
        """End the schedule and its waiting runs. Twice is fine."""
        return self._send(_post(_schedule(ref, "cancel"), repeatable=True))

    def executions(self, ref: str, **query: Any) -> R:
        """One page of the schedule's runs, newest first: status, limit, cursor."""
        return self._send(_get(_schedule(ref, "executions"), query))

    def upcoming(self, ref: str, *, count: int = 10) -> R:
        return self._send(_get(_schedule(ref, "upcoming"), {"count": count}))

    def preview(self, body: Mapping[str, Any]) -> R:
        """The windows that a timing would have; nothing is stored."""
        return self._send(_post(f"{API}/schedules:preview", dict(body), repeatable=True))


class Runs(Generic[R]):
    """``/runs``. Window keys (``sched:<key>:<ms>``) are accepted as ids."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def create(self, body: Mapping[str, Any]) -> R:
        """Ask for one run of a job: jobType, payload, runAt, queue, priority, maxAttempts, fairnessKey.

        With singleton (maxRunning, maxQueued) or unique (uniqueFor, onConflict) other runs decide if and when it goes.
        """
        return self._send(_post(f"{API}/runs", dict(body)))

    def get(self, ref: str) -> R:
        return self._send(_get(_run(ref)))

    def list(self, **query: Any) -> R:
        """One page, newest first: scheduleId, jobType, status, limit, cursor."""
        return self._send(_get(f"{API}/runs", query))

    def cancel(self, ref: str) -> R:
        """End a waiting run, tell a running one to stop; an ended one stays as it is."""
        return self._send(_post(_run(ref, "cancel"), repeatable=True))

    def redrive(self, ref: str, *, payload: Any = UNSET, force: bool = False) -> R:
        """Let a dead run go again: the same run, or with another payload a new one that is linked to it."""
        body = {"force": force} if payload is UNSET else {"force": force, "payload": payload}
        # Sent twice it would redrive twice only if the run died again in between.
        return self._send(_post(_run(ref, "redrive"), body, repeatable=True))


class DeadLetters(Generic[R]):
    """``/dead-letters``: runs that failed for good, until they are redriven or acknowledged."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def list(self, **query: Any) -> R:
        """One page, newest first: scheduleId, jobType, queue, tenant, error, limit, cursor."""
        return self._send(_get(f"{API}/dead-letters", query))

    def redrive(self, body: Mapping[str, Any]) -> R:
        """Let many go again: ``ids`` or ``filter``, ``limit``, ``force``. While ``more`` is true, ask again."""
        return self._send(_post(f"{API}/dead-letters:redrive", dict(body)))

    def acknowledge(self, body: Mapping[str, Any]) -> R:
        """Take many out of the dead letters: ``ids`` or ``filter``, ``limit``."""
        return self._send(_post(f"{API}/dead-letters:acknowledge", dict(body), repeatable=True))


class Queues(Generic[R]):
    """``/queues``. Any name is a queue; one that nobody set up has no limits."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def list(self) -> R:
        """Every queue that was set up or has open runs, and what is in it."""
        return self._send(_get(f"{API}/queues"))

    def get(self, name: str) -> R:
        return self._send(_get(_queue(name)))

    def put(self, name: str, body: Mapping[str, Any]) -> R:
        """Limit the queue exactly so: maxRunning, rateLimit, fair, newestFirst. A pause stays."""
        return self._send(_write("PUT", _queue(name), dict(body), None))

    def update(self, name: str, changes: Mapping[str, Any]) -> R:
        """Change some of its limits; null takes one away."""
        return self._send(_write("PATCH", _queue(name), dict(changes), None))

    def pause(self, name: str, *, reason: str | None = None) -> R:
        """Let nothing of the queue start."""
        return self._send(_post(_queue(name, "pause"), _given(reason=reason), repeatable=True))

    def resume(self, name: str) -> R:
        return self._send(_post(_queue(name, "resume"), repeatable=True))


class Calendars(Generic[R]):
    """``/calendars``: dates on which nothing fires; ``tenant`` says whose."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def list(self, **query: Any) -> R:
        """One page, oldest first: tenant, limit, cursor."""
        return self._send(_get(f"{API}/calendars", query))

    def get(self, name: str, *, tenant: str | None = None) -> R:
        return self._send(_get(_path("calendars", name, None), {"tenant": tenant}))

    def put(
        self, name: str, body: Mapping[str, Any], *, tenant: str | None = None, if_revision: int | None = None
    ) -> R:
        """Create the calendar, or make it exactly what the body says: dates, ranges, yearly, description."""
        return self._send(_write("PUT", _path("calendars", name, None), dict(body), if_revision, {"tenant": tenant}))

    def delete(self, name: str, *, tenant: str | None = None, if_revision: int | None = None) -> R:
        """Remove a calendar that no schedule names. Twice is fine."""
        return self._send(_write("DELETE", _path("calendars", name, None), UNSET, if_revision, {"tenant": tenant}))


class Server(Generic[R]):
    """What the server says about itself."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def ready(self) -> R:
        return self._send(_get("/readyz"))

    def instances(self) -> R:
        """The processes that are alive, with the jobs that they know."""
        return self._send(_get(f"{API}/instances"))


def event_query(
    types: Sequence[str], schedule: str | None, job: str | None, owner: str | None, tenant: str | None
) -> dict[str, str]:
    """The query of ``GET /events``."""
    return _given(type=",".join(types) or None, scheduleId=schedule, jobType=job, owner=owner, tenant=tenant)


def _schedule(ref: str, action: str | None = None) -> str:
    return _path("schedules", ref, action)


def _run(ref: str, action: str | None = None) -> str:
    return _path("runs", ref, action)


def _queue(name: str, action: str | None = None) -> str:
    return _path("queues", name, action)


def _path(noun: str, ref: str, action: str | None) -> str:
    path = f"{API}/{noun}/{quote(ref, safe='')}"
    return path if action is None else f"{path}/{action}"


def _get(path: str, query: Mapping[str, Any] | None = None) -> Call:
    return Call(method="GET", path=path, query=_texts(query or {}), repeatable=True)


def _post(path: str, body: Any = UNSET, *, repeatable: bool = False) -> Call:
    return Call(method="POST", path=path, body=body, repeatable=repeatable)


def _write(method: str, path: str, body: Any, if_revision: int | None, query: Mapping[str, Any] | None = None) -> Call:
    headers = {} if if_revision is None else {"If-Match": f'"{if_revision}"'}
    # With a revision, the second of two would be refused as stale although the first was done.
    return Call(
        method=method, path=path, query=_texts(query or {}), body=body, headers=headers, repeatable=if_revision is None
    )


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _texts(query: Mapping[str, Any]) -> dict[str, str]:
    """Values as a query string has them; None was not given."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value is not None
    }
