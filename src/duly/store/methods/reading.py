"""Lists: keyset pages, never offsets, never payloads."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from duly.core.outside import WEBHOOK_QUEUE
from duly.core.schedule import Schedule
from duly.store.load import Load, Waits
from duly.store.narrowing import owned
from duly.store.statements import Program, query
from duly.store.values import Page, ScheduleFilter

from .schedules import read_schedules, readable_schedules

LOOKED_AT = 20_000
"""Rows that one page of a list looks at where no index finds what is asked for: some tens of milliseconds."""


def list_schedules(now: int, where: ScheduleFilter, limit: int, after: str | None) -> Program[Page[Schedule]]:
    """One page in id order, which is the order of creation; one that a newer version wrote is left out.

    Where no index finds what is asked for, it looks at LOOKED_AT schedules and no more: the page may then be short, or
    empty, and the next one goes on from there.
    """
    upper = yield from _end_of_page(where, after)
    rows = yield owned("list_schedules", **filter_params(where), after=after, upper=upper, limit=limit + 1)
    return Page(readable_schedules(rows[:limit]), rows[limit - 1][0] if len(rows) > limit else upper)


def _end_of_page(where: ScheduleFilter, after: str | None) -> Program[str | None]:
    """The last id that a page may look at; None where an index finds its rows, or few are left.

    Those of a tenant or of a job are found by an index; what else is asked of them is looked at one by one.
    """
    if where.owner is not None or where.app is not None:
        return None
    if where.topic is None and where.tag is None and where.status is None and where.enabled is None and not where.q:
        return None
    rows = yield owned("schedules_page_end", tenant=where.tenant, job=where.job, after=after, most=LOOKED_AT)
    return str(rows[0][0]) if rows else None


def filter_params(where: ScheduleFilter) -> dict[str, Any]:
    """A filter as the parameters of ``list_schedules``."""
    return asdict(where) | {"q": like_pattern(where.q) if where.q else None}


def declared_schedules(now: int, app: str) -> Program[list[Schedule]]:
    """All that an app declared, in id order; one that a newer version wrote is left out."""
    rows = yield query("declared_schedules", app=app)
    return (yield from read_schedules([row[0] for row in rows])) if rows else []


def count_load(now: int, limit: int) -> Program[Load]:
    """Count what is due, ready, running and held, each up to ``limit``."""
    rows = yield query("count_load", now=now, limit=limit)
    stopped = yield query("firing_stopped")
    return replace(Load(*rows[0]), firing_paused=bool(stopped))


def count_waits(now: int, limit: int) -> Program[Load]:
    """The same, and for how long the oldest of each kind has waited."""
    load = yield from count_load(now, limit)
    waits = yield from longest_waits(now, limit)
    return replace(load, waits=waits)


def longest_waits(now: int, limit: int) -> Program[Waits]:
    """For how long the oldest of each kind has waited; dead letters are counted up to ``limit``."""
    rows = yield query("longest_waiting", limit=limit, webhooks=WEBHOOK_QUEUE)
    *since, dead, dead_rows = rows[0]
    due_ms, ready_ms, outbox_ms = (0 if at is None else max(0, now - at) for at in since)
    return Waits(due_ms, ready_ms, outbox_ms, dead, dead_rows)


def schema_version(now: int) -> Program[int]:
    """The number of the newest migration that was applied."""
    rows = yield query("read_schema")
    version: int = rows[0][0]
    return version


def like_pattern(text: str) -> str:
    """A LIKE pattern (escape character backslash) that finds the text anywhere."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
