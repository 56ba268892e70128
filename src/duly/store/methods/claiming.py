"""Claims: due runs go to a live session, in batches, each with a new fence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from duly.core.outside import holds_any
from duly.core.rules.suspects import Room, Suspect, choose
from duly.core.run import Claim
from duly.core.schedule import Definition
from duly.core.steps import WORKFLOW
from duly.store.statements import Program, Row, group, query
from duly.store.values import Claimed

from .definitions import Definitions
from .gating import Gate, close_gates, open_gates
from .sharing import choose_in_turn

DEADLINE_GRACE_MS = 30_000
"""How long past its timeout an attempt may still report before recovery takes the run."""


def claim_runs(
    now: int,
    session: int,
    jobs: Sequence[str],
    limit: int,
    suspects: Room,
    definitions: Definitions,
    queues: Collection[str] | None = None,
) -> Program[Claimed]:
    """Take up to ``limit`` due runs for a live session; see ``Claiming.claim_runs``."""
    workflows = any(job.startswith(WORKFLOW) for job in jobs)
    wake = [query("wake_sleepers", now=now)] if workflows else []
    alive, *_, lines = yield group(query("hold_session", session=session), *wake, query("ready_lines"))
    if not alive:
        return Claimed(now, [], alive=False)
    lines = [line for line in lines if holds_any(line[0], jobs)]
    if queues is not None:
        lines = [line for line in lines if line[0] in queues]
    claims: list[Claim] = []
    gates = yield from open_gates(now, sorted({queue for queue, _, _, governed in lines if governed}))
    for queue, priority, lost_before, _ in sorted(lines, key=lambda line: (-line[1], line[0], not line[2])):
        gate = gates.get(queue)
        room = limit - len(claims) if gate is None else gate.room(limit - len(claims))
        if room == 0:
            continue
        line = {"queue": queue, "priority": priority, "jobs": list(jobs), "now": now}
        if lost_before:
            taken, suspects = yield from _claim_suspects(line, session, room, suspects)
        elif gate is None:
            taken = yield from _claim_ready(line, session, room)
        else:
            taken = yield from _claim_governed(line, session, room, gate)
        if gate is not None:
            gate.take(len(taken))
            for claim in taken:
                claim.capped = gate.capped
        claims += taken
        if len(claims) >= limit:
            break
    yield from close_gates(gates)
    yield from attach_definitions(claims, definitions)
    next_due_at = None
    if len(claims) < limit:
        alarm = [query("next_alarm")] if workflows else []
        found = yield group(query("next_due", now=now), *alarm, last=True)
        opens = [gate.opens_at for gate in gates.values()]
        next_due_at = min((at for at in (*opens, *(rows[0][0] for rows in found)) if at is not None), default=None)
    held_back = frozenset(name for name, gate in gates.items() if gate.full)
    return Claimed(now, claims, next_due_at=next_due_at, held_back=held_back)


def _claim_ready(line: dict[str, Any], session: int, limit: int) -> Program[list[Claim]]:
    rows = yield query("claim_ready", **line, limit=limit, session=session, deadline_grace=DEADLINE_GRACE_MS)
    return _in_order(rows)


def _claim_governed(line: dict[str, Any], session: int, limit: int, gate: Gate) -> Program[list[Claim]]:
    """Take from a queue in the order that it was set to."""
    taken: list[Claim] = []
    if gate.queue.fair:
        ids = yield from choose_in_turn(line, gate, limit)
        if ids:
            grace = DEADLINE_GRACE_MS
            rows = yield query("claim_chosen", ids=ids, now=line["now"], session=session, deadline_grace=grace)
            found = {row[0]: read_claim(row) for row in rows}
            taken = [found[id] for id in ids if id in found]
        # What has no key came in while the queue was not fair yet.
        limit -= len(taken)
    if limit == 0:
        return taken
    if not gate.queue.newest_first:
        return taken + (yield from _claim_ready(line, session, limit))
    rows = yield query("claim_newest", **line, limit=limit, session=session, deadline_grace=DEADLINE_GRACE_MS)
    return taken + _in_order(rows)[::-1]


def _in_order(rows: Sequence[Row]) -> list[Claim]:
    return sorted(map(read_claim, rows), key=lambda claim: (claim.due_at, claim.id))


def _claim_suspects(line: dict[str, Any], session: int, limit: int, room: Room) -> Program[tuple[list[Claim], Room]]:
    """Take from a line of runs that were lost before as many as may be tried beside one another."""
    if room.most <= 0:
        return [], room
    waiting = yield query("waiting_suspects", **line, limit=min(limit, room.most))
    ids, room = choose([Suspect(*row) for row in waiting], room)
    if not ids:
        return [], room
    rows = yield query("claim_suspects", ids=ids, now=line["now"], session=session, deadline_grace=DEADLINE_GRACE_MS)
    return [replace(claim, suspect=True) for claim in _in_order(rows)], room


def read_claim(row: Row) -> Claim:
    """Build a claim from the columns that ``claim_ready`` and ``lost_runs`` return."""
    return Claim(
        id=row[0],
        job=row[1],
        kind=row[2],
        queue=row[3],
        attempt=row[4],
        max_attempts=row[5],
        fence=row[6],
        payload=row[7],
        schedule_id=row[8],
        revision=row[9],
        window_at=row[10],
        due_at=row[11],
        fired_at=row[12],
        lane=row[13],
        timeout_ms=row[14],
        tenant=row[15],
    )


def attach_definitions(claims: Sequence[Claim], definitions: Definitions) -> Program[None]:
    """Give each claim of a schedule its definition, and the definition's payload where it has none of its own."""
    scheduled = [
        (claim, (claim.schedule_id, claim.revision))
        for claim in claims
        if claim.schedule_id is not None and claim.revision is not None
    ]
    if not scheduled:
        return
    known = yield from definitions.load({revision for _, revision in scheduled})
    for claim, revision in scheduled:
        definition = known.get(revision)
        if isinstance(definition, Definition):
            claim.definition = definition
            if claim.payload is None:
                claim.payload = definition.payload
