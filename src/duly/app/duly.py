"""``Duly``: what a user makes. It declares jobs, owns the instance and opens nothing until it runs."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from copy import copy
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from duly.config import Settings, database_url
from duly.core.errors import ConfigurationError
from duly.core.run import Run
from duly.core.steps import handler_name
from duly.core.version import VERSION
from duly.engine.error_reports import Redact
from duly.engine.instance import Instance, World
from duly.engine.job import Job
from duly.engine.listening import Listeners, is_arrival
from duly.engine.middleware import Middleware, check_middleware
from duly.engine.registry import Registry
from duly.runtime.chance import Chance
from duly.runtime.clock import BlockingClock, Clock, SystemClock
from duly.runtime.events import LogObserver, Observer, Observers
from duly.store.sql import SqlStore
from duly.targets.delivering import Surroundings
from duly.workflow.definition import Workflow, Workflows
from duly.workflow.handling import workflow_handler
from duly.workflow.world import World as WorkflowWorld

from .audits import Audits
from .ballots import make_ballot
from .building import Builder
from .calendars import Calendars
from .checking import check_list
from .credentials import Keys
from .declared import Declared
from .declaring import Declaration, Declaring
from .driving import Driving
from .dying import check_on_dead
from .events import Events
from .firing import Firing
from .jobs import Jobs
from .lending import Lending
from .life import Caller, Life, Lifespan, call_now, check_lifespan, check_roles, check_settings, enter_lifespan
from .notifying import tell_webhooks
from .opener import Nouns
from .operations import Operations
from .outside import Given, Outside
from .owning import ANYBODYS, Owning
from .queues import Queues
from .requests import Requests
from .runs import Runs
from .schedules import Schedules
from .signals import run_alone, until_signalled
from .starting import Started
from .stores import open_store, own_transaction, tell_of_weak_points
from .sync import Opener, Sync
from .telling import Telling, check_event
from .tracing import make_tracing
from .webhooks import Webhooks
from .words import UNSET, JobLike, RunOptions
from .workflows import WorkflowRuns

NOT_OPEN = "this app is not open; use `async with app:`, or `await app.open()` if it is only to create and to look"
LAST_WORDS = 1.0
"""Seconds that listeners have to hear what happened last."""

Wrapper = TypeVar("Wrapper", bound=Middleware)
Told = TypeVar("Told", bound=Callable[[Any], Any])
Dead = TypeVar("Dead", bound=Callable[..., Any])


class Duly(Declaring):
    """A scheduler and worker inside your process.

    Use it as ``async with app:`` in a running event loop, or call ``app.run()``, which blocks and owns the signals.
    ``schedules`` are declared as with decorators: arguments of ``create``, upserted by key when the app starts.
    ``name`` tells apart apps that share a database; ``sync`` says whether the code or the database decides about
    declared schedules. ``targets`` are places outside that schedules may name: ``{"mail": "redis://host/0"}``.
    ``lifespan`` makes an async context manager of the app; handlers find what it yields in ``run.state``.
    ``tracer_provider`` is OpenTelemetry's, if not the process's own (setting ``tracing``).
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        roles: Sequence[str] = ("scheduler", "worker"),
        name: str | None = None,
        schedules: Sequence[Mapping[str, Any]] = (),
        sync: str = "update_from_code",
        lifespan: Lifespan | None = None,
        targets: Mapping[str, Given] | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
        chance: Chance | None = None,
        observers: Sequence[Observer] = (),
        tracer_provider: Any = None,
    ) -> None:
        self.name = name
        self._tracer_provider = tracer_provider
        self._given_url = url
        self._given_settings = settings
        self._sync = sync
        self._lifespan = check_lifespan(lifespan)
        self._outside = Outside(targets)
        self._clock = clock or SystemClock()
        self._chance = chance or Chance()
        self._registry = Registry()
        self._workflows = Workflows()
        self._included: list[Jobs] = []
        self._on_dead: str | None = None
        self._started = Started()
        # Asked for when they are needed: before it runs, an app may be given another store, and in tests another clock.
        self._listeners = Listeners(self._registry, lambda: self._clock.now(), lambda id: self._store.get_schedule(id))
        self._telling = Telling(self._clock)
        self._tells_of_runs = False
        self._observers = Observers([LogObserver(), *observers])
        self.sync = Sync(Opener(lambda: self._life, self._open_apart, self._nouns_alone))
        self._assemble(database_url(url), check_settings(settings), check_roles(roles))
        for declared in check_list("schedules", schedules, "mappings"):
            self._declared.add(declared)

    def _assemble(self, url: str, settings: Settings, roles: tuple[str, ...]) -> None:
        """Put the parts together; before the app runs it may be done again, for another store or other settings."""
        self.url, self.settings, self._roles = url, settings, roles
        self._store: SqlStore = open_store(url, self._clock, keys=settings.payload_keys)
        self._store.closed_until_open(NOT_OPEN)
        self._store.on_call(self._observers.store_called, self._clock)
        self._tracing = make_tracing(settings, self._clock, self._tracer_provider)
        self._store.tell_traces(self._tracing is not None)
        self._world = WorkflowWorld(
            self._store,
            settings,
            self._clock,
            self._registry,
            lambda: self._life.tell(Instance.wake_worker),
            partial(own_transaction, url),
        )
        self._life = Life(self._store)
        self._owning = ANYBODYS
        self._builder = self._make_builder(settings, ANYBODYS)
        self._declared = Declared(
            self._store, self._builder, self._clock, app=self.name, sync=self._sync, scheduler="scheduler" in roles
        )
        self._name_nouns()
        self.lending = Lending(
            self._store, self.settings, self._registry, self._clock, self._chance, on_ended=self.runs.ended
        )
        self._driving = Driving(self.operations)

    def _make_builder(self, settings: Settings, owning: Owning) -> Builder:
        return Builder(settings, self._registry, self._clock, self._chance, owning, self._outside, self._tracing)

    def _name_nouns(self) -> None:
        nouns = self._nouns(self._store, self._clock, call_now)
        self.schedules, self.runs, self.workflows = nouns[:3]
        self.queues, self.calendars, self.operations, self.firing, self.events, self.keys = nouns[3:9]
        self.audits, self.webhooks = nouns[9:]
        self.audit = self.audits.audit
        self.requests = Requests(self._store, self._owning)

    def acting_for(self, owning: Owning) -> Duly:
        """This app as one owner sees it: what is not theirs is not there, and what they make is theirs.

        For servers, which know who calls. It shares everything with this app, and lives as long.
        """
        view = copy(self)
        view._owning = owning
        view.settings = owning.bounded(self.settings)
        view._builder = self._make_builder(view.settings, owning)
        if owning.whose is not None:
            view._store = self._store.seen_by(owning.whose)
        view._name_nouns()
        view.events, view.keys = self.events, self.keys  # one feed for all; whoever reads says of whom they may hear
        return view

    def _nouns(self, store: SqlStore, clock: Clock, call: Caller, *, alone: bool = False) -> Nouns:
        tell = partial(call, self._life.tell)
        wake = partial(tell, Instance.wake_scheduler)
        operations = Operations(store, self.settings, clock, self._chance, on_step=partial(tell, Instance.many_changed))
        schedules = Schedules(
            store,
            self.settings,
            self._builder,
            clock,
            self._chance,
            operations,
            on_schedules=wake,
            on_pause=lambda end: tell(lambda instance: instance.pause_set(end)),
            on_runs=partial(tell, Instance.wake_worker),
            on_cancel=partial(tell, Instance.cancel_soon),
            tell=partial(call, self._telling.schedules_changed),
            expected_now=self._life.expected_now,
            owning=self._owning,
            alone=alone,
        )
        runs = Runs(
            store,
            self.settings,
            self._registry,
            clock,
            self._chance,
            on_runs=partial(tell, Instance.wake_worker),
            on_cancel=partial(tell, Instance.cancel_soon),
            owning=self._owning,
            alone=alone,
            tracing=self._tracing,
        )
        workflows = WorkflowRuns(store, self.settings, self._workflows, runs)
        hides = partial(self._outside.hides, self._owning)
        queues = Queues(store, on_runs=partial(tell, Instance.wake_worker), hides=hides)
        calendars = Calendars(store, clock, self._chance)
        firing = Firing(store, clock, self._chance, operations, on_schedules=wake)
        events = Events(store, clock, lambda: alone or self._life.is_open)
        keys = Keys(store, clock, self._chance)
        webhooks = Webhooks(
            store, self.settings, clock, self._chance, on_runs=partial(tell, Instance.wake_worker), owning=self._owning
        )
        audits = Audits(store)
        return schedules, runs, workflows, queues, calendars, operations, firing, events, keys, audits, webhooks

    def _nouns_alone(self, store: SqlStore) -> Nouns:
        """The nouns for a thread without an event loop."""
        return self._nouns(store, BlockingClock(self._clock), self._life.call_soon, alone=True)

    def _open_apart(self) -> SqlStore:
        return open_store(self.url, self._clock, apart=True, keys=self.settings.payload_keys)

    async def enqueue(
        self, job: JobLike, payload: Any = UNSET, *, connection: Any = None, **options: Unpack[RunOptions]
    ) -> Run:
        """Ask for one run of a job; see ``Runs.enqueue``."""
        return await self.runs.enqueue(job, payload, connection=connection, **options)

    @property
    def clock(self) -> Clock:
        """The clock that this app was given, or the real one."""
        return self._clock

    def include(self, jobs: Jobs) -> None:
        """Bring in jobs that were declared without an app."""
        if not isinstance(jobs, Jobs):
            raise ConfigurationError(f"include got {jobs!r}; expected duly.Jobs()")
        if jobs in self._included:
            raise ConfigurationError("these jobs are included already; include them once")
        self._included.append(jobs)
        jobs._give(self._declare)

    def middleware(self, function: Wrapper) -> Wrapper:
        """Wrap every attempt in ``async def name(run, call_next)``; the one declared first is the outermost.

        It runs on the event loop, whatever kind the handler is: around a thread's work, around a handler's process.
        What the handler raises comes out of ``await call_next(run)``, and of a process only its text.
        """
        self._check_not_running("a middleware")
        self._registry.around.middleware.append(check_middleware(function))
        return function

    def on(self, event: str) -> Callable[[Told], Told]:
        """Call a function, async or not, for every event of that name.

        ``schedule.arrived`` and ``schedule.<topic>.arrived`` bring a ScheduleArrived; the run fails if a listener
        does, and is tried again. The others (``run.completed``, ``schedule.paused``, ...) bring an Event, only of what
        this process does, and a listener that fails changes nothing.
        """
        check_event(event)
        self._check_not_running("a listener")

        def register(function: Told) -> Told:
            if is_arrival(event):
                self._listeners.add(event, function)
            else:
                self._telling.add(event, function)
                if event in Telling.OF_RUNS and not self._tells_of_runs:
                    self._tells_of_runs = True  # it is on the path of every run, so only where somebody listens
                    self._observers.add(self._telling)
            return function

        return register

    def redact_errors(self, function: Redact) -> Redact:
        """Decorate ``def function(text: str) -> str``: what it returns is kept of the message and the stack of errors.

        It is called for every failed attempt, in the process that runs the handler. If it raises, nothing is kept.
        """
        if not callable(function) or inspect.iscoroutinefunction(function):
            raise ConfigurationError(f"redact_errors is {function!r}; expected `def function(text: str) -> str`")
        self._registry.around.redact = function
        return function

    def on_dead(self, function: Dead) -> Dead:
        """Run a function once for every run of this app's jobs that has failed for good; it takes ``dead: DeadLetter``.

        It is a job of its own, kept by the transaction that ended the run: a crash neither loses nor doubles it.
        Decorate it with ``@app.job(...)`` below this for a name, a retry policy or a timeout. A job's own ``on_dead``
        comes first. Its own death tells nobody.
        """
        job = function if isinstance(function, Job) else self.job()(function)
        if self._on_dead not in (None, job.name):
            raise ConfigurationError(f"{self._on_dead!r} is told of dead runs already; there can be one for the app")
        handler = self._registry.get(job.name)
        if handler is not None:
            check_on_dead(handler)
        self._on_dead = job.name
        return function

    def _declare(self, declaration: Declaration) -> None:
        self._check_not_running("a job")
        if isinstance(declaration.handler, Workflow):
            self._declare_workflow(declaration.handler)
        else:
            self._registry.add(declaration.handler)
        self._started.add(declaration, self._workflows)
        if declaration.schedule is not None:
            self._declared.add(declaration.schedule)

    def _declare_workflow(self, workflow: Workflow) -> None:
        self._workflows.add(workflow)
        self._registry.put(workflow_handler(workflow, workflow.handler, lambda: self._world))
        newest = self._workflows.get(workflow.name) or workflow
        # Runs that no worker has begun yet have no version; they take the newest.
        self._registry.put(workflow_handler(newest, handler_name(workflow.name), lambda: self._world))

    def _check_not_running(self, what: str) -> None:
        if self._life.begun:
            raise ConfigurationError(f"{what} was declared while the app runs; declare it before it starts")

    async def open(self) -> None:
        """Open the store without firing or working: enough to create and look."""
        await self._life.open()

    async def close(self) -> None:
        await self._driving.stop()
        await self._life.close()

    async def start(self) -> None:
        """Open the store, sync the declared schedules, start this instance's roles."""
        await self._life.start(self._prepare)

    async def _prepare(self, stack: AsyncExitStack) -> Instance:
        if self._lifespan is not None:
            self._registry.around.state = await enter_lifespan(self._lifespan, self, stack)
        await self._declared.sync(knows_jobs=bool(self._registry.names))
        if "worker" in self._roles:
            surroundings = Surroundings(
                clock=self._clock,
                observer=self._observers,
                most=self.settings.concurrency,
                find=self._store.read_schedules,
                pause=self.schedules.pause,
            )
            await self._outside.open(self._registry, stack, surroundings)
            tell_webhooks(self._registry, self._store, self.settings, surroundings, stack)
            self._store.on_notified(partial(self._life.call_soon, self._life.tell, Instance.wake_worker))
        await self._started.keep(self._store, self._registry, self.settings, self._on_dead)
        await tell_of_weak_points(self._store)
        world = World(
            store=self._store,
            settings=self.settings,
            clock=self._clock,
            chance=self._chance,
            observers=self._observers,
            heartbeat_thread=isinstance(self._clock, SystemClock),
            ballot=await make_ballot(self.settings, self._store, stack),
            tracing=self._tracing,
        )
        instance = Instance(world, self._registry, roles=self._roles, name=self.name, version=VERSION)
        instance.on_ended(self.runs.ended)
        instance.on_change(self.lending.changed)
        self._telling.start()
        stack.push_async_callback(self._telling.stop, LAST_WORDS)
        return instance

    async def stop(self, grace: float | None = None) -> None:
        """Stop claiming, finish within ``grace`` seconds, give the rest back at once without spending an attempt."""
        await self._driving.stop()
        await self._life.stop(self.settings.shutdown_timeout if grace is None else grace)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def run(self) -> None:
        """Run until SIGTERM or SIGINT: finish within the grace, release the rest. A second signal exits now."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            run_alone(self._run)
        else:
            raise ConfigurationError("app.run() was called inside a running event loop; use `async with app:` there")

    async def _run(self) -> None:
        async with until_signalled() as signalled, self:
            await signalled.wait()

    @property
    def _instance(self) -> Instance | None:
        return self._life.instance
