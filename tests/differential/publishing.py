"""Events, as the model keeps what they start."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from duly.core.ids import named_run_id
from duly.core.on_event import EventHandler, Published
from duly.core.run import Run
from duly.core.steps import StepKind, StepStatus
from duly.runtime.clock import Clock
from duly.store.publishing import NewEvent
from duly.store.values import NewRequest


def _given(one: EventHandler, body: str) -> str:
    return "{}" if body == "null" and not one.job.startswith("workflow:") else body


class PublishingModel:
    """The part of the model that keeps handlers of events, the runs that gather, and ids."""

    _clock: Clock
    runs: dict[str, Any]
    steps: dict[tuple[str, int], Any]
    event_handlers: dict[tuple[str, str], EventHandler]
    gatherings: dict[tuple[str, str, str, str], tuple[str | None, int, int]]
    event_ids: dict[tuple[str, str, str], int]

    def _send(self, run_id: str, kind: StepKind, name: str, body: str | None, error: str | None) -> bool:
        raise NotImplementedError

    def _sees_run(self, run_id: str) -> bool:
        raise NotImplementedError

    async def enqueue(self, requests: Sequence[NewRequest]) -> list[Run]:
        raise NotImplementedError

    async def put_on_event(self, jobs: Sequence[str], handlers: Sequence[EventHandler]) -> None:
        self.event_handlers = {key: one for key, one in self.event_handlers.items() if one.job not in jobs}
        self.event_handlers |= {(one.event, one.job): one for one in handlers}

    async def list_on_event(self) -> list[EventHandler]:
        return [one for _, one in sorted(self.event_handlers.items())]

    async def publish_event(self, event: NewEvent) -> Published:
        now = self._clock.now()
        realm = (event.tenant, event.owner or "")
        if event.keep_ms:
            if self.event_ids.get((*realm, event.id), 0) > now:
                return Published(repeated=True)
            self.event_ids[*realm, event.id] = now + event.keep_ms
        handlers = [one for (name, _), one in sorted(self.event_handlers.items()) if name == event.name]
        touched = set()
        for one in handlers:
            if one.quiet_ms is None and one.most is None:
                touched.add(await self._start(event, one, event.body, None))
            else:
                touched.add(await self._take_in(event, one, now))
        waiting = {
            run_id
            for (run_id, _), step in self.steps.items()
            if (step.kind, step.status, step.name) == (StepKind.EVENT, StepStatus.ASKED, event.name)
            and self._sees_run(run_id)
        }
        told = sum(self._send(run_id, StepKind.EVENT, event.name, event.body, None) for run_id in sorted(waiting))
        return Published(told=told, runs=sorted(touched))

    async def _take_in(self, event: NewEvent, one: EventHandler, now: int) -> str:
        key = (event.name, one.job, event.tenant, event.owner or "")
        run_id, n, _ = self.gatherings.get(key, (None, 0, 0))
        run = self.runs.get(run_id or "")
        open_ = run is not None and (run.fence, run.claimed_by, run.hold, run.cancel_at) == (0, None, 0, None)
        if run is not None and run_id is not None and open_ and run.due_at > now:
            before = json.loads(run.payload) if one.quiet_ms is None else []
            payload = json.dumps([*before, json.loads(event.body)], separators=(",", ":"), ensure_ascii=False)
            if one.quiet_ms is not None:
                payload, run.due_at = _given(one, event.body), now + one.quiet_ms
                if one.within_ms is not None:
                    run.due_at = min(run.due_at, run.fired_at + one.within_ms)
            fits = one.quiet_ms is not None or (len(payload.encode()) <= event.limit and n < (one.most or 1))
            if not fits or (one.quiet_ms is None and n + 1 == one.most):
                run.due_at = now
            run.window_at = run.due_at
            if fits:
                run.payload = payload
                self.gatherings[key] = (run_id, n + 1, now)
                return run_id
        if one.quiet_ms is not None:
            made = await self._start(event, one, event.body, now + one.quiet_ms)
        else:
            made = await self._start(event, one, f"[{event.body}]", now + (one.within_ms or 0))
        self.gatherings[key] = (made, 1, now)
        return made

    async def _start(self, event: NewEvent, one: EventHandler, payload: str, run_at: int | None) -> str:
        name = one.job.removeprefix("workflow:") if one.job.startswith("workflow:") else f"job:{one.job}"
        request = NewRequest(
            id=named_run_id(event.space, f"evt:{event.id}:{name}"),
            job=one.job,
            payload=_given(one, payload),
            queue=one.queue,
            max_attempts=one.max_attempts,
            run_at=run_at,
            timeout_ms=one.timeout_ms,
            tenant=event.tenant,
            owner=event.owner,
            trace=event.trace,
        )
        (run,) = await self.enqueue([request])
        return run.id

    def _purge_published(self, limit: int) -> int:
        now = self._clock.now()
        ids = [key for key, expires_at in self.event_ids.items() if expires_at <= now][:limit]
        old = [k for k, (run_id, _, at) in self.gatherings.items() if at <= now - 60_000 and run_id not in self.runs]
        for key in ids:
            del self.event_ids[key]
        for place in old[:limit]:
            del self.gatherings[place]
        return len(ids) + len(old[:limit])

    def _published_rows(self) -> dict[str, list[Sequence[Any]]]:
        return {
            "event_handlers": [astuple(one) for one in self.event_handlers.values()],
            "gatherings": [(*key, *rest) for key, rest in self.gatherings.items()],
            "event_ids": [(*key, expires_at) for key, expires_at in self.event_ids.items()],
        }
