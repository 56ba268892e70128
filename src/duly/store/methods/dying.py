"""A run dies: the transaction that ends it also makes the run of the job that is to be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from duly.core.dead import OnDead, on_dead_payload
from duly.core.failure import ErrorReport
from duly.core.ids import on_dead_run_id
from duly.core.run import Claim, NewRun, RunKind
from duly.store.statements import Program, batch, columns, query

from .firing import NEW_RUN, new_run_row

ON_DEAD = ("job", "handler", "queue", "max_attempts", "timeout_ms")


class Death(NamedTuple):
    """A run that has just failed for good."""

    claim: Claim
    attempt: int
    reason: str | None
    error: str | None
    report: ErrorReport | None = None


def tell_of_deaths(now: int, deaths: Sequence[Death]) -> Program[int]:
    """Make a run of the ``on_dead`` handler for each death that has one; answer how many.

    The death itself is guarded by the fence, so it is told once; the run's id is a function of it.
    """
    rows = yield query("dead_handlers", jobs=sorted({death.claim.job for death in deaths}))
    handlers = {row[0]: OnDead(**dict(zip(ON_DEAD, row, strict=True))) for row in rows}
    runs = [_handler_run(now, death, handlers[death.claim.job]) for death in deaths if death.claim.job in handlers]
    if runs:
        yield batch("insert_runs", columns(NEW_RUN, map(new_run_row, runs)))
    return len(runs)


def put_on_dead(now: int, jobs: Sequence[str], on_dead: Sequence[OnDead]) -> Program[None]:
    """Keep whom to tell of the deaths of these jobs' runs; see ``DeadLetters.put_on_dead``."""
    told = sorted(on_dead, key=lambda one: one.job)  # in one order, so that instances that start at once do not lock up
    untold = sorted(set(jobs) - {one.job for one in told})
    if untold:
        yield query("drop_dead_handlers", jobs=untold)
    rows = [(one.job, one.handler, one.queue, one.max_attempts, one.timeout_ms) for one in told]
    yield batch("put_dead_handlers", columns(ON_DEAD, rows))


def _handler_run(now: int, death: Death, handler: OnDead) -> NewRun:
    claim = death.claim
    return NewRun(
        id=on_dead_run_id(claim.id, claim.fence, now),
        job=handler.handler,
        kind=RunKind.DIRECT,
        due_at=now,
        window_at=now,
        fired_at=now,
        tenant=claim.tenant,
        queue=handler.queue,
        max_attempts=handler.max_attempts,
        timeout_ms=handler.timeout_ms,
        payload=on_dead_payload(
            claim, attempt=death.attempt, reason=death.reason, error=death.error, died_at=now, report=death.report
        ),
    )
