"""The record of workflows: rows of steps, messages to runs, children and their ends.

Whoever writes for a run locks its row first: a record checks (run, fence, session) under that lock, a message is
numbered under it, and a settle that suspends the run looks under it for messages that the body has not seen. So no
message is lost between the look and the sleep.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from duly.core.run import NewRun, RunKind
from duly.core.steps import WORKFLOW, Journal, Message, Recorded, Step, StepKind, StepStatus
from duly.store.journal import Child, Record
from duly.store.statements import Batch, Program, Query, Row, batch, columns, group, query

from .firing import NEW_RUN, new_run_row

STEP = (
    "run_id", "position", "seq", "kind", "name", "status", "attempt", "due_at", "result", "error", "log", "asked_at",
    "done_at",
)  # fmt: skip
MARK = ("run_id", "name", "value")
UNAWAITED = 0
"""The position of children whose end nobody waits for."""
MESSAGE = ("run_id", "n", "kind", "name", "body", "error")
Sent = tuple[str, StepKind, str, str | None, str | None]
"""A message on its way: to which run, of which kind, its name, its body, its error."""


def record_steps(now: int, records: Sequence[Record]) -> Program[list[Recorded | None]]:
    """Write what has come of runs; see ``Stepping.record_steps``."""
    if len({record.run_id for record in records}) < len(records):
        # Two attempts at one run: one of them is a zombie, and must not borrow the other's guard.
        answers: list[Recorded | None] = []
        for record in records:
            answers += yield from record_steps(now, [record])
        return answers
    guards = columns(("id", "fence", "session"), [(r.run_id, r.fence, r.session) for r in records])
    locked = {row[0]: row for row in (yield batch("lock_runs", guards))}
    live = [record for record in records if record.run_id in locked and locked[record.run_id][3] is None]
    writes = _writes(now, live)
    if writes:
        yield group(*writes)
    seen = columns(("run_id", "after"), [(r.run_id, r.seen) for r in live])
    messages = _by_run((yield batch("read_inbox", seen))) if live else {}
    return [
        Recorded(now=now, messages=messages.get(record.run_id, []), cancelled=locked[record.run_id][3] is not None)
        if record.run_id in locked
        else None
        for record in records
    ]


def _writes(now: int, live: Sequence[Record]) -> list[Query | Batch]:
    steps = [step_row(record.run_id, step) for record in live for step in record.steps]
    moved = [(record.run_id, record.job) for record in live if record.job is not None or record.progress]
    taken = [(record.run_id, n) for record in live for n in record.taken]
    published = [(record.run_id, name, value) for record in live for name, value in record.published.items()]
    children = [(record.run_id, child) for record in live for child in record.children]
    writes: list[Query | Batch] = []
    if steps:
        writes.append(batch("put_steps", columns(STEP, steps)))
    if moved:
        writes.append(batch("progress_runs", columns(("id", "job"), moved)))
    if taken:
        writes.append(batch("take_messages", columns(("run_id", "n"), taken)))
    if published:
        writes.append(batch("put_published", columns(("run_id", "name", "value"), published), now=now))
    marks = put_marks((record.run_id, record.marks) for record in live)
    if marks is not None:
        writes.append(marks)
    if children:
        runs = [_child_run(now, child) for _, child in children]
        links = [
            (child.request.id, parent, child.position if child.awaited else UNAWAITED) for parent, child in children
        ]
        writes.append(batch("insert_runs", columns(NEW_RUN, map(new_run_row, runs))))
        writes.append(query("drop_returned", ids=[run.id for run in runs]))
        writes.append(batch("insert_children", columns(("run_id", "parent_id", "position"), links)))
        writes.append(batch("adopt_owners", columns(("run_id", "parent_id"), [link[:2] for link in links])))
    return writes


def put_marks(marked: Iterable[tuple[str, Mapping[str, str]]]) -> Batch | None:
    """The statement that keeps the marks of runs; None if there are none."""
    rows = [(run_id, name, value) for run_id, marks in marked for name, value in marks.items()]
    return batch("put_marks", columns(MARK, rows)) if rows else None


def _child_run(now: int, child: Child) -> NewRun:
    request = child.request
    return NewRun(
        id=request.id,
        job=request.job,
        kind=RunKind.CHILD,
        due_at=now,
        window_at=now,
        fired_at=now,
        tenant=request.tenant,
        queue=request.queue,
        priority=request.priority,
        max_attempts=request.max_attempts,
        timeout_ms=request.timeout_ms,
        payload=request.payload,
        fair_key=request.fairness_key,
    )


def step_row(run_id: str, step: Step) -> tuple[Any, ...]:
    """The values of STEP, in order."""
    return (
        run_id, step.position, step.seq, step.kind.value, step.name, step.status.value, step.attempt, step.due_at,
        step.result, step.error, step.log, step.asked_at, step.done_at,
    )  # fmt: skip


def read_journal(now: int, run_id: str) -> Program[Journal]:
    """All that is recorded of a run, and the messages that its body has not taken."""
    steps, messages = yield group(
        query("read_steps", run_id=run_id), batch("read_inbox", {"run_id": [run_id], "after": [0]})
    )
    return Journal(now=now, steps=[_read_step(row) for row in steps], messages=_by_run(messages).get(run_id, []))


def _read_step(row: Row) -> Step:
    return Step(
        position=row[0],
        seq=row[1],
        kind=StepKind(row[2]),
        name=row[3],
        status=StepStatus(row[4]),
        attempt=row[5],
        due_at=row[6],
        result=row[7],
        error=row[8],
        log=row[9],
        asked_at=row[10],
        done_at=row[11],
    )


def _by_run(rows: Iterable[Row]) -> dict[str, list[Message]]:
    found: dict[str, list[Message]] = {}
    for run_id, n, kind, name, body, error in sorted(rows, key=lambda row: (row[0], row[1])):
        found.setdefault(run_id, []).append(Message(n, StepKind(kind), name, body, error))
    return found


def send(now: int, sent: Sequence[Sent]) -> Program[list[str]]:
    """Put messages before runs that are open, and wake those that sleep; answer the runs that were there."""
    if not sent:
        return []
    rows = yield query("lock_open_runs", ids=sorted({run_id for run_id, *_ in sent}))
    ids = sorted(row[0] for row in rows if row[1].startswith(WORKFLOW))
    if not ids:
        return []
    tops = dict.fromkeys(ids, 0) | {row[0]: row[1] for row in (yield query("inbox_tops", ids=ids))}
    messages: list[tuple[Any, ...]] = []
    for run_id, kind, name, body, error in sent:
        if run_id in tops:
            tops[run_id] += 1
            messages.append((run_id, tops[run_id], kind.value, name, body, error))
    yield group(
        batch("put_messages", columns(MESSAGE, messages), now=now),
        query("wake_runs", ids=ids, now=now),
    )
    return ids


def cancel_softly(now: int, run_id: str) -> Program[bool]:
    """Tell an open run to undo what it did; told again, it has been told. False if there is no such run."""
    rows = yield query("lock_open_runs", ids=[run_id])
    if not rows or not rows[0][1].startswith(WORKFLOW):
        return False
    if (yield query("begin_undoing", id=run_id, now=now)):
        yield from send(now, [(run_id, StepKind.CANCEL, "", None, None)])
    return True


def end_task(now: int, run_id: str, position: int, result: str | None, error: str | None) -> Program[bool | None]:
    """Tell a run the end of a task that somebody else did; False if it has been told, None if nobody waits."""
    rows = yield query("lock_open_runs", ids=[run_id])
    journal = yield from read_journal(now, run_id)
    step = next((s for s in journal.steps if s.position == position and s.kind is StepKind.TASK), None)
    if not rows or step is None:
        return None if step is None else False
    told = any(m.kind is StepKind.TASK and m.name == str(position) for m in journal.messages)
    if step.status is not StepStatus.ASKED or told:
        return False
    yield from send(now, [(run_id, StepKind.TASK, str(position), result, error)])
    return True


def tell_parents(now: int, ids: Sequence[str]) -> Program[int]:
    """Send the ends of children to the runs that wait for them; answer how many there are."""
    rows = yield query("child_ends", ids=sorted(ids))
    sent: list[Sent] = []
    for parent_id, position, status, result, error in rows:
        failure = None if status == "completed" else error or status
        sent.append((parent_id, StepKind.CHILD, str(position), result, failure))
    return len((yield from send(now, sent)))


def read_heir(now: int, run_id: str) -> Program[str | None]:
    """The run that one has gone on as, and lives or is the newest; None if it did not."""
    rows = yield query("read_heir", root=run_id)
    return rows[0][0] if rows else None


def read_secret(now: int, name: str) -> Program[str]:
    """What the store alone knows."""
    rows = yield query("read_secret", name=name)
    return str(rows[0][0])


def read_published(now: int, run_id: str, name: str) -> Program[str | None]:
    """The newest value that a body has shown under a name."""
    rows = yield query("read_published", run_id=run_id, name=name)
    return rows[0][0] if rows else None
