"""A workflow as a handler, which is all that the engine knows of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from duly.engine.context import RunContext
from duly.engine.registry import Handler, Mode
from duly.engine.signature import Arguments

from .definition import Workflow
from .runner import Stint
from .world import World

_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class _Input(Arguments):
    """A body takes its input whole, and through its context."""

    workflow: Workflow | None = None

    def check(self, payload: str) -> None:
        if self.workflow is not None:
            self.workflow.read_input(_decode(payload))


def workflow_handler(workflow: Workflow, name: str, world: Callable[[], World]) -> Handler:
    """The handler of a workflow, under the name of its version or of none."""

    async def go_on(run: RunContext) -> Any:
        kept = world().residents.take(run.id, run.fence)
        return await (Stint(workflow, run, world()).run() if kept is None else kept.resume(run))

    arguments = _Input(job=name, context="run", whole=None, fields={}, takes_rest=False, workflow=workflow)
    return Handler(name=name, function=go_on, mode=Mode.ASYNC, arguments=arguments)
