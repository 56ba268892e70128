"""How long a failed run waits: F2."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.core.policy import Backoff, Retry
from duly.core.rules.backoff import delay_ms


@pytest.mark.parametrize(
    "retry, expected",
    [
        (Retry(jitter=0), [5_000, 10_000, 20_000, 40_000]),
        (Retry(jitter=0, max_delay=15), [5_000, 10_000, 15_000, 15_000]),
        (Retry(jitter=0, backoff=Backoff.FIXED), [5_000, 5_000, 5_000, 5_000]),
        (Retry(jitter=0, backoff=Backoff.FIXED, delay=60, max_delay=30), [30_000] * 4),
        (Retry(jitter=0, delay=0), [0, 0, 0, 0]),
        (Retry(jitter=1, delay=10, max_delay=0), [0, 0, 0, 0]),
        (Retry(jitter=0, backoff=Backoff.FIXED, delay=7200), [7_200_000] * 4),
        (Retry(jitter=0, delay=0.0015), [2, 3, 6, 12]),
    ],
)
def test_f2_fixed_and_exponential_spacing_with_a_cap(retry, expected):
    assert [delay_ms(retry, attempt, "run") for attempt in (1, 2, 3, 4)] == expected


retries = st.builds(
    Retry,
    backoff=st.sampled_from(Backoff),
    delay=st.floats(0, 86_400),
    max_delay=st.floats(0, 86_400),
    jitter=st.floats(0, 1),
)


@given(retries, st.integers(1, 100), st.text(max_size=40))
def test_f2_jitter_stays_within_its_bounds_and_below_the_cap(retry, attempt, seed):
    nominal = retry.delay * 1000
    if retry.backoff is Backoff.EXPONENTIAL:
        nominal *= 2 ** (attempt - 1)
    nominal = min(nominal, retry.max_delay * 1000)
    delay = delay_ms(retry, attempt, seed)
    assert isinstance(delay, int)
    assert nominal * (1 - retry.jitter) - 0.51 <= delay <= nominal * (1 + retry.jitter) + 0.51
    assert 0 <= delay <= retry.max_delay * 1000 + 0.51
    assert delay == delay_ms(retry, attempt, seed)


def test_f2_runs_that_failed_together_do_not_return_together():
    for attempt in (1, 30):
        delays = {delay_ms(Retry(), attempt, f"run {n}") for n in range(200)}
        assert len(delays) > 150
