"""Jitter: a delay that every instance computes alike."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.core.errors import ValidationFailed
from duly.core.timing import Jitter
from tests.acceptance.rules import rule

WINDOW = 1_800_000_000_000
PINNED = [41103, 38290, 42688]
PINNED_UNICODE = 15478054


def test_the_delay_is_pinned_for_ever():
    # A changed delay would move the fires of every stored schedule: these values must never change.
    assert [Jitter(30_000, 50_000).delay_ms("nightly", WINDOW + n * 60_000) for n in range(3)] == PINNED
    assert Jitter(0, 86_400_000).delay_ms("ключ", -1) == PINNED_UNICODE


@pytest.mark.processes
def test_another_process_computes_the_same():
    code = f"from duly.core.timing import Jitter; print(Jitter(30_000, 50_000).delay_ms('nightly', {WINDOW}))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(answer.stdout) == PINNED[0]


@given(
    st.text(max_size=30).filter(str.isprintable),
    st.integers(-(10**14), 10**14),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
)
def test_the_delay_lies_between_its_bounds(key, window, low, width):
    delay = Jitter(low, low + width).delay_ms(key, window)
    assert low <= delay <= low + width
    assert delay < low + width or width == 0


@rule("S4.27")
def test_many_schedules_spread_evenly():
    jitter = Jitter(30_000, 50_000)
    seconds = [jitter.delay_ms(f"user-{n}", WINDOW) // 1000 for n in range(5000)]
    assert set(seconds) == set(range(30, 50))
    assert max(seconds.count(second) for second in range(30, 50)) < 350


@rule("S4.26")
def test_one_schedule_gets_a_new_delay_for_each_window():
    jitter = Jitter(0, 60_000)
    assert len({jitter.delay_ms("nightly", WINDOW + n) for n in range(100)}) > 95


def test_the_fire_is_cut_below_the_next_window():
    jitter = Jitter(30_000, 50_000)
    assert jitter.fire_at_ms("nightly", WINDOW, None) == WINDOW + PINNED[0]
    assert jitter.fire_at_ms("nightly", WINDOW, WINDOW + 60_000) == WINDOW + PINNED[0]
    assert jitter.fire_at_ms("nightly", WINDOW, WINDOW + 1000) == WINDOW + 999
    assert jitter.fire_at_ms("nightly", WINDOW, WINDOW) == WINDOW


def test_no_width_is_a_fixed_delay():
    assert Jitter(5, 5).delay_ms("a", 1) == 5
    assert Jitter(0, 0).fire_at_ms("a", 1, 2) == 1


@pytest.mark.parametrize("bounds", [(-1, 5), (5, 4), (0, 86_400_001), (0.5, 1), (True, 5), (0, None), ("0", "5")])
def test_bad_bounds_are_refused(bounds):
    with pytest.raises(ValidationFailed, match=r"jitter\.m"):
        Jitter(*bounds)


def test_jitters_are_values():
    assert Jitter(1, 2) == Jitter(1, 2)
    assert len({Jitter(1, 2), Jitter(1, 2), Jitter(1, 3)}) == 2
