"""The backend on a server: each method is one request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self

from duly.client import Client
from duly.core.errors import Invalid, ValidationFailed
from duly.core.marks import parse_attributes

from .backend import Answer, Body, jobs_of
from .control import ServerControl
from .flow import ServerFlow
from .hooks import ServerHooks
from .portions import portions
from .reach import PATIENCE

_WORDS = {"jobType": "job", "scheduleId": "schedule"}


class ServerBackend(ServerControl, ServerFlow, ServerHooks):
    """A ``Backend`` on ``duly serve``."""

    def __init__(self, url: str, key: str | None) -> None:
        self._client = Client(url, key=key, patience=PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def create_schedule(self, body: Body) -> Answer:
        return self._client.schedules.create(body)

    def apply_schedules(self, bodies: Sequence[Body], *, set: str | None, prune: str | None, dry_run: bool) -> Answer:
        """In as many requests as it takes; all of it is checked before the first of them changes anything."""
        apply = partial(self._client.schedules.apply, set=set)
        parts = list(portions(bodies))
        if len(parts) == 1:
            return apply(parts[0], prune=prune, dry_run=dry_run)
        answers = self._foretold(parts, apply)
        if not dry_run:
            answers = [apply(part) for part in parts]
        items = [item for answer in answers for item in answer["items"]]
        if prune is not None:
            keep = [item["id"] for item in items if item["id"] is not None]
            items += apply([], prune=prune, keep=keep, dry_run=dry_run)["items"]
        return {**answers[0], "items": items}

    def _foretold(self, parts: Sequence[Sequence[Body]], apply: Callable[..., Answer]) -> list[Answer]:
        answers: list[Answer] = []
        errors: list[Any] = []
        first = 0
        for part in parts:
            try:
                answers.append(apply(part, dry_run=True))
            except Invalid as error:
                errors += [_moved(found, first) for found in error.details.get("errors", ())]
                if not errors:
                    raise
            first += len(part)
        if errors:
            raise ValidationFailed(errors[0]["detail"], errors=errors)
        return answers

    def known_jobs(self) -> frozenset[str]:
        return jobs_of(self._client.server.instances())

    def get_schedule(self, ref: str) -> Answer:
        return self._client.schedules.get(ref)

    def list_schedules(self, query: Mapping[str, str]) -> Answer:
        return self._client.schedules.list(**_words(query))

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

    def delete_schedule(self, ref: str, *, cancel_running: bool, purge: bool) -> Answer | None:
        return self._client.schedules.delete(ref, cancel_running=cancel_running, purge=purge) or None

    def upcoming(self, ref: str, count: int) -> Answer:
        return self._client.schedules.upcoming(ref, count=count)

    def preview(self, body: Body) -> Answer:
        return self._client.schedules.preview(body)

    def list_calendars(self, query: Mapping[str, str]) -> Answer:
        return self._client.calendars.list(**_words(query))

    def get_calendar(self, name: str, query: Mapping[str, str]) -> Answer:
        return self._client.calendars.get(name, tenant=query.get("tenant"))

    def put_calendar(self, name: str, body: Body, query: Mapping[str, str], if_revision: int | None) -> Answer:
        return self._client.calendars.put(name, body, tenant=query.get("tenant"), if_revision=if_revision)

    def delete_calendar(self, name: str, query: Mapping[str, str]) -> None:
        self._client.calendars.delete(name, tenant=query.get("tenant"))

    def list_runs(self, query: Mapping[str, str]) -> Answer:
        words = {name: value for name, value in _words(query).items() if name not in ("tag", "attr")}
        tags = [tag for tag in query.get("tag", "").split(",") if tag]
        attributes = parse_attributes(query["attr"]) if "attr" in query else ()
        return self._client.runs.list(tags=tags, attributes=attributes, **words)

    def get_run(self, ref: str) -> Answer:
        return self._client.runs.get(ref)

    def cancel_run(self, ref: str, *, compensate: bool = False) -> Answer:
        return self._client.runs.cancel(ref, compensate=compensate)

    def redrive_run(self, ref: str, body: Body) -> Answer:
        return self._client.runs.redrive(ref, **body)

    def list_dead(self, query: Mapping[str, str]) -> Answer:
        return self._client.runs.dead(**_words(query))

    def redrive_dead(self, body: Body) -> Answer:
        return self._client.runs.redrive_many(**_many(body))

    def acknowledge_dead(self, body: Body) -> Answer:
        return self._client.runs.acknowledge_many(**_many(body))

    def audit(self, query: Mapping[str, str]) -> Answer:
        return self._client.server.audit(**query)

    def list_queues(self) -> Answer:
        return self._client.queues.list()

    def get_queue(self, name: str) -> Answer:
        return self._client.queues.get(name)

    def update_queue(self, name: str, changes: Body) -> Answer:
        return self._client.queues.update(name, changes)

    def pause_queue(self, name: str, *, reason: str | None) -> Answer:
        return self._client.queues.pause(name, reason=reason)

    def resume_queue(self, name: str) -> Answer:
        return self._client.queues.resume(name)

    def list_keys(self) -> Answer:
        return self._client.keys.list()

    def create_key(self, body: Body) -> Answer:
        return self._client.keys.create(body)

    def rotate_key(self, id: str, body: Body) -> Answer:
        return self._client.keys.rotate(id, body)

    def revoke_key(self, id: str) -> None:
        self._client.keys.revoke(id)

    def events(self, query: Mapping[str, str], after: int | None) -> Iterator[Answer]:
        types = [word for word in query.get("type", "").split(",") if word]
        return self._client.events(
            *types,
            schedule=query.get("scheduleId"),
            job=query.get("jobType"),
            owner=query.get("owner"),
            tenant=query.get("tenant"),
            after=after,
        )


def _words(query: Mapping[str, Any]) -> dict[str, Any]:
    """A query in the words of the client."""
    return {_WORDS.get(name, name): value for name, value in query.items()}


def _many(body: Body) -> dict[str, Any]:
    """Which dead letters, in the words of the client."""
    words = {"most" if name == "limit" else name: value for name, value in body.items() if name != "filter"}
    return words | _words(body.get("filter", {}))


def _moved(found: Mapping[str, Any], first: int) -> dict[str, Any]:
    """An error in a portion, by its place in the whole list."""
    head, slash, rest = str(found.get("pointer", "")).removeprefix("/schedules/").partition("/")
    return {**found, "pointer": f"/schedules/{int(head) + first}{slash}{rest}"} if head.isdigit() else dict(found)
