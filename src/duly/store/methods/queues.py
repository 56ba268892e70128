"""Queues that people set up, pause and look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from duly.core.queue import Queue, QueueState
from duly.store.codec import queue_row, read_queue
from duly.store.statements import Program, group, query

ADOPT_FOR_MS = 60_000
"""How long after a queue became fair runs may still come in without a key; no transaction lasts that long."""


def change_queue(now: int, name: str, change: Callable[[QueueState, int], QueueState]) -> Program[Queue]:
    """Lock the queue's row, let the pure function decide, write what it decided."""
    _, rows = yield group(query("insert_queue", name=name, now=now), query("lock_queues", names=[name]))
    before = read_queue(rows[0])
    after = change(before, now)
    if after != before:
        after = replace(after, updated_at=now)
        yield query("write_queue", **queue_row(after))
    figures = yield query("queue_figures", name=name, now=now)
    return Queue(after, *(figures[0][1:] if figures else ()))


def list_queues(now: int, name: str | None) -> Program[list[Queue]]:
    """Queues that were set up, and those that have open runs, by name."""
    rows, figures = yield group(query("read_queues", name=name), query("queue_figures", name=name, now=now))
    states = {row[0]: read_queue(row) for row in rows}
    counted = {row[0]: row[1:] for row in figures}
    return [
        Queue(states.get(name) or QueueState(name=name), *counted.get(name, ()))
        for name in sorted(states.keys() | counted.keys())
    ]


def adopt_fair_keys(now: int, limit: int) -> Program[int]:
    """Give a key to runs that came into a fair queue before it was one."""
    rows = yield query("adopt_fair_keys", changed_after=now - ADOPT_FOR_MS, limit=limit)
    return len(rows)
