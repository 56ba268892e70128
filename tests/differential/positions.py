"""Lists of runs, as the model makes them: all of them in one order, and a page cut out."""

from __future__ import annotations

from collections.abc import Iterable

from duly.core.instants import to_ms
from duly.core.positions import Position, position_of, read_position
from duly.core.run import Run
from duly.store.values import Page


def page_of_runs(runs: Iterable[Run], limit: int, after: str | None) -> Page[Run]:
    begin = None if after is None else read_position(after)
    found = [run for run in sorted(runs, key=_position, reverse=True) if begin is None or _position(run) < begin]
    return Page(found[:limit], _position(found[limit - 1]).cursor if len(found) > limit else None)


def _position(run: Run) -> Position:
    at = run.fired_at if run.window_at is None else run.window_at
    return position_of(run.id, run.kind, to_ms(at))
