"""A guard is a lock: whoever looked at a run while another was taking it must look again."""

import asyncio

import psycopg
import pytest

from duly.core.policy import Retry
from duly.core.run import Completed, Failed, Outcome, Released
from duly.store.sql import SqlStore
from duly.store.values import Settlement
from tests.store.postgres.making import ask, claim_all, new_request, open_session

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


async def waits_for_a_lock(url: str, task: asyncio.Task[object]) -> None:
    """Until the settle waits for the row that we hold; the test's own time limit ends a wait in vain."""
    while not task.done() and ask(url, WAITING) == [0]:  # noqa: ASYNC110 - only the server knows who waits
        await asyncio.sleep(0.01)


async def test_a_session_that_closes_waits_for_its_claim_under_way_and_gives_that_back(
    store: SqlStore, fresh_postgres: str
) -> None:
    session = await open_session(store)
    (run,) = await store.enqueue([new_request()])
    with psycopg.connect(fresh_postgres) as claiming:
        claiming.execute("SELECT 1 FROM duly_instances FOR KEY SHARE")
        closing = asyncio.create_task(store.close_session(session))
        await waits_for_a_lock(fresh_postgres, closing)
        assert not closing.done()
        claiming.execute("UPDATE duly_runs SET claimed_by = %s, fence = 1, attempt = 1", [session])
        claiming.commit()
    assert await closing == 1
    given_back = await store.get_run(run.id)
    assert given_back is not None
    assert (given_back.status, given_back.attempt) == ("pending", 0), "untried, and not left to recovery"


@pytest.mark.parametrize("outcome", [Completed(), Failed("no"), Failed("no", fatal=True), Released()], ids=str)
async def test_a_settle_that_meets_a_takeover_looks_again_when_it_has_the_row(
    store: SqlStore, fresh_postgres: str, outcome: Outcome
) -> None:
    zombie, other = await open_session(store), await open_session(store)
    await store.enqueue([new_request()])
    (claim,) = await claim_all(store, zombie)
    with psycopg.connect(fresh_postgres) as takeover:
        takeover.execute("UPDATE duly_runs SET claimed_by = %s, fence = fence + 1", [other])
        settling = asyncio.create_task(store.settle([Settlement(claim, zombie, outcome, Retry())]))
        await waits_for_a_lock(fresh_postgres, settling)
        assert not settling.done(), "it must wait for the row, not believe what it saw before"
        takeover.commit()
    settled = await settling
    assert (settled.ended, list(settled.lost)) == ({}, [claim.id])
    assert ask(fresh_postgres, "SELECT fence FROM duly_runs") == [claim.fence + 1]
    assert ask(fresh_postgres, "SELECT claimed_by FROM duly_runs") == [other]
