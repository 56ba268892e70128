"""Answers from outside: whoever received a run says how it went, by its id and its fence."""

from __future__ import annotations

from collections.abc import Mapping

from duly.core.policy import Retry
from duly.core.rules.firing import FireRules
from duly.core.run import Claim, Outcome
from duly.store.statements import Program, query
from duly.store.values import Settled, Settlement

from .claiming import attach_definitions, read_claim
from .definitions import Definitions
from .sessions import CLAIM_COLUMNS, retry_of
from .settling import NEVER, settle, wrote

TURNS = 3
"""How often to look: the delivery may be written in the very moment in which the answer comes."""


def settle_answer(
    now: int,
    run_id: str,
    fence: int,
    outcome: Outcome,
    rules: FireRules,
    retries: Mapping[str, Retry],
    definitions: Definitions,
) -> Program[Settled]:
    """Settle what a receiver says; see ``Claiming.settle_answer``."""
    for _ in range(TURNS):
        found = yield from _answerable(run_id, fence, definitions)
        if found is None:
            break
        claim, session = found
        settled = yield from settle(now, [Settlement(claim, session, outcome, retry_of(claim, rules, retries))])
        if not settled.lost:
            return settled
    left = yield query("answered_already", id=run_id, fence=fence)
    kept = any(wrote(outcome, *row) for row in left)
    return Settled(now, {}, [] if kept else [run_id], 0)


def begin_answer(now: int, run_id: str, fence: int, definitions: Definitions) -> Program[bool]:
    """Keep that a receiver has begun; see ``Claiming.begin_answer``."""
    found = yield from _answerable(run_id, fence, definitions)
    if found is None:
        return False
    timeout_ms = found[0].timeout_ms
    answer_by = NEVER if timeout_ms is None else now + timeout_ms
    return bool((yield query("begin_answer", id=run_id, fence=fence, now=now, answer_by=answer_by)))


def _answerable(run_id: str, fence: int, definitions: Definitions) -> Program[tuple[Claim, int | None] | None]:
    """The run, and in whose hands it is, if it is one that is to be answered."""
    rows = yield query("answerable_run", id=run_id, fence=fence)
    if not rows:
        return None
    claim = read_claim(rows[0][:CLAIM_COLUMNS])
    yield from attach_definitions([claim], definitions)
    if claim.definition is None or not claim.definition.target.expects_answer:
        return None
    return claim, rows[0][CLAIM_COLUMNS]
