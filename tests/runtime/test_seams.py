"""The seams to the world: random values, ids, observers that fail."""

import logging

import pytest

from duly.core.run import RunStatus
from duly.runtime.chance import Chance
from duly.runtime.clock import SystemClock
from duly.runtime.events import LogObserver, Observer, Observers
from duly.testing import ManualClock
from tests.acceptance.rules import rule


def test_the_same_seed_draws_the_same_values() -> None:
    clock = ManualClock()
    one, two, other = Chance(7), Chance(7), Chance(8)

    def draws(chance: Chance) -> list[object]:
        return [chance.id(clock), chance.session(), chance.spread(1, 2), chance.id(clock)]

    assert draws(one) == draws(two)
    assert draws(one) != draws(other)


@rule("S2.1")
def test_ids_are_uuids_of_version_7_that_start_with_the_instant_and_never_repeat() -> None:
    clock, chance = ManualClock(0x0123_4567_89AB), Chance()
    ids = {chance.id(clock) for _ in range(10_000)}
    assert len(ids) == 10_000
    assert all(id.startswith("01234567-89ab-7") and id[19] in "89ab" and len(id) == 36 for id in ids)


def test_sessions_fit_a_signed_bigint_and_are_never_zero() -> None:
    chance = Chance()
    sessions = {chance.session() for _ in range(10_000)}
    assert len(sessions) == 10_000
    assert all(0 < session < 2**63 for session in sessions)


def test_a_spread_stays_within_its_bounds() -> None:
    chance = Chance(3)
    assert all(0.5 <= chance.spread(0.5, 1.5) <= 1.5 for _ in range(1000))


def test_the_system_clock_answers_whole_milliseconds_and_a_steady_second() -> None:
    clock = SystemClock()
    assert isinstance(clock.now(), int)
    assert 1_600_000_000_000 < clock.now() < 10_000_000_000_000
    before = clock.steady()
    assert clock.steady() >= before


class Broken(Observer):
    def runs_ended(self, ended: object) -> None:
        raise RuntimeError("the exporter is down")


class Ears(Observer):
    def __init__(self) -> None:
        self.heard: list[object] = []

    def runs_ended(self, ended: object) -> None:
        self.heard.append(ended)


def test_e8_an_observer_that_raises_does_not_hinder_the_others(caplog: pytest.LogCaptureFixture) -> None:
    ears = Ears()
    observers = Observers([Broken()])
    observers.add(ears)
    with caplog.at_level(logging.ERROR, "duly.engine"):
        observers.runs_ended({"a": RunStatus.COMPLETED})
    assert ears.heard == [{"a": RunStatus.COMPLETED}]
    assert "Broken" in caplog.text


def test_every_method_of_the_port_is_passed_on() -> None:
    port = {name for name in vars(Observer) if not name.startswith("_")}
    passed = {name for name in vars(Observers) if not name.startswith("_")} - {"add"}
    assert passed == port, "a method that Observers does not override is heard by nobody"


def own_lines(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """Not those of a thread that a former test has left behind."""
    return [record for record in caplog.records if record.name == "duly.engine"]


@rule("S3.56")
def test_late_fires_are_one_line_until_fires_are_on_time_again(caplog: pytest.LogCaptureFixture) -> None:
    log = LogObserver()
    with caplog.at_level(logging.WARNING, "duly.engine"):
        for lateness in ([5, 10_000], [45_000, 3], [60_000], [], [70_000], [12], [11_000]):
            log.windows_fired(len(lateness), 2, 0, lateness)
    assert [record.args for record in own_lines(caplog)] == [(45, 2, 2), (11, 1, 2)]
    assert {record.levelname for record in own_lines(caplog)} == {"WARNING"}


def test_the_log_says_what_an_operator_must_see_and_no_payload(caplog: pytest.LogCaptureFixture) -> None:
    log = LogObserver()
    with caplog.at_level(logging.DEBUG, "duly.engine"):
        log.schedule_set_aside("s1", "boom")
        log.settlements_lost(["r1"])
        log.settlements_abandoned(["r1", "r2"])
        log.runs_recovered([7], ["r1"])
        log.session_lost(7)
        log.beat_failed(OSError("gone"))
        log.clock_jumped(3_600_000)
        log.jobs_unknown([("mail", 3)])
        log.jobs_unknown([("mail", 3), ("webhook:post", 1), ("queue:shop", 1)])
        log.loop_failed("worker", OSError("gone"))
    levels = [record.levelname for record in own_lines(caplog)]
    assert levels == ["ERROR", "WARNING", "ERROR", "WARNING", "ERROR", "WARNING", "ERROR", *["WARNING"] * 3, "ERROR"]
    assert "3600000 ms" in caplog.text
    assert "'mail' (runs that wait: 3); start one that has it (`duly worker" in caplog.text
    assert "'webhook:post' (runs that wait: 1); pip install 'duly[webhook]' where one runs" in caplog.text
    assert "'queue:shop' (runs that wait: 1); give one the url of that target, [targets.shop]" in caplog.text
