"""Schedules as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duly.cli.printing import Sheet, Table, printer
from duly.cli.times import in_words, instant_ms, local, moment, moment_cell, relative, system_now

Answer = dict[str, Any]


def show_schedule(schedule: Answer, words: str | None = None) -> None:
    """Print a schedule, and say what was done to it."""
    out = printer()
    if words is not None:
        out.say(words)
    out.show(schedule, lambda: schedule_sheet(schedule, system_now()), names=[schedule["key"]])


def schedule_table(schedules: Sequence[Answer], empty: str) -> Table:
    now = system_now()
    rows = [
        [
            item["key"],
            state_of(item),
            timing_of(item),
            item["timezone"],
            target_of(item),
            _cell(item["nextFireAt"], item["timezone"], now),
            _cell(item["lastFiredAt"], item["timezone"], now),
        ]
        for item in schedules
    ]
    return Table(["KEY", "STATUS", "WHEN", "TIMEZONE", "WHAT", "NEXT", "LAST"], rows, marked=1, empty=empty)


def schedule_sheet(schedule: Answer, now: int) -> Sheet:
    """Everything that is worth a line: what is as usual is left out."""
    zone = schedule["timezone"]

    def at(name: str) -> str | None:
        return moment(schedule[name], zone, now) if schedule[name] else None

    rows: list[tuple[str, str | None]] = [
        ("key", schedule["key"]),
        ("id", schedule["id"]),
        ("name", schedule["name"] if schedule["name"] != schedule["key"] else None),
        ("description", schedule["description"]),
        ("status", state_of(schedule)),
        ("paused", _pause_of(schedule, zone, now)),
        ("when", timing_of(schedule)),
        ("means", _meaning(schedule)),
        ("timezone", zone),
        ("what", target_of(schedule)),
        ("payload", _json(schedule["jobPayload"]) if schedule.get("jobPayload") not in (None, {}) else None),
        ("next window", at("nextWindowAt")),
        ("next fire", at("nextFireAt") if schedule["nextFireAt"] != schedule["nextWindowAt"] else None),
        ("last fired", at("lastFiredAt")),
        ("last error", schedule["lastError"]),
        ("calendars", ", ".join(schedule["calendars"]) or None),
        ("excludes", ", ".join(schedule["excludeDates"]) or None),
        ("starts", at("startAt")),
        ("ends", at("endAt")),
        ("max runs", _text(schedule["maxRuns"])),
        ("attempts", f"up to {schedule['maxAttempts']}"),
        ("timeout", _timeout(schedule["timeoutSeconds"])),
        ("overlap", schedule["overlapPolicy"]),
        ("catch-up", schedule["catchUp"]["policy"]),
        ("queue", schedule["queue"] if schedule["queue"] != "default" else None),
        ("priority", _text(schedule["priority"] or None)),
        ("tags", ", ".join(schedule["tags"]) or None),
        ("owner", schedule["metadata"]["ownerId"]),
        ("tenant", schedule["metadata"]["tenantId"]),
        ("revision", str(schedule["revision"])),
        ("created", _created(schedule, zone, now)),
    ]
    return Sheet([(name, value) for name, value in rows if value is not None])


def show_windows(answer: Answer, zone: str) -> None:
    """Print windows to come."""
    now, items = system_now(), answer["items"]

    def view() -> Table:
        noted = any(item["note"] for item in items)
        moved = any(item["fireAt"] != item["windowAt"] for item in items)
        head = ["LOCAL TIME", "UTC", *(["FIRES"] if moved else []), "FROM NOW", *(["NOTE"] if noted else [])]
        rows = []
        for item in items:
            at, fire = instant_ms(item["windowAt"]), instant_ms(item["fireAt"])
            row = [local(at, zone), item["windowAt"], *([f"+{in_words(fire - at)}"] if moved else [])]
            rows.append([*row, relative(fire, now), *([item["note"] or ""] if noted else [])])
        return Table(head, rows, empty="no windows to come")

    printer().show(answer, view, names=[item["windowAt"] for item in items])


def state_of(schedule: Answer) -> str:
    """The status in one word: paused and overdue are told before active."""
    if not schedule["enabled"] and schedule["status"] in ("pending", "active"):
        return "paused"
    return "overdue" if schedule["health"] == "overdue" else str(schedule["status"])


def timing_of(schedule: Answer) -> str:
    if schedule["cronExpression"]:
        return str(schedule["cronExpression"])
    if schedule["everyMs"]:
        return f"every {in_words(schedule['everyMs'])}" + (" after its end" if schedule["afterCompletion"] else "")
    return f"once {local(instant_ms(schedule['onceAt']), schedule['timezone'])}"


def _meaning(schedule: Answer) -> str | None:
    """A cron expression in words."""
    from duly.core.timing import Cron, explain

    expression = schedule["cronExpression"]
    return explain(Cron(expression, schedule["timezone"])) if expression else None


def target_of(schedule: Answer) -> str:
    for name in ("jobType", "workflow", "topic"):
        if schedule[name]:
            return str(schedule[name]) if name == "jobType" else f"{name} {schedule[name]}"
    target = schedule["target"] or {}
    return f"{target.get('kind', '?')} {target.get('name') or target.get('url') or ''}".strip()


def _cell(text: str | None, zone: str, now: int) -> str:
    return "-" if text is None else moment_cell(text, zone, now)


def _pause_of(schedule: Answer, zone: str, now: int) -> str | None:
    if schedule["enabled"]:
        return None
    until = schedule["pausedUntil"]
    words = [schedule["pausedReason"], f"until {moment(until, zone, now)}" if until else None]
    return "; ".join(word for word in words if word) or "until resumed"


def _created(schedule: Answer, zone: str, now: int) -> str:
    by = f" by {schedule['createdBy']}" if schedule["createdBy"] else ""
    return moment(schedule["createdAt"], zone, now) + by


def _timeout(seconds: float | None) -> str:
    return "none" if seconds is None else in_words(round(seconds * 1000))


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
