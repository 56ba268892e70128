"""What happened is told by the transaction that did it, while somebody watches, and costs nothing while nobody does.

Each fact about a run or a schedule is written by one of a few statements. So nothing that changes them has to know of
events: a tap on the statements of a transaction notes the facts, and tells them before the commit, to those who watch
and to the webhooks that want them. Whether there are any is asked at most once in ``RECHECK_MS``, and only by a
transaction that has something to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from duly.core.change import Action
from duly.store.codec import decode_words
from duly.store.statements import Batch, Group, Program, Query, Row, Step, Steps, T, Transaction, batch, columns, query

from .notifying import RUN_EVENT, SCHEDULE_EVENT, Fact, notify

RECHECK_MS = 2000
"""How long a process goes by what it has seen: so late it begins to tell when somebody begins to watch."""


def _claimed(step: Query | Batch, rows: Sequence[Row]) -> Iterator[Fact]:
    return (Fact("run.started", row[0]) for row in rows)


def _born(step: Query | Batch, rows: Sequence[Row]) -> Iterator[Fact]:
    """Runs that were born claimed have started."""
    assert isinstance(step, Batch)
    claimed = {id for id, session in zip(step.columns["id"], step.columns["claimed_by"], strict=True) if session}
    return (Fact("run.started", row[0]) for row in rows if row[0] in claimed)


def _ended(step: Query | Batch, rows: Sequence[Row]) -> Iterator[Fact]:
    return (Fact(f"run.{row[1]}", row[0]) for row in rows)


def _ended_waiting(step: Query | Batch, rows: Sequence[Row]) -> Iterator[Fact]:
    return (Fact(f"run.{step.params['status']}", row[0]) for row in rows)


def _skipped(step: Query | Batch, rows: Sequence[Row]) -> Iterator[Fact]:
    return (Fact("run.skipped", row[0]) for row in rows)


def _tried(step: Query | Batch, rows: Sequence[Row]) -> Iterator[Fact]:
    """Yield failed attempts; if a run ends with one, listeners get the end instead. Other outcomes are not reported."""
    assert isinstance(step, Batch)
    told = step.columns
    attempts = zip(told["run_id"], told["attempt"], told["error"], strict=True)
    return (Fact("run.retrying", *attempt) for attempt in attempts if attempt[2] is not None)


def _created(step: Query | Batch, rows: Sequence[Row]) -> Iterator[Fact]:
    return (Fact("schedule.created", row[0]) for row in rows)


def _added(step: Query | Batch, rows: Sequence[Row]) -> Iterator[Fact]:
    assert isinstance(step, Batch)
    return (Fact("schedule.created", id) for id in step.columns["id"])


_CHANGES: Mapping[str, str] = {
    Action.EDIT: "schedule.updated",
    Action.PAUSE: "schedule.paused",
    Action.RESUME: "schedule.resumed",
    Action.CANCEL: "schedule.cancelled",
    Action.RESCHEDULE: "schedule.cancelled",
    Action.DELETE: "schedule.deleted",
}


def _changed(step: Query | Batch, rows: Sequence[Row]) -> Iterator[Fact]:
    assert isinstance(step, Batch)
    told = step.columns
    return (Fact(_CHANGES[action], id) for id, action in zip(told["schedule_id"], told["action"], strict=True))


def _owed(step: Query | Batch, rows: Sequence[Row]) -> Iterator[Fact]:
    return (Fact("schedule.overdue", row[0]) for row in rows)


def _owed_no_more(step: Query | Batch, rows: Sequence[Row]) -> Iterator[Fact]:
    """Only of what goes again: one that is paused or gone has not recovered."""
    return (Fact("schedule.recovered", row[0]) for row in rows if row[1])


TOLD_BY: Mapping[str, Callable[[Query | Batch, Sequence[Row]], Iterator[Fact]]] = {
    "claim_ready": _claimed,
    "claim_newest": _claimed,
    "claim_chosen": _claimed,
    "claim_suspects": _claimed,
    "insert_runs": _born,
    "complete_runs": _ended,
    "finish_runs": _ended,
    "end_waiting": _ended_waiting,
    "insert_skips": _skipped,
    "insert_attempts": _tried,
    "insert_schedules": _created,
    "add_schedules": _added,
    "insert_changes": _changed,
    "insert_overdue": _owed,
    "drop_overdue": _owed_no_more,
}
"""The statements that write a fact, each with what it tells."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Who is to be told: whether somebody watches, and the events that webhooks want."""

    watched: bool = False
    wanted: frozenset[str] = frozenset()

    @property
    def nobody(self) -> bool:
        return not self.watched and not self.wanted


class Watch:
    """Who is to be told, as one store has last seen it."""

    def __init__(self) -> None:
        self._seen_at: int | None = None
        self._seen = Seen()

    def saw(self, now: int, *, watched: bool, wanted: str) -> Seen:
        """Note what was seen; ``wanted`` is the list of events as it is stored."""
        self._seen_at, self._seen = now, Seen(watched, frozenset(decode_words(wanted)))
        return self._seen

    def forget(self) -> None:
        """Look again at the next occasion."""
        self._seen_at = None

    def last_seen(self, now: int) -> Seen | None:
        """What was last seen, or None if that was too long ago. A clock that went back counts as long ago."""
        if self._seen_at is None or not 0 <= now - self._seen_at < RECHECK_MS:
            return None
        return self._seen


class Tap(Generic[T]):
    """A transaction that also tells what it did, if it is to.

    ``told`` says whether it has told anything to who watches, ``notified`` how many runs it has made for webhooks.
    """

    __slots__ = ("_transaction", "_watch", "notified", "told")

    def __init__(self, transaction: Transaction[T], watch: Watch) -> None:
        self._transaction = transaction
        self._watch = watch
        self.told = False
        self.notified = 0

    def __call__(self, now: int) -> Program[T]:
        self.told, self.notified = False, 0  # it may be a second try
        program = self._transaction(now)
        seen = self._watch.last_seen(now)
        return program if seen is not None and seen.nobody else self._listen(now, program)

    def _listen(self, now: int, program: Program[T]) -> Program[T]:
        facts: list[Fact] = []
        for step in (steps := Steps(program)):
            if isinstance(step, Group) and step.last and (facts or any(one.name in TOLD_BY for one in step.steps)):
                step = Group(step.steps)  # the facts are told after it
            steps.answer = yield step
            facts += _facts(step, steps.answer)
        if facts:
            yield from self._tell(now, facts)
        return steps.value

    def _tell(self, now: int, facts: Sequence[Fact]) -> Program[None]:
        seen = self._watch.last_seen(now)
        if seen is None:
            rows = yield query("somebody_watches", now=now)
            seen = self._watch.saw(now, watched=bool(rows[0][0]), wanted=rows[0][1])
        of_runs, of_schedules = _worth_telling(facts)
        if seen.watched:
            yield from _write_events(now, of_runs, of_schedules)
            self.told = True
        if seen.wanted:
            self.notified = yield from notify(now, of_runs, of_schedules, seen.wanted)


def _facts(step: Step, answer: Any) -> Iterator[Fact]:
    if isinstance(step, Group):
        for one, rows in zip(step.steps, answer, strict=True):
            yield from _facts(one, rows)
    elif step.name in TOLD_BY:
        yield from TOLD_BY[step.name](step, answer)


def _worth_telling(facts: Sequence[Fact]) -> tuple[list[Fact], list[Fact]]:
    """The facts about runs and about schedules; of an attempt that was the end of its run, the end alone."""
    ended = {fact.id for fact in facts if fact.name in ("run.failed", "run.cancelled", "run.completed")}
    of_runs = [
        fact
        for fact in facts
        if fact.name.startswith("run.") and not (fact.name == "run.retrying" and fact.id in ended)
    ]
    return of_runs, [fact for fact in facts if fact.name.startswith("schedule.")]


def _write_events(now: int, of_runs: Sequence[Fact], of_schedules: Sequence[Fact]) -> Program[None]:
    if of_runs:
        yield batch("insert_run_events", columns(RUN_EVENT, of_runs), now=now)
    if of_schedules:
        told = columns(SCHEDULE_EVENT, [fact[:2] for fact in of_schedules])
        yield batch("insert_schedule_events", told, now=now)
