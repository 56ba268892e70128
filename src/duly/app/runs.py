"""``app.runs`` and ``app.enqueue``: what people do with runs."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack

from duly.config import Settings
from duly.core.errors import Conflict, EnqueueFailure, StoreError, WaitTimeout
from duly.core.ids import check_ref, is_id, is_name, named_run_id, parse_window_key, window_run_id
from duly.core.instants import to_ms
from duly.core.marks import Wanted, wanted_attributes, wanted_tags
from duly.core.policy import LEFT_RETRY, LEFT_TIMEOUT, Retry, choose
from duly.core.run import Run, RunStatus
from duly.core.schedule import DEFAULT_QUEUE, DEFAULT_TIMEOUT_MS
from duly.core.steps import handler_name
from duly.engine.registry import Registry, check_job_name
from duly.runtime.batcher import Batcher
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.runtime.tracing import Tracing, asking
from duly.store.sql import SqlStore
from duly.store.values import NewRequest, Page, RunFilter

from .calling import check_runnable, read_call
from .checking import (
    check_limit,
    check_list,
    check_patience,
    check_position,
    check_priority,
    check_queue,
    check_text,
    check_words,
    not_found,
    timeout_in_ms,
)
from .dead import DeadLetters
from .filtering import check_filters, naming
from .keys import read_singleton, read_unique
from .owning import ANYBODYS, Owning
from .paging import filled, walked
from .payload import encode_payload
from .words import UNSET, JobLike, RunFilters, RunOptions

FIRST_LOOK = 0.02
LONGEST_LOOK = 0.5
BULK = 1000


class Runs(DeadLetters):
    """Find runs, wait for them, cancel them, redrive them. Window keys (``sched:<key>:<ms>``) are accepted as ids."""

    def __init__(
        self,
        store: SqlStore,
        settings: Settings,
        registry: Registry,
        clock: Clock,
        chance: Chance,
        *,
        on_runs: Callable[[], None],
        on_cancel: Callable[[], None],
        owning: Owning = ANYBODYS,
        alone: bool = False,
        tracing: Tracing | None = None,
    ) -> None:
        self._tracing = tracing
        self._store = store
        self._settings = settings
        self._registry = registry
        self._clock = clock
        self._chance = chance
        self._on_runs = on_runs
        self._on_cancel = on_cancel
        self._owning = owning
        self._waiters: dict[str, set[asyncio.Event]] = defaultdict(set)
        batcher: Batcher[NewRequest, Run] = Batcher(self._enqueue, most=BULK)
        self._enqueue_one = batcher.put_alone if alone else batcher.put

    @property
    def _hides_stacks(self) -> bool:
        return self._owning.whose is not None and not self._settings.show_stacks

    async def enqueue(
        self, job: JobLike, payload: Any = UNSET, *, connection: Any = None, **options: Unpack[RunOptions]
    ) -> Run:
        """Ask for one run of a job, now or at ``run_at``; it is stored when this answers."""
        check_words("enqueue", options, RunOptions.__optional_keys__)
        request = self.request(job, payload, **options)
        with asking(self._tracing, "enqueue", {"run_id": request.id, "job": request.job}) as trace:
            run = await self._submit(_traced(request, trace), connection=connection)
        if run.job != request.job and run.id == request.id:
            raise Conflict(
                f"id {request.given_id!r} is that of a run of {run.job!r}, not of {request.job!r}; choose another id",
                path="id",
                got=request.given_id,
                run_id=run.id,
            )
        return run

    async def _submit(self, request: NewRequest, *, connection: Any = None) -> Run:
        """Store a request that was checked."""
        if connection is not None:
            (run,) = await self._store.enqueue([request], connection=connection)
            return run
        try:
            if request.guarded:  # alone: a refusal must not refuse what others ask for
                return (await self._enqueue([request]))[0]
            return await self._enqueue_one(request)
        except StoreError as error:
            raise _not_stored([request], error) from error

    async def enqueue_many(
        self, job: JobLike, payloads: Iterable[Any], *, connection: Any = None, **options: Unpack[RunOptions]
    ) -> list[Run]:
        """Ask for many runs of a job, one transaction per batch."""
        check_words("enqueue_many", options, RunOptions.__optional_keys__)
        requests = [
            self.request(job, payload, **options) for payload in check_list("enqueue_many", payloads, "payloads")
        ]
        made: list[Run] = []
        with asking(self._tracing, "enqueue", {"runs": len(requests)}) as trace:
            for start in range(0, len(requests), BULK):
                batch = [_traced(request, trace) for request in requests[start : start + BULK]]
                try:
                    made += await self._store.enqueue(batch, connection=connection)
                except StoreError as error:
                    raise _not_stored(batch, error) from error
                self._on_runs()
        return made

    async def get(self, ref: str) -> Run | None:
        """The run, or None."""
        run_id = await self._resolve(ref)
        return None if run_id is None else await self._store.get_run(run_id)

    @naming("runs.list")
    async def list(
        self,
        *,
        schedule: str | None = None,
        job: str | None = None,
        status: str | None = None,
        workflow: str | None = None,
        owner: str | None = None,
        tenant: str | None = None,
        tags: Sequence[str] = (),
        attributes: Mapping[str, Any] | Sequence[Wanted] = (),
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Run]:
        """One page, newest first, without payloads and long results. A ``workflow`` is meant in all its versions.

        ``tags`` and ``attributes`` are of workflows: ``{"customer": "ann", "amount": ("gte", 5)}``; all must fit.
        """
        wanted = None if status is None else choose(RunStatus, status, "status")
        check_filters(schedule=schedule, job=job, workflow=workflow, owner=owner, tenant=tenant)
        named = None if workflow is None else handler_name(workflow)
        marks = (*wanted_tags(tags), *wanted_attributes(attributes))
        where = RunFilter(
            tenant=tenant, owner=owner, schedule_id=schedule, job=job, status=wanted, workflow=named, marks=marks
        )
        if schedule is not None and not is_id(schedule):
            found = await self._store.get_schedule(schedule)
            if found is None:
                return Page([])
            where = replace(where, schedule_id=found.id)
        look = lambda most, after: self._store.list_runs(where, limit=most, after=after)
        return await filled(look, check_limit(limit), check_position(cursor), self._clock)

    async def iterate(self, **filters: Unpack[RunFilters]) -> AsyncIterator[Run]:
        """All pages, one run after another."""
        async for run in walked(self.list, **filters):
            yield run

    async def wait(self, ref: str, timeout: float | None = None) -> Run:
        """Wait until the run has ended and answer it; raise WaitTimeout after ``timeout`` seconds."""
        check_patience(timeout)
        run_id = await self._resolve(ref)
        if run_id is None:
            raise not_found("run", ref)
        deadline = None if timeout is None else self._clock.steady() + timeout
        event = asyncio.Event()
        self._waiters[run_id].add(event)
        look = FIRST_LOOK
        try:
            while True:
                event.clear()
                run = await self._store.get_run(run_id)
                if run is None:
                    raise not_found("run", ref)
                if run.status.terminal:
                    return run
                left = look if deadline is None else min(look, deadline - self._clock.steady())
                if left <= 0:
                    raise WaitTimeout(f"run {run_id} is {run.status.value} after {timeout} s", run_id=run_id)
                await self._clock.wait(event, left)
                look = min(LONGEST_LOOK, look * 2)
        finally:
            self._waiters[run_id].discard(event)
            if not self._waiters[run_id]:
                del self._waiters[run_id]

    async def _newest(self, run_id: str) -> Run | None:
        """The run; one that went on as a new run (``continue_as_new``) is followed to what it is now."""
        run = await self._store.get_run(run_id)
        if run is not None and not run.went_on:
            return run
        heir = await self._store.read_heir(run_id)
        run = run if heir is None else await self._store.get_run(heir)
        while run is not None and run.went_on_as is not None:  # not asked for by its first id, or below another
            following = await self._store.get_run(run.went_on_as)
            if following is None:
                break
            run = following
        return run

    async def cancel(self, ref: str) -> Run:
        """End a waiting run, tell a running one to stop; an ended one stays as it is.

        One that went on as a new run (``continue_as_new``) is followed to what it is now.
        """
        run_id = await self._resolve(ref)
        run = None if run_id is None else await self._store.request_cancel(run_id)
        while run_id is not None and (run is None or run.went_on):
            newest = await self._newest(run_id)
            if newest is None or (run is not None and newest.id == run.id):
                break
            run = await self._store.request_cancel(newest.id)
        if run is None:
            raise not_found("run", ref)
        self._on_cancel()
        self._on_runs()  # the end of one that waited may let another one go
        self.ended({run.id: run.status})
        return run

    def ended(self, ended: Mapping[str, RunStatus]) -> None:
        """Wake those who wait for these runs."""
        if self._waiters:
            for run_id in ended:
                for event in self._waiters.get(run_id, ()):
                    event.set()

    def request(
        self,
        job: JobLike,
        payload: Any = UNSET,
        *,
        run_at: datetime | None = None,
        queue: str = DEFAULT_QUEUE,
        priority: int = 0,
        max_attempts: int | None = None,
        timeout: float | None = UNSET,
        id: str | None = None,
        tenant: str = "",
        fairness_key: str | None = None,
        singleton: str | None = None,
        max_running: int | None = None,
        max_queued: int | None = None,
        unique: str | None = None,
        unique_for: float | str | None = None,
        on_conflict: str | None = None,
    ) -> NewRequest:
        """Check the arguments of ``enqueue``; the answer is ready to be stored."""
        tenant = self._owning.tenant(check_text(tenant, "tenant", 128) or "")
        name, payload = read_call(job, payload, self._registry)
        handler = self._registry.get(check_job_name(name))
        check_runnable(name, self._registry)
        text = encode_payload({} if payload is UNSET else payload, self._settings.payload_limit)
        if handler is not None:
            handler.arguments.check(text)
        left = 0
        if max_attempts is None:
            left |= LEFT_RETRY
            max_attempts = (
                handler.retry.max_attempts if handler and handler.retry else self._settings.default_max_attempts
            )
        else:
            Retry(max_attempts=max_attempts)
        if timeout is UNSET:
            left |= LEFT_TIMEOUT
            timeout_ms = handler.timeout_ms if handler and handler.has_timeout else DEFAULT_TIMEOUT_MS
        else:
            timeout_ms = timeout_in_ms(timeout)
        due_at = None if run_at is None else to_ms(run_at, "run_at")
        given_id = self._chance.id(self._clock, due_at) if id is None else id  # lists are in this order
        return NewRequest(
            id=given_id if id is None and self._owning.whose is None else self._owning.run_id(given_id, tenant),
            given_id=given_id,
            job=name,
            payload=text,
            queue=check_queue(queue),
            max_attempts=max_attempts,
            run_at=due_at,
            priority=check_priority(priority),
            timeout_ms=timeout_ms,
            tenant=tenant,
            fairness_key=check_text(fairness_key, "fairness_key", 200),
            owner=self._owning.owner,
            singleton=read_singleton(singleton, max_running=max_running, max_queued=max_queued, run_at=run_at),
            unique=read_unique(unique, unique_for=unique_for, on_conflict=on_conflict),
            left_to_job=left if handler is None else 0,  # where it is known, what it says is said above
        )

    def _new_id(self) -> str:
        return self._chance.id(self._clock)

    def _wake(self) -> None:
        """Something that a worker may wait for has come."""
        self._on_runs()

    async def _enqueue(self, requests: Sequence[NewRequest]) -> Sequence[Run]:
        runs = await self._store.enqueue(requests)
        self._on_runs()
        return runs

    async def _resolve(self, ref: str) -> str | None:
        check_ref(ref, "a run")
        if is_id(ref):
            return await self._resolve_id(ref)
        named = parse_window_key(ref)
        if named is None:
            return named_run_id(self._owning.space(""), ref) if is_name(ref) else None
        schedule = await self._store.get_schedule(named[0])
        return None if schedule is None else window_run_id(schedule.id, named[1])

    async def _resolve_id(self, id: str) -> str:
        """Return the run id that is meant: the id itself, or for an owner the run that they chose it for."""
        if self._owning.whose is None or await self._store.get_run(id) is not None:
            return id
        return self._owning.run_id(id)


def _traced(request: NewRequest, trace: str | None) -> NewRequest:
    return request if trace is None else replace(request, trace=trace)


def _not_stored(requests: Sequence[NewRequest], error: StoreError) -> EnqueueFailure:
    ids = [request.given_id or request.id for request in requests]
    return EnqueueFailure(
        f"{len(ids)} run(s) may not have been stored: {error}; trying again with the same id, {ids[0]!r}, is safe",
        id=ids[0],
        ids=ids,
    )
