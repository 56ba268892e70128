"""Programs taken step by step: answered, passed on, and closed with whoever passes them on."""

import pytest

from duly.store.statements import Program, Query, Step, Steps, query


def adding(closed: list[str]) -> Program[int]:
    try:
        first = yield query("one")
        second = yield query("two")
    finally:
        closed.append("closed")
    return int(first) + int(second)


def doubled(program: Program[int]) -> Program[int]:
    for step in (steps := Steps(program)):
        steps.answer = 2 * (yield step)
    return steps.value


def name_of(step: Step) -> str:
    assert isinstance(step, Query)
    return step.name


def test_each_step_is_answered_and_the_value_is_there_in_the_end() -> None:
    asked = []
    for step in (steps := Steps(doubled(adding([])))):
        asked.append(name_of(step))
        steps.answer = len(asked)
    assert (asked, steps.value) == (["one", "two"], 6)


def test_what_a_program_raises_is_no_end() -> None:
    def failing() -> Program[int]:
        yield query("one")
        raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        list(Steps(failing()))


def test_a_program_is_closed_with_the_one_that_passes_it_on() -> None:
    closed: list[str] = []
    outer = doubled(adding(closed))
    next(outer)
    outer.close()
    assert closed == ["closed"]
