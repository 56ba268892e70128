"""What operators ask for: many schedules at once, backfills, the audit trail, operations, the switch of the fleet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from .calls import Answer, Call, Pause
from .making import API, UNSET, get, given, many, path_of, post
from .runs import FIRST_LOOK, LONGEST_LOOK, Follow, Steps

R = TypeVar("R")
_NAMES = {"job": "jobType"}


class Filters(TypedDict, total=False):
    """Which schedules: those that match all that is given, those that are named, or ``everything``."""

    owner: str | None
    tenant: str | None
    job: str | None
    topic: str | None
    tag: str | None
    status: str | None
    enabled: bool | None
    q: str | None
    ids: Sequence[str] | None
    everything: bool


class BulkSchedules(Generic[R]):
    """The part of ``/schedules`` that works on many, back in time, and over all of them."""

    def __init__(self, send: Callable[[Call], R], each: Callable[..., Any]) -> None:
        self._send = send
        self._each = each

    def pause_many(
        self, *, reason: str | None = None, until: datetime | str | None = None, **filters: Unpack[Filters]
    ) -> R:
        """Begin to pause all that match; the answer is the operation. Those that are paused keep their reason."""
        return self._bulk("pause", filters, reason=reason, until=until)

    def resume_many(self, *, reason: str | None = None, catch_up: bool = False, **filters: Unpack[Filters]) -> R:
        """Begin to resume all that match; with ``reason`` only those that were paused for exactly this one."""
        return self._bulk("resume", filters, reason=reason, catchUp=catch_up)

    def cancel_many(self, **filters: Unpack[Filters]) -> R:
        """Begin to cancel all that match and have not ended."""
        return self._bulk("cancel", filters)

    def delete_many(self, *, cancel_running: bool = False, **filters: Unpack[Filters]) -> R:
        """Begin to delete all that match; their runs stay in the history."""
        return self._bulk("delete", filters, cancelRunning=cancel_running)

    def trigger_many(self, *, force: bool = False, **filters: Unpack[Filters]) -> R:
        """Begin to make a run of each that matches."""
        return self._bulk("trigger", filters, force=force)

    def count(self, **filters: Unpack[Filters]) -> R:
        """How many match, counted up to 10,000, and the keys of the first."""
        return self._bulk("cancel", filters, dryRun=True)

    def backfill(
        self,
        ref: str,
        from_: datetime | str,
        to: datetime | str,
        *,
        payload: Any = UNSET,
        rate_per_second: float | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> R:
        """Make runs of the windows of a past range; the answer is the operation, or with ``dry_run`` the windows."""
        body = given(**{"from": from_}, to=to, ratePerSecond=rate_per_second, force=force, dryRun=dry_run)
        body |= {} if payload is UNSET else {"payload": payload}
        return self._send(post(path_of("schedules", ref, "backfill"), body, repeatable=dry_run))

    def change_many(self, body: Mapping[str, Any]) -> R:
        """Do one thing to many; the body is that of ``POST /schedules:bulk``."""
        repeatable = body.get("action") not in ("trigger", "resume")
        return self._send(post(f"{API}/schedules:bulk", dict(body), repeatable=repeatable))

    def backfill_by(self, ref: str, body: Mapping[str, Any]) -> R:
        """The same with the body of ``POST /schedules/{ref}/backfill``."""
        return self._send(post(path_of("schedules", ref, "backfill"), dict(body)))

    def changes(self, ref: str, *, limit: int = 50, cursor: str | None = None, tenant: str | None = None) -> R:
        """One page of the audit trail, newest first."""
        query = {"limit": limit, "cursor": cursor, "tenant": tenant}
        return self._send(get(path_of("schedules", ref, "changes"), query))

    def coming(
        self, *, tenant: str | None = None, owner: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> R:
        """One page of what fires next of all schedules, the earliest first."""
        query = {"tenant": tenant, "owner": owner, "limit": limit, "cursor": cursor}
        return self._send(get(f"{API}/upcoming", query))

    def late(
        self, *, tenant: str | None = None, owner: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> R:
        """One page of the schedules that should have fired and did not, the latest first."""
        query = {"tenant": tenant, "owner": owner, "limit": limit, "cursor": cursor}
        return self._send(get(f"{API}/late", query))

    def stats(self) -> R:
        """How it all fares: what is due, late, running, waiting and dead, and what was done lately."""
        return self._send(get(f"{API}/stats"))

    def _bulk(self, action: str, filters: Filters, **options: Any) -> R:
        asked = {name: value for name, value in filters.items() if value is not None}
        body: dict[str, Any] = {"action": action} | given(**options)
        if "ids" in asked:
            body["ids"] = many(asked.pop("ids"))
        if (everything := asked.pop("everything", False)) is not False:
            body["everything"] = everything
        if asked:
            body["filter"] = {_NAMES.get(name, name): value for name, value in asked.items()}
        return self.change_many(body)


class Operations(Generic[R]):
    """``/operations``: work in many steps, and how far it has come."""

    def __init__(self, send: Callable[[Call], R], follow: Follow[R]) -> None:
        self._send = send
        self._follow = follow

    def get(self, id: str) -> R:
        """How far it has come; one that is not there raises OperationNotFound."""
        return self._send(get(path_of("operations", id)))

    def list(self, *, limit: int = 50, cursor: str | None = None) -> R:
        """One page, newest first."""
        return self._send(get(f"{API}/operations", {"limit": limit, "cursor": cursor}))

    def wait(self, id: str, on_progress: Callable[[Answer], None] | None = None) -> R:
        """Look until it has finished, and answer it; ``on_progress`` is shown each look."""
        return self._follow(_until_finished(id, on_progress))


class Firing(Generic[R]):
    """``/firing``: the switch that stops all firing of the fleet, and lets it go on."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def state(self) -> R:
        """Whether anything fires; if not, since when, by whom and why."""
        return self._send(get(f"{API}/firing"))

    def pause(self, *, reason: str | None = None) -> R:
        """Stop all firing. Runs that exist go on; windows stay due."""
        return self._send(post(f"{API}/firing/pause", given(reason=reason), repeatable=True))

    def resume(self, backlog: str | None = None) -> R:
        """Fire again; ``backlog`` says what becomes of what fell due: fire, skip or latest. Answers the operation."""
        return self._send(post(f"{API}/firing/resume", given(backlog=backlog), repeatable=True))

    def restored(self, *, reason: str | None = None) -> R:
        """Say that the store was restored from a backup: nothing fires until ``resume``."""
        return self._send(post(f"{API}/firing/restored", given(reason=reason)))


def _until_finished(id: str, on_progress: Callable[[Answer], None] | None) -> Steps:
    look = FIRST_LOOK
    while True:
        operation = yield get(path_of("operations", id))
        if on_progress is not None:
            on_progress(operation)
        if operation["finishedAt"] is not None:
            return dict(operation)
        yield Pause(look)
        look = min(LONGEST_LOOK, look * 2)
