"""What an audit reads: the lives of schedules as they are stored, in pages, changing nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from duly.core.audit import Ledger, Life, RevisionMade, Stop, Switched, WindowRow
from duly.core.change import FieldChange
from duly.core.operation import OperationKind
from duly.core.run import RunKind
from duly.core.schedule import UNREAD, ScheduleStatus
from duly.core.timing.epoch import parse_datetime, to_ms
from duly.store.codec import UnreadableDefinition, decode_body
from duly.store.orders import PurgeOrder, decode_order
from duly.store.statements import Program, Row, group, query

from .changes import decode_fields, find_ever

RESUMED_BY_ITSELF = "duly"
"""Who resumes a schedule whose pause has reached its end: as of that end, however late it is noticed."""


def read_ledger(
    now: int, since: int, until: int, limit: int, after: str | None, ref: str | None, tenant: str | None
) -> Program[Ledger | None]:
    """One page of schedules in id order with all that an audit must know; see ``Auditing.read_ledger``."""
    id = None
    if ref is not None:
        found = yield from find_ever(ref, tenant)
        if found is None:
            return None
        id = found[0]
    meta, stops, schedules = yield group(
        query("audit_meta"),
        query("audit_stops"),
        query("audit_schedules", after=after, until=until, id=id, tenant=tenant, limit=limit + 1),
    )
    lives = {row[0]: _life(row) for row in schedules[:limit]}
    if lives:
        ids = list(lives)
        revisions, changes, rows = yield group(
            query("audit_revisions", ids=ids),
            query("audit_changes", ids=ids),
            query("audit_rows", ids=ids, since=since),
        )
        _fill(lives, revisions, changes, rows)
    paused_at, purged_before = meta[0]
    return Ledger(
        now=now,
        stops=read_stops(stops, paused_at),
        purged_before=purged_before,
        going=frozenset(_being_removed(stops)),
        lives=list(lives.values()),
        next=schedules[limit - 1][0] if len(schedules) > limit else None,
    )


def overdue(now: int, late_ms: int, limit: int) -> Program[list[str]]:
    """The schedules whose fire has been owed for longer than that, the longest first; see ``Auditing.overdue``."""
    rows = yield query("overdue_cursors", before=now - late_ms, limit=limit)
    return [row[0] for row in rows]


def _life(row: Row) -> Life:
    id, key, tenant, created_at, paused_at, ended_at, status, window_at, next_window_at, fire_at, fired, error = row
    return Life(
        schedule_id=id,
        key=key,
        tenant=tenant,
        created_at=created_at,
        paused_at=paused_at,
        ended_at=ended_at,
        status=ScheduleStatus(status),
        window_at=window_at,
        next_window_at=next_window_at,
        fire_at=fire_at,
        fired=fired,
        error=error,
    )


def _fill(lives: dict[str, Life], revisions: Sequence[Row], changes: Sequence[Row], rows: Sequence[Row]) -> None:
    for id, number, made_at, body in revisions:
        try:
            lives[id].revisions.append(RevisionMade(number, made_at, decode_body(body, UNREAD)))
        except UnreadableDefinition as error:
            lives[id].revisions.append(RevisionMade(number, made_at, error))
    for id, made_at, made_by, fields in changes:
        if '"enabled"' in fields:  # most changes are others, and need not be decoded
            switch = switched(made_at, made_by, decode_fields(fields))
            if switch is not None:
                lives[id].switches.append(switch)
    kept: defaultdict[str, list[WindowRow]] = defaultdict(list)
    for id, *values, kind in rows:
        if kind == RunKind.WINDOW:
            kept[id].append(WindowRow(*values))
        else:
            lives[id].busy = True
    for id, found in kept.items():
        lives[id].rows = sorted(found, key=lambda row: (row.window_at, row.id, row.status or ""))


def switched(at: int, by: str | None, fields: Iterable[FieldChange]) -> Switched | None:
    """What one change says about pauses, or None."""
    named = {field.field: field for field in fields}
    enabled = named.get("enabled")
    if enabled is None:
        return None
    ends, goes_on = named.get("paused_until"), named.get("resumed_from")
    as_of = None
    if enabled.new and by == RESUMED_BY_ITSELF and ends is not None and ends.old is not None:
        as_of = min(at, to_ms(parse_datetime(ends.old)))
    return Switched(at, bool(enabled.new), None if goes_on is None else to_ms(parse_datetime(goes_on.new)), as_of)


def read_stops(rows: Iterable[Row], paused_at: int | None) -> list[Stop]:
    """From when to when nothing fired; ``paused_at`` is since when it does not now."""
    stops: list[Stop] = []
    since: int | None = None
    for kind, made_at, finished_at, _ in rows:
        if kind == OperationKind.PAUSE_ALL:
            since = made_at if since is None else since
        elif kind == OperationKind.RESUME_ALL and since is not None and finished_at is not None:
            stops.append(Stop(since, finished_at))
            since = None
    if paused_at is not None:
        stops.append(Stop(paused_at if since is None else since, None))
    return stops


def _being_removed(rows: Iterable[Row]) -> Iterator[str]:
    for kind, _, _, body in rows:
        order = decode_order(kind, body) if kind == OperationKind.PURGE else None
        if isinstance(order, PurgeOrder) and order.schedule_id is not None:
            yield order.schedule_id
