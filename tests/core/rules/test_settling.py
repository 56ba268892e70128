"""The end of an attempt, row by row: F1 to F5 and D4."""

from __future__ import annotations

import pytest

from duly.core.policy import Retry
from duly.core.rules.backoff import delay_ms
from duly.core.rules.settling import Again, Finish, settle
from duly.core.run import Cancelled, Completed, Failed, Interrupted, Lost, Reason, Released, RunStatus, Snoozed

RETRY = Retry(max_attempts=3)
STOPPED = Finish(RunStatus.CANCELLED, Reason.CANCEL_REQUESTED)


def end(outcome, attempt=1, cancel_requested=False):
    return settle(
        outcome, run_id="run", attempt=attempt, max_attempts=3, retry=RETRY, cancel_requested=cancel_requested
    )


def again(attempt, outcome="failed"):
    return Again(delay_ms(RETRY, attempt, "run"), True, "boom", outcome)


@pytest.mark.parametrize(
    "outcome, attempt, verdict",
    [
        (Completed('{"n":1}'), 1, Finish(RunStatus.COMPLETED, None, None, '{"n":1}')),
        (Completed(None, Reason.NO_LISTENER), 1, Finish(RunStatus.COMPLETED, Reason.NO_LISTENER)),
        (Failed("boom"), 1, again(1)),
        (Failed("boom"), 2, again(2)),
        (Failed("boom"), 3, Finish(RunStatus.FAILED, Reason.ATTEMPTS_SPENT, "boom")),
        (Failed("boom"), 4, Finish(RunStatus.FAILED, Reason.ATTEMPTS_SPENT, "boom")),
        (Failed("boom", timed_out=True), 2, again(2, "timed_out")),
        (Failed("boom", timed_out=True), 3, Finish(RunStatus.FAILED, Reason.TIMEOUT, "boom")),
        (Failed("boom", fatal=True), 1, Finish(RunStatus.FAILED, Reason.FATAL, "boom")),
        (Lost("gone"), 2, Again(0, True, "gone", "lost", suspect=True)),
        (Lost("gone"), 3, Finish(RunStatus.FAILED, Reason.LOST, "gone")),
        (Cancelled(), 3, Again(0, False, None, "released", suspect=None)),
        (Released(), 3, Again(0, False, None, "released", suspect=None, recorded=False)),
        (Released(started=True), 3, Again(0, False, None, "released", suspect=None)),
        (Interrupted(), 3, Again(0, False, None, "interrupted", suspect=None)),
        (Snoozed(90_000), 3, Again(90_000, False, None, "snoozed")),
    ],
)
def test_each_outcome_has_one_verdict(outcome, attempt, verdict):
    assert end(outcome, attempt) == verdict


@pytest.mark.parametrize(
    "outcome, attempt, verdict",
    [
        (Completed("1"), 1, STOPPED),
        (Failed("boom"), 1, STOPPED),
        (Failed("boom", timed_out=True), 1, STOPPED),
        (Failed("boom"), 3, Finish(RunStatus.FAILED, Reason.ATTEMPTS_SPENT, "boom")),
        (Failed("boom", fatal=True), 1, Finish(RunStatus.FAILED, Reason.FATAL, "boom")),
        (Lost("gone"), 1, STOPPED),
        (Lost("gone"), 3, Finish(RunStatus.FAILED, Reason.LOST, "gone")),
        (Cancelled(), 1, STOPPED),
        (Released(), 1, STOPPED),
        (Snoozed(5), 1, STOPPED),
    ],
)
def test_d4_after_a_cancel_request_nothing_goes_again_and_no_success_is_taken(outcome, attempt, verdict):
    assert end(outcome, attempt, cancel_requested=True) == verdict


def test_f1_three_attempts_that_fail_are_two_retries_and_a_failure_with_the_last_error():
    verdicts = [end(Failed(f"error {attempt}"), attempt) for attempt in (1, 2, 3)]
    assert [type(verdict) for verdict in verdicts] == [Again, Again, Finish]
    assert verdicts[-1] == Finish(RunStatus.FAILED, Reason.ATTEMPTS_SPENT, "error 3")


def test_f3_a_fatal_error_is_final_at_once():
    assert end(Failed("no", fatal=True, timed_out=True)) == Finish(RunStatus.FAILED, Reason.FATAL, "no")


def test_f5_a_timeout_is_a_failed_attempt_and_the_next_follows_the_policy():
    verdict = end(Failed("took too long", timed_out=True))
    assert isinstance(verdict, Again)
    assert (verdict.spends_attempt, verdict.after_ms) == (True, delay_ms(RETRY, 1, "run"))
