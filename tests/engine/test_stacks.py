"""The stack of what a handler raised begins where the handler does, in every place that it may run in."""

import traceback

import pytest

from duly import Duly
from duly.core.run import Claim, Failed, Outcome
from duly.engine.outcomes import failure_of
from duly.runtime.events import Observer


class Kept(Observer):
    def __init__(self) -> None:
        self.stacks: list[list[str]] = []

    def attempt_ended(self, claim: Claim, outcome: Outcome) -> None:
        if isinstance(outcome, Failed) and outcome.cause is not None:
            self.stacks.append([frame.name for frame in traceback.extract_tb(outcome.cause.__traceback__)])


def inner() -> None:
    raise ValueError("no")


@pytest.mark.parametrize("leaves", [ValueError, SystemExit])
async def test_a_stack_begins_with_the_handler(leaves: type[BaseException]) -> None:
    kept = Kept()
    app = Duly("sqlite:///:memory:", observers=[kept])

    @app.job("on-the-loop")
    async def on_the_loop() -> None:
        raise leaves("no")

    @app.job("in-a-thread")
    def in_a_thread() -> None:
        raise leaves("no")

    async with app:
        for job in ("on-the-loop", "in-a-thread"):
            run = await app.enqueue(job, max_attempts=1)
            await app.runs.wait(run.id, timeout=60)

    assert kept.stacks == [["on_the_loop"], ["in_a_thread"]]


def test_a_stack_that_never_came_to_a_handler_stays_whole() -> None:
    assert failure_of(ValueError("raised nowhere")).cause is not None
    try:
        inner()
    except ValueError as error:
        failure = failure_of(error)
    assert failure.cause is not None
    assert [frame.name for frame in traceback.extract_tb(failure.cause.__traceback__)][-1] == "inner"
