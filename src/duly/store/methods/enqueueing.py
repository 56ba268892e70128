"""Runs that are asked for directly: as many as are wanted, or as many as their keys allow."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from duly.core.errors import Conflict, UniqueKeyInUse
from duly.core.ids import lane_id
from duly.core.run import NewRun, Run, RunKind
from duly.core.steps import StepKind, parse_handler
from duly.store.statements import Program, batch, columns, group, query
from duly.store.values import NewRequest

from .firing import NEW_RUN, new_run_row
from .lanes import Entrance, close_entrances, open_entrances
from .runs import find_run, fresh_run
from .stepping import put_marks, send
from .tracing import keep_traces

_TAKEN = "the unique key is in use by a run of somebody else; choose another key"
UNIQUE = ("tenant", "owner", "key", "run_id", "expires_at")


def enqueue(now: int, requests: Sequence[NewRequest], borrowed: bool = False) -> Program[list[Run]]:
    """Insert direct runs; one whose id exists is left as it is.

    A ``borrowed`` transaction, which is the caller's, may look at an older moment: then what has ended since is probed,
    and what others wait for is held.
    """
    if any(request.guarded for request in requests):
        return (yield from _enqueue_guarded(now, requests, borrowed))
    runs = [_new_run(now, request) for request in requests]
    return (yield from _insert(runs, [run.id for run in runs], requests, borrowed))


def signal_with_start(now: int, request: NewRequest, name: str, body: str | None) -> Program[tuple[Run, bool]]:
    """Start a run unless it is there, and send it a signal; see ``Stepping.signal_with_start``."""
    (run,) = yield from enqueue(now, [request])
    asked = parse_handler(request.job)
    if asked is None or run.workflow != asked[0]:
        return run, False
    told = yield from send(now, [(run.id, StepKind.SIGNAL, name, body, None)])
    return run, bool(told)


def _insert(
    runs: Sequence[NewRun], wanted: Sequence[str], requests: Sequence[NewRequest], borrowed: bool
) -> Program[list[Run]]:
    """Insert the runs, and answer those that are wanted, new or not."""
    inserted = (yield from _put_runs(runs)) if runs else set()
    if inserted and borrowed:
        ids = sorted(inserted)
        yield group(query("probe_history", ids=ids), query("end_probe", ids=ids))
    theirs = [(request.id, request.owner) for request in requests if request.owner and request.id in inserted]
    if theirs:
        yield batch("insert_owners", columns(("run_id", "owner"), theirs))
    marks = put_marks({r.id: r.marks for r in reversed(requests) if r.marks and r.id in inserted}.items())
    if marks is not None:
        yield marks
    yield from keep_traces((request.id, request.trace) for request in requests if request.id in inserted)
    new = {run.id: run for run in reversed(runs)}  # the same id again in this batch is answered with the first one
    answers: list[Run] = []
    for id in wanted:
        if id in inserted:
            answers.append(fresh_run(new[id]))
        else:
            existing: Run | None = yield from find_run(id)
            if existing is None:  # it is there, and belongs to somebody else
                raise Conflict(f"run id {id} is in use; choose another" if id in new else _TAKEN)
            answers.append(existing)
    return answers


def _put_runs(runs: Sequence[NewRun]) -> Program[set[str]]:
    """Insert the runs; answer the ids of those that had never been there."""
    made, returned = yield group(
        batch("insert_runs", columns(NEW_RUN, map(new_run_row, runs))),
        query("drop_returned", ids=[run.id for run in runs]),
    )
    return {row[0] for row in made} - {row[0] for row in returned}


def _enqueue_guarded(now: int, requests: Sequence[NewRequest], borrowed: bool) -> Program[list[Run]]:
    """The same where runs that are there decide: all locks first, then what there is, then one decision for each."""
    lanes = {
        lane_id(*request.realm, request.singleton.key): (request.realm, request.singleton)
        for request in requests
        if request.singleton is not None
    }
    entrances = (yield from open_entrances(now, lanes)) if lanes else {}
    holders = yield from _hold_uniques(requests)
    ids = {request.id for request in requests} | {holder.run_id for holder in holders.values()}
    rows = yield query("known_runs", ids=sorted(ids))
    known, open_ = {row[0] for row in rows}, {row[0] for row in rows if row[1]}
    if borrowed:
        deciding = {holder.run_id for holder in holders.values()} & open_
        yield query("hold_deciding", ids=sorted(deciding), lanes=sorted(lanes))
    runs: list[NewRun] = []
    wanted: list[str] = []
    for request in requests:
        other = None if request.id in known else _other(now, request, holders, open_)
        wanted.append(request.id if other is None else other)
        if other is not None and other not in known:
            raise UniqueKeyInUse(request.unique.key if request.unique else "", other)  # its run is purged
        if other is None and request.id not in known:
            runs.append(_let_in(_new_run(now, request), request, entrances))
            known.add(request.id)
            open_.add(request.id)
            if request.unique is not None:
                expires_at = now + request.unique.for_ms
                holders[*request.realm, request.unique.key] = _Holder(request.id, expires_at, changed=True)
    yield from close_entrances(entrances)  # first: a run that it lets go is answered as it is then
    answers = yield from _insert(runs, wanted, requests, borrowed)
    taken = [(*key, holder.run_id, holder.expires_at) for key, holder in holders.items() if holder.changed]
    if taken:
        yield batch("write_uniques", columns(UNIQUE, taken))
    return answers


class _Holder(NamedTuple):
    """The run that was enqueued last with a unique key."""

    run_id: str
    expires_at: int
    changed: bool = False


Holders = dict[tuple[str, str, str], _Holder]


def _hold_uniques(requests: Sequence[NewRequest]) -> Program[Holders]:
    """Lock the keys; what a later statement finds of their runs then stays true."""
    asked = {(*r.realm, r.unique.key): r.id for r in reversed(requests) if r.unique is not None}
    if not asked:
        return {}
    rows = yield batch("hold_uniques", columns(UNIQUE[:4], [(*key, id) for key, id in sorted(asked.items())]))
    return {row[:3]: _Holder(*row[3:]) for row in rows}


def _other(now: int, request: NewRequest, holders: Holders, open_: Collection[str]) -> str | None:
    """The run that has the request's unique key, if it is another one; it is answered, or refuses this one."""
    if request.unique is None:
        return None
    holder = holders[*request.realm, request.unique.key]
    if holder.run_id == request.id or (holder.run_id not in open_ and holder.expires_at <= now):
        return None
    if request.unique.refuse:
        raise UniqueKeyInUse(request.unique.key, holder.run_id)
    return holder.run_id


def _let_in(run: NewRun, request: NewRequest, entrances: dict[str, Entrance]) -> NewRun:
    """Give a run of a singleton key its place in the lane or in its line."""
    if request.singleton is not None:
        run.lane = lane_id(*request.realm, request.singleton.key)
        run.hold, run.slot = entrances[run.lane].enter()
    return run


def _new_run(now: int, request: NewRequest) -> NewRun:
    at = now if request.run_at is None else request.run_at
    return NewRun(
        id=request.id,
        job=request.job,
        kind=RunKind.DIRECT,
        due_at=at,
        window_at=at,  # the time asked for, which stays: what is due moves with every retry
        fired_at=now,
        revision=request.left_to_job or None,  # it has no schedule, and so no revision of one
        tenant=request.tenant,
        queue=request.queue,
        priority=request.priority,
        max_attempts=request.max_attempts,
        timeout_ms=request.timeout_ms,
        payload=request.payload,
        fair_key=request.fairness_key,
    )
