"""What may stand where a job's name is asked for: the name, the job itself, or a call bound to its payload."""

from __future__ import annotations

from typing import Any

from duly.core.errors import ValidationFailed
from duly.core.schedule import Target, TargetKind
from duly.core.steps import handler_name
from duly.engine.job import Call, Job
from duly.engine.registry import RESERVED, Registry
from duly.workflow.definition import Workflow

from .words import UNSET


def read_call(job: Any, payload: Any, registry: Registry) -> tuple[Any, Any]:
    """The name and the payload; a payload beside a bound call is one too many."""
    if isinstance(job, Call):
        if payload is not UNSET:
            raise ValidationFailed(
                f"payload is given twice: job {job.job!r} was bound to its own; leave out one of them", field="payload"
            )
        return job.job, job.payload
    if isinstance(job, Job):
        return job.name, payload
    if isinstance(job, Workflow):
        raise _not_a_job(job.name, f"; start it with {_start(job.name)}, or give a schedule workflow={job.name!r}")
    if callable(job):
        name = registry.name_of(job)
        if name is None:
            raise ValidationFailed(
                f"job is {job!r}, which is not registered here; decorate it with @app.job(...) or give a job's name",
                field="job",
                got=job,
                expected="a job, a bound job or a job's name",
            )
        return name, payload
    return job, payload


def is_job(name: object, registry: Registry) -> bool:
    """Whether a job of that name is known here."""
    return isinstance(name, str) and not name.startswith(RESERVED) and registry.get(name) is not None


def check_runnable(name: str, registry: Registry) -> None:
    """Refuse a run of a job that is known here as a workflow alone: no worker would ever take it."""
    if _is_workflow_alone(name, registry):
        raise _not_a_job(name, f"; start it with {_start(name)}")


def check_aimed(target: Target, registry: Registry) -> None:
    """The same for the target of a schedule, either way; what is not known here somebody else may know."""
    if target.kind is TargetKind.JOB and _is_workflow_alone(target.name, registry):
        raise _not_a_job(target.name, f"; write workflow={target.name!r}")
    if target.kind is TargetKind.WORKFLOW and registry.get(target.handler) is None and is_job(target.name, registry):
        raise ValidationFailed(
            f"workflow is {target.name!r}, which is a job here, and no workflow; write job={target.name!r}",
            field="workflow",
            got=target.name,
            expected="a workflow's name",
        )


def _is_workflow_alone(name: str, registry: Registry) -> bool:
    if registry.get(name) is not None or "@" in name:  # that parts a workflow's name from its version
        return False
    return registry.get(handler_name(name)) is not None


def _not_a_job(name: str, instead: str) -> ValidationFailed:
    return ValidationFailed(
        f"job is {name!r}, which is a workflow here, and no job{instead}",
        field="job",
        got=name,
        expected="a job's name",
    )


def _start(name: str) -> str:
    return f"app.workflows.start({name!r})"
