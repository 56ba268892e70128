"""The backend on a server: each method is one request."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self

from duly.client import Client

from .backend import Answer, Body


class ServerBackend:
    """A ``Backend`` on ``duly serve``."""

    def __init__(self, url: str, key: str | None) -> None:
        self._client = Client(url, key=key)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def create_schedule(self, body: Body) -> Answer:
        return self._client.schedules.create(body)

    def get_schedule(self, ref: str) -> Answer:
        return self._client.schedules.get(ref)

    def list_schedules(self, query: Mapping[str, str]) -> Answer:
        return self._client.schedules.list(**query)

    def update_schedule(self, ref: str, changes: Body, if_revision: int | None) -> Answer:
        return self._client.schedules.update(ref, changes, if_revision=if_revision)

    def pause_schedule(self, ref: str, *, reason: str | None, until: str | None) -> Answer:
        return self._client.schedules.pause(ref, reason=reason, until=until)

    def resume_schedule(self, ref: str, *, catch_up: bool) -> Answer:
        return self._client.schedules.resume(ref, catch_up=catch_up)

    def reschedule_schedule(self, ref: str, timing: Body) -> Answer:
        return self._client.schedules.reschedule(ref, timing)

    def trigger_schedule(self, ref: str, body: Body) -> Answer:
        return self._client.schedules.trigger(ref, **body)

    def cancel_schedule(self, ref: str) -> Answer:
        return self._client.schedules.cancel(ref)

    def delete_schedule(self, ref: str, *, cancel_running: bool) -> None:
        self._client.schedules.delete(ref, cancel_running=cancel_running)

    def upcoming(self, ref: str, count: int) -> Answer:
        return self._client.schedules.upcoming(ref, count=count)

    def preview(self, body: Body) -> Answer:
        return self._client.schedules.preview(body)

    def list_runs(self, query: Mapping[str, str]) -> Answer:
        return self._client.runs.list(**query)

    def get_run(self, ref: str) -> Answer:
        return self._client.runs.get(ref)

    def cancel_run(self, ref: str) -> Answer:
        return self._client.runs.cancel(ref)

    def redrive_run(self, ref: str, body: Body) -> Answer:
        return self._client.runs.redrive(ref, **body)

    def list_dead(self, query: Mapping[str, str]) -> Answer:
        return self._client.dead_letters.list(**query)

    def redrive_dead(self, body: Body) -> Answer:
        return self._client.dead_letters.redrive(body)

    def acknowledge_dead(self, body: Body) -> Answer:
        return self._client.dead_letters.acknowledge(body)
