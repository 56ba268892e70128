"""Runs that are looked for by their tags and attributes.

The first condition is looked up in an index, newest run first; the others are checked on what that finds, at most
LOOKED_AT runs for one page.
"""

from __future__ import annotations

from collections.abc import Sequence

from duly.core.marks import Compare, Wanted
from duly.core.positions import Position, instant_of
from duly.core.run import Run
from duly.store.narrowing import owned
from duly.store.statements import Program, Row, query
from duly.store.values import LONG_RESULT, Page, RunFilter

from .listing import begin_of, filter_params, position_of_row
from .runs import read_run

LOOKED_AT = 1000


def read_marks(now: int, run_id: str) -> Program[dict[str, str]]:
    """What a run is marked with."""
    rows = yield query("read_marks", ids=[run_id])
    return {name: value for _, name, value in rows}


def list_marked(now: int, where: RunFilter, limit: int, after: str | None) -> Program[Page[Run]]:
    """One page of the runs that all conditions fit, in the order of other lists.

    Where the first condition fits LOOKED_AT runs or more they stand in the order of their ids, and a page may be short,
    or empty; the next one goes on from there.
    """
    lead = min(where.marks, key=lambda wanted: wanted.compare is not Compare.EQ)
    looked_at = yield from _marked(lead, None)
    if few := len(looked_at) < LOOKED_AT:
        begin, place = begin_of(after), position_of_row
    else:
        begin, place = begin_of(begin_of(after).id if after else None), _place_of_id
        looked_at = (yield from _marked(lead, begin.id)) if after else looked_at
    chosen = (yield from _fitting(looked_at, where.marks)) if looked_at else []
    rows = yield owned("list_chosen_runs", **filter_params(where), ids=chosen, long=LONG_RESULT)
    found = sorted((row for row in rows if place(row) < begin), key=place, reverse=True)
    runs = [read_run(row) for row in found[:limit]]
    if len(found) > limit:
        return Page(runs, place(found[limit - 1]).cursor)
    return Page(runs, None if few or len(looked_at) < LOOKED_AT else looked_at[-1])


def _marked(lead: Wanted, after: str | None) -> Program[list[str]]:
    """The ids of runs that a condition may fit, the greatest first, LOOKED_AT at most."""
    if lead.compare is Compare.EQ:
        rows = yield query("marked_equal", name=lead.name, value=lead.value, after=after, limit=LOOKED_AT)
    else:
        rows = yield query("marked_named", name=lead.name, after=after, limit=LOOKED_AT)
    return [row[0] for row in rows]


def _place_of_id(row: Row) -> Position:
    return Position(instant_of(row[0]), row[0])


def _fitting(ids: Sequence[str], conditions: Sequence[Wanted]) -> Program[list[str]]:
    if len(conditions) == 1 and conditions[0].compare is Compare.EQ:
        return list(ids)
    marks: dict[str, dict[str, str]] = {id: {} for id in ids}
    for id, name, value in (yield query("read_marks", ids=list(ids))):
        marks[id][name] = value
    return [id for id in ids if all(condition.fits(marks[id]) for condition in conditions)]
