"""Over all schedules and runs: what comes next, and how much there is of what. Nothing here looks at all rows."""

from __future__ import annotations

from collections.abc import Sequence

from duly.core.rules.forecasting import Stratum, cut
from duly.core.schedule import Schedule
from duly.store.codec import CURSOR, FACTS, read_cursor
from duly.store.narrowing import owned
from duly.store.seen import Minute, Outcomes
from duly.store.statements import Program, Row, query
from duly.store.values import Ahead, Page, Recent, Stats

from .reading import count_load
from .schedules import readable_schedules

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
_FIRST = (-(2**62), -1, "00000000-0000-0000-0000-000000000000")


def list_upcoming(
    now: int, limit: int, after: str | None, tenant: str | None, owner: str | None
) -> Program[Page[Schedule]]:
    """One page by the time of the next fire; see ``Schedules.list_upcoming``."""
    fire_at, slot, id = _FIRST if after is None else read_place(after)
    where = {"tenant": tenant, "fire_at": fire_at, "slot": slot, "after": id, "limit": limit + 1}
    if owner is None:
        rows = yield owned("list_upcoming", **where)
    else:
        rows = yield owned("list_upcoming_of", owner=owner, **where)
    return Page(readable_schedules(rows[:limit]), _place(rows[limit - 1]) if len(rows) > limit else None)


def read_place(cursor: str) -> tuple[int, int, str]:
    """Where a page ended: the fire's instant, the slot and the id."""
    fire_at, slot, id = cursor.split(".")
    return int(fire_at), int(slot), id


def _place(row: Row) -> str:
    cursor = read_cursor(row[len(FACTS) : len(FACTS) + len(CURSOR)])
    return f"{cursor.fire_at}.{cursor.slot}.{cursor.schedule_id}"


def look_ahead(
    now: int, steps: int, step_ms: int, limit: int, most: int, tenant: str | None, owner: str | None
) -> Program[Ahead]:
    """Count next fires by whole steps of time, and read some schedules of each; see ``Schedules.look_ahead``."""
    since = now - now % step_ms
    until = since + steps * step_ms
    where = {"tenant": tenant, "slot": _FIRST[1], "after": _FIRST[2]}
    counted = [0] * steps
    if owner is not None:
        # An owner has few: they are read instead of counted.
        rows = yield owned("list_upcoming_of", owner=owner, fire_at=_FIRST[0], limit=most + 1, **where)
        found = _before(readable_schedules(rows), until)
        for schedule in found[:most]:
            counted[max(0, (schedule.cursor.fire_at or 0) - since) // step_ms] += 1
        strata = [Stratum(len(found[:most]), found[:most])] if found else []
        return _ahead(since, step_ms, counted, strata, whole=len(found) <= most)
    rows = yield owned("count_fires", tenant=tenant, since=since, until=until, step=step_ms, limit=limit)
    for step, count in rows:
        counted[step] = count
    strata = []
    for first, last, each in cut(counted, most):
        # What is overdue counts as firing now, and is found before.
        begin = _FIRST[0] if first == 0 else since + first * step_ms
        rows = yield owned("list_upcoming", fire_at=begin, limit=each, **where)
        sample = _before(readable_schedules(rows), since + last * step_ms)
        strata.append(Stratum(sum(counted[first:last]), sample))
    return _ahead(since, step_ms, counted, strata, whole=sum(counted) < limit)


def _before(schedules: list[Schedule], until: int) -> list[Schedule]:
    return [schedule for schedule in schedules if schedule.cursor.fire_at is None or schedule.cursor.fire_at < until]


def _ahead(since: int, step_ms: int, counted: list[int], strata: list[Stratum], *, whole: bool) -> Ahead:
    told = tuple(stratum for stratum in strata if stratum.sample)
    return Ahead(since=since, step_ms=step_ms, counted=tuple(counted), strata=told, whole=whole)


def stats(now: int, limit: int, late_ms: int) -> Program[Stats]:
    """Count, each up to ``limit``; of runs that came lately, no more rows than that are looked at."""
    load = yield from count_load(now, limit)
    trouble = yield query("count_trouble", late_before=now - late_ms, limit=limit)
    recent = yield query("count_recent", day=now - DAY_MS, hour=now - HOUR_MS, ahead=now + DAY_MS, limit=limit)
    late, dead = trouble[0]
    hour, day = _recent(recent, now, limit, hour=True), _recent(recent, now, limit, hour=False)
    return Stats(now=now, load=load, late=late, dead=dead, hour=hour, day=day)


def _recent(rows: list[Row], now: int, limit: int, *, hour: bool) -> Recent:
    counts = {row[0]: int(row[2] if hour else row[1]) for row in rows}
    since = now - (HOUR_MS if hour else DAY_MS)
    ended = [row for row in rows if row[0] != "open"]
    if sum(row[3] for row in ended) >= limit:
        since = max(since, min(int(row[4].replace("-", "")[:12], 16) for row in ended))
    told = {name: counts.get(name, 0) for name in ("completed", "failed", "cancelled")}
    missed = counts.get("missed", 0)
    skipped = counts.get("skipped", 0) + missed
    return Recent(since=since, fired=sum(told.values()) + counts["open"], skipped=skipped, missed=missed, **told)


def count_minutes(now: int, since: int, until: int, limit: int) -> Program[list[Minute]]:
    """What there is of each minute; see ``Runs.count_minutes``."""
    rows = yield query("count_minutes", since=since, until=until, limit=limit)
    return [Minute(*row) for row in rows]


def recent_lags(now: int, limit: int) -> Program[list[int]]:
    """How late the newest windows fired; see ``Runs.recent_lags``."""
    rows = yield query("recent_lags", ahead=now + DAY_MS, limit=limit)
    return [row[0] for row in rows]


def recent_outcomes(now: int, ids: Sequence[str], each: int) -> Program[dict[str, Outcomes]]:
    """How the newest runs of some schedules ended; see ``Runs.recent_outcomes``."""
    rows = yield owned("recent_outcomes", ids=list(ids), each=each)
    return {id: Outcomes(tuple(ended.split(",")) if ended else (), open) for id, ended, open in rows}
