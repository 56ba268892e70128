"""APScheduler 3: its jobs as objects or as JSON. A job store's own rows are pickles, and are never read.

A cron trigger of APScheduler fires where all of its fields agree, counts weekdays from Monday, and has years, weeks and
seconds; what ours cannot say is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any

from .values import Body, Imported, Left, cron, interval, job_of, key_of, name_of, named_arguments
from .weekdays import days_of, weekdays_of

FIELDS = ("year", "month", "day", "week", "day_of_week", "hour", "minute", "second")
LEAST = {"month": "1", "day": "1", "hour": "0", "minute": "0", "second": "0"}
LONGEST_LATENESS = 315_360_000
GRACE = 10
_WORDS = frozenset(
    {"id", "name", "func", "args", "kwargs", "trigger", "coalesce", "max_instances", "misfire_grace_time", "paused"}
)
INTERVAL_PARTS = ("weeks", "days", "hours", "minutes", "seconds")

Job = Mapping[str, Any]
_UNSET = object()


def read_scheduler(scheduler: Any, into: Imported) -> None:
    """Take over the jobs that a scheduler object has."""
    get_jobs = getattr(scheduler, "get_jobs", None)
    if get_jobs is None:
        four = hasattr(scheduler, "get_schedules")
        raise Left(
            "it is a scheduler of APScheduler 4; only those of version 3 can be read, or a list of jobs as JSON"
            if four
            else "it has no get_jobs(); expected a scheduler of APScheduler 3"
        )
    defaults = getattr(scheduler, "_job_defaults", {})  # not filled in before the scheduler is started
    for job in get_jobs():
        _take(str(job.id), str(job.trigger), partial(job_of_object, job, defaults), into)


def read_list(jobs: Any, into: Imported) -> None:
    """Take over a list of jobs, each with the words of ``add_job`` and its trigger as an object."""
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise Left("expected a JSON list of jobs, each an object with id, func and trigger")
    for number, job in enumerate(jobs, 1):
        _take(str(job.get("id") or f"job {number}"), str(job.get("trigger")), partial(_job_of_json, job), into)


def _take(place: str, what: str, read: Callable[[], Job], into: Imported) -> None:
    try:
        _carry(place, read(), into)
    except Left as left:
        into.leave(place, what, str(left))


def _job_of_json(job: Job) -> Job:
    strange = job.keys() - _WORDS
    if strange:
        raise Left(f"it has {sorted(strange)[0]!r}; expected some of {', '.join(sorted(_WORDS))}")
    return job


def job_of_object(job: Any, defaults: Mapping[str, Any] = MappingProxyType({})) -> Job:
    """A job object, as the JSON form has it."""
    trigger = job.trigger
    kind = type(trigger).__name__
    if kind == "CronTrigger":
        told: dict[str, Any] = {"type": "cron", **{field.name: str(field) for field in trigger.fields}}
    elif kind == "IntervalTrigger":
        told = {"type": "interval", "seconds": trigger.interval / timedelta(seconds=1)}
    elif kind == "DateTrigger":
        told = {"type": "date", "run_date": trigger.run_date}
    else:
        raise Left(f"its trigger is of the kind {kind}; expected a CronTrigger, an IntervalTrigger or a DateTrigger")
    for name in ("start_date", "end_date", "jitter"):
        told[name] = getattr(trigger, name, None)
    # One that was not started yet has no such attribute; None is a job that was paused.
    next_run_time = getattr(job, "next_run_time", _UNSET)
    begins = told["start_date"]
    if kind == "IntervalTrigger" and next_run_time is _UNSET and begins is not None and begins.microsecond:
        told["start_date"] = None  # nobody gave it: it is when the program was imported
    told["timezone"] = str(getattr(trigger, "timezone", None) or "UTC")
    return {
        "id": job.id,
        "name": job.name,
        "func": getattr(job, "func_ref", None) or getattr(job.func, "__qualname__", None),
        "function": job.func,
        "args": job.args,
        "kwargs": job.kwargs,
        "trigger": told,
        "coalesce": getattr(job, "coalesce", defaults.get("coalesce", True)),
        "max_instances": getattr(job, "max_instances", defaults.get("max_instances", 1)),
        "misfire_grace_time": getattr(job, "misfire_grace_time", defaults.get("misfire_grace_time", 1)),
        "paused": next_run_time is None,
    }


def _carry(place: str, job: Job, into: Imported) -> None:
    trigger = job.get("trigger")
    if not isinstance(trigger, Mapping) or trigger.get("type") not in _TIMINGS:
        raise Left(f"its trigger is {trigger!r}; expected an object with type cron, interval or date")
    notes: list[str] = []
    name = str(job.get("name") or job.get("id") or job.get("func"))
    body: Body = {
        "name": name_of(name),
        **_TIMINGS[trigger["type"]](trigger),
        "jobType": job_of(job.get("func")),
        "jobPayload": named_arguments(job.get("args"), job.get("kwargs"), job.get("function")),
        "maxAttempts": 1,
        "timeoutSeconds": None,
        "catchUp": _catch_up(job, notes),
        **_overlap(job, notes),
    }
    for theirs, ours in (("start_date", "startAt"), ("end_date", "endAt")):
        if trigger.get(theirs) and trigger["type"] != "date":
            body[ours] = instant(trigger[theirs], theirs)
    jitter = trigger.get("jitter")
    if jitter:
        if trigger["type"] == "date":
            raise Left("it has a jitter, and what fires once has none here")
        body["jitter"] = {"minMs": 0, "maxMs": round(float(jitter) * 1000)}
        notes.append("jitter: here it only delays, there it may also be early")
    if job.get("paused"):
        body["enabled"] = False
    into.carry(place, key_of(str(job.get("id") or name)), body, *notes)


def _cron(trigger: Mapping[str, Any]) -> Body:
    given = {name: str(trigger[name]).strip().lower() for name in FIELDS if trigger.get(name) is not None}
    strange = trigger.keys() - {*FIELDS, "type", "timezone", "start_date", "end_date", "jitter"}
    if strange:
        raise Left(f"its cron trigger has {sorted(strange)[0]!r}; expected some of {', '.join(FIELDS)}")
    # What is finer than the finest field that was given is at its least, the rest is any.
    finest = max((FIELDS.index(name) for name in given), default=len(FIELDS))
    words = {
        name: given.get(name) or (LEAST.get(name, "*") if place > finest else "*") for place, name in enumerate(FIELDS)
    }
    for name in ("year", "week"):
        if words[name] != "*":
            raise Left(f"it names a {name} ({words[name]}), which a cron expression here has not")
    day, by_day = days_of(words["day"])
    weekday = weekdays_of(words["day_of_week"])
    if (by_day is not None and weekday != "*") or (day != "*" and weekday != "*"):
        raise Left(
            f"day {words['day']} and weekday {words['day_of_week']}: APScheduler fires where both agree, and we where"
            " either does; name one of them, and let the job look at the other"
        )
    parts = [words["minute"], words["hour"], day, words["month"], by_day or weekday]
    if words["second"] != "0":
        parts.insert(0, words["second"])
    return cron(" ".join(parts).upper(), str(trigger.get("timezone") or "UTC"))


def _interval(trigger: Mapping[str, Any]) -> Body:
    strange = trigger.keys() - {*INTERVAL_PARTS, "type", "timezone", "start_date", "end_date", "jitter"}
    if strange:
        raise Left(f"its interval trigger has {sorted(strange)[0]!r}; expected some of {', '.join(INTERVAL_PARTS)}")
    try:
        length = timedelta(**{name: float(trigger[name]) for name in INTERVAL_PARTS if trigger.get(name)})
    except (TypeError, ValueError, OverflowError) as error:
        raise Left(f"its interval cannot be read: {error}") from error
    anchor = instant(trigger["start_date"], "start_date") if trigger.get("start_date") else "start"
    return {"everyMs": interval(length / timedelta(milliseconds=1)), "anchor": anchor}


def _date(trigger: Mapping[str, Any]) -> Body:
    if not trigger.get("run_date"):
        raise Left("its date trigger has no run_date")
    return {"onceAt": instant(trigger["run_date"], "run_date")}


_TIMINGS = {"cron": _cron, "interval": _interval, "date": _date}


def instant(value: Any, what: str) -> str:
    """An instant with an offset, as text."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            raise Left(f"its {what} is {value[:40]!r}; expected one such as 2027-03-15T14:00:00+00:00") from error
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise Left(f"its {what} is {value}; expected an instant with an offset")
    return value.isoformat()


def _catch_up(job: Job, notes: list[str]) -> Body:
    grace = job.get("misfire_grace_time", 1)
    if grace is not None and float(grace) < GRACE:
        notes.append(f"misfire_grace_time {grace:g} s: here a window less than {GRACE} s late always fires")
    lateness = LONGEST_LATENESS if grace is None else min(float(grace), LONGEST_LATENESS)
    return {"policy": "latest" if job.get("coalesce", True) else "all", "maxLatenessSeconds": lateness}


def _overlap(job: Job, notes: list[str]) -> Body:
    most = int(job.get("max_instances", 1) or 1)
    if most == 1:
        return {"overlapPolicy": "skip"}
    notes.append(f"max_instances {most}: here the next one waits, there it is dropped")
    return {"overlapPolicy": "allow", "maxConcurrent": most}
