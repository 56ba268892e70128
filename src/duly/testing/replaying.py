"""Replay the record of a run against today's code: whether open runs of an old release can go on with a new one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from duly.core.run import Claim
from duly.core.steps import Step, StepKind, StepStatus, handler_name
from duly.engine.context import RunContext
from duly.workflow.body import Body
from duly.workflow.context import WorkflowContext
from duly.workflow.definition import Workflow
from duly.workflow.runner import outside

History = Mapping[str, Any]
"""What ``history_of`` makes: the run's id, its input and its steps, as JSON."""


def history_of(run_id: str, input: Any, steps: Iterable[Step]) -> History:
    """The record of a run as a value that can be kept in a file: ``json.dumps`` takes it as it is."""
    rows = [
        {name: getattr(step, name) for name in Step.__dataclass_fields__ if getattr(step, name) is not None}
        for step in steps
    ]
    return {"run": run_id, "input": input, "steps": rows}


def assert_replayable(workflow: Workflow, history: History | str | Path) -> None:
    """Replay a recorded run on a workflow's body; NonDeterminismError says where the code no longer fits.

    ``history`` is what ``history_of`` made of ``await app.workflows.steps(run)``, or the path of a file that holds it.
    Nothing is called and nothing is stored.
    """
    kept = history if isinstance(history, Mapping) else json.loads(Path(history).read_text("utf-8"))
    steps = [
        Step(**{**row, "kind": StepKind(row["kind"]), "status": StepStatus(row.get("status", "asked"))})
        for row in kept["steps"]
    ]
    began = next((step.asked_at for step in steps if step.kind is StepKind.START), 0)
    body = Body(kept["run"], [step for step in steps if step.kind is not StepKind.UNDO], began)
    context = WorkflowContext(body, _run(workflow, kept, began), workflow.version, lambda: began)
    given = (context, workflow.read_input(kept["input"])) if workflow.takes_input else (context,)
    _beside(lambda: body.start(workflow.function(*given)))
    broken = body.broken
    if body.task is not None and not body.task.done():
        body.task.cancel()
        _beside(body.loop.drain)
    if broken is not None:
        raise broken


def _beside(call: Callable[[], None]) -> None:
    """Run a body, in a test with an event loop or without one."""
    if asyncio._get_running_loop() is None:
        call()
    else:
        outside(call)


def _run(workflow: Workflow, history: History, began: int) -> RunContext:
    claim = Claim(
        id=history["run"],
        job=handler_name(workflow.name, workflow.version),
        kind="direct",
        queue="default",
        attempt=1,
        max_attempts=1,
        fence=1,
        payload=json.dumps(history["input"]),
        schedule_id=None,
        revision=None,
        window_at=began,
        due_at=began,
        fired_at=began,
        lane=None,
        timeout_ms=None,
        tenant="",
        definition=None,
    )
    return RunContext(claim)
