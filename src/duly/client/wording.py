"""The words of the Python interface become the fields of a body; what they hold is judged by the server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, TypedDict

from duly.core.policy import CatchUp, Retry
from duly.core.timing import Cron, Every, Jitter, Once, Timing

from .making import instant, many


class ScheduleOptions(TypedDict, total=False):
    """Everything about a schedule but its key and timing, as in ``app.schedules.create``."""

    name: str | None
    description: str | None
    job: Any
    workflow: str | None
    topic: str | None
    target: Mapping[str, Any] | None
    payload: Any
    retry: Retry | None
    timeout: float | None
    overlap: str
    catch_up: str | CatchUp
    jitter: Jitter | tuple[int, int] | None
    start_at: datetime | str | None
    end_at: datetime | str | None
    max_runs: int | None
    enabled: bool
    queue: str
    priority: int
    max_queued: int
    max_concurrent: int | None
    pause_after_failures: int | None
    fire_current_window: bool
    calendars: Iterable[str]
    exclude_dates: Iterable[date | str]
    fairness_key: str | None
    tags: Sequence[str]
    metadata: Mapping[str, str | None] | None


class ScheduleChanges(ScheduleOptions, total=False):
    """The same, and the timing."""

    timing: Timing | None


class RunOptions(TypedDict, total=False):
    """How a run that is asked for is to be run, as in ``app.enqueue``."""

    id: str | None
    run_at: datetime | str | None
    queue: str
    priority: int
    max_attempts: int | None
    fairness_key: str | None
    singleton: str | None
    max_running: int | None
    max_queued: int | None
    unique: str | None
    unique_for: float | str | None
    on_conflict: str | None


_OTHERWISE = {"overlap": "overlapPolicy", "timeout": "timeoutSeconds", "payload": "jobPayload"}


def schedule_body(words: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a schedule; a job that was bound brings its payload along."""
    body: dict[str, Any] = {}
    for word, value in words.items():
        match word:
            case "timing":
                body |= {} if value is None else timing_body(value)
            case "job":
                body |= _job(value)
            case "retry":
                body |= _retry(value)
            case "catch_up":
                body["catchUp"] = _catch_up(value)
            case "jitter":
                body["jitter"] = jitter_body(value)
            case "metadata":
                body["metadata"] = None if value is None else {camel(name): text for name, text in value.items()}
            case "calendars" | "exclude_dates" | "tags":
                body[camel(word)] = many(value, day_text)
            case _:
                body[_OTHERWISE.get(word, camel(word))] = instant(value)
    return body


def timing_body(timing: Timing | Mapping[str, Any]) -> dict[str, Any]:
    """A timing as a body has it; one that is a body already stays as it is."""
    if isinstance(timing, Mapping):
        return dict(timing)
    zone = {"timezone": timing.timezone}
    match timing:
        case Cron():
            dst = {"gap": str(timing.dst_gap), "fold": str(timing.dst_fold)}
            strict = {} if timing.strict_fields is None else {"strictFields": timing.strict_fields}
            return {"cronExpression": timing.expr, "dst": dst, **strict, **zone}
        case Every():
            anchor = timing.anchor if isinstance(timing.anchor, str) else timing.anchor.isoformat()
            return {"everyMs": timing.every_ms, "anchor": anchor, "afterCompletion": timing.after_completion, **zone}
        case Once():
            return {"onceAt": timing.at.isoformat(), "onPast": str(timing.on_past), **zone}
        case _:
            return {"timing": timing}  # nothing that the server knows: it says what it takes


def jitter_body(jitter: Jitter | tuple[int, int] | None) -> Any:
    if isinstance(jitter, tuple | list) and len(jitter) == 2:
        return {"minMs": jitter[0], "maxMs": jitter[1]}
    return {"minMs": jitter.min_ms, "maxMs": jitter.max_ms} if isinstance(jitter, Jitter) else jitter


def day_text(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _job(job: Any) -> dict[str, Any]:
    """A name, a job, or a call that was bound to its payload."""
    if job is None or isinstance(job, str):
        return {"jobType": job}
    name = getattr(job, "job", None) or getattr(job, "name", None) or job
    payload = {"jobPayload": job.payload} if hasattr(job, "payload") else {}
    return {"jobType": name, **payload}


def _retry(retry: Retry | None) -> dict[str, Any]:
    if retry is None:
        return {"maxAttempts": None, "retryPolicy": None}
    policy = {
        "backoff": str(retry.backoff),
        "delaySeconds": retry.delay,
        "maxDelaySeconds": retry.max_delay,
        "jitter": retry.jitter,
    }
    return {"maxAttempts": retry.max_attempts, "retryPolicy": policy}


def _catch_up(given: str | CatchUp) -> Any:
    if not isinstance(given, CatchUp):
        return {"policy": given}
    lateness = None if given.max_lateness is None else given.max_lateness / timedelta(seconds=1)
    return {"policy": str(given.policy), "maxLatenessSeconds": lateness, "maxRuns": given.max_runs}
