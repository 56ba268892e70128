"""How many runs of a queue may start now, and when more may."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.core.queue import QueueState
from duly.core.rules.flow import after_starts, allowance, is_full, opens_at

NOW = 1_800_000_000_000


def queue(**words: object) -> QueueState:
    return QueueState(name="mail", **words)  # type: ignore[arg-type]  # words of a QueueState


@pytest.mark.parametrize(
    ("words", "running", "expected"),
    [
        ({}, 1000, None),
        ({"max_running": 3}, 0, 3),
        ({"max_running": 3}, 2, 1),
        ({"max_running": 3}, 5, 0),
        ({"rate": 4, "per_ms": 1000}, 99, 4),
        ({"rate": 4, "per_ms": 1000, "window_at": NOW - 999, "used": 3}, 0, 1),
        ({"rate": 4, "per_ms": 1000, "window_at": NOW - 1000, "used": 3}, 0, 4),
        ({"rate": 4, "per_ms": 1000, "window_at": NOW + 500, "used": 4}, 0, 0),
        ({"rate": 4, "per_ms": 1000, "window_at": NOW + 1001, "used": 4}, 0, 4),
        ({"rate": 2, "per_ms": 1000, "window_at": NOW, "used": 3}, 0, 0),
        ({"max_running": 2, "rate": 4, "per_ms": 1000}, 0, 2),
        ({"max_running": 9, "rate": 4, "per_ms": 1000}, 0, 4),
        ({"max_running": 9, "paused_at": NOW}, 0, 0),
    ],
)
def test_the_narrowest_limit_counts(words: dict[str, object], running: int, expected: int | None) -> None:
    assert allowance(queue(**words), running, NOW) == expected


def test_only_a_limit_of_running_runs_makes_a_queue_full() -> None:
    assert is_full(queue(max_running=2), 2)
    assert not is_full(queue(max_running=2), 1)
    assert not is_full(queue(rate=1, per_ms=1000), 99)


def test_a_queue_opens_when_its_window_ends() -> None:
    used_up = queue(rate=2, per_ms=1000, window_at=NOW - 300, used=2)
    assert opens_at(used_up, NOW) == NOW + 700
    assert opens_at(queue(rate=3, per_ms=1000, window_at=NOW - 300, used=2), NOW) is None
    assert opens_at(queue(max_running=1), NOW) is None


def test_a_window_begins_with_the_first_start_in_it() -> None:
    fresh = queue(rate=2, per_ms=1000)
    begun = after_starts(fresh, 1, NOW)
    assert (begun.window_at, begun.used) == (NOW, 1)
    assert after_starts(begun, 1, NOW + 400).window_at == NOW
    assert after_starts(begun, 1, NOW + 5000).window_at == NOW + 5000
    assert after_starts(fresh, 0, NOW) is fresh
    assert after_starts(queue(max_running=1), 1, NOW) == queue(max_running=1)


@given(
    rate=st.integers(1, 5),
    per_ms=st.integers(1, 50),
    steps=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 8)), max_size=60),
)
def test_no_window_ever_has_more_starts_than_the_rate(rate: int, per_ms: int, steps: list[tuple[int, int]]) -> None:
    line, now = queue(rate=rate, per_ms=per_ms), NOW
    starts: dict[int, int] = {}
    for pause, wanted in steps:
        now += pause
        count = min(wanted, allowance(line, 0, now) or 0)
        line = after_starts(line, count, now)
        if count:
            assert line.window_at is not None
            starts[line.window_at] = starts.get(line.window_at, 0) + count
    assert all(count <= rate for count in starts.values())
    begins = sorted(starts)
    assert all(later - earlier >= per_ms for earlier, later in pairwise(begins))
