"""A thousand lives of a fleet under faults: every window once, every run to its end, and the same life twice.

``python -m tests.simulation SEED`` lives through one seed again and shows its timeline.
"""

import logging
import os

import pytest

from tests.simulation.life import simulate
from tests.simulation.oracle import Expected, Rule
from tests.simulation.zombies import Zombies

LIVES = int(os.environ.get("DULY_SIMULATED_LIVES", "200"))
"""A thousand in CI."""
IN_ONE_TEST = 10
IN_A_FAST_RUN = 30


@pytest.fixture(autouse=True)
def _quiet() -> object:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=[] if first < IN_A_FAST_RUN else pytest.mark.slow)
        for first in range(0, LIVES, IN_ONE_TEST)
    ],
)
def test_no_fault_loses_or_doubles_a_window_and_everything_comes_to_rest(first: int) -> None:
    for seed in range(first, first + IN_ONE_TEST):
        report = simulate(seed)
        assert not report.findings, str(report)


def test_what_zombies_record_is_refused_and_nobody_goes_on_with_another_value() -> None:
    reports = [simulate(seed, kind=Zombies) for seed in range(7, 15)]
    assert [str(report) for report in reports if report.findings] == []
    assert sum(report.steps for report in reports) > 500
    assert sum(report.freezes for report in reports) > 10


def test_the_lives_hold_what_they_are_to_show() -> None:
    """Faults that never happen prove nothing."""
    reports = [simulate(seed) for seed in range(20)]
    assert sum(report.windows for report in reports) > 1000
    assert sum(report.runs for report in reports) > 500
    assert sum(report.steps for report in reports) > 500
    for fault in ("crashes", "freezes", "cuts", "leaps"):
        assert sum(getattr(report, fault) for report in reports) > 2, fault


@pytest.mark.parametrize("seed", [3, 7, 11])
def test_a_seed_is_the_same_life_to_the_last_call(seed: int) -> None:
    assert simulate(seed).digest == simulate(seed).digest


def test_the_oracle_knows_windows_by_itself() -> None:
    expected = Expected("k")
    expected.begin(59_500, Rule(30, of_minute=True))
    expected.end(150_000)
    expected.begin(200_500, Rule(7, of_minute=False))
    expected.end(215_999)
    assert expected.windows() == {60_000, 90_000, 120_000, 150_000, 203_000, 210_000}
