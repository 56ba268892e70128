"""The shapes of what is answered about workflows."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta

from .shapes import Instant


class StepAnswer(TypedDict):
    """One thing that the body of a workflow asked for."""

    id: Annotated[str, Meta(description="the same on every try: what a step gives to others to do things once")]
    position: Annotated[int, Meta(description="from 1 in the order of asking; 0 is the start, below are undos")]
    kind: Literal["start", "step", "sleep", "signal", "event", "child", "spawn", "task", "value", "patch", "undo"]
    name: Annotated[str, Meta(description="as the code names it; of the start, the version")]
    status: Literal["asked", "done", "failed"]
    attempt: Annotated[int, Meta(description="how often it was tried")]
    dueAt: Annotated[Instant | None, Meta(description="when a sleep ends, a wait is given up or the next try is due")]
    result: Annotated[Any, Meta(description="what it answered")]
    error: str | None
    log: Annotated[list[list[str]], Meta(description="lines that the step wrote: level and text")]
    askedAt: Instant
    doneAt: Instant | None


class StepPage(TypedDict):
    """All steps; there is one page only."""

    items: list[StepAnswer]
    nextCursor: None
    bytes: Annotated[int, Meta(description="how long all results are together")]
    warning: Annotated[str | None, Meta(description="when that is nearly as much as one run may record")]


class UpdateAnswer(TypedDict):
    """What became of an update."""

    accepted: bool
    reason: Annotated[str | None, Meta(description="why its validator said no; nothing was changed then")]


class ValueAnswer(TypedDict):
    """What a run shows."""

    name: Annotated[str, Meta(description="as the body published it")]
    value: Annotated[Any, Meta(description="the newest; null if it has shown none")]
    published: Annotated[bool, Meta(description="whether it has shown any: it may have shown null")]


class PublishedAnswer(TypedDict):
    """What became of an event."""

    told: Annotated[int, Meta(description="how many runs that waited for it were told")]
    runs: Annotated[list[str], Meta(description="the ids of the runs that it started, or that gather it")]
    repeated: Annotated[bool, Meta(description="an event of this id was published before; nothing was done")]


class EventHandlerAnswer(TypedDict):
    """What an event starts."""

    event: Annotated[str, Meta(description="its name")]
    workflow: Annotated[str | None, Meta(description="null if it is a job")]
    jobType: Annotated[str | None, Meta(description="null if it is a workflow")]
    queue: str
    debounceMs: Annotated[int | None, Meta(description="one run when none has come for so long, with the newest")]
    batch: Annotated[int | None, Meta(description="one run for so many, with all payloads in a list")]
    withinMs: Annotated[int | None, Meta(description="or so long after the first")]


class EventHandlerPage(TypedDict):
    """All that events start; there is one page only."""

    items: list[EventHandlerAnswer]
    nextCursor: None


class EndedAnswer(TypedDict):
    """What became of the end of a task."""

    ended: Annotated[bool, Meta(description="false if it had ended before; the first end counts")]
