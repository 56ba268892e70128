"""Events that start runs: one for each, one after quiet, one for many; and each event once."""

from __future__ import annotations

from typing import Any

from duly.core.credential import Whose
from duly.core.ids import named_run_id
from duly.core.on_event import EventHandler, Published
from duly.core.steps import StepKind
from duly.store.publishing import NewEvent
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.steps import Flow, step
from tests.contract.suite.trial import Trial


async def handle(trial: Trial, *jobs: str, event: str = "paid", **words: Any) -> None:
    asked: dict[str, Any] = {"queue": "default", "max_attempts": 2, "timeout_ms": 9000} | words
    await trial.store.put_on_event(jobs, [EventHandler(event=event, job=job, **asked) for job in jobs])


async def publish(
    trial: Trial, body: str = "1", *, id: str | None = None, event: str = "paid", **words: Any
) -> Published:
    """With an id it is one that the caller chose, and is kept for a minute."""
    keep = 0 if id is None else 60_000
    return await trial.store.publish_event(NewEvent(name=event, body=body, id=id or trial.id(), keep_ms=keep, **words))


class TestOnEvent:
    @rule("G2")
    async def test_g2_an_event_starts_one_run_of_each_handler_and_the_same_id_starts_none(
        self, trial: Trial, access: Access
    ) -> None:
        await handle(trial, "workflow:ship", "mail", "workflow:mail")
        await handle(trial, "other", event="lost")
        first = await publish(trial, '{"a":1}', id="o-7", tenant="acme")
        assert first.runs == sorted(named_run_id("", f"evt:o-7:{name}") for name in ("ship", "mail", "job:mail"))
        before = await access.dump()
        assert await publish(trial, '{"a":2}', id="o-7", tenant="acme") == Published(repeated=True)
        assert await access.dump() == before
        worker = await trial.worker("workflow:ship", "mail", "workflow:mail", "other")
        claims = await worker.claim()
        assert sorted(claim.job for claim in claims) == ["mail", "workflow:mail", "workflow:ship"]
        for claim in claims:
            assert (claim.payload, claim.tenant, claim.max_attempts, claim.timeout_ms) == ('{"a":1}', "acme", 2, 9000)
            await worker.complete(claim)
        assert (await publish(trial, id="o-7", tenant="acme")).repeated, "after the end too"
        assert len((await publish(trial, id="o-8", tenant="acme")).runs) == 3
        assert len((await publish(trial)).runs) == len((await publish(trial)).runs) == 3

    async def test_an_id_is_its_publisher_s_and_is_forgotten_in_time(self, trial: Trial, access: Access) -> None:
        await handle(trial, "mail")
        assert not (await publish(trial, id="x", space="a", owner="ann")).repeated
        assert not (await publish(trial, id="x", space="b", owner="bob")).repeated
        assert sorted(row[1] for row in (await access.dump())["owners"]) == ["ann", "bob"]
        assert await trial.store.purge_keys(limit=9) == 0
        trial.clock.move(seconds=60)
        assert not (await publish(trial, id="x", space="c", owner="bob")).repeated
        assert await trial.store.purge_keys(limit=9) == 1
        assert [row[:3] for row in (await access.dump())["event_ids"]] == [("", "bob", "x")]

    async def test_who_waits_for_an_event_is_told_once_and_only_by_who_may(self, trial: Trial) -> None:
        worker = await trial.worker("workflow:flow")
        for owner in ("ann", "bob"):
            await trial.enqueue("workflow:flow", owner=owner)
            flow = Flow(trial, worker, await worker.claim_one())
            await flow.record(step(kind=StepKind.EVENT, name="paid"))
            await flow.suspend()
        anns = trial.store.seen_by(Whose("", "ann"))
        event = NewEvent(name="paid", body="1", id="x", keep_ms=9000, owner="ann")
        assert await anns.publish_event(event) == Published(told=1)
        assert await anns.publish_event(event) == Published(repeated=True)
        assert (await publish(trial)).told == 2

    async def test_a_start_writes_what_starts_its_own_jobs_and_nothing_else(self, trial: Trial) -> None:
        await handle(trial, "a", "b", most=3, within_ms=5000)
        await handle(trial, "c", event="lost")
        await handle(trial, "b", event="lost", quiet_ms=7000)
        found = await trial.store.list_on_event()
        assert [(one.event, one.job, one.quiet_ms, one.most, one.within_ms) for one in found] == [
            ("lost", "b", 7000, None, None),
            ("lost", "c", None, None, None),
            ("paid", "a", None, 3, 5000),
        ]
        await trial.store.put_on_event(["a", "b", "c"], [])
        assert await trial.store.list_on_event() == []
        assert (await publish(trial)).runs == []


class TestGathering:
    async def test_quiet_starts_one_run_with_the_newest_payload(self, trial: Trial) -> None:
        await handle(trial, "mail", quiet_ms=10_000)
        worker = await trial.worker("mail")
        (run_id,) = (await publish(trial, "1")).runs
        for body in ("2", "null"):
            trial.clock.move(seconds=9)
            assert (await publish(trial, body)).runs == [run_id]
        trial.clock.move(seconds=9)
        await worker.beat()
        assert await worker.claim() == [], "it counts from the last one"
        trial.clock.move(seconds=1)
        claim = await worker.claim_one()
        assert (claim.id, claim.payload, claim.due_at) == (run_id, "{}", trial.clock.now())
        assert (await publish(trial, "4")).runs != [run_id], "what has begun takes nothing in"

    async def test_it_waits_for_quiet_no_longer_than_it_may(self, trial: Trial) -> None:
        await handle(trial, "mail", quiet_ms=10_000, within_ms=15_000)
        worker = await trial.worker("mail")
        (run_id,) = (await publish(trial, "1")).runs
        trial.clock.move(seconds=8)
        assert (await publish(trial, "2")).runs == [run_id]
        trial.clock.move(milliseconds=6999)
        await worker.beat()
        assert await worker.claim() == []
        trial.clock.move(milliseconds=1)
        claim = await worker.claim_one()
        assert (claim.id, claim.payload, claim.due_at) == (run_id, "2", trial.clock.now())

    async def test_what_is_full_takes_nothing_in_by_a_clock_that_is_behind_either(self, trial: Trial) -> None:
        """On a server, who waited for the one that filled it has begun before it was due."""
        await handle(trial, "workflow:sum", most=2, within_ms=60_000)
        (full,) = {run for n in "12" for run in (await publish(trial, n)).runs}
        trial.clock.jump(milliseconds=-5)
        assert full not in (await publish(trial, "3")).runs
        run = await trial.store.get_run(full)
        assert run is not None
        assert run.payload == [1, 2]

    async def test_many_start_one_run_with_all_payloads_when_they_are_enough(self, trial: Trial) -> None:
        await handle(trial, "workflow:sum", most=3, within_ms=60_000)
        worker = await trial.worker("workflow:sum")
        runs = [(await publish(trial, body)).runs for body in ("1", '"ä"', "null")]
        assert runs == [runs[0]] * 3
        claim = await worker.claim_one()
        assert ([claim.id], claim.payload) == (runs[0], '[1,"ä",null]')
        assert (await publish(trial, "4")).runs != runs[0]

    async def test_or_when_the_first_has_waited_long_enough(self, trial: Trial) -> None:
        await handle(trial, "workflow:sum", most=100, within_ms=5000)
        worker = await trial.worker("workflow:sum")
        await publish(trial, "1")
        trial.clock.move(seconds=4)
        await publish(trial, "2")
        assert await worker.claim() == []
        trial.clock.move(seconds=1)
        await publish(trial, "3")
        assert (await worker.claim_one()).payload == "[1,2]", "what is due takes nothing in, begun or not"

    @rule("S0d.48")
    async def test_what_would_be_too_large_goes_and_the_next_begins(self, trial: Trial) -> None:
        await handle(trial, "workflow:sum", most=100, within_ms=5000)
        worker = await trial.worker("workflow:sum")
        for body in ('"aaa"', '"bbb"', '"ccc"'):
            await publish(trial, body, limit=13)
        assert [claim.payload for claim in await worker.claim()] == ['["aaa","bbb"]']
        trial.clock.move(seconds=5)
        assert [claim.payload for claim in await worker.claim()] == ['["ccc"]']

    async def test_a_run_that_waits_for_its_next_try_takes_nothing_in(self, trial: Trial) -> None:
        await handle(trial, "mail", quiet_ms=1000)
        worker = await trial.worker("mail")
        (first,) = (await publish(trial, "1")).runs
        trial.clock.move(seconds=1)
        await worker.fail(await worker.claim_one(), "not yet")
        (second,) = (await publish(trial, "2")).runs
        assert first != second
        assert (await trial.run(first)).payload == 1

    async def test_a_cancelled_one_is_over_and_owners_gather_apart(self, trial: Trial) -> None:
        await handle(trial, "mail", quiet_ms=1000)
        (anns,) = (await publish(trial, "1", owner="ann", space="ann")).runs
        (bobs,) = (await publish(trial, "2", owner="bob", space="bob")).runs
        assert anns != bobs
        await trial.store.request_cancel(anns)
        assert (await publish(trial, "3", owner="ann", space="ann")).runs != [anns]
        assert (await publish(trial, "4", owner="bob", space="bob")).runs == [bobs]

    async def test_a_repeated_event_is_taken_in_once(self, trial: Trial) -> None:
        await handle(trial, "workflow:sum", most=100, within_ms=5000)
        (run_id,) = (await publish(trial, "1", id="x")).runs
        assert (await publish(trial, "1", id="x")).repeated
        assert (await trial.run(run_id)).payload == [1]

    async def test_what_gathered_for_a_run_that_has_ended_is_forgotten(self, trial: Trial, access: Access) -> None:
        await handle(trial, "mail", quiet_ms=1000)
        await publish(trial)
        trial.clock.move(seconds=61)
        assert await trial.store.purge_keys(limit=9) == 0
        worker = await trial.worker("mail")
        await worker.complete(await worker.claim_one())
        assert await trial.store.purge_keys(limit=9) == 1
        assert (await access.dump())["gatherings"] == []
