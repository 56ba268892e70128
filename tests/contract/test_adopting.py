"""Runs whose job nobody knew for a long time are let go in batches: a start writes no more than one."""

import pytest

from duly.store.methods import keeping, sessions
from tests.contract.suite import Trial
from tests.stores import ModelSubject, Subject


@pytest.fixture(autouse=True)
def two_at_once(access: Subject | ModelSubject, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(access, ModelSubject):
        pytest.skip("the model has no batches")
    for module in (sessions, keeping):
        monkeypatch.setattr(module, "ADOPTED_AT_ONCE", 2)


@pytest.mark.parametrize("job", ["late", "topic:late"])
async def test_a_start_lets_one_batch_go_and_the_janitor_the_others(trial: Trial, job: str) -> None:
    for _ in range(5):
        await trial.enqueue(job)
    await trial.worker("work")
    assert list(await trial.store.hold_unknown_jobs()) == [(job, 5)]
    worker = await trial.worker("topic:*" if job.startswith("topic:") else job)
    taken = [len(await worker.claim())]
    for _ in range(2):
        assert list(await trial.store.hold_unknown_jobs()) == [], "somebody knows it, whether they wait or not"
        taken.append(len(await worker.claim()))
    assert taken == [2, 2, 1]
