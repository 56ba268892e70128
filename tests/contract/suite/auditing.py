"""What an audit reads: the lives of schedules, in pages, and what is owed."""

from __future__ import annotations

from duly.core.audit import Stop
from duly.core.timing import Every
from duly.store.orders import NewOperation, PauseAllOrder
from duly.testing.clock import ManualClock
from tests.contract.suite.trial import Trial

MINUTE = 60_000


class TestAuditing:
    async def test_a_life_has_its_revisions_its_pauses_and_its_rows(self, trial: Trial, clock: ManualClock) -> None:
        made = await trial.put("report")
        worker = await trial.worker()
        start = clock.now()
        clock.move(minutes=1)
        await trial.fire()
        await worker.complete(await worker.claim_one())
        await trial.edit(made, definition=trial.new("report", Every(minutes=2)).definition)
        clock.move(seconds=10)
        await trial.pause(made)
        clock.move(minutes=5)
        await trial.resume(made, catch_up=True)
        await trial.fire()
        ledger = await trial.store.read_ledger(since=start, until=clock.now(), limit=10)
        assert ledger is not None
        (life,) = ledger.lives
        assert [revision.made_at for revision in life.revisions] == [start, start + MINUTE]
        assert [(switch.at - start, switch.enabled) for switch in life.switches] == [(70_000, False), (370_000, True)]
        assert life.switches[1].goes_on_from == start + 2 * MINUTE, "the catch-up is remembered"
        assert [(row.window_at - start, row.skipped) for row in life.rows] == [
            (MINUTE, False), (4 * MINUTE, True), (6 * MINUTE, False),
        ]  # fmt: skip
        later = await trial.store.read_ledger(since=start + 5 * MINUTE, until=clock.now(), limit=10)
        assert later is not None
        assert [row.window_at - start for row in later.lives[0].rows] == [6 * MINUTE]

    async def test_pages_are_in_the_order_of_ids_and_tenants_are_apart(self, trial: Trial) -> None:
        made = [await trial.put(f"s{n}", tenant="acme" if n == 1 else "") for n in range(3)]
        now = trial.clock.now()
        first = await trial.store.read_ledger(since=0, until=now, limit=2)
        assert first is not None
        assert [life.schedule_id for life in first.lives] == [made[0].id, made[1].id]
        second = await trial.store.read_ledger(since=0, until=now, limit=2, after=first.next)
        assert second is not None
        assert ([life.schedule_id for life in second.lives], second.next) == ([made[2].id], None)
        acme = await trial.store.read_ledger(since=0, until=now, limit=9, tenant="acme")
        assert acme is not None
        assert [life.key for life in acme.lives] == ["s1"]
        early = await trial.store.read_ledger(since=0, until=now - 1, limit=9)
        assert early is not None
        assert early.lives == [], "none was there"

    async def test_one_is_found_by_id_and_key_also_when_it_is_deleted(self, trial: Trial) -> None:
        made = await trial.put("report")
        await trial.put("other")
        await trial.delete(made)
        for ref in (made.id, "report"):
            found = await trial.store.read_ledger(since=0, until=trial.clock.now(), limit=9, ref=ref)
            assert found is not None
            assert [life.schedule_id for life in found.lives] == [made.id]
        assert await trial.store.read_ledger(since=0, until=trial.clock.now(), limit=9, ref="nobody") is None

    async def test_what_is_owed_is_named_the_longest_first(self, trial: Trial, clock: ManualClock) -> None:
        slow, quick = await trial.put("slow", Every(minutes=3)), await trial.put("quick")
        clock.move(minutes=3, seconds=30)
        assert await trial.store.overdue(late_ms=20_000, limit=9) == [quick.id, slow.id]
        assert await trial.store.overdue(late_ms=20_000, limit=1) == [quick.id]
        assert await trial.store.overdue(late_ms=MINUTE, limit=9) == [quick.id]
        await trial.store.pause_firing(NewOperation(id=trial.id(), order=PauseAllOrder()))
        assert await trial.store.overdue(late_ms=20_000, limit=9) == []
        ledger = await trial.store.read_ledger(since=0, until=clock.now(), limit=9)
        assert ledger is not None
        assert ledger.stops == [Stop(clock.now(), None)]

    async def test_how_far_retention_has_come_is_remembered(self, trial: Trial, clock: ManualClock) -> None:
        await trial.put("report")
        worker = await trial.worker()
        clock.move(minutes=1)
        await trial.fire()
        await worker.complete(await worker.claim_one())
        for before, known in ((clock.now(), None), (clock.now() + 1, clock.now() + 1), (clock.now(), clock.now() + 1)):
            await trial.store.purge_history(finished_before=before, limit=10)
            ledger = await trial.store.read_ledger(since=0, until=clock.now(), limit=9)
            assert ledger is not None
            assert ledger.purged_before == known
