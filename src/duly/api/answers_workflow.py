"""Workflows as the API shows them."""

from __future__ import annotations

import json

from duly.core.instants import to_datetime
from duly.core.on_event import EventHandler, Published
from duly.core.steps import Step, parse_handler

from .answers import at
from .shapes_workflow import EventHandlerAnswer, PublishedAnswer, StepAnswer


def step_answer(run_id: str, step: Step) -> StepAnswer:
    return {
        "id": f"{run_id}:{step.position}",
        "position": step.position,
        "kind": step.kind.value,  # type: ignore[typeddict-item]  # a cancel is a message only
        "name": step.name,
        "status": step.status.value,
        "attempt": step.attempt,
        "dueAt": None if step.due_at is None else at(to_datetime(step.due_at)),
        "result": None if step.result is None else json.loads(step.result),
        "error": step.error,
        "log": json.loads(step.log or "[]"),
        "askedAt": at(to_datetime(step.asked_at)),
        "doneAt": None if step.done_at is None else at(to_datetime(step.done_at)),
    }


def published_answer(published: Published) -> PublishedAnswer:
    return {"told": published.told, "runs": list(published.runs), "repeated": published.repeated}


def event_handler_answer(handler: EventHandler) -> EventHandlerAnswer:
    workflow = parse_handler(handler.job)
    return {
        "event": handler.event,
        "workflow": None if workflow is None else workflow[0],
        "jobType": handler.job if workflow is None else None,
        "queue": handler.queue,
        "debounceMs": handler.quiet_ms,
        "batch": handler.most,
        "withinMs": handler.within_ms,
    }
