"""What may stand where a job's name is asked for: the name, the job itself, or a call bound to its payload."""

from __future__ import annotations

from typing import Any

from duly.core.errors import ValidationFailed
from duly.engine.job import Call, Job
from duly.engine.registry import Registry

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
