"""Lists of runs, newest first: the dated ones in the order of their ids, the undated ones among them.

``core.positions`` says which run stands where. A page looks at LOOKED_AT of each and no more, where no index finds what
is asked for: it may then be short, or empty, and the next one goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from duly.core.positions import CEILING, Position, position_of, read_position
from duly.core.run import Run
from duly.store.dead import DeadFilter
from duly.store.narrowing import owned
from duly.store.statements import Program, Row
from duly.store.values import LONG_RESULT, Page, RunFilter

from .reading import LOOKED_AT
from .runs import read_run

STEPPED_OVER = 2_000
"""Rows that one page looks at where all is asked for: it steps over undated ones, which are few among the dated."""
TOP = Position(2**62, CEILING)
"""All runs stand below this."""
BOTTOM = Position(-(2**62), "00000000-0000-0000-0000-000000000000")


def list_runs(now: int, where: RunFilter, limit: int, after: str | None) -> Program[Page[Run]]:
    """One page; see ``Runs.list_runs``."""
    begin, end, undated = begin_of(after), BOTTOM, True
    if where.schedule_id is None:
        end, undated = yield from _end_of_page(where, begin)
    asked = filter_params(where)
    others = (yield from _undated(asked, begin, end, limit + 1)) if undated else []
    rows = yield owned("list_runs", **asked, long=LONG_RESULT, after=begin.bound, lower=end.bound, limit=limit + 1)
    found = {position_of_row(row): row for row in rows}
    order = sorted((*found, *others), reverse=True)
    chosen = [place.id for place in order[:limit] if place not in found]
    if chosen:
        rows = yield owned("list_chosen_runs", **asked, long=LONG_RESULT, ids=chosen)
        found |= {position_of_row(row): row for row in rows}
    runs = [read_run(found[place]) for place in order[:limit] if place in found]
    return Page(runs, _cursor(order, limit, end))


def list_dead(now: int, where: DeadFilter, limit: int, after: str | None) -> Program[Page[Run]]:
    """One page; see ``DeadLetters.list_dead``."""
    begin, asked = begin_of(after), asdict(where)
    rows = yield owned("list_dead", **asked, after=begin.bound, limit=limit + 1)
    others = yield owned("list_undated_dead", **asked, at=begin.at, id=begin.id, limit=limit + 1)
    found = {position_of_row(row): row for row in (*rows, *others)}
    order = sorted(found, reverse=True)
    return Page([read_run(found[place]) for place in order[:limit]], _cursor(order, limit, BOTTOM))


def filter_params(where: RunFilter) -> dict[str, Any]:
    """A filter as the parameters of lists of runs; its marks are looked for elsewhere."""
    return {
        "tenant": where.tenant,
        "owner": where.owner,
        "schedule_id": where.schedule_id,
        "job": where.job,
        "workflow": where.workflow,
        "status": where.status and where.status.value,
    }


def _end_of_page(where: RunFilter, begin: Position) -> Program[tuple[Position, bool]]:
    """The last place that a page looks at, and whether any run is undated."""
    narrow = bool(where.job or where.workflow or where.status) or where.owner is not None or where.tenant is not None
    most = LOOKED_AT if narrow else STEPPED_OVER
    rows = yield owned("runs_page_end", after=begin.bound, at=begin.at, id=begin.id, narrow=narrow, most=most)
    if not rows:  # asked for what is somebody else's
        return BOTTOM, False
    ((dated, at, id, undated),) = rows
    ends = [BOTTOM] if dated is None else [begin_of(dated)]
    return max(ends if id is None else [*ends, Position(at, id)]), bool(undated)


def _undated(asked: dict[str, Any], begin: Position, end: Position, limit: int) -> Program[list[Position]]:
    rows = yield owned("undated_runs", **asked, at=begin.at, id=begin.id, lower_at=end.at, lower_id=end.id, limit=limit)
    return [Position(*row) for row in rows]


def begin_of(after: str | None) -> Position:
    """Where a page begins; a text that is no cursor is the end of the list."""
    return TOP if after is None else read_position(after) or BOTTOM


def position_of_row(row: Row) -> Position:
    """Where a run stands, by the columns that lists answer."""
    return position_of(row[0], row[4], row[19] if row[8] is None else row[8])


def _cursor(order: Sequence[Position], limit: int, end: Position) -> str | None:
    if len(order) > limit:
        return order[limit - 1].cursor
    return None if end is BOTTOM else end.cursor
