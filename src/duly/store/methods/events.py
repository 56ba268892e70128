"""Watching: a lease that says that somebody does, numbers for what was told, and its end after a while.

Transactions commit in another order than they write, so a row gets its number not from its writer but afterwards, from
whoever reads: under the lock of the one row that counts them. Readers go by numbers, and none comes late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from duly.core.event import RESET, Event
from duly.core.instants import to_datetime
from duly.store.statements import Program, Row, group, query
from duly.store.watching import Events, Watched

from .telling import RECHECK_MS, Watch

SETTLES_AFTER_MS = RECHECK_MS + 3000
"""After so long every process has seen that somebody watches; those under way had a second to commit.

The other two are what the clocks of two transactions may be apart: each may be a second behind the store's.
"""


@dataclass(frozen=True, slots=True)
class _Watching:
    """The row of ``duly_watch``."""

    since: int
    until: int
    settled: bool
    last: int
    gone: int
    wanted: str


def watch_events(now: int, lease_ms: int, watch: Watch) -> Program[Watched]:
    """Begin or go on to watch; see ``Events.watch_events``."""
    row = yield from _lock()
    if row.until <= now:
        row = replace(row, since=now, settled=False)
    if not row.settled and now - row.since >= SETTLES_AFTER_MS:
        yield query("insert_stream_event", now=now, name=RESET, reason="began")
        row = replace(row, settled=True)
    yield from _write(replace(row, until=max(row.until, now + lease_ms)))
    watch.saw(now, watched=True, wanted=row.wanted)
    return Watched(last=row.last, gone=row.gone, settled=row.settled)


def number_events(now: int, limit: int) -> Program[int]:
    """Give numbers to up to ``limit`` events, oldest first; answer how many."""
    row = yield from _lock()
    numbered = yield query("number_events", last=row.last, limit=limit)
    if numbered:
        yield from _write(replace(row, last=row.last + len(numbered)))
    return len(numbered)


def read_events(now: int, after: int, limit: int) -> Program[Events]:
    """The events after a number, and how far they go."""
    rows, state = yield group(query("list_events", after=after, limit=limit), query("read_watch"))
    *_, last, gone, waiting = state[0]
    return Events([_event(row) for row in rows], last=last, gone=gone, waiting=bool(waiting))


def purge_events(now: int, keep_ms: int, most: int, limit: int) -> Program[int]:
    """Forget up to ``limit`` events that are too old or too many; answer how many."""
    row = yield from _lock()
    rows = yield query("purge_events", before=now - keep_ms, below=row.last - most, limit=limit)
    gone = max((number for (number,) in rows if number is not None), default=row.gone)
    if gone > row.gone:
        yield from _write(replace(row, gone=gone))
    return len(rows)


def _lock() -> Program[_Watching]:
    rows: Sequence[Row] = yield query("lock_watch")
    since, until, settled, last, gone, wanted = rows[0]
    return _Watching(since, until, bool(settled), last, gone, wanted)


def _write(row: _Watching) -> Program[None]:
    yield query(
        "write_watch", since=row.since, until=row.until, settled=row.settled, last=row.last, gone=row.gone
    )  # fmt: skip


def _event(row: Row) -> Event:
    number, at, name, tenant, owner, schedule_id, key, run_id, job, attempt, reason, error = row
    return Event(
        name=name,
        at=to_datetime(at),
        number=number,
        tenant=tenant,
        owner=owner,
        schedule_id=schedule_id,
        schedule_key=key,
        run_id=run_id,
        job=job,
        attempt=attempt,
        reason=reason,
        error=error,
    )
