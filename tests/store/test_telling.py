"""The tap on a transaction's statements: free while nobody watches, and blind to nothing that writes a fact."""

import re
from collections.abc import Generator
from importlib.resources import files
from typing import Any

import pytest

from duly.core.change import Action
from duly.store.methods.telling import _CHANGES, RECHECK_MS, TOLD_BY, Tap, Watch
from duly.store.statements import Group, Step, batch, group, query
from tests.counting import at_least

# They make rows of which nothing is told: a dead run that is to go again, and one that another goes on as, are told of
# when they start.
UNTOLD = {"revive_runs", "insert_heirs"}
# It takes away at once what it makes, to learn what a transaction cannot see; PostgreSQL alone needs that.
PROBES = {"probe_history"}
WRITES = re.compile(
    r"INTO (duly\.)?duly_(history|runs|schedules|changes|attempts|overdue)\b|FROM (duly\.)?duly_overdue\b.*RETURNING"
    r"|claimed_by = :",
    re.IGNORECASE | re.DOTALL,
)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_every_statement_that_writes_a_fact_is_told(dialect: str) -> None:
    folder = files(f"duly.store.{dialect}") / "queries"
    found = {
        file.name.removesuffix(".sql")
        for file in folder.iterdir()
        if file.name.endswith(".sql") and any(_writes(line) for line in file.read_text("utf-8").split(";"))
    }
    assert at_least(found, 17, "statements that write a fact") - PROBES == set(TOLD_BY) | UNTOLD


def _writes(statement: str) -> bool:
    sets = re.sub(r"\bWHERE\b.*?(?=\bRETURNING\b|\bUPDATE\b|\bINSERT\b|$)", "", statement, flags=re.DOTALL)
    return WRITES.search(sets) is not None


def test_every_change_has_an_event() -> None:
    assert set(_CHANGES) == set(Action) - {Action.CREATE}  # a creation has no row in the trail


class Played:
    """A driver that answers what it is told to, and remembers what it was asked."""

    def __init__(self, watched: bool, wanted: str = "[]") -> None:
        self.asked: list[str] = []
        self._seen = (watched, wanted)

    def run(self, tap: Tap[Any], now: int) -> Any:
        program, answer = tap(now), None
        while True:
            try:
                step = program.send(answer)
            except StopIteration as end:
                return end.value
            answer = self._answer(step)

    def _answer(self, step: Step) -> Any:
        if isinstance(step, Group):
            return [self._answer(one) for one in step.steps]
        self.asked.append(step.name)
        return {"somebody_watches": [self._seen], "complete_runs": [("r", "completed")]}.get(step.name, [])


def completing(now: int) -> Generator[Step, Any, str]:
    yield group(query("lock_cursors"), batch("complete_runs", {"id": ["r"]}))
    return "done"


def beating(now: int) -> Generator[Step, Any, str]:
    yield query("extend_session")
    return "beat"


def test_nobody_watches_and_after_one_question_nothing_is_asked_for_a_while() -> None:
    watch, played = Watch(), Played(watched=False)
    assert played.run(Tap(completing, watch), 1000) == "done"
    assert played.asked == ["lock_cursors", "complete_runs", "somebody_watches"]
    played.asked.clear()
    tap = Tap(completing, watch)
    assert played.run(tap, 1000 + RECHECK_MS - 1) == "done"
    assert (played.asked, tap.told) == (["lock_cursors", "complete_runs"], False)
    assert getattr(tap(1001), "__name__", None) == "completing", "the program itself, with nothing around it"
    played.run(Tap(completing, watch), 1000 + RECHECK_MS)
    assert played.asked[-1] == "somebody_watches"
    played.run(Tap(completing, watch), 10)
    assert played.asked[-1] == "somebody_watches", "the clock went back"


def test_a_last_step_is_not_the_last_where_something_may_be_told() -> None:
    def ending(now: int) -> Generator[Step, Any, None]:
        yield group(batch("complete_runs", {"id": ["r"]}), last=True)

    watch = Watch()
    assert next(Tap(ending, watch)(1000)) == group(batch("complete_runs", {"id": ["r"]}))
    watch.saw(1000, watched=False, wanted="[]")
    assert next(Tap(ending, watch)(1000)) == group(batch("complete_runs", {"id": ["r"]}), last=True)


def test_what_has_nothing_to_tell_asks_nothing() -> None:
    played = Played(watched=True)
    assert played.run(Tap(beating, Watch()), 1000) == "beat"
    assert played.asked == ["extend_session"]


def test_somebody_watches_and_the_transaction_tells_before_it_ends() -> None:
    watch, played = Watch(), Played(watched=True)
    tap = Tap(completing, watch)
    assert played.run(tap, 1000) == "done"
    assert played.asked[-2:] == ["somebody_watches", "insert_run_events"]
    assert tap.told
    played.asked.clear()
    played.run(Tap(completing, watch), 1500)
    assert played.asked == ["lock_cursors", "complete_runs", "insert_run_events"]


def test_an_event_that_no_webhook_wants_costs_no_look_for_webhooks() -> None:
    watch, played = Watch(), Played(watched=False, wanted='["run.failed"]')
    for now in (1000, 1500):
        tap = Tap(completing, watch)
        assert played.run(tap, now) == "done"
        assert not tap.told
        assert not tap.notified
    assert played.asked == ["lock_cursors", "complete_runs", "somebody_watches", "lock_cursors", "complete_runs"]


def test_one_that_is_wanted_costs_one_look() -> None:
    watch, played = Watch(), Played(watched=False, wanted='["run.completed"]')
    played.run(Tap(completing, watch), 1000)
    assert played.asked == ["lock_cursors", "complete_runs", "somebody_watches", "interested_in_runs"]
