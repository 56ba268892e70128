"""Celery beat: the entries of ``beat_schedule``, and rows of django-celery-beat from a dump or from its tables.

Celery is not imported here: its schedules are known by their attributes. A crontab of Celery fires where all of its
fields agree, also both days, where ours fires on either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from .values import (
    Body,
    Imported,
    Left,
    cron,
    interval,
    job_of,
    key_of,
    name_of,
    named_arguments,
    payload,
    without_none,
)

CRON_FIELDS = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
# As beat does: one run for what was missed, no second try, no time limit, and runs may overlap.
AS_BEAT_DOES: Body = {
    "overlapPolicy": "allow",
    "catchUp": {"policy": "latest"},
    "maxAttempts": 1,
    "timeoutSeconds": None,
}
EXPIRES_NOTE = "expires: windows that are later are dropped; a run that waits for a worker is not"
PRIORITY_NOTE = "priority: here a higher number goes first"
DROPPED = ("exchange", "routing_key", "headers", "countdown", "eta", "link", "link_error", "time_limit", "retry")


def read_beat(app: Any, into: Imported, target: str | None = None) -> None:
    """Take over the ``beat_schedule`` of a Celery app; with a target, its workers go on executing the tasks."""
    conf = getattr(app, "conf", None)
    entries = getattr(conf, "beat_schedule", None)
    if not isinstance(entries, Mapping):
        raise Left("it has no conf.beat_schedule; expected a Celery app")
    timezone = str(getattr(app, "timezone", None) or getattr(conf, "timezone", None) or "UTC")
    tasks = getattr(app, "tasks", {})
    for name, entry in entries.items():
        try:
            _carry(str(name), entry, timezone, tasks, into, target)
        except Left as left:
            into.leave(str(name), _told(entry), str(left))


def _carry(name: str, entry: Any, timezone: str, tasks: Any, into: Imported, target: str | None) -> None:
    if not isinstance(entry, Mapping) or "schedule" not in entry:
        raise Left("expected a task and a schedule")
    options = dict(entry.get("options") or {})
    task = job_of(entry.get("task"))
    function = getattr(tasks[task], "run", None) if task in tasks else None
    body: Body = {
        "name": name_of(name),
        **timing_of(entry["schedule"], timezone, relative=bool(entry.get("relative"))),
        **call_of(task, entry.get("args"), entry.get("kwargs"), function, target),
        **AS_BEAT_DOES,
    }
    notes = take_options(body, options)
    into.carry(name, key_of(name), body, *notes)


def call_of(task: str, args: Any, kwargs: Any, function: Any = None, target: str | None = None) -> Body:
    """What is to be done: a job of ours, or the task itself, sent to Celery's own workers through a target."""
    if target is None:
        return {"jobType": task, "jobPayload": named_arguments(args, kwargs, function)}
    if args and not kwargs:
        given = payload(list(args))
    elif args and function is None:
        raise Left("it has arguments by position and by name, and a message holds either; give all of them as keywords")
    else:
        given = named_arguments(args, kwargs, function)
    return {"target": {"kind": "queue", "name": target, "headers": {"task": task}}, "jobPayload": given}


def timing_of(schedule: Any, timezone: str, *, relative: bool = False) -> Body:
    """The timing of a schedule of Celery, by what it has."""
    kind = type(schedule).__name__
    if hasattr(schedule, "_orig_minute"):
        zone = str(getattr(schedule, "tz", None) or timezone)
        return crontab({name: getattr(schedule, f"_orig_{name}") for name in CRON_FIELDS}, zone)
    if kind == "solar":
        raise Left(f"it follows the sun ({getattr(schedule, 'event', '?')}), and we know only clocks")
    if isinstance(schedule, timedelta):
        return every(schedule, relative=relative)
    if isinstance(schedule, int | float) and not isinstance(schedule, bool):
        return every(timedelta(seconds=schedule), relative=relative)
    run_every = getattr(schedule, "run_every", None)
    if isinstance(run_every, timedelta):
        return every(run_every, relative=relative or bool(getattr(schedule, "relative", False)))
    raise Left(f"its schedule is a {kind}; expected a crontab, an interval or a number of seconds")


def every(length: timedelta, *, relative: bool) -> Body:
    """An interval counts from when it begins; a relative one from round times, as ours from the epoch."""
    milliseconds = interval(length / timedelta(milliseconds=1))
    return {"everyMs": milliseconds, "anchor": "epoch" if relative else "start"}


def crontab(fields: Mapping[str, Any], timezone: str) -> Body:
    words = {name: _field(fields[name]) for name in CRON_FIELDS}
    if words["day_of_month"] != "*" and words["day_of_week"] != "*":
        raise Left(
            f"day of month {words['day_of_month']} and weekday {words['day_of_week']}: Celery fires where both agree,"
            " and we where either does; name one of them, and let the job look at the other"
        )
    return cron(" ".join(words[name] for name in CRON_FIELDS).upper(), timezone)


def _field(value: Any) -> str:
    if isinstance(value, str):
        return "".join(value.split())
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Iterable):
        return ",".join(sorted(map(str, value), key=lambda part: (len(part), part)))
    raise Left(f"a field of its crontab is {value!r}; expected text, a number or numbers")


def take_options(body: Body, options: dict[str, Any]) -> list[str]:
    """Put options of a task into a body; answer what differs."""
    notes: list[str] = []
    if options.get("queue") and "target" in body:
        notes.append("queue: the one of the target holds for all that it sends")
    elif options.get("queue"):
        body["queue"] = str(getattr(options["queue"], "name", options["queue"]))
    if options.get("priority") is not None:
        body["priority"] = int(options["priority"])
        notes.append(PRIORITY_NOTE)
    expires = options.get("expires")
    if isinstance(expires, timedelta):
        expires = expires.total_seconds()
    if isinstance(expires, int | float) and not isinstance(expires, bool):
        body["catchUp"] = {"policy": "latest", "maxLatenessSeconds": float(expires)}
        notes.append(EXPIRES_NOTE)
    elif isinstance(expires, datetime):
        if expires.tzinfo is None:
            raise Left("it expires at an instant without an offset, which could be any; give it one")
        body["endAt"] = expires.isoformat()
    dropped = [name for name in DROPPED if options.get(name) not in (None, "", {})]
    if dropped:
        notes.append(f"not carried over: {', '.join(dropped)}")
    return notes


def _told(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return str(entry)
    return f"{entry.get('task')} by {entry.get('schedule')!r}"


PERIODS = {"days": 86_400_000, "hours": 3_600_000, "minutes": 60_000, "seconds": 1000, "microseconds": 0.001}
_TASK, _CRONTAB, _INTERVAL, _CLOCKED, _SOLAR = (
    f"django_celery_beat.{name}"
    for name in ("periodictask", "crontabschedule", "intervalschedule", "clockedschedule", "solarschedule")
)
_OWN = "celery.backend_cleanup"


def read_dump(rows: Any, into: Imported, target: str | None = None) -> None:
    """Take over what ``manage.py dumpdata django_celery_beat`` wrote, or what was read from its tables."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "model" in row for row in rows):
        raise Left("expected the list that `manage.py dumpdata django_celery_beat` writes")
    known = {(row["model"], row.get("pk")): row.get("fields", {}) for row in rows}
    tasks = [row.get("fields", {}) for row in rows if row["model"] == _TASK]
    if not tasks:
        raise Left(f"it holds no row of {_TASK}; expected what `manage.py dumpdata django_celery_beat` writes")
    for fields in tasks:
        name = str(fields.get("name") or fields.get("task"))
        try:
            _carry_row(name, fields, known, into, target)
        except Left as left:
            into.leave(name, str(fields.get("task")), str(left))


def _carry_row(
    name: str, fields: dict[str, Any], known: Mapping[Any, dict[str, Any]], into: Imported, target: str | None
) -> None:
    if fields.get("task") == _OWN:
        raise Left("it clears up Celery's own results, and goes with Celery")
    if fields.get("one_off") and fields.get("total_run_count"):
        raise Left("it was to run once, and did")
    body: Body = {
        "name": name_of(name),
        **_row_timing(fields, known),
        **call_of(
            job_of(fields.get("task")),
            _json(fields.get("args"), list),
            _json(fields.get("kwargs"), dict),
            target=target,
        ),
        **AS_BEAT_DOES,
        "enabled": bool(fields.get("enabled", True)),
    }
    body |= without_none({"startAt": fields.get("start_time"), "description": fields.get("description") or None})
    if fields.get("one_off") and "onceAt" not in body:
        body["maxRuns"] = 1
    options = {**fields, "expires": fields.get("expire_seconds"), "headers": _json(fields.get("headers"), dict)}
    notes = take_options(body, options)
    if fields.get("expires"):
        body["endAt"] = fields["expires"]
    into.carry(name, key_of(name), body, *notes)


def _row_timing(fields: dict[str, Any], known: Mapping[Any, dict[str, Any]]) -> Body:
    if fields.get("solar") is not None:
        event = known.get((_SOLAR, fields["solar"]), {}).get("event", "?")
        raise Left(f"it follows the sun ({event}), and we know only clocks")
    for column, model in (("crontab", _CRONTAB), ("interval", _INTERVAL), ("clocked", _CLOCKED)):
        if fields.get(column) is None:
            continue
        found = known.get((model, fields[column]))
        if found is None:
            raise Left(f"its {column} {fields[column]!r} is not in the dump; dump the whole app django_celery_beat")
        if column == "crontab":
            return crontab(found, str(found.get("timezone") or "UTC"))
        if column == "clocked":
            return {"onceAt": found.get("clocked_time")}
        if found.get("period") not in PERIODS:
            raise Left(f"its period is {found.get('period')!r}; expected one of {', '.join(PERIODS)}")
        return {"everyMs": interval(found["every"] * PERIODS[found["period"]]), "anchor": "start"}
    raise Left("it has no crontab, interval or clocked time")


def _json(text: Any, kind: type) -> Any:
    import json

    if not text:
        return kind()
    try:
        value = json.loads(text) if isinstance(text, str) else text
    except ValueError as error:
        raise Left(f"its arguments are not JSON: {error}") from error
    if not isinstance(value, kind):
        raise Left(f"its arguments are {payload(value)}; expected a {kind.__name__}")
    return value
