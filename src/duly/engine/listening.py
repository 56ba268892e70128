"""Listeners of topics: one run calls them all, and fails if any of them does."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from duly.core.errors import ConfigurationError, Fatal
from duly.core.instants import to_datetime
from duly.core.schedule import Schedule
from duly.core.topics import ANY_TOPIC, ARRIVED, ScheduleArrived, handler_of, topic_of_event, topic_of_handler

from .containing import contain, contain_in_thread, is_async
from .context import RunContext
from .registry import Handler, Mode, Registry
from .signature import Arguments

Listener = Callable[[ScheduleArrived], Any]
_CONTEXT_ONLY = Arguments(job="topic", context="run", whole=None, fields={}, takes_rest=True)
_NOBODY = {"owner_id": None, "tenant_id": None, "correlation_id": None, "client_request_id": None}


class Listeners:
    """Who listens to which topic; known to the registry as one handler per topic, or one for all."""

    def __init__(
        self, registry: Registry, now: Callable[[], int], find: Callable[[str], Awaitable[Schedule | None]]
    ) -> None:
        self._registry = registry
        self._now = now
        self._find = find
        self._by_event: dict[str, list[Listener]] = {}

    def add(self, event: str, listener: Listener) -> None:
        """Call ``listener`` for every arrival under that name."""
        check_listener(event, listener)
        topic = topic_of_event(event)
        name = ANY_TOPIC if topic is None else handler_of(topic)
        self._by_event.setdefault(event, []).append(listener)
        if name not in self._registry.names:
            self._registry.add(Handler(name=name, function=self._arrive, mode=Mode.ASYNC, arguments=_CONTEXT_ONLY))

    async def _arrive(self, run: RunContext, **_: Any) -> None:
        event = await self._event(run)
        listeners = [listener for name in event.names for listener in self._by_event.get(name, ())]
        answers = await asyncio.gather(*(call_listener(one, event) for one in listeners), return_exceptions=True)
        failures = [answer for answer in answers if isinstance(answer, BaseException)]
        if failures:
            # While one of them may still succeed, the run is tried again.
            raise next((failure for failure in failures if not isinstance(failure, Fatal)), failures[0])

    async def _event(self, run: RunContext) -> ScheduleArrived:
        claim = run._claim
        schedule = None if claim.schedule_id is None else await self._find(claim.schedule_id)
        return ScheduleArrived(
            id=run.id,
            scheduled_job_id=claim.schedule_id or run.id,
            topic=topic_of_handler(run.job) or "",
            user_payload=run.payload,
            metadata=_NOBODY if schedule is None else schedule.metadata,
            timezone="UTC" if claim.definition is None else claim.definition.timing.timezone,
            original_scheduled_at=run.scheduled_at,
            fired_at=to_datetime(self._now()),
            attempt=run.attempt,
            max_attempts=run.max_attempts,
            window_key=run.window_key,
        )


async def call_listener(listener: Callable[[Any], Any], event: Any) -> None:
    """Call a listener, one that is not async in a thread."""
    if is_async(listener):
        await contain(listener(event))
    else:
        answer = await asyncio.to_thread(contain_in_thread, partial(listener, event))
        if inspect.isawaitable(answer):  # of an async function behind a decorator that is not
            await contain(answer)


def check_listener(event: str, listener: Any) -> None:
    """Refuse what cannot be called with one event."""
    try:
        inspect.signature(listener).bind(None)
    except (TypeError, ValueError):
        raise ConfigurationError(
            f"the listener of {event!r} is {listener!r}; expected a function that takes the event"
        ) from None


def is_arrival(event: str) -> bool:
    """Whether an event's name is one of an arrival."""
    return event == ARRIVED or topic_of_event(event) is not None
