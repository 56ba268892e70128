"""Runs below runs: what is recorded, cancelled, redriven and ended at one moment is neither lost nor done twice."""

import asyncio
from dataclasses import replace
from typing import Any

import psycopg

from duly.core.policy import Retry
from duly.core.run import Claim, Completed, Failed, Outcome, Suspended
from duly.core.steps import Step, StepKind, StepStatus
from duly.store.dead import DeadRef, Redrive
from duly.store.journal import Child, Record
from duly.store.sql import SqlStore
from duly.store.values import NewRequest, Settlement
from tests.store.postgres.making import ENDING, JOB, ask, claim_all, new_id, new_request, open_session
from tests.store.postgres.test_guards import WAITING, waits_for_a_lock

FLOW = "workflow:flow"
DEADLOCKS = "SELECT pg_stat_get_db_deadlocks(oid) FROM pg_database WHERE datname = current_database()"


class Flow:
    """A run of a workflow in the hands of a worker."""

    def __init__(self, store: SqlStore, session: int, claim: Claim) -> None:
        self.store, self.session, self.claim = store, session, claim

    def record(self, *steps: Step, **words: Any) -> Record:
        return Record(run_id=self.claim.id, fence=self.claim.fence, session=self.session, steps=steps, **words)

    def settlement(self, claim: Claim, outcome: Outcome) -> Settlement:
        return Settlement(claim, self.session, outcome, Retry())

    async def settle(self, claim: Claim, outcome: Outcome) -> None:
        await self.store.settle([self.settlement(claim, outcome)])


def child() -> Child:
    return Child(position=1, request=new_request())


async def begin(store: SqlStore) -> Flow:
    session = await open_session(store)
    await store.enqueue([NewRequest(id=new_id(), job=FLOW, payload="1", queue="default", max_attempts=3)])
    (claim,) = (await store.claim_runs(session, jobs=[FLOW], limit=1)).claims
    return Flow(store, session, claim)


async def test_a_repeated_record_that_waits_for_the_end_of_its_child_does_not_bring_it_back(
    store: SqlStore, fresh_postgres: str
) -> None:
    flow = await begin(store)
    again = flow.record(children=[child()])
    await store.record_steps([again])
    await claim_all(store, flow.session)
    with psycopg.connect(fresh_postgres) as settling:
        settling.execute(ENDING, [JOB])
        recording = asyncio.create_task(store.record_steps([again]))
        await waits_for_a_lock(fresh_postgres, recording)
        assert not recording.done()
        settling.commit()
    await recording
    assert await claim_all(store, flow.session) == [], "an ended run does not run again"
    assert ask(fresh_postgres, "SELECT job FROM duly.duly_runs") == [FLOW]


async def test_i7_a_cancel_reaches_the_child_that_is_being_made(store: SqlStore, fresh_postgres: str) -> None:
    flow, made = await begin(store), child()
    with psycopg.connect(fresh_postgres) as recording:
        await asyncio.to_thread(store.record_on, recording, flow.record(children=[made]))
        cancelling = asyncio.create_task(store.request_cancel(flow.claim.id))
        await waits_for_a_lock(fresh_postgres, cancelling)
        assert not cancelling.done()
        recording.commit()
    await cancelling
    run = await store.get_run(made.request.id)
    assert run is not None
    assert run.status == "cancelled"


async def test_f7_a_redrive_waits_for_the_child_that_is_ending_and_hears_of_it(
    store: SqlStore, fresh_postgres: str
) -> None:
    flow, made = await begin(store), child()
    asked = Step(position=1, kind=StepKind.CHILD, name="s", asked_at=1)
    await store.record_steps([flow.record(asked, children=[made])])
    await flow.settle((await claim_all(store, flow.session))[0], Failed("no", fatal=True))
    heard = replace(asked, status=StepStatus.FAILED, seq=1, error="no", done_at=5)
    await store.record_steps([flow.record(heard, seen=1, taken=[1])])
    await flow.settle(flow.claim, Failed("no", fatal=True))
    await store.redrive([Redrive(dead=DeadRef(made.request.id))])
    await claim_all(store, flow.session)
    with psycopg.connect(fresh_postgres) as settling:
        settling.execute(ENDING, [JOB])  # its parent has heard of it before, so this tells nobody
        redriving = asyncio.create_task(store.redrive([Redrive(dead=DeadRef(flow.claim.id))]))
        await waits_for_a_lock(fresh_postgres, redriving)
        assert not redriving.done(), "it must wait for the child, or nobody tells of its end"
        settling.commit()
    await redriving
    messages = (await store.read_journal(flow.claim.id)).messages
    assert [(message.name, message.error) for message in messages] == [("1", None)]


async def test_settles_that_end_each_others_children_do_not_wait_in_a_circle(
    store: SqlStore, fresh_postgres: str
) -> None:
    flows, children = [await begin(store), await begin(store)], [child(), child()]
    for flow, made in zip(flows, children, strict=True):
        await store.record_steps([flow.record(children=[made])])
    first, second = (flow.settlement(flow.claim, Suspended(None, 0)) for flow in flows)
    claims = {claim.id: claim for claim in await claim_all(store, flows[0].session)}
    ends = [flows[0].settlement(claims[made.request.id], Completed("1")) for made in children]
    with psycopg.connect(fresh_postgres) as holding:
        holding.execute(
            "LOCK TABLE duly.duly_children IN ACCESS EXCLUSIVE MODE"
        )  # nobody learns who is to hear of an end
        settling = [asyncio.create_task(store.settle(batch)) for batch in ([first, ends[1]], [second, ends[0]])]
        while ask(fresh_postgres, WAITING) != [2]:  # noqa: ASYNC110 - only the server knows who waits
            await asyncio.sleep(0.01)
        holding.commit()
    assert [list((await settled).lost) for settled in settling] == [[], []]
    ended = {flow.claim.id: (await store.read_journal(flow.claim.id)).messages for flow in flows}
    assert [len(messages) for messages in ended.values()] == [1, 1]
    assert ask(fresh_postgres, DEADLOCKS) == [0]
