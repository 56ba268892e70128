"""The trace in which a run or a schedule was asked for, where there was one. Nobody else pays for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from duly.store.statements import Batch, Program, batch, columns, group, query

TRACE = ("id", "trace")


def keep_traces(traces: Iterable[tuple[str, str | None]]) -> Program[None]:
    """Keep the traces of what was just inserted; there is no statement where there are none."""
    if steps := trace_steps(traces):
        yield group(*steps)


def trace_steps(traces: Iterable[tuple[str, str | None]]) -> list[Batch]:
    """The same for a program that asks for more in the same step."""
    kept = [(id, trace) for id, trace in traces if trace is not None]
    return [batch("insert_traces", columns(TRACE, kept))] if kept else []


def read_traces(now: int, ids: Sequence[str]) -> Program[dict[str, str]]:
    """The traces of runs and schedules, by id; see ``Runs.read_traces``."""
    rows = yield query("read_traces", ids=list(ids))
    return {row[0]: row[1] for row in rows}
