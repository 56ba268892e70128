"""Retries: as often as allowed, at the right instants, also across a restart."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

from duly import Every, Fatal, Once, Retry, RunContext, Snooze
from duly.config import Settings
from duly.core.instants import to_datetime
from duly.core.policy import LEFT_RETRY
from duly.core.run import Failed, Reason, RunStatus
from tests.acceptance.rules import rule
from tests.contract.suite.trial import Trial
from tests.engine.lab import Lab
from tests.store_choice import postgres_too

pytestmark = postgres_too("answers of the store that are lost")


@rule("S3.4", "F2")
async def test_f1_a_failing_run_is_tried_as_often_as_allowed_with_growing_pauses(lab: Lab) -> None:
    tries: list[tuple[int, int]] = []

    @lab.job("work", retry=Retry(max_attempts=4, delay=5, jitter=0, max_delay=8))
    async def work(run: RunContext) -> None:
        tries.append((lab.clock.now(), run.attempt))
        raise ValueError(f"try {run.attempt}")

    await lab.start()
    start = lab.clock.now()
    run = await lab.enqueue("work")
    await lab.clock.advance(minutes=2)
    assert tries == [(start, 1), (start + 5000, 2), (start + 13_000, 3), (start + 21_000, 4)], "5, 10 cut to 8, 8"
    done = await lab.run(run.id)
    assert (done.status, done.reason, done.attempt) == (RunStatus.FAILED, Reason.ATTEMPTS_SPENT, 4)
    assert done.error_message == "ValueError: try 4"
    assert done.dead
    fences = [claim.fence for (claim,) in lab.recorder.all("attempt_started")]
    assert fences == sorted(set(fences)), "the fence grows with every claim"


@rule("F2")
async def test_f2_fixed_pauses_are_all_the_same_and_the_schedule_s_own_policy_wins(lab: Lab) -> None:
    tries: list[int] = []

    @lab.job("work", retry=Retry(max_attempts=9))
    async def work() -> None:
        tries.append(lab.clock.now())
        raise OSError

    await lab.start()
    at = lab.clock.now() + 1000
    await lab.create("k", Once(to_datetime(at)), retry=Retry(max_attempts=3, backoff="fixed", delay=7, jitter=0))
    await lab.clock.advance(minutes=2)
    assert tries == [at, at + 7000, at + 14_000]


@rule("F2")
async def test_f2_jitter_keeps_the_pause_within_its_bounds(lab: Lab) -> None:
    tries: dict[str, list[int]] = {}

    @lab.job("work", retry=Retry(max_attempts=2, delay=10, jitter=0.5))
    async def work(run: RunContext) -> None:
        tries.setdefault(run.id, []).append(lab.clock.now())
        raise OSError

    await lab.start()
    for _ in range(10):
        await lab.enqueue("work")
    await lab.clock.advance(seconds=20)
    gaps = {second - first for first, second in tries.values()}
    assert all(5000 <= gap <= 15_000 for gap in gaps)
    assert len(gaps) > 5, "they do not come back together"


async def test_f2_a_retry_that_is_due_before_the_next_poll_does_not_wait_for_it(lab: Lab) -> None:
    starts: list[int] = []

    @lab.job("work", retry=Retry(max_attempts=3, backoff="fixed", delay=2, jitter=0))
    async def work() -> None:
        starts.append(lab.clock.now())
        raise OSError("down")

    await lab.start(settings=Settings(lease=150, heartbeat=50, poll=30))
    await lab.enqueue("work")
    await lab.clock.advance(seconds=5)
    assert [later - earlier for earlier, later in pairwise(starts)] == [2000, 2000]


@rule("F4")
async def test_f4_a_retry_comes_at_its_instant_although_the_instance_was_restarted(lab: Lab) -> None:
    tries: list[int] = []

    @lab.job("work", retry=Retry(max_attempts=2, delay=60, jitter=0))
    async def work() -> None:
        tries.append(lab.clock.now())
        raise OSError

    first = await lab.start()
    start = lab.clock.now()
    await lab.enqueue("work")
    await lab.clock.advance(seconds=20)
    lab.crash(first)
    await lab.clock.advance(seconds=20)
    await lab.start(settings=Settings(poll=30))
    await lab.clock.advance(seconds=60)
    assert tries == [start, start + 60_000]


@rule("F3")
async def test_f3_a_fatal_error_is_never_tried_again(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None:
        raise Fatal("no such customer")

    await lab.start()
    run = await lab.enqueue("work")
    await lab.clock.advance(minutes=1)
    done = await lab.run(run.id)
    assert (done.status, done.reason, done.attempt) == (RunStatus.FAILED, Reason.FATAL, 1)
    assert done.error_message == "Fatal: no such customer"


async def test_a_snooze_comes_back_later_and_spends_no_attempt(lab: Lab) -> None:
    calls: list[tuple[int, int]] = []

    @lab.job("work", retry=Retry(max_attempts=1))
    async def work(run: RunContext):
        calls.append((lab.clock.now(), run.attempt))
        return Snooze(minutes=5) if len(calls) < 4 else "done"

    await lab.start(settings=Settings(poll=60, lease=180, heartbeat=60))
    start = lab.clock.now()
    run = await lab.enqueue("work")
    await lab.clock.advance(minutes=20)
    assert calls == [(start + number * 300_000, 1) for number in range(4)]
    assert (await lab.run(run.id)).result == "done"


async def test_a_passing_hiccup_of_the_settle_does_not_fail_a_run_that_completed(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> str:
        return "done"

    await lab.start()
    lab.store.fail("settle", RuntimeError("can't start new thread"), RuntimeError("can't start new thread"))
    run = await lab.enqueue("work")
    await lab.clock.advance(seconds=10)
    ended = await lab.run(run.id)
    assert (ended.status, ended.result) == (RunStatus.COMPLETED, "done")


async def test_a_job_that_may_be_tried_once_is_not_tried_again_because_a_stranger_gave_its_run_back(lab: Lab) -> None:
    """Whoever recovers a run of a job that it does not know cannot tell that its only attempt is spent."""
    tried: list[str] = []

    @lab.job("work", retry=Retry(max_attempts=1))
    async def work() -> None:
        tried.append("again")

    trial = Trial(lab.plain, lab.clock)
    run = await trial.enqueue("work", left_to_job=LEFT_RETRY)
    assert len(await (await trial.worker("work")).claim()) == 1
    await lab.clock.advance(hours=1)
    await trial.take_lost()
    assert (await trial.run(run)).status is RunStatus.PENDING
    await lab.start()
    await lab.clock.advance(minutes=1)
    ended = await lab.run(run.id)
    assert (ended.status, ended.reason, tried) == (RunStatus.FAILED, Reason.ATTEMPTS_SPENT, [])
    assert "its job allows 1 attempt(s)" in (ended.error_message or "")


async def test_attempts_are_those_of_the_schedule_then_of_the_job_then_of_the_server(lab: Lab) -> None:
    tries: Counter[str] = Counter()

    async def fail(run: RunContext) -> None:
        tries[run.schedule_key or ""] += 1
        raise OSError

    lab.settings = replace(lab.settings, default_max_attempts=2)
    lab.job("plain")(fail)
    lab.job("own", retry=Retry(max_attempts=4, delay=1, jitter=0))(fail)
    await lab.start()
    at = Once(to_datetime(lab.clock.now() + 1000))
    await lab.create("server", at, job="plain")
    await lab.create("job", at, job="own")
    await lab.create("schedule", at, job="own", retry=Retry(max_attempts=3, delay=1, jitter=0))
    await lab.clock.advance(minutes=2)
    assert tries == {"server": 2, "job": 4, "schedule": 3}


async def test_s4_a_schedule_pauses_after_so_many_failed_runs_in_a_row_and_a_success_counts_from_none(lab: Lab) -> None:
    fails, runs = True, 0

    @lab.job("work", retry=Retry(max_attempts=2, delay=1, jitter=0))
    async def work(run: RunContext) -> None:
        nonlocal runs
        runs += run.attempt == 1
        if fails and runs != 2:
            raise OSError

    await lab.start()
    schedule = await lab.create("k", Every(minutes=1), pause_after_failures=2)
    await lab.clock.advance(minutes=10)
    paused = await lab.plain.get_schedule("k")
    assert paused is not None
    statuses = [run.status.value for run in await lab.runs(schedule)]
    assert statuses == ["failed", "completed", "failed", "failed"], "and nothing fires after that"
    assert (paused.enabled, paused.paused_reason) == (False, "paused after 2 failed runs in a row")
    assert paused.next_fire_at is None


async def test_f1_listeners_hear_of_every_failed_attempt_and_of_one_end(lab: Lab) -> None:
    @lab.job("work", retry=Retry(max_attempts=3, delay=1, jitter=0))
    async def work() -> None:
        raise OSError("no")

    await lab.start()
    run = await lab.enqueue("work")
    await lab.clock.advance(seconds=30)
    outcomes = [outcome for _, outcome, *_ in lab.recorder.all("attempt_ended")]
    assert [type(outcome) for outcome in outcomes] == [Failed] * 3
    assert [ended for (ended,) in lab.recorder.all("runs_ended") if run.id in ended] == [{run.id: RunStatus.FAILED}]


async def test_a_result_that_is_too_large_or_no_json_fails_the_run_for_good_and_says_what_to_do(lab: Lab) -> None:
    lab.settings = replace(lab.settings, result_limit=100)

    @lab.job("work")
    async def work(kind: str) -> object:
        return {"fits": "x" * 98, "large": "x" * 99, "odd": object()}[kind]

    await lab.start()
    runs = {kind: await lab.enqueue("work", {"kind": kind}) for kind in ("fits", "large", "odd")}
    await lab.clock.advance(seconds=30)
    fits, large, odd = [await lab.run(run.id) for run in runs.values()]
    assert (fits.status, fits.result) == (RunStatus.COMPLETED, "x" * 98)
    assert (large.status, large.reason, large.attempt) == (RunStatus.FAILED, Reason.FATAL, 1)
    assert "101 bytes; at most 100 are kept" in (large.error_message or "")
    assert "is not JSON" in (odd.error_message or "")
