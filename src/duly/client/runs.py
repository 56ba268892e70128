"""``client.runs``: what ``app.runs`` can do, on a server."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from duly.core.errors import WaitTimeout
from duly.core.marks import Wanted, write_attributes, write_tags

from .calls import Answer, Call, Pause
from .making import API, UNSET, get, given, many, path_of, post
from .wording import RunOptions, camel

R = TypeVar("R")
Steps = Generator[Call | Pause, Any, Answer]
Follow = Callable[[Steps], R]
"""Makes the calls and the pauses that a conversation asks for, and answers what it returns."""

FIRST_LOOK, LONGEST_LOOK = 0.05, 1.0
_ENDED = frozenset({"completed", "failed", "cancelled", "skipped"})
_NAMES = {"schedule": "scheduleId", "job": "jobType"}


class DeadFilters(TypedDict, total=False):
    """Which dead letters; ``error`` is a part of the error's text."""

    schedule: str | None
    job: str | None
    queue: str | None
    tenant: str | None
    error: str | None
    error_type: str | None
    error_location: str | None


class Runs(Generic[R]):
    """``/runs`` and ``/dead-letters``. Window keys (``sched:<key>:<ms>``) are accepted as ids."""

    def __init__(self, send: Callable[[Call], R], each: Callable[..., Any], follow: Follow[R]) -> None:
        self._send = send
        self._each = each
        self._follow = follow

    def enqueue(self, job: Any, payload: Any = UNSET, **options: Unpack[RunOptions]) -> R:
        """Ask for one run of a job, now or at ``run_at``. The job is a name, or a call that was bound."""
        if not isinstance(job, str):
            payload = getattr(job, "payload", payload)
            job = getattr(job, "job", None) or getattr(job, "name", job)
        body = {"jobType": job} | ({} if payload is UNSET else {"payload": payload})
        return self._send(post(f"{API}/runs", body | given(**{camel(name): value for name, value in options.items()})))

    def get(self, ref: str) -> R:
        """The run with its attempts; one that is not there raises NotFound."""
        return self._send(get(path_of("runs", ref)))

    def list(
        self,
        *,
        schedule: str | None = None,
        job: str | None = None,
        workflow: str | None = None,
        status: str | None = None,
        owner: str | None = None,
        tenant: str | None = None,
        tags: Sequence[str] = (),
        attributes: Mapping[str, Any] | Sequence[Wanted] = (),
        limit: int = 50,
        cursor: str | None = None,
    ) -> R:
        """One page, newest first, without payloads and long results.

        ``tags`` and ``attributes`` are of workflows: ``{"customer": "ann", "amount": ("gte", 5)}``; all must fit.
        """
        query: dict[str, Any] = {"scheduleId": schedule, "jobType": job, "workflow": workflow, "status": status}
        query |= {"owner": owner, "tenant": tenant}
        query |= {"tag": write_tags(tags) or None, "attr": write_attributes(attributes) or None}
        return self._send(get(f"{API}/runs", query | {"limit": limit, "cursor": cursor}))

    def iterate(self, **filters: Any) -> Any:
        """All pages, one run after another; to be iterated with ``async for`` on an ``AsyncClient``."""
        return self._each(self.list, **filters)

    def wait(self, ref: str, timeout: float | None = None) -> R:
        """Wait until the run has ended and answer it; raise WaitTimeout after about ``timeout`` seconds."""
        return self._follow(_until_ended(ref, timeout))

    def cancel(self, ref: str, *, compensate: bool = False) -> R:
        """End a waiting run, tell a running one to stop; an ended one stays as it is.

        With ``compensate`` a workflow first undoes what its steps did.
        """
        body = {"compensate": True} if compensate else None
        return self._send(post(path_of("runs", ref, "cancel"), body, repeatable=True))

    def started(self, id: str, fence: int) -> R:
        """Tell that the receiver of a delivered run (``expect: ack``) has begun; its time counts from then.

        ``fence`` is the one that came with the message. An older one, or one that comes too late, raises LeaseLost.
        """
        return self._answer(id, "started", {"fence": fence})

    def completed(self, id: str, fence: int, result: Any = UNSET) -> R:
        """Tell that the receiver of a delivered run did it, and what came of it. Twice is fine."""
        return self._answer(id, "completed", {"fence": fence} | ({} if result is UNSET else {"result": result}))

    def failed(self, id: str, fence: int, error: str, *, fatal: bool = False) -> R:
        """Tell that the receiver of a delivered run failed: it is delivered again by its policy, unless ``fatal``."""
        return self._answer(id, "failed", {"fence": fence, "error": error, "fatal": fatal})

    def _answer(self, id: str, verb: str, body: Mapping[str, Any]) -> R:
        return self._send(post(path_of("runs", id, verb), body, repeatable=True))

    def dead(self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[DeadFilters]) -> R:
        """One page of the dead letters, newest first, without payloads."""
        return self._send(get(f"{API}/dead-letters", {**_named(filters), "limit": limit, "cursor": cursor}))

    def dead_groups(self, *, limit: int = 50, **filters: Unpack[DeadFilters]) -> R:
        """How many dead letters there are of each job and error, the largest group first."""
        return self._send(get(f"{API}/dead-letters:groups", {**_named(filters), "limit": limit}))

    def redrive(self, ref: str, payload: Any = UNSET, *, force: bool = False) -> R:
        """Let a dead run go again: the same run, or with another payload a new one that is linked to it."""
        body = {"force": force} if payload is UNSET else {"force": force, "payload": payload}
        # Sent twice it would redrive twice only if the run died again in between.
        return self._send(post(path_of("runs", ref, "redrive"), body, repeatable=True))

    def redrive_many(
        self,
        *,
        ids: Sequence[str] | None = None,
        force: bool = False,
        most: int | None = None,
        **filters: Unpack[DeadFilters],
    ) -> R:
        """Let many go again, oldest first: those of ``ids``, or all that fit. While ``more`` is true, ask again."""
        return self._send(post(f"{API}/dead-letters:redrive", {**_which(ids, most, filters), "force": force}))

    def acknowledge(self, id: str) -> R:
        """Take a run out of the dead letters; the answer counts it, or says why not."""
        return self.acknowledge_many(ids=[id])

    def acknowledge_many(
        self, *, ids: Sequence[str] | None = None, most: int | None = None, **filters: Unpack[DeadFilters]
    ) -> R:
        """Take runs out of the dead letters: those of ``ids``, or all that fit. While ``more`` is true, ask again."""
        return self._send(post(f"{API}/dead-letters:acknowledge", _which(ids, most, filters), repeatable=True))


def _until_ended(ref: str, timeout: float | None) -> Steps:
    waited, look = 0.0, FIRST_LOOK
    while True:
        run = yield get(path_of("runs", ref))
        if run["status"] in _ENDED:
            return dict(run)
        left = look if timeout is None else min(look, timeout - waited)
        if left <= 0:
            raise WaitTimeout(f"run {run['id']} is {run['status']} after {timeout} seconds", run_id=run["id"])
        yield Pause(left)
        waited, look = waited + left, min(LONGEST_LOOK, look * 2)


def _named(filters: DeadFilters) -> dict[str, Any]:
    return {_NAMES.get(name, name): value for name, value in filters.items() if value is not None}


def _which(ids: Sequence[str] | None, most: int | None, filters: DeadFilters) -> dict[str, Any]:
    which: dict[str, Any] = {"filter": _named(filters)} if ids is None else {"ids": many(ids)}
    return which | given(limit=most)
