"""Workflows in a simulated life, and what must be true of them whatever happened.

A step's function starts only after everything before it is recorded. So each call is given what the body has seen, and
notes it: for one run all calls must agree on every value, and with what is in the store in the end. An attempt that
goes on with a value that was not recorded is found out by the next call.
"""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import msgspec

from duly.config import Settings
from duly.core.errors import SignalTimeout
from duly.core.policy import Retry
from duly.core.run import Run, RunStatus
from duly.core.steps import WORKFLOW, Step, StepKind, StepStatus, handler_name
from duly.engine.registry import Registry
from duly.store.values import NewRequest
from duly.workflow.context import WorkflowContext
from duly.workflow.definition import make_workflow
from duly.workflow.doing import current_step
from duly.workflow.handling import workflow_handler
from duly.workflow.world import World
from tests.simulation.node import Node

FLOW, LEAF = "flow", "leaf"
ON_PURPOSE = "ValueError: on purpose"
UNDONE = ("first", "second")
_decode = msgspec.json.Decoder().decode


@dataclass(slots=True)
class Ledger:
    """What the functions of steps were given and have answered, kept outside of the store."""

    seed: int
    pauses: Sequence[float] = (0, 0, 0.01, 0.5, 2)
    """How long a step takes."""
    calls: int = 0
    answers: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    seen: dict[str, set[tuple[Any, ...]]] = field(default_factory=lambda: defaultdict(set))

    async def act(self, node: Node, seen: Sequence[Any]) -> int:
        """A step: its answer is another one each time that it is called."""
        step = current_step()
        assert step is not None
        self.calls += 1
        run_id = step.id.rpartition(":")[0]
        self.seen[run_id].add(tuple(seen))
        luck = random.Random(f"{self.seed} {step.id} {self.calls}")
        await node.clock.wait(asyncio.Event(), luck.choice(self.pauses))
        if luck.random() < 0.1 and step.attempt < 3:
            raise ValueError("bad luck")
        answer = self.calls * 1000 + luck.randrange(1000)
        self.answers[step.id].append(answer)
        return answer


def new_flow(id: str, number: int, settings: Settings) -> NewRequest:
    """A workflow that people ask for."""
    return NewRequest(
        id=id,
        job=handler_name(FLOW),
        payload=str(number),
        queue="default",
        max_attempts=settings.default_max_attempts,
        timeout_ms=60_000,
    )


def add_flows(registry: Registry, node: Node, settings: Settings, ledger: Ledger) -> None:
    """Let a node know the workflows of a simulated life."""
    retry = Retry(max_attempts=3, delay=1, jitter=0)

    async def act(seen: Sequence[Any]) -> int:
        return await ledger.act(node, seen)

    async def undo(output: int) -> None:
        """Async, as all that runs here is: a thread would not be the same in every life."""

    async def leaf(ctx: WorkflowContext, input: list[Any]) -> int:
        return int(await ctx.step("only", act, input, retry=retry))

    async def flow(ctx: WorkflowContext, input: int) -> list[Any]:
        seen: list[Any] = []
        for name in UNDONE:
            seen.append(await ctx.step(name, act, tuple(seen), retry=retry, compensate=undo))
        seen += await asyncio.gather(*(ctx.step(name, act, tuple(seen), retry=retry) for name in "ab"))
        await ctx.sleep(seconds=input % 7)
        try:
            seen.append(await ctx.wait_for_signal("go", timeout=5))
        except SignalTimeout:
            seen.append("nobody")
        seen.append(await ctx.step("after", act, tuple(seen), retry=retry))
        seen.append(await ctx.child(LEAF, []))
        await ctx.step("last", act, tuple(seen), retry=retry)
        if input % 4 == 3:
            raise ValueError("on purpose")
        return seen

    worlds: list[World] = []

    def world() -> World:
        if not worlds:
            made = World(node.store, settings, node.clock, registry, node.wake, nullcontext)
            worlds.append(made)
        return worlds[0]

    for workflow in (make_workflow(FLOW, "1", flow), make_workflow(LEAF, "1", leaf)):
        for name in (workflow.handler, handler_name(workflow.name)):
            registry.put(workflow_handler(workflow, name, world))


def is_flow(run: Run) -> bool:
    return run.job.startswith(WORKFLOW)


def judge_flows(runs: Sequence[Run], journals: Mapping[str, Sequence[Step]], ledger: Ledger) -> list[str]:
    """What is wrong with the workflows; ``runs`` with their results, ``journals`` their steps."""
    findings: list[str] = []
    for run in runs:
        steps = journals[run.id]
        if not run.status.terminal:
            findings.append(f"workflow {run.id} is still {run.status.value}")
        if run.status is RunStatus.FAILED and run.reason != "lost" and not _meant_to_fail(run, steps):
            findings.append(f"workflow {run.id} failed: {run.error_message}")
        findings += _judge_answers(run, steps, ledger) + _judge_seen(run, steps, ledger)
    return findings


def _meant_to_fail(run: Run, steps: Sequence[Step]) -> bool:
    undone = [s.name for s in steps if s.kind is StepKind.UNDO and s.status is StepStatus.DONE]
    whole = sorted(undone) == sorted(f"compensate:{name}" for name in UNDONE)
    return run.error_message == ON_PURPOSE and whole


def _judge_answers(run: Run, steps: Sequence[Step], ledger: Ledger) -> list[str]:
    """What is recorded of a step is one of its answers."""
    return [
        f"workflow {run.id} has recorded {step.result} for {step.name}, which it never answered"
        for step in steps
        if step.kind is StepKind.STEP
        and step.status is StepStatus.DONE
        and _decode(step.result or "null") not in ledger.answers[f"{run.id}:{step.position}"]
    ]


def _recorded(steps: Sequence[Step]) -> tuple[Any, ...]:
    """What the body of a flow has seen, as far as it is in the store."""
    values: list[Any] = []
    for step in sorted(steps, key=lambda step: step.position):
        if step.kind not in (StepKind.STEP, StepKind.SIGNAL, StepKind.CHILD):
            continue
        if step.status is StepStatus.ASKED:
            break
        values.append(_decode(step.result or "null") if step.status is StepStatus.DONE else "nobody")
    return tuple(values)


def _judge_seen(run: Run, steps: Sequence[Step], ledger: Ledger) -> list[str]:
    """All calls were given the same values, as far as they had come; and those are what the run answers."""
    longest = max(ledger.seen[run.id], key=len, default=())
    findings = [
        f"workflow {run.id} went on with {seen} and with {longest}"
        for seen in sorted(ledger.seen[run.id], key=repr)
        if seen != longest[: len(seen)]
    ]
    recorded = _recorded(steps)
    if recorded[: len(longest)] != longest[: len(recorded)]:
        findings.append(f"workflow {run.id} went on with {longest}, and recorded is {recorded}")
    if run.status is RunStatus.COMPLETED and run.workflow == FLOW and tuple(run.result) != longest:
        findings.append(f"workflow {run.id} answered {run.result}, and its last step was given {longest}")
    return findings
