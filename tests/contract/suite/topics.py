"""Topics: claimed by who listens, ended where nobody does."""

from __future__ import annotations

from duly.core.policy import Overlap
from duly.core.schedule import Target, TargetKind
from duly.core.timing import Every
from duly.core.topics import ANY_TOPIC
from tests.contract.suite.trial import Trial

BILLING = Target(TargetKind.TOPIC, "billing.due")
HANDLER = "topic:billing.due"
PATIENCE_MS = 30_000


class TestTopics:
    async def test_a_topic_goes_to_who_listens_to_it(self, trial: Trial) -> None:
        schedule = await trial.put(timing=Every(seconds=60), target=BILLING)
        trial.clock.move(seconds=60)
        await trial.fire()
        other, billing = await trial.worker("topic:other"), await trial.worker(HANDLER)
        assert await other.claim() == []
        claim = await billing.claim_one()
        assert (claim.job, claim.schedule_id) == (HANDLER, schedule.id)

    async def test_who_listens_to_all_topics_gets_each_but_no_jobs(self, trial: Trial) -> None:
        await trial.put(timing=Every(seconds=60), target=BILLING)
        await trial.enqueue("work")
        trial.clock.move(seconds=60)
        await trial.fire()
        everything = await trial.worker(ANY_TOPIC)
        assert [claim.job for claim in await everything.claim()] == [HANDLER]

    async def test_a_topic_can_be_born_in_a_listeners_hands(self, trial: Trial) -> None:
        await trial.put(timing=Every(seconds=60), target=BILLING)
        trial.clock.move(seconds=60)
        listener = await trial.worker(ANY_TOPIC)
        fired = await trial.fire(grab=listener.grab())
        assert [claim.job for claim in fired.claims] == [HANDLER]

    async def test_a_topic_that_nobody_hears_ends_after_a_while_and_says_so(self, trial: Trial) -> None:
        schedule = await trial.put(timing=Every(seconds=60), target=BILLING, overlap=Overlap.QUEUE)
        trial.clock.move(seconds=60)
        await trial.fire()
        await trial.worker("work")
        assert list(await trial.store.hold_unknown_jobs()) == [(HANDLER, 1)]
        assert await self._end(trial) == []
        trial.clock.move(milliseconds=PATIENCE_MS)
        assert await self._end(trial) == []  # the worker's lease has run out: nobody is there who could listen
        await trial.worker("work")
        ((run_id, topic),) = await self._end(trial)
        run = await trial.run(run_id)
        assert (topic, run.status, run.reason) == ("billing.due", "completed", "no_listener")
        assert run.schedule_id == schedule.id
        assert await self._end(trial) == []

    async def test_the_next_in_line_moves_up_when_nobody_heard_the_first(self, trial: Trial) -> None:
        schedule = await trial.put(timing=Every(seconds=60), target=BILLING, overlap=Overlap.QUEUE, max_queued=2)
        for _ in range(2):
            trial.clock.move(seconds=60)
            await trial.fire()
        await trial.worker("work")
        await trial.store.hold_unknown_jobs()
        await self._end(trial)
        listener = await trial.worker(HANDLER)
        assert (await listener.claim_one()).id == (await trial.runs(schedule))[1].id

    async def test_a_listener_that_comes_in_time_is_given_the_run(self, trial: Trial) -> None:
        await trial.put(timing=Every(seconds=60), target=BILLING)
        await trial.worker("work")
        trial.clock.move(seconds=60)
        await trial.fire()
        await trial.worker("work")
        await trial.store.hold_unknown_jobs()
        late = await trial.worker(ANY_TOPIC)
        trial.clock.move(milliseconds=1)
        assert await self._end(trial, patience_ms=0) == []
        assert (await late.claim_one()).job == HANDLER

    async def test_a_job_that_nobody_knows_is_not_ended(self, trial: Trial) -> None:
        await trial.enqueue("new-job")
        await trial.worker("work")
        await trial.store.hold_unknown_jobs()
        assert await self._end(trial, patience_ms=0) == []

    async def _end(self, trial: Trial, patience_ms: int = PATIENCE_MS) -> list[tuple[str, str]]:
        return list(await trial.store.end_unheard_topics(patience_ms=patience_ms, limit=100))
