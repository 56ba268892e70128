"""``app.sync``: every method without ``await``, for Django, Flask, scripts and handlers in threads.

A call runs the very coroutine that ``await`` would run, in one step and on the calling thread, on a store whose calls
block (``store/direct.py``): no event loop, no thread of its own, and about ten microseconds on top of the database.
It uses the app's own store while the app is open in this process, else one that the first call opens.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from duly.core.errors import ConfigurationError
from duly.store.direct import run_direct

from .audits import Audits
from .calendars import Calendars
from .credentials import Keys
from .events import Events
from .firing import Firing
from .opener import Noun as AnyNoun
from .opener import Opener
from .operations import Operations
from .queues import Queues
from .runs import Runs
from .schedules import Schedules
from .webhooks import Webhooks
from .workflows import WorkflowRuns

Noun = TypeVar("Noun")
Given = ParamSpec("Given")
Answer = TypeVar("Answer")

__all__ = ["Opener", "Sync"]


def _kind_of(method: Callable[..., Any]) -> type[AnyNoun]:
    kinds: tuple[type[AnyNoun], ...] = (
        Schedules, Runs, WorkflowRuns, Queues, Calendars, Operations, Firing, Events, Keys, Audits,
        Webhooks,
    )  # fmt: skip
    return next(kind for kind in kinds if getattr(kind, method.__name__, None) is method)


class _Side:
    """One of the nouns without ``await``."""

    def __init__(self, opener: Opener, place: str) -> None:
        self._opener = opener
        self._place = place


class _Twin(Generic[Given, Answer]):
    """The blocking twin of a coroutine method, with the same parameters."""

    def __init__(self, method: Callable[Concatenate[Noun, Given], Coroutine[Any, Any, Answer]]) -> None:
        self._method: Callable[..., Coroutine[Any, Any, Answer]] = method
        self._kind = _kind_of(method)
        self.__doc__ = method.__doc__

    def __get__(self, side: _Side, owner: type | None = None) -> Callable[Given, Answer]:
        name = self._method.__name__

        def call(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
            _refuse_in_a_loop(f"{side._place}{name}")
            with side._opener.lent(self._kind) as noun:
                return run_direct(self._method(noun, *args, **kwargs))

        call.__name__, call.__doc__ = name, self.__doc__
        return call


class _TwinIterator(Generic[Given, Answer]):
    """The blocking twin of an async iterator."""

    def __init__(self, method: Callable[Concatenate[Noun, Given], AsyncIterator[Answer]]) -> None:
        self._method: Callable[..., AsyncIterator[Answer]] = method
        self._kind = _kind_of(method)
        self.__doc__ = method.__doc__

    def __get__(self, side: _Side, owner: type | None = None) -> Callable[Given, Iterator[Answer]]:
        name = self._method.__name__

        def call(*args: Given.args, **kwargs: Given.kwargs) -> Iterator[Answer]:
            with side._opener.lent(self._kind) as noun:
                items = self._method(noun, *args, **kwargs)
            while True:
                _refuse_in_a_loop(f"{side._place}{name}")
                with side._opener.lent(self._kind):
                    try:
                        item = run_direct(_next(items))
                    except StopAsyncIteration:
                        return
                yield item

        call.__name__, call.__doc__ = name, self.__doc__
        return call


class SyncSchedules(_Side):
    """``app.schedules`` without ``await``."""

    create = _Twin(Schedules.create)
    create_many = _Twin(Schedules.create_many)
    get = _Twin(Schedules.get)
    list = _Twin(Schedules.list)
    iterate = _TwinIterator(Schedules.iterate)
    update = _Twin(Schedules.update)
    put = _Twin(Schedules.put)
    check = _Twin(Schedules.check)
    apply = _Twin(Schedules.apply)
    reschedule = _Twin(Schedules.reschedule)
    preview = _Twin(Schedules.preview)
    upcoming = _Twin(Schedules.upcoming)
    coming = _Twin(Schedules.coming)
    late = _Twin(Schedules.late)
    stats = _Twin(Schedules.stats)
    forecast = _Twin(Schedules.forecast)
    outcomes = _Twin(Schedules.outcomes)
    minutes = _Twin(Schedules.minutes)
    lags = _Twin(Schedules.lags)
    changes = _Twin(Schedules.changes)
    pause = _Twin(Schedules.pause)
    resume = _Twin(Schedules.resume)
    cancel = _Twin(Schedules.cancel)
    delete = _Twin(Schedules.delete)
    trigger = _Twin(Schedules.trigger)
    backfill = _Twin(Schedules.backfill)
    pause_many = _Twin(Schedules.pause_many)
    resume_many = _Twin(Schedules.resume_many)
    cancel_many = _Twin(Schedules.cancel_many)
    delete_many = _Twin(Schedules.delete_many)
    trigger_many = _Twin(Schedules.trigger_many)
    count = _Twin(Schedules.count)
    plan = _Twin(Schedules.plan)
    begin_purge = _Twin(Schedules.begin_purge)


class SyncWorkflows(_Side):
    """``app.workflows`` without ``await``."""

    start = _Twin(WorkflowRuns.start)
    signal = _Twin(WorkflowRuns.signal)
    update = _Twin(WorkflowRuns.update)
    cancel = _Twin(WorkflowRuns.cancel)
    signal_with_start = _Twin(WorkflowRuns.signal_with_start)
    query = _Twin(WorkflowRuns.query)
    steps = _Twin(WorkflowRuns.steps)
    history = _Twin(WorkflowRuns.history)
    marks = _Twin(WorkflowRuns.marks)
    publish = _Twin(WorkflowRuns.publish)
    on_event = _Twin(WorkflowRuns.on_event)
    drop_on_event = _Twin(WorkflowRuns.drop_on_event)
    complete_task = _Twin(WorkflowRuns.complete_task)
    fail_task = _Twin(WorkflowRuns.fail_task)
    receive = _Twin(WorkflowRuns.receive)


class SyncRuns(_Side):
    """``app.runs`` without ``await``."""

    enqueue = _Twin(Runs.enqueue)
    enqueue_many = _Twin(Runs.enqueue_many)
    get = _Twin(Runs.get)
    list = _Twin(Runs.list)
    iterate = _TwinIterator(Runs.iterate)
    wait = _Twin(Runs.wait)
    cancel = _Twin(Runs.cancel)
    attempts = _Twin(Runs.attempts)
    dead = _Twin(Runs.dead)
    dead_groups = _Twin(Runs.dead_groups)
    redrive = _Twin(Runs.redrive)
    redrive_many = _Twin(Runs.redrive_many)
    acknowledge = _Twin(Runs.acknowledge)
    acknowledge_many = _Twin(Runs.acknowledge_many)


class SyncOperations(_Side):
    """``app.operations`` without ``await``."""

    get = _Twin(Operations.get)
    list = _Twin(Operations.list)
    begin = _Twin(Operations.begin)
    drive = _Twin(Operations.drive)


class SyncFiring(_Side):
    """``app.firing`` without ``await``."""

    state = _Twin(Firing.state)
    pause = _Twin(Firing.pause)
    resume = _Twin(Firing.resume)
    begin_resume = _Twin(Firing.begin_resume)
    restored = _Twin(Firing.restored)


class SyncQueues(_Side):
    """``app.queues`` without ``await``."""

    set = _Twin(Queues.set)
    pause = _Twin(Queues.pause)
    resume = _Twin(Queues.resume)
    get = _Twin(Queues.get)
    list = _Twin(Queues.list)


class SyncCalendars(_Side):
    """``app.calendars`` without ``await``."""

    put = _Twin(Calendars.put)
    get = _Twin(Calendars.get)
    list = _Twin(Calendars.list)
    iterate = _TwinIterator(Calendars.iterate)
    delete = _Twin(Calendars.delete)


class SyncWebhooks(_Side):
    """``app.webhooks`` without ``await``."""

    create = _Twin(Webhooks.create)
    get = _Twin(Webhooks.get)
    list = _Twin(Webhooks.list)
    iterate = _TwinIterator(Webhooks.iterate)
    update = _Twin(Webhooks.update)
    rotate = _Twin(Webhooks.rotate)
    delete = _Twin(Webhooks.delete)
    test = _Twin(Webhooks.test)


class SyncEvents(_Side):
    """``app.events`` without ``await``."""

    subscribe = _TwinIterator(Events.subscribe)


class SyncKeys(_Side):
    """``app.keys`` without ``await``."""

    create = _Twin(Keys.create)
    get = _Twin(Keys.get)
    list = _Twin(Keys.list)
    any = _Twin(Keys.any)
    rotate = _Twin(Keys.rotate)
    revoke = _Twin(Keys.revoke)
    caller = _Twin(Keys.caller)


class SyncAudits(_Side):
    """``app.audits`` without ``await``."""

    audit = _Twin(Audits.audit)
    page = _Twin(Audits.page)


class Sync(_Side):
    """The app for callers without an event loop; ``close`` it, use it in a ``with``, or leave that to the exit."""

    enqueue = _Twin(Runs.enqueue)
    audit = _Twin(Audits.audit)

    def __init__(self, opener: Opener) -> None:
        super().__init__(opener, "")
        self.schedules = SyncSchedules(opener, "schedules.")
        self.runs = SyncRuns(opener, "runs.")
        self.workflows = SyncWorkflows(opener, "workflows.")
        self.queues = SyncQueues(opener, "queues.")
        self.calendars = SyncCalendars(opener, "calendars.")
        self.operations = SyncOperations(opener, "operations.")
        self.firing = SyncFiring(opener, "firing.")
        self.events = SyncEvents(opener, "events.")
        self.keys = SyncKeys(opener, "keys.")
        self.webhooks = SyncWebhooks(opener, "webhooks.")
        self.audits = SyncAudits(opener, "audits.")

    def close(self) -> None:
        """Close what the first call opened; the next call opens it again."""
        self._opener.close()

    def __enter__(self) -> Self:
        """Open the store at once, so that it is ready before a transaction of the caller's holds the database."""
        self._opener.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _refuse_in_a_loop(name: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise ConfigurationError(
        f"app.sync.{name} was called inside a running event loop, which it would stop; write `await app.{name}(...)`"
    )


async def _next(items: AsyncIterator[Answer]) -> Answer:
    return await anext(items)
