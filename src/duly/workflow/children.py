"""The runs that a body asks for: other workflows, and jobs in queues of their own."""

from __future__ import annotations

import msgspec

from duly.core.ids import child_run_id
from duly.core.steps import StepStatus, handler_name, parse_handler
from duly.engine.context import RunContext
from duly.store.journal import Child
from duly.store.values import NewRequest

from .body import Ask, Body
from .doing import ChildWork, StepWork
from .world import World

_encode = msgspec.json.Encoder().encode


def is_queued(ask: Ask) -> bool:
    """Whether a step is a run of its own."""
    return isinstance(ask.work, StepWork) and ask.work.queue is not None and ask.work.call is not None


def nobody_knows(work: ChildWork, world: World) -> str:
    """What to say of a workflow that nobody could run."""
    of = "" if work.version is None else f" in version {work.version!r}"
    known = [named for handler in world.registry if (named := parse_handler(handler.name)) is not None]
    versions = sorted(version for name, version in known if name == work.workflow and version is not None)
    here = f"; this app knows version {', '.join(versions)}" if versions else ""
    return f"workflow {work.workflow!r}{of} is known neither to this app nor to a live worker{here}"


async def unknown_child(body: Body, world: World) -> Ask | None:
    """A workflow that the body has just asked to wait for and that nobody could run: it would wait for ever."""
    for position in body.news.steps:
        ask = body.waiting.get(position)
        if ask is None or not isinstance(ask.work, ChildWork) or ask.step.status is not StepStatus.ASKED:
            continue
        if not await world.knows(handler_name(ask.work.workflow, ask.work.version)):
            return ask
    return None


def new_children(body: Body, run: RunContext, world: World) -> list[Child]:
    """The runs that the body has asked for since the last record."""
    made = [_workflow_run(0, work, run, world, awaited=False) for work in body.news.children]
    for position in body.news.steps:
        ask = body.waiting.get(position)
        if ask is None or ask.step.status is not StepStatus.ASKED:
            continue
        if isinstance(ask.work, ChildWork):
            made.append(_workflow_run(position, ask.work, run, world))
        elif is_queued(ask):
            made.append(_job_run(position, ask, run, world))
    return made


def _workflow_run(position: int, work: ChildWork, run: RunContext, world: World, *, awaited: bool = True) -> Child:
    request = NewRequest(
        id=work.id,
        job=handler_name(work.workflow, work.version),
        payload=_encode(work.input).decode(),
        queue=world.default_queue,
        max_attempts=world.max_attempts,
        timeout_ms=world.timeout_ms,
        tenant=world.tenant(run),
    )
    return Child(position=position, request=request, awaited=awaited)


def _job_run(position: int, ask: Ask, run: RunContext, world: World) -> Child:
    work: StepWork = ask.work
    assert work.call is not None
    assert work.queue is not None
    request = NewRequest(
        id=child_run_id(run.id, position, ask.step.asked_at),
        job=work.call.job,
        payload=_encode(work.call.payload).decode(),
        queue=work.queue,
        max_attempts=work.retry.max_attempts,
        timeout_ms=world.timeout_ms if work.timeout is None else round(work.timeout * 1000),
        tenant=world.tenant(run),
    )
    return Child(position=position, request=request)
