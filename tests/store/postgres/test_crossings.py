"""Two who do what cannot both be done, with one run, session or lead: the second finds what the first has done."""

import asyncio
from dataclasses import replace

import psycopg
import pytest

from duly.core.policy import Retry
from duly.core.rules.editing import delete
from duly.core.run import Completed, Failed, Suspended
from duly.core.steps import StepKind
from duly.store.dead import DeadRef, Done, Redrive
from duly.store.sql import SqlStore
from duly.store.values import LEADER, Grab, Settlement, Term
from tests.store.postgres.making import (
    ENDING,
    JOB,
    RULES,
    SetClock,
    ask,
    claim_all,
    completed,
    new_id,
    new_request,
    open_session,
    put,
)
from tests.store.postgres.test_families import FLOW, begin, child
from tests.store.postgres.test_guards import WAITING, waits_for_a_lock

HOUR = 3_600_000
FALL_ASLEEP = (
    "UPDATE duly.duly_runs SET claimed_by = NULL, hold = 4, due_at = 253402300799000 WHERE job = 'workflow:flow'"
)


async def test_who_falls_asleep_waits_for_the_signal_under_way_and_stays_awake(
    store: SqlStore, fresh_postgres: str
) -> None:
    flow = await begin(store)
    with psycopg.connect(fresh_postgres) as signalling:
        assert await store.signal_run(flow.claim.id, "go", "1", connection=signalling)
        sleeping = asyncio.create_task(flow.settle(flow.claim, Suspended(None, 0)))
        await waits_for_a_lock(fresh_postgres, sleeping)
        assert not sleeping.done()
        signalling.commit()
    await sleeping
    assert ask(fresh_postgres, "SELECT hold FROM duly.duly_runs") == [0]


@pytest.mark.parametrize("sent", ["signal", "end of a child"])
async def test_what_is_sent_waits_for_who_falls_asleep_and_wakes_it(
    store: SqlStore, fresh_postgres: str, sent: str
) -> None:
    flow = await begin(store)
    await store.record_steps([flow.record(children=[child()])])
    (claim,) = await claim_all(store, flow.session)

    async def send() -> None:
        if sent == "signal":
            assert await store.signal_run(flow.claim.id, "go", "1")
        else:
            await flow.settle(claim, Completed("1"))

    with psycopg.connect(fresh_postgres) as sleeping:
        sleeping.execute(FALL_ASLEEP)
        sending = asyncio.create_task(send())
        await waits_for_a_lock(fresh_postgres, sending)
        assert not sending.done()
        sleeping.commit()
    await sending
    assert ask(fresh_postgres, "SELECT hold FROM duly.duly_runs WHERE job = 'workflow:flow'") == [0]
    kinds = [message.kind for message in (await store.read_journal(flow.claim.id)).messages]
    assert kinds == [StepKind.SIGNAL if sent == "signal" else StepKind.CHILD]


async def test_a_signal_to_a_run_that_is_ending_is_not_said_to_be_sent(store: SqlStore, fresh_postgres: str) -> None:
    flow = await begin(store)
    request = replace(new_request(), id=flow.claim.id, job=FLOW)
    with psycopg.connect(fresh_postgres) as settling:
        settling.execute(ENDING, [FLOW])
        plain = asyncio.create_task(store.signal_run(flow.claim.id, "go", "1"))
        starting = asyncio.create_task(store.signal_with_start(request, "go", "1"))
        while ask(fresh_postgres, WAITING) != [2]:  # noqa: ASYNC110 - only the server knows who waits
            await asyncio.sleep(0.01)
        settling.commit()
    assert await plain is False
    run, told = await starting
    assert (run.status, told) == ("completed", False)
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [0]


async def test_a_beat_that_waits_for_its_sessions_end_learns_of_it(store: SqlStore, fresh_postgres: str) -> None:
    session = await open_session(store)
    with psycopg.connect(fresh_postgres) as expiring:
        expiring.execute("DELETE FROM duly.duly_instances")
        beating = asyncio.create_task(store.beat(session, lease_ms=60_000))
        await waits_for_a_lock(fresh_postgres, beating)
        assert not beating.done()
        expiring.commit()
    assert (await beating).alive is False


async def test_a_session_that_beats_at_the_last_moment_is_not_declared_dead(
    store: SqlStore, clock: SetClock, fresh_postgres: str
) -> None:
    session = await open_session(store)
    await store.enqueue([new_request()])
    (claim,) = await claim_all(store, session)
    clock.at += HOUR
    with psycopg.connect(fresh_postgres) as beating:
        beating.execute("UPDATE duly.duly_instances SET expires_at = expires_at + 7200000")
        recovered = await store.take_lost(limit=10, rules=RULES)
        assert (list(recovered.sessions), list(recovered.runs)) == ([], []), "nor is it waited for"
        beating.commit()
    settled = await store.settle([completed(claim, session)])
    assert (list(settled.ended), list(settled.lost)) == ([claim.id], [])


async def test_a_late_end_waits_for_the_recovery_of_its_run_and_is_refused(
    store: SqlStore, fresh_postgres: str
) -> None:
    session = await open_session(store)
    await store.enqueue([new_request()])
    (claim,) = await claim_all(store, session)
    with psycopg.connect(fresh_postgres) as recovering:
        recovering.execute("DELETE FROM duly.duly_instances")
        recovering.execute("UPDATE duly.duly_runs SET claimed_by = NULL, hold = 5")
        recovering.execute(
            "INSERT INTO duly.duly_attempts (run_id, fence, attempt, outcome, error, ended_at, session)"
            " SELECT id, fence, attempt, 'lost', '', 0, %s FROM duly.duly_runs",
            [session],
        )
        settling = asyncio.create_task(store.settle([Settlement(claim, session, Completed(), Retry())]))
        await waits_for_a_lock(fresh_postgres, settling)
        assert not settling.done()
        recovering.commit()
    assert list((await settling).lost) == [claim.id]
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_history") == [0]


async def test_a_fire_does_not_wait_for_who_declares_its_session_dead(
    store: SqlStore, clock: SetClock, fresh_postgres: str
) -> None:
    """Who does that may be about to wait for a cursor that the fire has locked."""
    await put(store, "a")
    session = await open_session(store)
    clock.at += HOUR
    with psycopg.connect(fresh_postgres) as expiring:
        expiring.execute("DELETE FROM duly.duly_instances")
        grab = Grab(session, frozenset({JOB}), 10)
        firing = asyncio.create_task(store.fire_due(limit=10, rules=RULES, grab=grab))
        await waits_for_a_lock(fresh_postgres, firing)
        assert firing.done()
        expiring.commit()
    fired = await firing
    assert (fired.runs, list(fired.claims)) == (1, []), "nothing is born in the hands of a session that is going"


async def test_a_fire_that_waits_for_the_change_of_the_lead_fires_nothing(
    store: SqlStore, clock: SetClock, fresh_postgres: str
) -> None:
    await put(store, "a")
    session = await open_session(store)
    number = await store.take_lease(LEADER, session, lease_ms=15_000)
    assert number is not None
    clock.at += HOUR
    with psycopg.connect(fresh_postgres) as taking:
        taking.execute("UPDATE duly.duly_leases SET session = session + 1, term = term + 1")
        firing = asyncio.create_task(store.fire_due(limit=10, rules=RULES, term=Term(session, number)))
        await waits_for_a_lock(fresh_postgres, firing)
        assert not firing.done()
        taking.commit()
    assert (await firing).deposed
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [0]


async def test_a_claim_waits_for_the_claim_under_way_and_counts_what_that_has_taken(
    store: SqlStore, fresh_postgres: str
) -> None:
    session = await open_session(store)
    await store.change_queue("narrow", lambda queue, now: replace(queue, max_running=1))
    await store.enqueue([new_request("narrow"), new_request("narrow")])
    with psycopg.connect(fresh_postgres) as claiming:
        claiming.execute("SELECT 1 FROM duly.duly_queues FOR UPDATE")
        second = asyncio.create_task(claim_all(store, session))
        await waits_for_a_lock(fresh_postgres, second)
        assert not second.done()
        claiming.execute(
            "UPDATE duly.duly_runs SET claimed_by = %s, fence = 1 WHERE id = (SELECT id FROM duly.duly_runs LIMIT 1)",
            [session],
        )
        claiming.commit()
    assert await second == []


async def test_a_trigger_waits_for_the_deletion_under_way_and_finds_nothing(
    store: SqlStore, fresh_postgres: str
) -> None:
    await put(store, "a")
    with psycopg.connect(fresh_postgres) as deleting:
        await store.change_schedule("a", lambda found, now: delete(found, now, "ann"), connection=deleting)
        triggering = asyncio.create_task(store.trigger("a", run_id=new_id(), payload=None, force=False, rules=RULES))
        await waits_for_a_lock(fresh_postgres, triggering)
        assert not triggering.done()
        deleting.commit()
    assert await triggering is None
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [0]


async def test_a_redrive_waits_for_the_purge_under_way_and_finds_nothing(store: SqlStore, fresh_postgres: str) -> None:
    session = await open_session(store)
    await store.enqueue([new_request()])
    (claim,) = await claim_all(store, session)
    await store.settle([Settlement(claim, session, Failed("no", fatal=True), Retry())])
    with psycopg.connect(fresh_postgres) as purging:
        purging.execute("DELETE FROM duly.duly_history")
        redriving = asyncio.create_task(store.redrive([Redrive(dead=DeadRef(claim.id))]))
        await waits_for_a_lock(fresh_postgres, redriving)
        assert not redriving.done()
        purging.commit()
    assert [handled.outcome for handled in await redriving] == [Done.NOT_FOUND]
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [0]
