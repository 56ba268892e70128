"""Steps whose writes and whose record are one commit, when nobody hears whether it was done."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from duly import Duly, Retry, RunStatus, WorkflowContext
from duly.app.stores import own_transaction
from tests.store_choice import postgres_too
from tests.workflow.test_workflows import ended

pytestmark = postgres_too("the caller's transaction")


class Wire:
    """The way to the database. At the first commit it breaks: before it (the commit is not done), or after it."""

    def __init__(self, url: str, *, commits: bool) -> None:
        self._url = url
        self._commits = commits
        self._is_whole = False

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        with own_transaction(self._url) as connection:
            yield connection
            if not self._commits:
                self._break()
        self._break()

    def _break(self) -> None:
        if not self._is_whole:
            self._is_whole = True
            raise ConnectionResetError("the wire broke")


def pay(connection: Any, amount: int) -> int:
    connection.execute("CREATE TABLE IF NOT EXISTS paid (amount integer)")
    connection.execute(f"INSERT INTO paid VALUES ({amount})")
    return amount


def paid(url: str) -> list[int]:
    with own_transaction(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS paid (amount integer)")
        return [amount for (amount,) in connection.execute("SELECT amount FROM paid")]


TWICE = Retry(max_attempts=2, delay=0.01, jitter=0)


@pytest.mark.parametrize("retry", [None, TWICE], ids=["once", "retried"])
async def test_what_was_committed_is_done_although_nobody_heard_of_it(app: Duly, url: str, retry: Retry | None) -> None:
    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> int:
        return 1 + int(await ctx.transaction("pay", pay, 5, retry=retry))

    app._world.transaction = Wire(url, commits=True).transaction
    async with app:
        run = await ended(app, await app.workflows.start("w"))
        steps = await app.workflows.steps(run.id)
    assert (run.status, run.result, paid(url)) == (RunStatus.COMPLETED, 6, [5])
    assert [(s.status, s.attempt, s.seq, s.result) for s in steps[1:]] == [("done", 1, 1, "5")]


@pytest.mark.parametrize(("retry", "result"), [(None, None), (TWICE, 5)], ids=["once", "retried"])
async def test_what_was_not_committed_has_failed_and_may_be_tried_again(
    app: Duly, url: str, retry: Retry | None, result: int | None
) -> None:
    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> Any:
        return await ctx.transaction("pay", pay, 5, retry=retry)

    app._world.transaction = Wire(url, commits=False).transaction
    async with app:
        run = await ended(app, await app.workflows.start("w"))
    assert (run.result, paid(url)) == (result, [5] if result else [])
    if result is None:
        assert run.error_message == "StepFailed: pay failed: ConnectionResetError: the wire broke"
