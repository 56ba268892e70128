"""Ends that a worker reports which has no store: it names the run and the fence, and the store knows the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from duly.core.policy import Retry
from duly.core.rules.firing import FireRules
from duly.core.run import Claim
from duly.store.statements import Program, query
from duly.store.values import Report, Settled, Settlement

from .claiming import attach_definitions, read_claim
from .definitions import Definitions
from .sessions import retry_of
from .settling import settle


def settle_reported(
    now: int,
    session: int,
    reports: Sequence[Report],
    rules: FireRules,
    retries: Mapping[str, Retry],
    definitions: Definitions,
) -> Program[Settled]:
    """Settle what a session reports; see ``Claiming.settle_reported``.

    What is looked up here is not locked: the settle checks run, fence and session itself, as for any other worker.
    """
    rows = yield query("session_claims", session=session)
    held = {(claim.id, claim.fence): claim for claim in map(read_claim, rows)}
    claims = [held.get((report.run_id, report.fence)) or _gone(report) for report in reports]
    yield from attach_definitions(claims, definitions)
    settlements = [
        Settlement(
            claim,
            session,
            report.outcome,
            retry_of(claim, rules, _retries(claim, report, retries)),
            rules.max_interruptions,
        )
        for claim, report in zip(claims, reports, strict=True)
    ]
    return (yield from settle(now, settlements))


def _retries(claim: Claim, report: Report, retries: Mapping[str, Retry]) -> Mapping[str, Retry]:
    """The policies of jobs, with what the worker tells of its own."""
    if report.retry is None:
        return retries
    told = claim.max_attempts if report.max_attempts is None else report.max_attempts
    return {claim.job: replace(report.retry, max_attempts=max(1, told))}


def _gone(report: Report) -> Claim:
    """A run that the session does not hold: it reported before, or it was taken from it. The settle tells which."""
    return Claim(
        id=report.run_id, job="", kind="", queue="", attempt=0, max_attempts=0, fence=report.fence, payload=None,
        schedule_id=None, revision=None, window_at=None, due_at=0, fired_at=0, lane=None, timeout_ms=None, tenant="",
    )  # fmt: skip
