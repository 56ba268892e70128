"""Leases of roles, their terms, and fires that carry one."""

from __future__ import annotations

from duly.store.values import LEADER, Lease, Term
from duly.testing.clock import ManualClock
from tests.acceptance.rules import rule
from tests.contract.suite.trial import LEASE_MS, Trial


class TestElecting:
    @rule("S3.38")
    async def test_a_role_is_one_session_s_until_its_lease_runs_out(self, trial: Trial, clock: ManualClock) -> None:
        store, start = trial.store, clock.now()
        assert await store.read_lease(LEADER) is None
        assert await store.take_lease(LEADER, 1, lease_ms=LEASE_MS) == 1
        assert await store.take_lease(LEADER, 2, lease_ms=LEASE_MS) is None
        assert await store.read_lease(LEADER) == Lease(1, 1, start + LEASE_MS)
        clock.move(milliseconds=LEASE_MS)
        assert await store.take_lease(LEADER, 2, lease_ms=LEASE_MS) is None, "not before its end"
        clock.move(milliseconds=1)
        assert await store.take_lease(LEADER, 2, lease_ms=LEASE_MS) == 2
        assert await store.take_lease(LEADER, 2, lease_ms=LEASE_MS) == 2, "a renewal keeps the term"
        assert await store.take_lease(LEADER, 1, lease_ms=LEASE_MS) is None

    async def test_who_gives_a_role_up_leaves_the_term(self, trial: Trial) -> None:
        store = trial.store
        await store.take_lease(LEADER, 1, lease_ms=LEASE_MS)
        await store.release_lease(LEADER, 2)
        assert await store.take_lease(LEADER, 2, lease_ms=LEASE_MS) is None, "it was not theirs"
        await store.release_lease(LEADER, 1)
        assert await store.take_lease(LEADER, 2, lease_ms=LEASE_MS) == 2

    async def test_a_role_can_be_seized(self, trial: Trial) -> None:
        store = trial.store
        await store.take_lease(LEADER, 1, lease_ms=LEASE_MS)
        assert await store.take_lease(LEADER, 2, lease_ms=LEASE_MS, seize=True) == 2
        assert await store.take_lease(LEADER, 2, lease_ms=LEASE_MS, seize=True) == 2

    async def test_a_fire_under_another_term_fires_nothing(self, trial: Trial, clock: ManualClock) -> None:
        """Whoever led before, froze and woke up: the term is checked where the fire is written."""
        schedule, store = await trial.put("report"), trial.store
        old = Term(1, await store.take_lease(LEADER, 1, lease_ms=LEASE_MS) or 0)
        clock.move(minutes=1)
        new = Term(2, await store.take_lease(LEADER, 2, lease_ms=LEASE_MS) or 0)
        for wrong in (old, Term(1, new.number), Term(2, old.number), Term(3, 9)):
            fired = await store.fire_due(limit=10, rules=trial.rules, term=wrong)
            assert (fired.deposed, fired.runs, fired.windows) == (True, 0, 0)
        assert await trial.statuses(schedule) == []
        fired = await store.fire_due(limit=10, rules=trial.rules, term=new)
        assert (fired.deposed, fired.runs) == (False, 1)

    async def test_a_term_holds_until_another_one_begins(self, trial: Trial, clock: ManualClock) -> None:
        """A lease that ran out and that nobody took is no reason to miss a window."""
        await trial.put("report")
        term = Term(1, await trial.store.take_lease(LEADER, 1, lease_ms=LEASE_MS) or 0)
        clock.move(minutes=1)
        assert (await trial.store.fire_due(limit=10, rules=trial.rules, term=term)).runs == 1
