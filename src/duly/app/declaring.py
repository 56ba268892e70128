"""Declaring jobs, and schedules beside them, by decorators: the same on an app and on ``Jobs``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, Unpack, overload

from duly.core.errors import ConfigurationError
from duly.core.on_event import OnEvent
from duly.core.policy import Retry
from duly.core.timing import Cron, Every, Timing
from duly.engine.context import RunContext
from duly.engine.job import Job
from duly.engine.registry import Handler, check_job_name, make_handler
from duly.workflow.definition import Workflow, make_workflow

from .checking import check_words, timeout_in_ms
from .words import JOB_WORDS, UNSET, JobOptions, read_words

UNBOUNDED = 2**31
TIMED = ("cron", "every", "timezone", "on_event")
OF_JOBS = (*TIMED, "retry", "timeout", "process", "on_dead", "max_interruptions")
OF_WORKFLOWS = (*TIMED, "version", "updates", "execution_timeout", "run_tags")
EventLike = str | OnEvent
"""An event that starts runs: its name, or with how it is gathered."""

Given = ParamSpec("Given")
Rest = ParamSpec("Rest")
Result = TypeVar("Result")


class Decorator(Protocol):
    """Puts a job in the function's place; ``bind`` leaves out a leading parameter that is the context."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[RunContext, Rest], Result], /
    ) -> Job[Concatenate[RunContext, Rest], Rest, Result]: ...
    @overload
    def __call__(self, function: Callable[Given, Result], /) -> Job[Given, Given, Result]: ...


@dataclass(frozen=True, slots=True)
class Declaration:
    """A job or a workflow, and the arguments of ``create`` for the schedule that was declared with it."""

    handler: Handler | Workflow
    schedule: Mapping[str, Any] | None
    on_event: Sequence[OnEvent] = ()

    @property
    def name(self) -> str:
        return self.handler.handler if isinstance(self.handler, Workflow) else self.handler.name


class Declaring(ABC):
    """The decorators."""

    @abstractmethod
    def _declare(self, declaration: Declaration) -> None:
        """Take a job that was just declared, or refuse it."""

    def job(
        self,
        name: str | None = None,
        *,
        cron: str | Cron | None = None,
        every: str | Every | None = None,
        timezone: str | None = None,
        retry: Retry | None = None,
        timeout: float | None = UNSET,
        process: bool = False,
        on_dead: str | Job[..., ..., Any] | None = None,
        max_interruptions: int | None = None,
        on_event: EventLike | Sequence[EventLike] = (),
        **options: Unpack[JobOptions],
    ) -> Decorator:
        """Register a function as a job; with ``cron`` or ``every`` also declare a schedule of the same key.

        ``on_dead`` names the job that is run, once, when a run of this job has failed for good; ``on_event`` the
        events that start a run of it, whose payload is their arguments. A run that shutdowns and outages interrupt more
        than ``max_interruptions`` times ends failed; None leaves that to the setting of the same name.
        """
        if callable(name):
            raise ConfigurationError("@app.job needs parentheses: write @app.job() or @app.job('name')")
        if name is not None:
            check_job_name(name)
        check_words("job", options, JOB_WORDS, OF_JOBS)
        read_words(options, UNBOUNDED)  # a bad word is refused where it is written; the rest when the app starts
        timing = _timing(name, cron, every, timezone)
        events = _events(on_event)
        if timing is None and options:
            raise ConfigurationError(f"job {name!r} has {', '.join(options)} but neither cron nor every")

        def register(function: Any, /) -> Any:
            if isinstance(function, Job):
                function = function.function
            handler = make_handler(
                name or getattr(function, "__name__", "job").replace("_", "-"),
                function,
                process=process,
                retry=retry,
                timeout_ms=None if timeout is UNSET else timeout_in_ms(timeout),
                has_timeout=timeout is not UNSET,
                on_dead=on_dead.name if isinstance(on_dead, Job) else on_dead,
                max_interruptions=max_interruptions,
            )
            schedule = {"key": handler.name, **options, "timing": timing, "job": handler.name}
            self._declare(Declaration(handler, None if timing is None else schedule, events))
            return Job(handler.name, function, handler.arguments)

        return register

    def workflow(
        self,
        name: str | None = None,
        *,
        version: str = "1",
        updates: Mapping[str, Callable[[Any], Any]] | None = None,
        execution_timeout: float | None = None,
        run_tags: Sequence[str] = (),
        on_event: EventLike | Sequence[EventLike] = (),
        cron: str | Cron | None = None,
        every: str | Every | None = None,
        timezone: str | None = None,
        **options: Unpack[JobOptions],
    ) -> Callable[[Callable[..., Coroutine[Any, Any, Any]]], Workflow]:
        """Register ``async def body(ctx, input)`` as a version of a workflow; with ``cron`` or ``every`` also declare a
        schedule of the same key that starts it. ``updates`` are the functions that check an update by name,
        ``execution_timeout`` is how many seconds a run may take in all, with its sleeps; ``run_tags`` are tags of all
        its runs. ``on_event`` are the events that start a run, with their payload as its input."""
        if callable(name):
            raise ConfigurationError("@app.workflow needs parentheses: write @app.workflow() or @app.workflow('name')")
        if name is not None:
            check_job_name(name)
        check_words("workflow", options, JOB_WORDS, OF_WORKFLOWS)
        timing = _timing(name, cron, every, timezone)
        events = _events(on_event)
        if timing is None and options:
            raise ConfigurationError(f"workflow {name!r} has {', '.join(options)} but neither cron nor every")

        def register(function: Callable[..., Coroutine[Any, Any, Any]]) -> Workflow:
            title = name or getattr(function, "__name__", "workflow").replace("_", "-")
            made = make_workflow(title, version, function, updates, timeout_in_ms(execution_timeout), run_tags)
            schedule = {"key": title, **options, "timing": timing, "workflow": title}
            self._declare(Declaration(made, None if timing is None else schedule, events))
            return made

        return register

    def cron(
        self, expr: str | Cron, *, timezone: str | None = None, name: str | None = None, **options: Any
    ) -> Decorator:
        """Short for ``job(name, cron=...)``."""
        return self.job(name, cron=expr, timezone=timezone, **options)

    def every(self, every: str | Every, *, name: str | None = None, **options: Any) -> Decorator:
        """Short for ``job(name, every=...)``."""
        return self.job(name, every=every, **options)


def _events(given: EventLike | Sequence[EventLike]) -> tuple[OnEvent, ...]:
    events = [given] if isinstance(given, str | OnEvent) else list(given)
    return tuple(event if isinstance(event, OnEvent) else OnEvent(event) for event in events)


def _timing(name: str | None, cron: str | Cron | None, every: str | Every | None, zone: str | None) -> Timing | None:
    if cron is not None and every is not None:
        raise ConfigurationError(f"job {name!r} has both cron and every; give one of them")
    if zone is not None and not isinstance(cron, str):
        raise ConfigurationError(
            f"job {name!r} has timezone={zone!r}, which goes with cron='...' only: an interval counts real time,"
            " and Cron(...) has its own"
        )
    if cron is not None:
        return cron if isinstance(cron, Cron) else Cron(cron, zone or "UTC")
    if every is not None:
        return every if isinstance(every, Every) else Every(every)
    return None
