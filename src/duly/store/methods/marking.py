"""Runs that are looked for by their tags and attributes.

The first condition is looked up in an index, newest run first; the others are checked on what that finds, at most
LOOKED_AT runs for one page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duly.core.marks import Compare, Wanted
from duly.core.positions import read_position
from duly.core.run import Run
from duly.store.narrowing import owned
from duly.store.statements import Program, query
from duly.store.values import LONG_RESULT, Page, RunFilter

from .listing import filter_params
from .runs import read_run

LOOKED_AT = 1000


def read_marks(now: int, run_id: str) -> Program[dict[str, str]]:
    """What a run is marked with."""
    rows = yield query("read_marks", ids=[run_id])
    return {name: value for _, name, value in rows}


def list_marked(now: int, where: RunFilter, limit: int, after: str | None) -> Program[Page[Run]]:
    """One page of the runs that all conditions fit; it may be short, or empty, and the next one goes on from there."""
    lead = min(where.marks, key=lambda wanted: wanted.compare is not Compare.EQ)
    asked: dict[str, Any] = {"name": lead.name, "after": _id_of(after), "limit": LOOKED_AT}
    if lead.compare is Compare.EQ:
        rows = yield query("marked_equal", value=lead.value, **asked)
    else:
        rows = yield query("marked_named", **asked)
    looked_at = [row[0] for row in rows]
    chosen = (yield from _fitting(looked_at, where.marks)) if looked_at else []
    found = yield owned("list_chosen_runs", **filter_params(where), ids=chosen, long=LONG_RESULT)
    runs = [read_run(row) for row in found[:limit]]
    if len(found) > limit:
        return Page(runs, runs[-1].id)
    return Page(runs, looked_at[-1] if len(looked_at) == LOOKED_AT else None)


def _id_of(cursor: str | None) -> str | None:
    begin = None if cursor is None else read_position(cursor)
    return None if begin is None else begin.id


def _fitting(ids: Sequence[str], conditions: Sequence[Wanted]) -> Program[list[str]]:
    if len(conditions) == 1 and conditions[0].compare is Compare.EQ:
        return list(ids)
    marks: dict[str, dict[str, str]] = {id: {} for id in ids}
    for id, name, value in (yield query("read_marks", ids=list(ids))):
        marks[id][name] = value
    return [id for id in ids if all(condition.fits(marks[id]) for condition in conditions)]
