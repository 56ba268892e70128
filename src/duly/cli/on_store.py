"""The backend on a store: the API's own operations, on an app that is opened for the time of the command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from types import TracebackType
from typing import Any, Self

from duly.api.operations import dead, runs, schedules
from duly.app import Duly
from duly.app.stores import has_schema
from duly.config.masking import mask_url

from .backend import Answer, Body
from .failing import CONFIGURATION, Refused
from .reach import OnStore

BY = "cli"


class StoreBackend:
    """A ``Backend`` on a database. It neither fires nor works; those who do will notice what it changed."""

    def __init__(self, reach: OnStore, *, creates: bool, looks: bool) -> None:
        self._url = reach.url
        self._creates = creates
        self._looks = looks
        self._app = reach.app or Duly(reach.url, settings=reach.settings)
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        if not self._looks:
            return self
        if not self._creates and not has_schema(self._url):
            raise Refused(
                f"there is no duly database at {mask_url(self._url)}",
                "--database-url, or DULY_DATABASE_URL, says where it is; `duly db migrate` makes a new one",
                code=CONFIGURATION,
            )
        try:
            self._do(self._app.open())
        except BaseException:
            self._runner.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._do(self._app.close())
        finally:
            self._runner.close()

    def create_schedule(self, body: Body) -> Answer:
        return self._do(schedules.create_schedule(self._app, dict(body), by=BY))

    def get_schedule(self, ref: str) -> Answer:
        return self._do(schedules.get_schedule(self._app, ref))

    def list_schedules(self, query: Mapping[str, str]) -> Answer:
        return self._do(schedules.list_schedules(self._app, query))

    def update_schedule(self, ref: str, changes: Body, if_revision: int | None) -> Answer:
        return self._do(schedules.patch_schedule(self._app, ref, dict(changes), if_revision, by=BY))

    def pause_schedule(self, ref: str, *, reason: str | None, until: str | None) -> Answer:
        body = {"reason": reason, "until": until}
        return self._do(schedules.pause_schedule(self._app, ref, body, by=BY))

    def resume_schedule(self, ref: str, *, catch_up: bool) -> Answer:
        return self._do(schedules.resume_schedule(self._app, ref, {"catchUp": catch_up}, by=BY))

    def reschedule_schedule(self, ref: str, timing: Body) -> Answer:
        return self._do(schedules.reschedule_schedule(self._app, ref, dict(timing), by=BY))

    def trigger_schedule(self, ref: str, body: Body) -> Answer:
        return self._do(schedules.trigger_schedule(self._app, ref, dict(body)))

    def cancel_schedule(self, ref: str) -> Answer:
        return self._do(schedules.cancel_schedule(self._app, ref, by=BY))

    def delete_schedule(self, ref: str, *, cancel_running: bool) -> None:
        query = {"cancelRunning": "true"} if cancel_running else {}
        self._do(schedules.delete_schedule(self._app, ref, query, by=BY))

    def upcoming(self, ref: str, count: int) -> Answer:
        return self._do(schedules.upcoming(self._app, ref, {"count": str(count)}))

    def preview(self, body: Body) -> Answer:
        return self._do(schedules.preview(self._app, dict(body)))

    def list_runs(self, query: Mapping[str, str]) -> Answer:
        return self._do(runs.list_runs(self._app, query))

    def get_run(self, ref: str) -> Answer:
        return self._do(runs.get_run(self._app, ref))

    def cancel_run(self, ref: str) -> Answer:
        return self._do(runs.cancel_run(self._app, ref))

    def redrive_run(self, ref: str, body: Body) -> Answer:
        return self._do(dead.redrive_run(self._app, ref, dict(body), by=BY))

    def list_dead(self, query: Mapping[str, str]) -> Answer:
        return self._do(dead.list_dead_letters(self._app, query))

    def redrive_dead(self, body: Body) -> Answer:
        return self._do(dead.redrive_dead_letters(self._app, dict(body), by=BY))

    def acknowledge_dead(self, body: Body) -> Answer:
        return self._do(dead.acknowledge_dead_letters(self._app, dict(body)))

    def _do(self, operation: Awaitable[Any]) -> Answer:
        answer: Answer = self._runner.run(_finished(operation))
        return answer


async def _finished(operation: Awaitable[Any]) -> Any:
    return await operation
