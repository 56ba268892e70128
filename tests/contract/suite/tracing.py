"""Traces: what asked for a run or a schedule is kept with it, and goes with it."""

from __future__ import annotations

from dataclasses import replace

from duly.core.run import RunStatus
from duly.core.timing import Every

from .trial import Trial

ONE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OTHER = "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203332-00"


class TestTraces:
    async def test_a_trace_is_kept_with_what_was_asked_for_in_it(self, trial: Trial) -> None:
        new = replace(trial.new("tick", Every(minutes=1)), trace=ONE)
        await trial.store.put_schedules([new, trial.new("plain", Every(minutes=1))])
        traced = await trial.enqueue(trace=OTHER)
        plain = await trial.enqueue()
        assert await trial.store.read_traces([new.facts.id, traced.id, plain.id]) == {
            new.facts.id: ONE,
            traced.id: OTHER,
        }
        assert await trial.store.read_traces([]) == {}

    async def test_the_first_trace_stays_when_a_run_is_asked_for_again(self, trial: Trial) -> None:
        request = trial.request(trace=ONE)
        await trial.store.enqueue([request])
        await trial.store.enqueue([replace(request, trace=OTHER)])
        assert await trial.store.read_traces([request.id]) == {request.id: ONE}

    async def test_a_trace_goes_with_its_run(self, trial: Trial) -> None:
        run = await trial.enqueue(trace=ONE)
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        assert await trial.store.read_traces([run.id]) == {run.id: ONE}, "while the run is kept"
        trial.clock.move(seconds=1)
        purged = await trial.store.purge_history(finished_before=trial.clock.now(), limit=10, statuses=[*RunStatus])
        assert purged == 1
        assert await trial.store.read_traces([run.id]) == {}
