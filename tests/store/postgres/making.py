"""What the tests of the PostgreSQL store make again and again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg

from duly.core.policy import Retry
from duly.core.rules.firing import FireRules
from duly.core.run import Claim, Completed
from duly.core.schedule import Definition, Facts, Schedule, Target, TargetKind
from duly.core.timing import Every
from duly.runtime.chance import Chance
from duly.runtime.clock import SystemClock
from duly.store.postgres.limits import Limits
from duly.store.sql import SqlStore
from duly.store.values import Instance, NewRequest, NewSchedule, Settlement

RULES = FireRules()
JOB = "send"
PATIENT = Limits(connect=60, statement=60, lock=60, idle=60, operation=90)
"""For tests that are not about limits: only something that hangs takes so long, also on a busy machine."""
ENDING: LiteralString = """
WITH gone AS (DELETE FROM duly.duly_runs WHERE job = %s RETURNING *)
INSERT INTO duly.duly_history (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, attempt, max_attempts, fence,
    session, due_at, fired_at, finished_at
)
SELECT id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, 'completed', attempt, max_attempts,
       fence, claimed_by, due_at, fired_at, due_at
FROM gone
"""
"""Ends the runs of a job, as a settle does."""
_chance = Chance()


class SetClock(SystemClock):
    """A wall clock that stands where it is set."""

    def __init__(self, at: int) -> None:
        self.at = at

    def now(self) -> int:
        return self.at


class Ahead(SystemClock):
    """A real clock that can be set forward, so that a limit is reached when a test says so."""

    by = 0.0

    def steady(self) -> float:
        return super().steady() + self.by


def new_id() -> str:
    return _chance.id(SystemClock())


def new_schedule(key: str, **facts: Any) -> NewSchedule:
    """An hourly schedule of one job."""
    return NewSchedule(
        facts=Facts(id=new_id(), key=key, name=key, **facts),
        definition=Definition(key=key, timing=Every("1h"), target=Target(TargetKind.JOB, JOB), payload='{"a": "ü"}'),
    )


def new_request(queue: str = "default", **values: Any) -> NewRequest:
    return NewRequest(id=new_id(), job=JOB, payload='{"b": [1]}', queue=queue, max_attempts=3, **values)


async def put(store: SqlStore, key: str, **facts: Any) -> Schedule:
    (answer,) = await store.put_schedules([new_schedule(key, **facts)])
    assert isinstance(answer, Schedule)
    return answer


async def open_session(store: SqlStore, *jobs: str) -> int:
    """A live worker that knows these jobs, or the one."""
    session = _chance.session()
    instance = Instance(
        session=session, name="w", host="h", pid=1, roles=("worker",), version="1", tz_version="1", jobs=jobs or (JOB,)
    )
    await store.open_session(instance, lease_ms=60_000)
    return session


async def claim_all(store: SqlStore, session: int) -> Sequence[Claim]:
    return (await store.claim_runs(session, jobs=[JOB], limit=100)).claims


def completed(claim: Claim, session: int) -> Settlement:
    return Settlement(claim, session, Completed('"ok"'), Retry())


def ask(url: str, question: LiteralString) -> list[Any]:
    """The first column of an answer, on a connection of its own."""
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute(question)]


@contextmanager
def held_rows(url: str, question: LiteralString) -> Iterator[psycopg.Connection]:
    """Run a locking SELECT and keep its transaction open."""
    with psycopg.connect(url) as connection:
        connection.execute(question)
        yield connection
