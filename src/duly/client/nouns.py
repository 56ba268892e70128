"""The API by noun: each method makes a ``Call`` and hands it to whoever sends it.

``R`` is what sending answers: a dictionary, or something to await that answers one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, TypeVar

from .calls import Call
from .making import API, UNSET, get, given, path_of, post, write
from .wording import day_text

R = TypeVar("R")


class Queues(Generic[R]):
    """``/queues``. Any name is a queue; one that nobody set up has no limits."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def list(self) -> R:
        """Every queue that was set up or has open runs, and what is in it."""
        return self._send(get(f"{API}/queues"))

    def get(self, name: str) -> R:
        return self._send(get(path_of("queues", name)))

    def set(
        self,
        name: str,
        *,
        max_running: int | None = UNSET,
        rate: int | None = UNSET,
        per: float | timedelta = 1.0,
        fair: bool = UNSET,
        newest_first: bool = UNSET,
    ) -> R:
        """Limit a queue: at most ``max_running`` runs at once, at most ``rate`` starts ``per`` seconds."""
        period = per.total_seconds() if isinstance(per, timedelta) else per
        told = {"maxRunning": max_running, "fair": fair, "newestFirst": newest_first}
        body: dict[str, Any] = {field: value for field, value in told.items() if value is not UNSET}
        if rate is not UNSET:
            body["rateLimit"] = None if rate is None else {"limit": rate, "periodMs": round(period * 1000)}
        return self.update(name, body)

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

    def __init__(self, send: Callable[[Call], R], each: Callable[..., Any]) -> None:
        self._send = send
        self._each = each

    def list(self, *, tenant: str | None = None, limit: int = 50, cursor: str | None = None) -> R:
        """One page, oldest first."""
        return self._send(get(f"{API}/calendars", {"tenant": tenant, "limit": limit, "cursor": cursor}))

    def iterate(self, *, tenant: str | None = None, limit: int = 200, cursor: str | None = None) -> Any:
        """All pages, one calendar after another; to be iterated with ``async for`` on an ``AsyncClient``."""
        return self._each(self.list, tenant=tenant, limit=limit, cursor=cursor)

    def get(self, name: str, *, tenant: str | None = None) -> R:
        """The calendar; one that is not there raises CalendarNotFound."""
        return self._send(get(path_of("calendars", name), {"tenant": tenant}))

    def put(
        self,
        name: str,
        body: Mapping[str, Any] | None = None,
        *,
        dates: Iterable[Any] = (),
        ranges: Iterable[Any] = (),
        yearly: Iterable[Any] = (),
        description: str | None = None,
        tenant: str | None = None,
        if_revision: int | None = None,
    ) -> R:
        """Create the calendar, or make it exactly what is given, in words or as the body that REST takes."""
        told = given(
            dates=[day_text(day) for day in dates] or None,
            ranges=[{"from": day_text(first), "to": day_text(last)} for first, last in ranges] or None,
            yearly=[str(day) for day in yearly] or None,
            description=description,
        )
        path = path_of("calendars", name)
        return self._send(write("PUT", path, {**(body or {}), **told}, if_revision, {"tenant": tenant}))

    def delete(self, name: str, *, tenant: str | None = None, if_revision: int | None = None) -> R:
        """Remove a calendar that no schedule names. Twice is fine."""
        return self._send(write("DELETE", path_of("calendars", name), UNSET, if_revision, {"tenant": tenant}))


class Keys(Generic[R]):
    """``/keys``: who may call; for an admin. A key itself is in the answer that makes it, and in no other."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def list(self) -> R:
        """All that were ever made, oldest first."""
        return self._send(get(f"{API}/keys"))

    def get(self, id: str) -> R:
        return self._send(get(path_of("keys", id)))

    def create(self, body: Mapping[str, Any]) -> R:
        """Make a key: name, owner, tenant, scopes, expiresAt, quotas."""
        return self._send(post(f"{API}/keys", dict(body)))

    def rotate(self, id: str, body: Mapping[str, Any] | None = None) -> R:
        """Make another key with the same rights; the old one goes on for keepSeconds."""
        return self._send(post(path_of("keys", id, "rotate"), dict(body or {})))

    def revoke(self, id: str) -> R:
        """End a key now. Twice is fine."""
        return self._send(write("DELETE", path_of("keys", id), UNSET, None, {}))


class Webhooks(Generic[R]):
    """``/webhooks``: who is told of what happens. A secret is in the answer that makes it, and in no other."""

    def __init__(self, send: Callable[[Call], R], each: Callable[..., Any]) -> None:
        self._send = send
        self._each = each

    def list(self, *, tenant: str | None = None, limit: int = 50, cursor: str | None = None) -> R:
        """One page, oldest first."""
        return self._send(get(f"{API}/webhooks", {"tenant": tenant, "limit": limit, "cursor": cursor}))

    def iterate(self, *, tenant: str | None = None, limit: int = 200, cursor: str | None = None) -> Any:
        """All pages, one webhook after another; to be iterated with ``async for`` on an ``AsyncClient``."""
        return self._each(self.list, tenant=tenant, limit=limit, cursor=cursor)

    def get(self, id: str) -> R:
        """The webhook; one that is not there raises WebhookNotFound."""
        return self._send(get(path_of("webhooks", id)))

    def create(
        self,
        url: str | None = None,
        *,
        events: Iterable[str] | None = None,
        kind: str | None = None,
        schedule: str | None = None,
        tag: str | None = None,
        job: str | None = None,
        description: str | None = None,
        secret: str | None = None,
        owner: str | None = None,
        tenant: str | None = None,
        enabled: bool | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> R:
        """Make a webhook, in words or as the body that REST takes; the answer is the only one that shows the secret."""
        told = given(
            url=url, kind=kind, schedule=schedule, tag=tag, jobType=job, description=description, secret=secret,
            owner=owner, tenant=tenant, enabled=enabled, events=None if events is None else [*events],
        )  # fmt: skip
        return self._send(post(f"{API}/webhooks", {**(body or {}), **told}))

    def update(
        self,
        id: str,
        changes: Mapping[str, Any] | None = None,
        *,
        url: str = UNSET,
        events: Iterable[str] = UNSET,
        tag: str | None = UNSET,
        job: str | None = UNSET,
        description: str | None = UNSET,
        enabled: bool = UNSET,
    ) -> R:
        """Change what is given; None takes a filter away."""
        words = {"url": url, "tag": tag, "jobType": job, "description": description, "enabled": enabled}
        body = {**(changes or {}), **{name: value for name, value in words.items() if value is not UNSET}}
        if events is not UNSET:
            body["events"] = [*events]
        return self._send(write("PATCH", path_of("webhooks", id), body, None))

    def rotate(self, id: str, *, keep: float | timedelta = 86_400, secret: str | None = None) -> R:
        """Make another secret; messages are signed with the old one too for ``keep`` seconds."""
        seconds = keep.total_seconds() if isinstance(keep, timedelta) else keep
        return self._send(post(path_of("webhooks", id, "rotate"), given(keepSeconds=round(seconds), secret=secret)))

    def test(self, id: str) -> R:
        """Send it a test message; the answer is the run that sends it."""
        return self._send(post(path_of("webhooks", id, "test")))

    def delete(self, id: str) -> R:
        """End a webhook. Twice is fine."""
        return self._send(write("DELETE", path_of("webhooks", id), UNSET, None, {}))


class Server(Generic[R]):
    """What the server says about itself."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def ready(self) -> R:
        return self._send(get("/readyz"))

    def instances(self) -> R:
        """The processes that are alive, with the jobs that they know."""
        return self._send(get(f"{API}/instances"))

    def audit(self, **query: Any) -> R:
        """One page of an audit: since, until, schedule, late, tenant, limit, cursor."""
        return self._send(get(f"{API}/audit", query))


def event_query(
    types: Sequence[str], schedule: str | None, job: str | None, owner: str | None, tenant: str | None
) -> dict[str, str]:
    """The query of ``GET /events``."""
    return given(type=",".join(types) or None, scheduleId=schedule, jobType=job, owner=owner, tenant=tenant)
