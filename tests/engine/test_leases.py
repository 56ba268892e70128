"""Leases: heartbeats keep them, the dead lose them, and whoever lost one can write nothing more."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from duly import Every, Once, Retry, RunContext
from duly.config import Settings
from duly.core.errors import OutcomeUnknown, StoreUnavailable
from duly.core.instants import to_datetime
from duly.core.run import Completed, Reason, RunStatus
from duly.engine.registry import Registry
from duly.store.values import Beat, Held, Settlement
from tests.acceptance.rules import rule
from tests.engine.lab import Lab, Recorder
from tests.store_choice import postgres_too

pytestmark = postgres_too("several instances compete")


@rule("S0d.65", "E3")
async def test_e3_a_job_longer_than_the_lease_keeps_it_by_heartbeats_and_runs_once(lab: Lab) -> None:
    starts: list[int] = []

    @lab.job("long")
    async def long(run: RunContext) -> str:
        starts.append(run.fence)
        await lab.nap(15 * 20)
        return "done"

    await lab.start()
    await lab.start()
    run = await lab.enqueue("long")
    await lab.clock.advance(minutes=6)
    done = await lab.run(run.id)
    assert (done.status, done.result, done.attempt) == (RunStatus.COMPLETED, "done", 1)
    assert len(starts) == 1
    assert lab.recorder.all("runs_recovered") == []


@rule("E4")
async def test_e4_one_failed_beat_is_survived(lab: Lab) -> None:
    @lab.job("long")
    async def long() -> None:
        await lab.nap(60)

    await lab.start()
    run = await lab.enqueue("long")
    for _ in range(3):
        lab.store.fail("beat")
        await lab.clock.advance(seconds=15)
    assert lab.recorder.count("beat_failed") == 3
    await lab.clock.advance(seconds=30)
    done = await lab.run(run.id)
    assert (done.status, done.attempt) == (RunStatus.COMPLETED, 1)
    assert lab.recorder.all("session_lost") == []


async def test_e4_an_instance_cut_off_from_the_store_stops_before_its_runs_are_given_away(lab: Lab) -> None:
    stopped: list[float] = []
    ends: list[tuple[int, str]] = []

    @lab.job("long")
    async def long(run: RunContext) -> None:
        try:
            await lab.nap(40)
        except asyncio.CancelledError:
            stopped.append(lab.clock.steady())
            raise
        ends.append((run.fence, "end"))

    cut, cut_recorder = lab.faulty(), Recorder()
    await lab.start(store=cut, recorder=cut_recorder, roles=("worker",))
    run = await lab.enqueue("long")
    await lab.clock.advance(seconds=5)  # a good beat at 5 s: its lease counts to 20 s
    other = await lab.start()
    assert other.active == 0
    cut.down()
    await lab.clock.advance(seconds=120)
    assert len(stopped) == 1
    assert 15 <= stopped[0] <= 25, "it stopped trusting its lease about when it ran out"
    done = await lab.run(run.id)
    assert (done.status, done.attempt) == (RunStatus.COMPLETED, 2)
    assert ends == [(done.fence, "end")]
    cut.up()
    await lab.clock.advance(seconds=10)
    assert cut_recorder.count("session_lost") == 1
    again = await lab.run((await lab.enqueue("long")).id)
    assert again.status is RunStatus.RUNNING, "healed, it works under a new session"


async def test_p05_an_instance_whose_beat_hangs_stops_before_its_runs_are_given_away(lab: Lab) -> None:
    """A black hole: the connection stays open, no answer comes, and no error either."""
    starts: list[tuple[int, float]] = []
    stopped: list[float] = []

    @lab.job("long")
    async def long(run: RunContext) -> None:
        starts.append((run.fence, lab.clock.steady()))
        try:
            await lab.nap(40)
        except asyncio.CancelledError:
            stopped.append(lab.clock.steady())
            raise

    cut, cut_recorder = lab.faulty(), Recorder()
    silent = await lab.start(store=cut, recorder=cut_recorder, roles=("worker",))
    run = await lab.enqueue("long")
    await lab.clock.advance(seconds=6)  # a good beat at 5 s
    gates = [cut.gate(method) for method in ("beat", "claim_runs", "settle")]
    other = await lab.start()
    assert other.active == 0
    await lab.clock.advance(seconds=60)
    assert cut_recorder.all("beat_failed") == []
    assert cut_recorder.all("lease_doubted") == [(silent.session,)]
    assert len(stopped) == 1
    assert stopped[0] < 20, "before the lease of the last beat that was answered has run out"
    assert [fence for fence, _ in starts] == [1, 2]
    assert stopped[0] < starts[1][1], "told before another began"
    await lab.enqueue("long")
    assert silent.active == 0, "it begins nothing while it cannot trust its lease"
    for gate in gates:
        gate.set()
    await lab.clock.advance(seconds=60)
    assert cut_recorder.count("session_lost") == 1
    done = await lab.run(run.id)
    assert (done.status, done.attempt, done.instance) == (RunStatus.COMPLETED, 1, other._name)
    outcomes = [attempt.outcome for attempt in await lab.plain.read_attempts(run.id)]
    assert outcomes == ["interrupted", "completed"], "an interruption spends no attempt"


async def test_what_was_stopped_in_doubt_goes_on_here_if_the_lease_held_after_all(lab: Lab) -> None:
    @lab.job("long")
    async def long() -> None:
        await lab.nap(30)

    await lab.start()
    run = await lab.enqueue("long", max_attempts=1)
    lab.store.fail("beat", *[StoreUnavailable("away")] * 2)
    await lab.clock.advance(seconds=14)
    assert lab.recorder.count("lease_doubted") == 1
    assert (await lab.run(run.id)).status is RunStatus.PENDING, "stopped, and reported as interrupted at once"
    (attempt,) = await lab.plain.read_attempts(run.id)
    assert attempt.outcome == "interrupted"
    await lab.clock.advance(seconds=60)
    done = await lab.run(run.id)
    assert (done.status, done.attempt) == (RunStatus.COMPLETED, 1), "given back untried, and done"
    assert lab.recorder.all("session_lost") == []


@rule("E4")
async def test_e4_a_refused_beat_tells_the_job_to_stop_and_a_new_session_is_opened(lab: Lab) -> None:
    told: list[str] = []

    @lab.job("long", retry=Retry(max_attempts=5))
    async def long(run: RunContext) -> None:
        try:
            await lab.nap(600)
        except asyncio.CancelledError:
            told.append(f"attempt {run.attempt} cancelled={run.cancelled}")
            raise

    instance = await lab.start()
    run = await lab.enqueue("long")
    first = instance.session
    assert first is not None
    await lab.plain.close_session(first)  # as recovery does with a session that it finds dead
    await lab.clock.advance(seconds=6)
    assert lab.recorder.all("session_lost") == [(first,)]
    assert told == ["attempt 1 cancelled=True"]
    assert instance.session not in (None, first)
    assert instance.active == 1, "the run was taken again, under the new session"
    current = await lab.run(run.id)
    assert current.status is RunStatus.RUNNING
    beat = await lab.plain.beat(first, lease_ms=15_000)
    assert not beat.alive, "a session that was declared dead is never revived"
    assert beat.held == ()


async def test_a_claim_by_a_dead_session_is_refused_and_a_new_session_is_opened(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None: ...

    instance = await lab.start(settings=Settings(lease=3000, heartbeat=1000, poll=1))
    first = instance.session
    assert first is not None
    await lab.plain.close_session(first)
    run = await lab.enqueue("work")
    await lab.clock.advance(seconds=2)
    assert lab.recorder.all("session_lost") == [(first,)]
    assert (await lab.run(run.id)).status is RunStatus.COMPLETED


async def test_a_session_is_reopened_although_the_store_is_away_for_a_while(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None: ...

    instance = await lab.start()
    first = instance.session
    assert first is not None
    await lab.plain.close_session(first)
    lab.store.down("open_session")
    await lab.clock.advance(seconds=30)
    assert instance.session is None
    tries = lab.store.calls["open_session"]
    assert 10 < tries < 400, "again and again, without spinning"
    lab.store.up()
    run = await lab.enqueue("work")
    await lab.clock.advance(seconds=2)
    assert (await lab.run(run.id)).status is RunStatus.COMPLETED


async def test_a_session_is_reopened_also_after_a_failure_that_nobody_foresaw(lab: Lab) -> None:
    instance = await lab.start()
    first = instance.session
    assert first is not None
    lab.store.fail("open_session", RuntimeError("nobody foresaw it"))
    await lab.plain.close_session(first)
    await lab.clock.advance(seconds=10)
    assert instance.session not in (None, first)
    assert [loop for loop, _ in lab.recorder.all("loop_failed")] == ["session"]


@rule("E1")
async def test_e1_a_zombie_s_success_failure_and_beat_are_refused(lab: Lab) -> None:
    gate = asyncio.Event()

    @lab.job("work")
    async def work(run: RunContext) -> str:
        if run.attempt == 1:
            await gate.wait()
        else:
            await lab.nap(30)
        return f"attempt {run.attempt}"

    zombie_store, zombie_recorder = lab.faulty(), Recorder()
    zombie = await lab.start(store=zombie_store, recorder=zombie_recorder, roles=("worker",))
    old_session = zombie.session
    run = await lab.enqueue("work")
    assert zombie.active == 1
    zombie_store.down("beat", "claim_runs")
    # As after SIGSTOP: it neither beats nor claims nor notices that time has passed.
    zombie._heartbeat._trusted_until = float("inf")
    await lab.start()
    await lab.clock.advance(seconds=30)
    current = await lab.run(run.id)
    assert (current.status, current.attempt) == (RunStatus.RUNNING, 2)
    gate.set()
    await lab.clock.advance(seconds=2)
    assert zombie_recorder.all("settlements_lost") == [([run.id],)], "the late success was really sent, and refused"
    assert (await lab.run(run.id)).status is RunStatus.RUNNING
    zombie_store.up()
    await lab.clock.advance(seconds=60)
    done = await lab.run(run.id)
    assert (done.status, done.result, done.attempt) == (RunStatus.COMPLETED, "attempt 2", 2)
    assert zombie.session != old_session


@rule("E2")
async def test_e2_an_instance_that_takes_its_own_run_again_is_fenced_from_its_older_attempt(lab: Lab) -> None:
    gates = {1: asyncio.Event(), 2: asyncio.Event()}
    ended: list[int] = []

    @lab.job("work")
    async def work(run: RunContext) -> str:
        for _ in range(5):
            try:
                await gates[run.attempt].wait()
                break
            except asyncio.CancelledError:
                continue  # a handler that does not listen
        ended.append(run.attempt)
        return f"attempt {run.attempt}"

    instance = await lab.start(name="same")
    run = await lab.enqueue("work")
    assert instance.session is not None
    lab.store.down("beat", "claim_runs")
    await lab.clock.advance(seconds=31)
    lab.store.up()
    await lab.clock.advance(seconds=10)
    current = await lab.run(run.id)
    assert (current.status, current.attempt, current.instance) == (RunStatus.RUNNING, 2, "same")
    gates[1].set()
    await lab.clock.advance(seconds=5)
    assert ended == [1]
    assert (await lab.run(run.id)).status is RunStatus.RUNNING, "the older attempt ended nothing"
    gates[2].set()
    await lab.clock.advance(seconds=1)
    assert (await lab.run(run.id)).result == "attempt 2"


@rule("E2")
async def test_e2_an_older_attempt_under_the_same_session_is_refused_by_its_fence(lab: Lab) -> None:
    """Recovery took the run past its deadline, and the same instance claimed it again: only the fence differs."""
    gates = {1: asyncio.Event(), 2: asyncio.Event()}

    @lab.job("stuck")
    async def stuck(run: RunContext) -> str:
        while not gates[run.attempt].is_set():
            with suppress(asyncio.CancelledError):  # it does not listen: only the store can take it away
                await gates[run.attempt].wait()
        return f"attempt {run.attempt}"

    instance = await lab.start()
    session = instance.session
    at = to_datetime(lab.clock.now() + 1000)
    schedule = await lab.create("k", Once(at), job="stuck", timeout=10, retry=Retry(max_attempts=2, delay=0))
    await lab.clock.advance(seconds=45)
    (run,) = await lab.runs(schedule)
    current = await lab.run(run.id)
    assert (current.status, current.attempt) == (RunStatus.RUNNING, 2)
    assert instance.session == session
    gates[1].set()
    await lab.clock.advance(seconds=1)
    assert lab.recorder.all("settlements_lost") == [([run.id],)], "the late success was really sent, and refused"
    assert (await lab.run(run.id)).status is RunStatus.RUNNING
    gates[2].set()
    await lab.clock.advance(seconds=1)
    done = await lab.run(run.id)
    assert (done.status, done.result) == (RunStatus.COMPLETED, "attempt 2")


@rule("E5")
async def test_e5_a_run_whose_worker_dies_every_time_ends_failed_with_the_right_count(lab: Lab) -> None:
    @lab.job("poison")
    async def poison() -> None:
        await lab.nap(1000)

    @lab.job("other")
    async def other() -> None: ...

    await lab.start(roles=("scheduler",))
    run = await lab.enqueue("poison")
    for attempt in (1, 2, 3):
        worker = await lab.start(roles=("worker",))
        await lab.clock.advance(seconds=2)
        held = await lab.run(run.id)
        assert (held.status, held.attempt) == (RunStatus.RUNNING, attempt)
        lab.crash(worker)
        await lab.clock.advance(seconds=20)
    done = await lab.run(run.id)
    assert (done.status, done.reason, done.attempt) == (RunStatus.FAILED, Reason.LOST, 3)
    assert "heartbeats" in (done.error_message or "")
    await lab.start(roles=("worker",))
    assert (await lab.run((await lab.enqueue("other")).id)).status is RunStatus.COMPLETED
    await lab.clock.advance(seconds=60)
    assert (await lab.run(run.id)).attempt == 3


async def test_a_lost_attempt_is_due_again_at_once_without_backoff(lab: Lab) -> None:
    @lab.job("long", retry=Retry(delay=3600))
    async def long() -> None:
        await lab.nap(1000)

    worker = await lab.start(roles=("worker",))
    run = await lab.enqueue("long")
    lab.crash(worker)
    await lab.start()
    await lab.clock.advance(seconds=19)
    current = await lab.run(run.id)
    assert (current.status, current.attempt) == (RunStatus.RUNNING, 2), "within lease + half a heartbeat + poll"


async def test_a_leaked_claim_is_returned_after_two_beats_and_no_attempt_is_spent(lab: Lab) -> None:
    """The claim was committed and its answer lost: nobody works on the run, only the store knows we have it."""
    attempts: list[tuple[int, int]] = []

    @lab.job("work", retry=Retry(max_attempts=1))
    async def work(run: RunContext) -> None:
        attempts.append((lab.clock.now(), run.attempt))

    await lab.start()
    await lab.clock.advance(seconds=0.5)
    start = lab.clock.now()
    lab.store.lose_answer("claim_runs")
    run = await lab.enqueue("work")
    leaked = await lab.run(run.id)
    assert (leaked.status, leaked.attempt) == (RunStatus.RUNNING, 1)
    assert attempts == []
    await lab.clock.advance(seconds=12)
    assert [attempt for _, attempt in attempts] == [1], "it was given back untried and claimed again"
    assert attempts[0][0] - start >= 5000, "one beat alone proves nothing: the answer might be on its way"
    done = await lab.run(run.id)
    assert (done.status, done.attempt) == (RunStatus.COMPLETED, 1)
    assert done.fence == 2


async def test_a_leaked_claim_whose_run_is_cancelled_ends_its_one_shot_too(lab: Lab) -> None:
    """Who holds it knows nothing of its schedule, and must not end the run without moving that."""

    @lab.job("work")
    async def work() -> None: ...

    schedule = await lab.create("k", Once.at_instant(lab.clock.now() + 10_000))
    await lab.start()
    await lab.clock.advance(seconds=9)
    lab.store.lose_answer("fire_due")
    await lab.clock.advance(seconds=1)
    (leaked,) = await lab.runs(schedule)
    assert leaked.status is RunStatus.RUNNING, "born claimed, and nobody knows"
    await lab.plain.request_cancel(leaked.id)
    await lab.clock.advance(seconds=30)
    assert (await lab.run(leaked.id)).status is RunStatus.CANCELLED
    found = await lab.plain.get_schedule("k")
    assert found is not None
    assert found.status == "cancelled"


async def test_two_beats_of_the_same_moment_do_not_make_a_leak(lab: Lab) -> None:
    """Cancels make beats come at once; a claim whose answer is just behind them is no leak."""
    instance = await lab.start()
    worker = instance._worker
    session = instance.session
    assert session is not None
    beat = Beat(lab.clock.now(), True, [Held("run-1", 1, False)])
    for _ in range(5):
        worker.heard(session, beat)
    assert instance._settler.backlog == 0
    lab.clock.move(seconds=5)
    worker.heard(session, beat)
    assert instance._settler.backlog == 1


async def test_a_settle_whose_answer_was_lost_is_repeated_and_ends_the_run_once(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> str:
        return "once"

    @lab.job("bad", retry=Retry(max_attempts=2, delay=1, jitter=0))
    async def bad() -> None:
        raise OSError("down")

    await lab.start()
    lab.store.lose_answer("settle", *[OutcomeUnknown("injected")] * 4)
    schedule = await lab.create("k", Every(seconds=10), overlap="queue")
    good_run, bad_run = await lab.enqueue("work"), await lab.enqueue("bad")
    await lab.clock.advance(seconds=31)
    done = await lab.run(good_run.id)
    assert (done.status, done.result, done.attempt) == (RunStatus.COMPLETED, "once", 1)
    failed = await lab.run(bad_run.id)
    assert (failed.status, failed.attempt) == (RunStatus.FAILED, 2)
    assert lab.recorder.all("settlements_lost") == [], "a repeat is not a zombie"
    assert [run.status for run in await lab.runs(schedule)] == [RunStatus.COMPLETED] * 3
    assert lab.recorder.count("attempt_started") == 1 + 2 + 3


async def test_a_claim_whose_answer_comes_when_the_lease_has_run_out_is_not_begun(lab: Lab) -> None:
    """Another has the run by then: its handler must not begin here beside it."""
    starts: list[tuple[str, int]] = []

    def registry(name: str) -> Registry:
        known = Registry()

        @lab.job("work", into=known)
        async def work(run: RunContext) -> str:
            starts.append((name, run.fence))
            await lab.nap(60)
            return name

        return known

    cut, cut_recorder = lab.faulty(), Recorder()
    slow = await lab.start(store=cut, recorder=cut_recorder, registry=registry("slow"), roles=("worker",))
    answer = cut.gate("claim_runs")
    lab.registry = registry("other")
    run = await lab.enqueue("work")
    claimed = await lab.run(run.id)
    assert (claimed.status, claimed.attempt, starts) == (RunStatus.RUNNING, 1, []), "claimed, and the answer on its way"
    cut.down("beat", "settle")
    await lab.start(registry=lab.registry)
    await lab.clock.advance(seconds=30)
    assert starts == [("other", 2)]
    answer.set()
    await lab.clock.advance(seconds=2)
    assert slow.active == 0
    assert starts == [("other", 2)]
    cut.up()
    await lab.clock.advance(seconds=60)
    done = await lab.run(run.id)
    assert (done.status, done.result, done.attempt) == (RunStatus.COMPLETED, "other", 2)


async def test_what_comes_in_while_the_lease_is_doubted_is_left_to_others(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None: ...

    cut, cut_recorder = lab.faulty(), Recorder()
    await lab.start(store=cut, recorder=cut_recorder, roles=("worker",))
    await lab.clock.advance(seconds=1)
    cut.down("beat")
    await lab.clock.advance(seconds=14)  # the store would still let it claim
    assert cut_recorder.count("lease_doubted") == 1
    run = await lab.enqueue("work")
    assert (await lab.run(run.id)).status is RunStatus.PENDING
    cut.up()
    await lab.clock.advance(seconds=7)
    assert (await lab.run(run.id)).status is RunStatus.COMPLETED, "a beat has renewed the lease"


async def test_a_late_word_about_a_session_that_was_lost_costs_the_next_one_nothing(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None:
        await lab.nap(30)

    instance = await lab.start()
    first = instance.session
    assert first is not None
    await lab.plain.close_session(first)
    await lab.clock.advance(seconds=10)
    second = instance.session
    assert second not in (None, first)
    run = await lab.enqueue("work")
    instance._heard(first, Beat(lab.clock.now(), alive=False))
    assert instance.session == second
    await lab.clock.advance(seconds=31)
    done = await lab.run(run.id)
    assert (done.status, done.attempt) == (RunStatus.COMPLETED, 1)


async def test_a_recovered_run_is_claimed_without_waiting_for_a_poll(lab: Lab) -> None:
    starts: list[int] = []

    @lab.job("work")
    async def work() -> None:
        starts.append(lab.clock.now())
        await lab.nap(600)

    slow = Settings(lease=15, heartbeat=5, poll=300)
    dying = await lab.start(roles=("worker",), settings=slow)
    await lab.enqueue("work")
    began = lab.clock.now()
    lab.crash(dying)
    await lab.start(settings=slow)
    await lab.clock.advance(seconds=18)
    assert len(starts) == 2
    assert starts[1] - began <= 17_500, "the lease and half a heartbeat"


async def test_however_many_were_lost_together_are_recovered_at_once(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duly.engine.recovery.BATCH", 2)

    @lab.job("work")
    async def work() -> None:
        await lab.nap(600)

    dying = await lab.start(roles=("worker",), settings=replace(lab.settings, concurrency=50))
    for _ in range(7):
        await lab.enqueue("work")
    assert dying.active == 7
    lab.crash(dying)
    await lab.start(roles=("scheduler",))
    await lab.clock.advance(seconds=17, milliseconds=500)
    recovered = [len(runs) for _, runs in lab.recorder.all("runs_recovered")]
    assert recovered == [2, 2, 2, 1], "batches of two, and no rest between them"


async def test_an_attempt_learns_from_a_beat_that_its_run_was_claimed_anew(lab: Lab) -> None:
    """Under the same session: the run was taken past its deadline, and the answer to the next claim was lost."""
    stopped: list[int] = []

    @lab.job("work")
    async def work(run: RunContext) -> None:
        try:
            await lab.nap(600)
        except asyncio.CancelledError:
            stopped.append(run.fence)
            raise

    instance = await lab.start()
    run = await lab.enqueue("work")
    session = instance.session
    assert session is not None
    instance._worker.heard(session, Beat(lab.clock.now(), True, [Held(run.id, 1, False)]))
    await lab.clock.settle()
    assert (stopped, instance.active) == ([], 1)
    instance._worker.heard(session, Beat(lab.clock.now(), True, [Held(run.id, 2, False)]))
    await lab.clock.settle()
    assert (stopped, instance.active) == ([1], 0)


async def test_a_settle_of_which_nobody_knows_and_that_was_not_done_is_done_again(lab: Lab) -> None:
    calls: list[int] = []

    @lab.job("work")
    async def work(run: RunContext) -> str:
        calls.append(run.attempt)
        return "once"

    await lab.start()
    lab.store.fail("settle", OutcomeUnknown("injected: the commit came to nothing"))
    run = await lab.enqueue("work")
    await lab.clock.advance(seconds=30)
    done = await lab.run(run.id)
    assert (done.status, done.result, done.attempt, done.fence) == (RunStatus.COMPLETED, "once", 1, 1)
    assert calls == [1]


async def test_settlements_are_not_forgotten_while_the_store_is_down(lab: Lab) -> None:
    calls: list[int] = []

    @lab.job("work")
    async def work(number: int) -> int:
        calls.append(number)
        return number

    await lab.start(settings=Settings(lease=60, heartbeat=20, concurrency=50))
    gate = lab.store.gate("claim_runs")
    runs = [await lab.enqueue("work", {"number": number}) for number in range(20)]
    lab.store.down("settle")
    gate.set()
    await lab.clock.advance(seconds=70)
    assert sorted(calls) == list(range(20))
    assert {(await lab.run(run.id)).status for run in runs} == {RunStatus.RUNNING}
    assert lab.store.calls["settle"] < 60, "with pauses"
    lab.store.up()
    await lab.clock.advance(seconds=6)
    assert lab.recorder.all("settlements_lost") == [], "beats took no run whose end was on its way for one that leaked"
    assert [(await lab.run(run.id)).result for run in runs] == list(range(20))
    assert sorted(calls) == list(range(20)), "and nothing was run twice"


async def test_an_end_that_the_database_refuses_blocks_no_other(lab: Lab) -> None:
    """One bad settlement in a batch: the others are written, the bad one becomes a failure that can be."""

    @lab.job("work")
    async def work(number: int) -> str:
        return "poison" if number == 7 else "fine"

    def poisoned(settlements: list[Settlement]) -> bool:
        return any(isinstance(s.outcome, Completed) and "poison" in (s.outcome.result or "") for s in settlements)

    lab.store.refuse("settle", poisoned)
    await lab.start(settings=Settings(concurrency=50))
    for number in range(20):
        await lab.plain.enqueue([lab.request("work", {"number": number})])
    await lab.clock.advance(seconds=5)
    runs = {run.payload["number"]: run for run in [await lab.run(run.id) for run in await lab.runs()]}
    bad = runs.pop(7)
    assert {run.status for run in runs.values()} == {RunStatus.COMPLETED}
    assert (bad.status, bad.reason) == (RunStatus.FAILED, Reason.FATAL)
    assert "refused" in (bad.error_message or "")


async def test_a_run_past_its_deadline_is_taken_although_its_session_lives(lab: Lab) -> None:
    """Its handler does not listen when its time is over; the store's own deadline is the last resort."""
    told, let_go = asyncio.Event(), asyncio.Event()

    @lab.job("stuck", timeout_ms=10_000, has_timeout=True)
    async def stuck() -> None:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                told.set()

    await lab.start()
    run = await lab.enqueue("stuck", max_attempts=1)
    await lab.clock.advance(seconds=35)
    assert told.is_set()
    assert (await lab.run(run.id)).status is RunStatus.RUNNING
    await lab.clock.advance(seconds=10)
    done = await lab.run(run.id)
    assert (done.status, done.reason) == (RunStatus.FAILED, Reason.TIMEOUT)
    assert "its worker did not report" in (done.error_message or "")
    let_go.set()
