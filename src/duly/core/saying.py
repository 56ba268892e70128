"""Arguments that can be said in two ways, and must be said in one."""

from __future__ import annotations

from typing import Any

from .errors import ValidationFailed


def job_said_once(call: Any, job: Any) -> Any:
    """The job that stands before the options; one among them is one too many."""
    if job is not None:
        raise ValidationFailed(f"job is given twice: {call!r} and {job!r}; leave out one of them", field="job")
    return call
