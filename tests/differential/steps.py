"""The record of workflows, as the model keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from duly.core.run import Continued, Hold, NewRun, Run, RunKind, RunStatus, Suspended
from duly.core.steps import WORKFLOW, Journal, Message, Recorded, Step, StepKind, StepStatus, parse_handler
from duly.runtime.clock import Clock
from duly.store.journal import Child, Record
from duly.store.values import NewRequest

NEVER = 253_402_300_799_000


@dataclass(slots=True, kw_only=True)
class MessageRow:
    run_id: str
    n: int
    kind: str
    name: str
    body: str | None
    error: str | None
    at: int
    taken: int = 0


class StepsModel:
    """The part of the model that keeps steps, messages, children and shown values."""

    _clock: Clock
    runs: dict[str, Any]
    history: dict[str, Any]
    owners: dict[str, str]
    facts: dict[str, Any]
    steps: dict[tuple[str, int], Step]
    inbox: dict[tuple[str, int], MessageRow]
    children: dict[str, tuple[str, int]]
    published: dict[tuple[str, str], tuple[str, int]]
    marks: dict[tuple[str, str], str]

    def _insert(self, run: NewRun) -> bool:
        raise NotImplementedError

    async def record_steps(self, records: Sequence[Record]) -> list[Recorded | None]:
        return [self._record(record) for record in records]

    def _record(self, record: Record) -> Recorded | None:
        now = self._clock.now()
        run = self.runs.get(record.run_id)
        if run is None or (run.fence, run.claimed_by) != (record.fence, record.session):
            return None
        if run.cancel_at is not None:
            return Recorded(now=now, cancelled=True)
        for step in record.steps:
            known = self.steps.get((run.id, step.position))
            if known is None:
                self.steps[run.id, step.position] = step
            elif known.status is StepStatus.ASKED:
                asked = {"kind": known.kind, "name": known.name, "asked_at": known.asked_at}
                self.steps[run.id, step.position] = Step(**asdict(step) | asked)
            elif known.kind is StepKind.STEP and known.seq is None:
                self.steps[run.id, step.position] = replace(known, seq=step.seq)
        if record.job is not None or record.progress:
            run.attempt, run.job = 1, record.job or run.job
        for n in record.taken:
            if (run.id, n) in self.inbox:
                self.inbox[run.id, n].taken = 1
        for name, value in record.published.items():
            self.published[run.id, name] = (value, now)
        self._mark(run.id, record.marks)
        for child in record.children:
            self._add_child(run, child, now)
        return Recorded(now=now, messages=self._unread(run.id, record.seen))

    def _add_child(self, parent: Any, child: Child, now: int) -> None:
        asked = child.request
        self._insert(
            NewRun(
                id=asked.id,
                job=asked.job,
                kind=RunKind.CHILD,
                due_at=now,
                window_at=now,
                fired_at=now,
                tenant=asked.tenant,
                queue=asked.queue,
                priority=asked.priority,
                max_attempts=asked.max_attempts,
                timeout_ms=asked.timeout_ms,
                payload=asked.payload,
                fair_key=asked.fairness_key,
            )
        )
        self.children.setdefault(asked.id, (parent.id, child.position if child.awaited else 0))
        self._adopt(asked.id, parent)

    def _adopt(self, id: str, parent: Any) -> None:
        """Let a run belong to whom another belongs."""
        facts = self.facts.get(parent.schedule_id)
        owner = self.owners.get(parent.id) or (facts and facts.owner)
        if owner is not None:
            self.owners.setdefault(id, owner)

    def _inherit(self, old: Any, outcome: Continued, now: int) -> None:
        """Put a new run in the place of one that is about to end."""
        if self._insert(
            NewRun(
                id=outcome.heir,
                job=outcome.job,
                kind=RunKind.CHILD,
                due_at=now,
                window_at=now,
                fired_at=now,
                schedule_id=old.schedule_id,
                revision=old.revision,
                tenant=old.tenant,
                queue=old.queue,
                priority=old.priority,
                slot=old.slot,
                lane=old.lane,
                max_attempts=old.max_attempts,
                timeout_ms=old.timeout_ms,
                payload=outcome.payload,
                fair_key=old.fair_key,
            )
        ):
            heir = self.runs[outcome.heir]
            heir.undo_at = old.undo_at
            for row in self._messages(old.id):
                if not row.taken and row.kind in ("signal", "cancel"):
                    self.inbox[heir.id, row.n] = replace(row, run_id=heir.id, at=now)
                    row.taken = 1
        parent, position = self.children.get(old.id, (old.id, -1))
        self.children.setdefault(outcome.heir, (parent, position))
        if old.id in self.children:
            self.children[old.id] = (parent, min(0, position))
        self._inherit_marks(outcome.heir, old.id)
        self._adopt(outcome.heir, old)

    def _mark(self, run_id: str, marks: Mapping[str, str]) -> None:
        for name, value in marks.items():
            self.marks[run_id, name] = value

    def _inherit_marks(self, run_id: str, other: str) -> None:
        for name, value in self._marks_of(other).items():
            self.marks.setdefault((run_id, name), value)

    def _marks_of(self, run_id: str) -> dict[str, str]:
        return {name: value for (id, name), value in sorted(self.marks.items()) if id == run_id}

    async def read_marks(self, run_id: str) -> dict[str, str]:
        return self._marks_of(run_id)

    def _unread(self, run_id: str, after: int) -> list[Message]:
        return [
            Message(row.n, StepKind(row.kind), row.name, row.body, row.error)
            for row in self._messages(run_id)
            if row.n > after and not row.taken
        ]

    def _messages(self, run_id: str) -> list[MessageRow]:
        return [row for _, row in sorted(self.inbox.items()) if row.run_id == run_id]

    async def read_journal(self, run_id: str) -> Journal:
        steps = [step for (id, _), step in sorted(self.steps.items()) if id == run_id]
        return Journal(now=self._clock.now(), steps=steps, messages=self._unread(run_id, 0))

    async def signal_run(self, run_id: str, name: str, body: str | None) -> bool:
        return self._send(run_id, StepKind.SIGNAL, name, body, None)

    async def enqueue(self, requests: Sequence[NewRequest]) -> list[Run]:
        raise NotImplementedError

    async def signal_with_start(self, request: NewRequest, name: str, body: str | None) -> tuple[Run, bool]:
        (run,) = await self.enqueue([request])
        asked = parse_handler(request.job)
        same = asked is not None and run.workflow == asked[0]
        return run, same and self._send(run.id, StepKind.SIGNAL, name, body, None)

    async def cancel_softly(self, run_id: str) -> bool:
        run = self.runs.get(run_id)
        if run is None or not run.job.startswith(WORKFLOW):
            return False
        if run.undo_at is None:
            run.undo_at = self._clock.now()
            self._send(run_id, StepKind.CANCEL, "", None, None)
        return True

    def _send(self, run_id: str, kind: StepKind, name: str, body: str | None, error: str | None) -> bool:
        run = self.runs.get(run_id)
        if run is None or not run.job.startswith(WORKFLOW):
            return False
        n = max([0, *(row.n for row in self._messages(run_id))]) + 1
        self.inbox[run_id, n] = MessageRow(
            run_id=run_id, n=n, kind=kind.value, name=name, body=body, error=error, at=self._clock.now()
        )
        if run.hold == Hold.SIGNAL and run.claimed_by is None:
            run.hold, run.due_at = 0, self._clock.now()
        return True

    async def end_task(self, run_id: str, position: int, *, result: str | None, error: str | None) -> bool | None:
        step = self.steps.get((run_id, position))
        if step is None or step.kind is not StepKind.TASK:
            return None
        told = any(row.kind == "task" and row.name == str(position) for row in self._messages(run_id) if not row.taken)
        if run_id not in self.runs or step.status is not StepStatus.ASKED or told:
            return False
        self._send(run_id, StepKind.TASK, str(position), result, error)
        return True

    async def read_heir(self, run_id: str) -> str | None:
        found = [id for id, link in self.children.items() if link == (run_id, -1)]
        return max(found, key=lambda id: (id in self.runs, id), default=None)

    async def read_secret(self, name: str) -> str:
        return f"what the model alone knows of {name}"

    async def read_published(self, run_id: str, name: str) -> str | None:
        return self.published.get((run_id, name), (None, 0))[0]

    def _tell_parents(self, ids: Sequence[str]) -> int:
        """Tell each end of a child once; answer how many parents heard."""
        told = set()
        for id in sorted(ids, key=lambda id: self.children.get(id, ("", 0))):
            parent, position = self.children.get(id, ("", 0))
            heard = [row for row in self._messages(parent) if row.kind == "child" and row.name == str(position)]
            if position <= 0 or heard:
                continue
            end = self.history[id]
            error = None if end.status == RunStatus.COMPLETED else end.error or end.status
            if self._send(parent, StepKind.CHILD, str(position), end.result, error):
                told.add(parent)
        return len(told)

    def _suspend(self, run: Any, outcome: Suspended) -> None:
        """Let a run sleep, unless something came that it has not seen."""
        if not self._unread(run.id, outcome.seen):
            run.hold, run.due_at = int(Hold.SIGNAL), NEVER if outcome.wake_at is None else outcome.wake_at

    def _sleepers(self) -> list[Any]:
        return [run for run in self.runs.values() if run.hold == Hold.SIGNAL and run.claimed_by is None]

    def _wake_sleepers(self, now: int) -> None:
        for run in self._sleepers():
            if run.due_at <= now:
                run.hold = 0

    def _descendants(self, id: str) -> list[str]:
        found: list[str] = []
        below = [id]
        while below:
            below = [child for child, (parent, _) in self.children.items() if parent in below and child not in found]
            found += below
        return [one for one in found if one != id]

    def _forget_failure(self, row: Any) -> None:
        """Let a redriven workflow go on from the step that killed it."""
        id = row.id
        mine = [step for (run_id, _), step in self.steps.items() if run_id == id]
        last = max((step.seq for step in mine if step.seq is not None), default=None)
        own_runs = {position for parent, position in self.children.values() if parent == id}
        if not row.job.startswith(WORKFLOW) or any(step.kind is StepKind.UNDO for step in mine):
            return
        for step in mine:
            failed = step.kind in (StepKind.STEP, StepKind.CHILD) and step.status is StepStatus.FAILED
            if failed and step.seq == last is not None and step.position not in own_runs:
                del self.steps[id, step.position]

    def _failed_children(self, id: str) -> list[tuple[int, str]]:
        """Children whose failure killed a run: nothing was asked for after it, and nothing was undone."""
        mine = [step for (run_id, _), step in self.steps.items() if run_id == id]
        if any(step.kind is StepKind.UNDO for step in mine):
            return []
        found = []
        for child, (parent, position) in self.children.items():
            step = self.steps.get((id, position))
            if parent != id or position <= 0 or step is None or step.status is not StepStatus.FAILED:
                continue
            done_at = step.done_at
            later = any(
                other.position > position and done_at is not None and other.asked_at >= done_at for other in mine
            )
            if not later:
                found.append((position, child))
        return found

    def _reopen(self, id: str, position: int) -> None:
        step = self.steps[id, position]
        asked = {"status": StepStatus.ASKED, "seq": None, "result": None, "error": None, "done_at": None}
        self.steps[id, position] = Step(**asdict(step) | asked)
        for row in self._messages(id):
            if row.kind == "child" and row.name == str(position):
                del self.inbox[id, row.n]

    def _forget_steps(self, ids: Sequence[str]) -> None:
        tables: list[dict[Any, Any]] = [self.steps, self.inbox, self.published, self.marks]
        for rows in tables:
            for key in [key for key in rows if key[0] in ids]:
                del rows[key]
        for id in ids:
            self.children.pop(id, None)

    def _step_rows(self) -> dict[str, list[Sequence[Any]]]:
        """The tables of a dump."""
        return {
            "steps": [
                (
                    id, s.position, s.seq, s.kind.value, s.name, s.status.value, s.attempt, s.due_at, s.result,
                    s.error, s.log, s.asked_at, s.done_at,
                )
                for (id, _), s in self.steps.items()
            ],
            "inbox": [tuple(asdict(row).values()) for row in self.inbox.values()],
            "children": [(id, *link) for id, link in self.children.items()],
            "marks": [(*key, value) for key, value in self.marks.items()],
            "published": [(*key, *shown) for key, shown in self.published.items()],
        }  # fmt: skip
