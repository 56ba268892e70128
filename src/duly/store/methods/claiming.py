"""Claims: due runs go to a live session, in batches, each with a new fence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from duly.core.outside import holds_any
from duly.core.rules.fairness import shares, shuffled
from duly.core.rules.suspects import Room, Suspect, choose
from duly.core.run import Claim
from duly.core.schedule import Definition
from duly.core.steps import WORKFLOW
from duly.store.statements import Program, Row, group, query
from duly.store.values import Claimed

from .definitions import Definitions
from .floors import GROUND, MARGIN_MS, WORTH, Floors, Place
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
    floors: Floors,
    queues: Collection[str] | None = None,
) -> Program[Claimed]:
    """Take up to ``limit`` due runs for a live session; see ``Claiming.claim_runs``."""
    workflows = any(job.startswith(WORKFLOW) for job in jobs)
    wake = [query("wake_sleepers", now=now)] if workflows else []
    alive, *_, found = yield group(query("hold_session", session=session), *wake, query("ready_lines"))
    if not alive:
        return Claimed(now, [], alive=False)
    lines = [line for line in map(_Line._make, found) if holds_any(line.queue, jobs)]
    if queues is not None:
        lines = [line for line in lines if line.queue in queues]
    gates = yield from open_gates(now, sorted({line.queue for line in lines if line.governed}))
    asking = _Asking(now, session, list(jobs), gates, suspects, floors)
    claims: list[Claim] = []
    due = [line for line in lines if line.first_due_at <= now]
    for priority in sorted({line.priority for line in due}, reverse=True):
        if len(claims) < limit:
            equals = [line for line in due if line.priority == priority]
            claims += yield from _claim_equals(asking, equals, limit - len(claims))
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


class _Line(NamedTuple):
    """The runs of a queue that wait at a priority; those that were lost before stand in a line of their own."""

    queue: str
    priority: int
    lost_before: bool
    governed: bool
    first_due_at: int


@dataclass(slots=True)
class _Asking:
    """Who claims, and what it may still take."""

    now: int
    session: int
    jobs: list[str]
    gates: dict[str, Gate]
    suspects: Room
    floors: Floors

    @property
    def claimer(self) -> dict[str, int]:
        return {"session": self.session, "deadline_grace": DEADLINE_GRACE_MS}

    def at(self, line: _Line) -> dict[str, Any]:
        """What is looked for in a line."""
        return {"queue": line.queue, "priority": line.priority, "jobs": self.jobs, "now": self.now}


def _claim_equals(asking: _Asking, lines: Sequence[_Line], limit: int) -> Program[list[Claim]]:
    """Take from the lines of one priority: from suspects, which are few, then so that no queue keeps others waiting."""
    claims: list[Claim] = []
    for line in sorted(line for line in lines if line.lost_before):
        claims += yield from _claim_line(asking, line, limit - len(claims))
    waiting = {line.queue: line for line in lines if not line.lost_before}
    for queue, share in shares(shuffled(waiting, f"{asking.now}/{asking.session}"), limit, claims):
        claims += yield from _claim_line(asking, waiting[queue], share)
    return claims


def _claim_line(asking: _Asking, line: _Line, limit: int) -> Program[list[Claim]]:
    """Take from a line what its queue allows."""
    gate = asking.gates.get(line.queue)
    room = limit if gate is None else gate.room(limit)
    if room == 0:
        return []
    if line.lost_before:
        taken = yield from _claim_suspects(asking, line, room)
    elif gate is None:
        taken = yield from _claim_ready(asking, line, room)
    else:
        taken = yield from _claim_governed(asking, line, room, gate)
    if gate is not None:
        gate.take(len(taken))
        for claim in taken:
            claim.capped = gate.capped
    return taken


def _claim_ready(asking: _Asking, line: _Line, limit: int) -> Program[list[Claim]]:
    place = Place(line.queue, line.priority, tuple(asking.jobs))
    floor = asking.floors.of(place, asking.now)
    rows = yield query("claim_ready", **asking.at(line), floor=floor or GROUND, limit=limit, **asking.claimer)
    taken = _in_order(rows)
    if floor is None:
        yield from _look_back(asking, line, place, taken[0].due_at if taken else asking.now)
    return taken


def _look_back(asking: _Asking, line: _Line, place: Place, first_due_at: int) -> Program[None]:
    """Let the next claims begin where this one has found its first run, if it has passed over many that are not its."""
    floor = min(first_due_at, asking.now - MARGIN_MS)
    if line.first_due_at < floor:
        ((passed,),) = yield query("count_passed", queue=line.queue, priority=line.priority, before=floor, most=WORTH)
        asking.floors.keep(place, floor if passed >= WORTH else GROUND, asking.now)


def _claim_governed(asking: _Asking, line: _Line, limit: int, gate: Gate) -> Program[list[Claim]]:
    """Take from a queue in the order that it was set to."""
    taken: list[Claim] = []
    if gate.queue.fair:
        ids = yield from choose_in_turn(asking.at(line), gate, limit)
        if ids:
            rows = yield query("claim_chosen", ids=ids, now=asking.now, **asking.claimer)
            found = {row[0]: read_claim(row) for row in rows}
            taken = [found[id] for id in ids if id in found]
        # What has no key came in while the queue was not fair yet.
        limit -= len(taken)
    if limit == 0:
        return taken
    if not gate.queue.newest_first:
        return taken + (yield from _claim_ready(asking, line, limit))
    rows = yield query("claim_newest", **asking.at(line), limit=limit, **asking.claimer)
    return taken + _in_order(rows)[::-1]


def _in_order(rows: Sequence[Row]) -> list[Claim]:
    return sorted(map(read_claim, rows), key=lambda claim: (claim.due_at, claim.id))


def _claim_suspects(asking: _Asking, line: _Line, limit: int) -> Program[list[Claim]]:
    """Take from a line of runs that were lost before as many as may be tried beside one another."""
    if asking.suspects.most <= 0:
        return []
    waiting = yield query("waiting_suspects", **asking.at(line), limit=min(limit, asking.suspects.most))
    ids, asking.suspects = choose([Suspect(*row) for row in waiting], asking.suspects)
    if not ids:
        return []
    rows = yield query("claim_suspects", ids=ids, now=asking.now, **asking.claimer)
    return [replace(claim, suspect=True) for claim in _in_order(rows)]


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
