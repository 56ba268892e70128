"""Where the bars of a run lie."""

from datetime import UTC, datetime, timedelta

from duly.dashboard.timeline import LEAST, timeline

START = datetime(2026, 11, 16, 12, tzinfo=UTC)


def at(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat()


def run(*attempts: dict[str, object], **more: object) -> dict[str, object]:
    return {"status": "completed", "firedAt": at(0), "startedAt": at(10), "completedAt": at(100),
            "attempts": list(attempts), **more}  # fmt: skip


def attempt(number: int, begun: float, ended: float | None, outcome: str = "failed") -> dict[str, object]:
    return {"attemptNumber": number, "outcome": outcome, "errorMessage": "boom", "startedAt": at(begun),
            "endedAt": None if ended is None else at(ended)}  # fmt: skip


def step(name: str, asked: float, done: float | None, status: str = "done", kind: str = "step") -> dict[str, object]:
    return {"name": name, "askedAt": at(asked), "doneAt": None if done is None else at(done), "status": status,
            "error": None, "kind": kind}  # fmt: skip


def test_bars_lie_where_their_time_lies():
    drawn = timeline(run(attempt(1, 10, 60), attempt(2, 80, 100, "completed")), [], START + timedelta(hours=1))
    assert drawn is not None
    assert [(bar.label, bar.left, bar.width) for bar in drawn.bars] == [
        ("waiting", 0, 10), ("attempt 1", 10, 50), ("attempt 2", 80, 20)
    ]  # fmt: skip
    assert [words for _, words in drawn.marks] == ["0 ms", "25 s", "50 s", "1 min 15 s", "1 min 40 s"]


def test_the_wait_ends_with_the_first_attempt_whatever_the_newest_is():
    drawn = timeline(run(attempt(1, 10, 20), attempt(2, 80, 100), startedAt=at(80)), [], START)
    assert drawn is not None
    assert (drawn.bars[0].label, drawn.bars[0].width) == ("waiting", 10)


def test_what_has_not_ended_reaches_until_now():
    open_run = run(attempt(1, 10, None, "running"), status="running", completedAt=None)
    drawn = timeline(open_run, [], START + timedelta(seconds=20))
    assert drawn is not None
    assert (drawn.bars[1].left, drawn.bars[1].width, drawn.bars[1].open) == (50, 50, True)


def test_what_took_no_time_is_seen_and_stays_within_the_axis():
    drawn = timeline(run(attempt(1, 100, 100, "completed")), [], START)
    assert drawn is not None
    last = drawn.bars[-1]
    assert last.width >= LEAST
    assert last.left + last.width <= 100


def test_steps_stand_under_the_attempts_and_bookkeeping_does_not():
    steps = [step("1", 10, 10, kind="start"), step("gather", 10, 55), step("mail", 55, None, "asked")]
    drawn = timeline(run(attempt(1, 10, 100, "completed")), steps, START + timedelta(seconds=100))
    assert drawn is not None
    assert [(bar.label, bar.state, bar.kind) for bar in drawn.bars[2:]] == [
        ("gather", "completed", "step"), ("mail", "running", "step")
    ]  # fmt: skip


def test_a_skipped_run_has_no_timeline():
    assert timeline(run(status="skipped", startedAt=None), [], START) is None


def test_a_clock_that_went_back_gives_no_negative_width():
    drawn = timeline(run(attempt(1, 60, 10)), [], START)
    assert drawn is not None
    assert all(bar.width > 0 and bar.left >= 0 for bar in drawn.bars)


def test_what_a_run_took_counts_from_its_fire_and_not_from_its_newest_attempt():
    drawn = timeline(run(attempt(1, 10, 20), attempt(2, 80, 100), startedAt=at(80)), [], START)
    assert drawn is not None
    assert drawn.took == "1 min 40 s"
