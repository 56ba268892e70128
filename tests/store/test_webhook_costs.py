"""What webhooks cost: without one, not a statement; with one that wants other things, none either."""

from typing import Any

from duly.core.webhook import Webhook
from duly.store.statements import Group, Program, Step, Transaction
from duly.testing import ManualClock
from tests.contract.suite import Trial
from tests.stores import memory_subject


class Noting:
    """A driver that writes down the names of the statements of writes."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self.names: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    async def write(self, transaction: Transaction[Any], **options: Any) -> Any:
        def begin(now: int) -> Program[Any]:
            program, answer = transaction(now), None
            while True:
                try:
                    step: Step = program.send(answer)
                except StopIteration as end:
                    return end.value
                steps = step.steps if isinstance(step, Group) else [step]
                self.names += [one.name for one in steps]
                answer = yield step

        return await self._driver.write(begin, **options)


async def life_of_a_run(trial: Trial, noting: Noting) -> list[str]:
    """The statements by which a run is enqueued, claimed and completed."""
    worker = await trial.worker("work")
    trial.clock.move(minutes=1)
    noting.names.clear()
    await trial.enqueue("work")
    await worker.complete(await worker.claim_one())
    await worker.close()
    return list(noting.names)


async def test_a_run_costs_no_statement_more_unless_a_webhook_wants_to_hear_of_it() -> None:
    clock = ManualClock()
    async with memory_subject(clock) as subject:
        store: Any = subject.store
        trial = Trial(store, clock)
        store.driver = noting = Noting(store.driver)
        bare = await life_of_a_run(trial, noting)
        assert bare.count("somebody_watches") == 1, "it was last asked a minute ago"
        assert not [name for name in bare if name.startswith("interested")]
        await store.put_webhook(_webhook(1, "run.failed"))
        assert await life_of_a_run(trial, noting) == bare, "it wants other things"
        await store.put_webhook(_webhook(2, "run.completed"))
        told = await life_of_a_run(trial, noting)
        for name in bare:
            told.remove(name)
        assert told == ["interested_in_runs", "insert_runs"]


def _webhook(number: int, event: str) -> Webhook:
    return Webhook(id=f"019cc9a0-0000-7000-8000-00000000000{number}", url="https://example.com/", events=(event,))
