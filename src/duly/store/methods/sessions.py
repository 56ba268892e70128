"""Sessions: one lease per instance, whatever it runs; recovery settles for the dead through the same path."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from duly.core.policy import LEFT_RETRY, Retry
from duly.core.rules.firing import FireRules
from duly.core.run import Cancelled, Claim, Failed, Lost, Outcome, Released, RunStatus
from duly.store.codec import decode_words, encode_words
from duly.store.statements import Program, Row, batch, columns, group, query
from duly.store.values import Beat, Held, Instance, Lease, LostInstance, Recovered, Settlement

from .claiming import attach_definitions, read_claim
from .definitions import Definitions
from .settling import settle

CLAIM_COLUMNS = 16
ENDED = ("session", "name", "host", "pid", "roles", "version", "jobs", "started_at", "ended_at", "lost")
ADOPTED_AT_ONCE = 10_000
"""Runs that waited for a job and that one transaction lets go; the janitor's next rounds see to the others."""


def open_session(now: int, instance: Instance, lease_ms: int) -> Program[int]:
    """Register an instance; runs that waited for a job it knows may be claimed again."""
    yield query(
        "insert_instance",
        session=instance.session,
        name=instance.name,
        host=instance.host,
        pid=instance.pid,
        roles=encode_words(instance.roles),
        version=instance.version,
        tz_version=instance.tz_version,
        jobs=encode_words(instance.jobs),
        started_at=now,
        expires_at=now + lease_ms,
    )
    if instance.jobs:
        yield query("adopt_jobs", jobs=list(instance.jobs), limit=ADOPTED_AT_ONCE)
    return now


def beat(now: int, session: int, lease_ms: int, skew_ms: int | None = None) -> Program[Beat]:
    """Extend the lease of a session that nobody declared dead."""
    alive = yield query("extend_session", session=session, expires_at=now + lease_ms, skew_ms=skew_ms)
    if not alive:
        return Beat(now, alive=False)
    rows = yield query("held_runs", session=session)
    return Beat(now, True, [Held(id, fence, cancel_at is not None) for id, fence, cancel_at in rows])


def close_session(now: int, session: int, definitions: Definitions, started: Collection[str] = ()) -> Program[int]:
    """Release what the session holds, then forget it; the attempts at ``started`` runs are recorded."""
    # First of all: it waits for a claim or a fire under way, whose runs must be seen below.
    ended = yield query("delete_session", session=session)
    yield from _keep_ended(now, ended, lost=False)
    rows = yield query("session_claims", session=session)
    claims = [read_claim(row) for row in rows]
    yield from attach_definitions(claims, definitions)
    released = [Settlement(claim, session, Released(claim.id in started), Retry()) for claim in claims]
    settled = yield from settle(now, released)
    return len(claims) - len(settled.lost)


def _keep_ended(now: int, rows: Sequence[Row], *, lost: bool) -> Program[None]:
    """Keep what is known of sessions that have ended: the history names them."""
    if rows:
        yield batch("insert_ended_instances", columns(ENDED, [(*row, now, lost) for row in rows]))


def purge_instances(now: int, ended_before: int, limit: int) -> Program[int]:
    """Delete ended sessions that no run and no attempt refers to; see ``Keeping.purge_instances``."""
    rows = yield query("ended_instances", ended_before=ended_before, limit=limit)
    if not rows:
        return 0
    return len((yield query("purge_ended_instances", sessions=[row[0] for row in rows])))


def take_lost(
    now: int,
    limit: int,
    rules: FireRules,
    retries: Mapping[str, Retry],
    definitions: Definitions,
    gone: Sequence[int] = (),
    expected: tuple[float, float] | None = None,
) -> Program[Recovered]:
    """Declare sessions dead that are gone or whose lease ran out, and settle what they and the overdue still hold."""
    if expected is not None and not expected[0] <= now <= expected[1]:
        return Recovered(now, leapt=True)
    *dead, rows, unanswered = yield group(
        query("expire_sessions", now=now),
        *(query("delete_session", session=session) for session in gone),
        query("lost_runs", now=now, cancelled_before=now - rules.cancel_grace_ms, limit=limit),
        query("unanswered_runs", now=now, limit=limit),
    )
    ended_instances = [row for gone_now in dead for row in gone_now]
    yield from _keep_ended(now, ended_instances, lost=True)
    lost = [LostInstance(*row[:4]) for row in ended_instances]
    claims = [read_claim(row[:CLAIM_COLUMNS]) for row in rows]
    yield from attach_definitions(claims, definitions)
    settlements = []
    for claim, row in zip(claims, rows, strict=True):
        session, why = row[CLAIM_COLUMNS:]
        retry = retry_of(claim, rules, retries)
        settlements.append(Settlement(claim, session, _OUTCOMES[why], retry))
    settled = yield from settle(now, settlements)
    taken = [claim.id for claim in claims if claim.id not in settled.lost]
    ended = settled.ended | (yield from _give_up_on_answers(now, unanswered, rules, retries, definitions, taken))
    return Recovered(now, lost, taken, ended, more=len(rows) >= limit)


def _give_up_on_answers(
    now: int,
    rows: Sequence[Row],
    rules: FireRules,
    retries: Mapping[str, Retry],
    definitions: Definitions,
    taken: list[str],
) -> Program[dict[str, RunStatus]]:
    """Settle the runs whose receiver did not answer in time; they are told to ``taken``."""
    if not rows:
        return {}
    claims = [read_claim(row) for row in rows]
    yield from attach_definitions(claims, definitions)
    settled = yield from settle(
        now, [Settlement(claim, None, _UNANSWERED, retry_of(claim, rules, retries)) for claim in claims]
    )
    taken += [claim.id for claim in claims if claim.id not in settled.lost]
    return settled.ended


_UNANSWERED = Failed("it was delivered, and its receiver did not answer within the timeout", timed_out=True)
_OUTCOMES: dict[str, Outcome] = {
    "session": Lost("the worker stopped sending heartbeats"),
    "deadline": Failed("the attempt passed its timeout and its worker did not report", timed_out=True),
    "cancel": Cancelled(),
}


def retry_of(claim: Claim, rules: FireRules, retries: Mapping[str, Retry]) -> Retry:
    """The policy that the run's own worker would have gone by: what was chosen, else the job's, else the default.

    Where the job's is known, the claim is given the attempts that it allows.
    """
    own, known = retries.get(claim.job), None if claim.definition is None else claim.definition.retry
    if own is not None:
        claim.allow(own.max_attempts)
    if known is not None and not (own is not None and claim.left_to_job & LEFT_RETRY):
        return known
    return own or Retry(max_attempts=rules.default_max_attempts)


def list_instances(now: int) -> Program[list[Instance]]:
    rows = yield query("live_instances", now=now)
    return [
        Instance(
            session=row[0],
            name=row[1],
            host=row[2],
            pid=row[3],
            roles=decode_words(row[4]),
            version=row[5],
            tz_version=row[6],
            jobs=decode_words(row[7]),
            started_at=row[8],
            expires_at=row[9],
            skew_ms=row[10],
        )
        for row in rows
    ]


def read_lease(now: int, role: str) -> Program[Lease | None]:
    rows = yield query("read_lease", role=role)
    return Lease(*rows[0]) if rows else None


def release_lease(now: int, role: str, session: int) -> Program[None]:
    yield query("release_lease", role=role, session=session, now=now)


def take_lease(now: int, role: str, session: int, lease_ms: int, seize: bool = False) -> Program[int | None]:
    """Take or renew a role; the term grows whenever it changes hands."""
    rows = yield query("take_lease", role=role, session=session, now=now, expires_at=now + lease_ms, seize=seize)
    if not rows:
        return None
    # A store that is restored from a backup has fewer ticks than somebody has seen.
    yield group(query("tick"), last=True)
    return int(rows[0][0])
