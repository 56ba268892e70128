"""A window fires once wherever its cursor stands, and only what was tried is put off."""

from __future__ import annotations

import pytest

from duly.core.policy import Overlap
from duly.core.timing.epoch import to_ms
from duly.store.values import Tried
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial


class TestGuards:
    async def test_nothing_is_put_off_that_has_moved_since_it_was_tried(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(minutes=1)
        due = (await trial.schedule(put)).cursor.fire_at
        assert due is not None
        await trial.fire()
        assert not await trial.store.set_aside(Tried(put.id, due), "no")
        after = await trial.schedule(put)
        assert (after.last_error, after.cursor.fire_at) == (None, due + 60_000)

    @pytest.mark.parametrize("ended", [True, False], ids=["ended", "open"])
    async def test_a_window_whose_run_is_there_never_fires_again_wherever_the_cursor_stands(
        self, trial: Trial, access: Access, ended: bool
    ) -> None:
        put = await trial.put(overlap=Overlap.ALLOW)
        trial.clock.move(minutes=1)
        await trial.fire()
        (run,) = await trial.runs(put)
        assert run.window_at is not None
        if ended:
            worker = await trial.worker()
            await worker.complete(await worker.claim_one())
        before = await trial.runs(put)
        await access.rewind(put.id, to_ms(run.window_at))
        fired = await trial.fire()
        assert (fired.windows, fired.runs, fired.duplicates) == (1, 0, 1)
        assert await trial.runs(put) == before

    @pytest.mark.parametrize("ended", [True, False], ids=["ended", "open"])
    async def test_a_window_whose_run_is_there_is_put_into_nobody_s_hands_again(
        self, trial: Trial, access: Access, ended: bool
    ) -> None:
        put = await trial.put(overlap=Overlap.ALLOW)
        worker = await trial.worker()
        trial.clock.move(seconds=60)
        await worker.beat()
        (claim,) = (await trial.fire(grab=worker.grab())).claims
        assert claim.window_at is not None
        if ended:
            await worker.complete(claim)
        before = await trial.runs(put)
        await access.rewind(put.id, claim.window_at)
        other = await trial.worker()
        fired = await trial.fire(grab=other.grab())
        assert (fired.runs, fired.duplicates, list(fired.claims)) == (0, 1, [])
        assert await trial.runs(put) == before
