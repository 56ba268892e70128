"""The backend on a store: the API's own operations, on an app that is opened for the time of the command."""

from __future__ import annotations

import asyncio
import getpass
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from duly.api.operations import (
    applying,
    audits,
    calendars,
    controlling,
    dead,
    events,
    instances,
    keys,
    queues,
    runs,
    schedules,
)
from duly.api.streaming import event_answer
from duly.app import Duly
from duly.app.stores import has_schema, is_in_memory
from duly.app.watching import own_jobs
from duly.config.masking import mask_url

from .backend import Answer, Body, jobs_of
from .control import StoreControl
from .failing import CONFIGURATION, Refused
from .flow import StoreFlow
from .hooks import StoreHooks
from .reach import OnStore

LOOK_EVERY = 1.0


class StoreBackend(StoreControl, StoreFlow, StoreHooks):
    """A ``Backend`` on a database. It neither fires nor works; those who do will notice what it changed."""

    def __init__(self, reach: OnStore, *, creates: bool, looks: bool) -> None:
        self._url = reach.url
        self._creates = creates
        self._looks = looks
        self._app = reach.app or Duly(reach.url, settings=reach.settings)
        self._named = reach.app is not None
        self._opened = False
        self._runner = asyncio.Runner()
        self._by = user()

    def __enter__(self) -> Self:
        if self._looks and not self._named and is_in_memory(self._url):
            raise Refused(
                "a database in memory is gone with this command; nothing was done",
                "--database-url names a file, such as sqlite:///duly.db",
                code=CONFIGURATION,
            )
        if not self._looks or self._creates:
            return self
        if not has_schema(self._url):
            raise Refused(
                f"there is no duly database at {mask_url(self._url)}",
                "--database-url, or DULY_DATABASE_URL, says where it is; --server, or DULY_API_URL, asks a running"
                " `duly serve` instead; `duly db migrate` makes a new one",
                code=CONFIGURATION,
            )
        try:
            self._open()
        except BaseException:
            self._runner.close()
            raise
        return self

    def _open(self) -> None:
        self._do(self._app.open())
        self._opened = True

    def _open_after(self, check: Callable[[], Awaitable[Any]]) -> None:
        """Open what may have to be made first: then only if there will be something to keep in it."""
        if self._opened:
            return
        if not has_schema(self._url):
            self._do(check())
        self._open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._do(self._app.close())
        finally:
            self._runner.close()

    def create_schedule(self, body: Body) -> Answer:
        self._open_after(lambda: schedules.check_schedule(self._app, dict(body)))
        return self._do(schedules.create_schedule(self._app, dict(body), by=self._by))

    def apply_schedules(self, bodies: Sequence[Body], *, set: str | None, prune: str | None, dry_run: bool) -> Answer:
        entries = [dict(body) for body in bodies]
        self._open_after(lambda: applying.check_schedules(self._app, entries))
        asked = {"schedules": entries, "set": set, "prune": prune, "dryRun": dry_run}
        return self._do(applying.apply_schedules(self._app, asked, by=self._by))

    def known_jobs(self) -> frozenset[str]:
        answer = self._do(instances.list_instances(self._app))
        return jobs_of(answer) | (own_jobs(self._app) if self._named else frozenset())

    def get_schedule(self, ref: str) -> Answer:
        return self._do(schedules.get_schedule(self._app, ref))

    def list_schedules(self, query: Mapping[str, str]) -> Answer:
        return self._do(schedules.list_schedules(self._app, query))

    def update_schedule(self, ref: str, changes: Body, if_revision: int | None) -> Answer:
        return self._do(schedules.patch_schedule(self._app, ref, dict(changes), if_revision, by=self._by))

    def pause_schedule(self, ref: str, *, reason: str | None, until: str | None) -> Answer:
        body = {"reason": reason, "until": until}
        return self._do(schedules.pause_schedule(self._app, ref, body, by=self._by))

    def resume_schedule(self, ref: str, *, catch_up: bool) -> Answer:
        return self._do(schedules.resume_schedule(self._app, ref, {"catchUp": catch_up}, by=self._by))

    def reschedule_schedule(self, ref: str, timing: Body) -> Answer:
        return self._do(schedules.reschedule_schedule(self._app, ref, dict(timing), by=self._by))

    def trigger_schedule(self, ref: str, body: Body) -> Answer:
        return self._do(schedules.trigger_schedule(self._app, ref, dict(body)))

    def cancel_schedule(self, ref: str) -> Answer:
        return self._do(schedules.cancel_schedule(self._app, ref, by=self._by))

    def delete_schedule(self, ref: str, *, cancel_running: bool, purge: bool) -> Answer | None:
        asked = {"cancelRunning": cancel_running, "purge": purge}
        query = {name: "true" for name, wanted in asked.items() if wanted}
        return self._do(controlling.remove_schedule(self._app, ref, query, by=self._by)) or None

    def upcoming(self, ref: str, count: int) -> Answer:
        return self._do(schedules.upcoming(self._app, ref, {"count": str(count)}))

    def preview(self, body: Body) -> Answer:
        return self._do(schedules.preview(self._app, dict(body)))

    def list_calendars(self, query: Mapping[str, str]) -> Answer:
        return self._do(calendars.list_calendars(self._app, query))

    def get_calendar(self, name: str, query: Mapping[str, str]) -> Answer:
        return self._do(calendars.get_calendar(self._app, name, query))

    def put_calendar(self, name: str, body: Body, query: Mapping[str, str], if_revision: int | None) -> Answer:
        self._open_after(lambda: calendars.check_calendar(dict(body)))
        put: Any = self._do(calendars.put_calendar(self._app, name, dict(body), query, if_revision, by=self._by))
        answer: Answer = put.calendar
        return answer

    def delete_calendar(self, name: str, query: Mapping[str, str]) -> None:
        self._do(calendars.delete_calendar(self._app, name, query))

    def list_runs(self, query: Mapping[str, str]) -> Answer:
        return self._do(runs.list_runs(self._app, query))

    def get_run(self, ref: str) -> Answer:
        return self._do(runs.get_run(self._app, ref))

    def cancel_run(self, ref: str, *, compensate: bool = False) -> Answer:
        return self._do(runs.cancel_run(self._app, ref, {"compensate": compensate}))

    def redrive_run(self, ref: str, body: Body) -> Answer:
        return self._do(dead.redrive_run(self._app, ref, dict(body), by=self._by))

    def list_dead(self, query: Mapping[str, str]) -> Answer:
        return self._do(dead.list_dead_letters(self._app, query))

    def redrive_dead(self, body: Body) -> Answer:
        return self._do(dead.redrive_dead_letters(self._app, dict(body), by=self._by))

    def acknowledge_dead(self, body: Body) -> Answer:
        return self._do(dead.acknowledge_dead_letters(self._app, dict(body)))

    def audit(self, query: Mapping[str, str]) -> Answer:
        return self._do(audits.audit(self._app, query))

    def list_queues(self) -> Answer:
        return self._do(queues.list_queues(self._app))

    def get_queue(self, name: str) -> Answer:
        return self._do(queues.get_queue(self._app, name))

    def update_queue(self, name: str, changes: Body) -> Answer:
        return self._do(queues.patch_queue(self._app, name, dict(changes)))

    def pause_queue(self, name: str, *, reason: str | None) -> Answer:
        return self._do(queues.pause_queue(self._app, name, {"reason": reason}, by=self._by))

    def resume_queue(self, name: str) -> Answer:
        return self._do(queues.resume_queue(self._app, name))

    def list_keys(self) -> Answer:
        return self._do(keys.list_keys(self._app))

    def create_key(self, body: Body) -> Answer:
        self._open_after(lambda: keys.check_key(dict(body)))
        return self._do(keys.create_key(self._app, dict(body), by=self._by))

    def rotate_key(self, id: str, body: Body) -> Answer:
        return self._do(keys.rotate_key(self._app, id, dict(body), by=self._by))

    def revoke_key(self, id: str) -> None:
        self._do(keys.revoke_key(self._app, id))

    def events(self, query: Mapping[str, str], after: int | None) -> Iterator[Answer]:
        reader = events.reader_of(self._app, query, after)
        self._do(reader.begin())
        while True:
            for event in self._runner.run(reader.next(LOOK_EVERY)):
                yield dict(event_answer(event))

    def _do(self, operation: Awaitable[Any]) -> Answer:
        answer: Answer = self._runner.run(_finished(operation))
        return answer


def user() -> str:
    """Who works at this terminal, for those who will wonder who it was."""
    try:
        return getpass.getuser()[:100]
    except (KeyError, OSError):  # a container may run under a number that has no name
        return f"user {os.getuid()}"


async def _finished(operation: Awaitable[Any]) -> Any:
    return await operation
