"""Attributes are the REST names in snake_case (DESIGN 6.1), whatever REST comes to answer."""

import re
from datetime import UTC, datetime

import pytest

from duly import Cron, Every, Once
from duly.api.answers import at, timing_answer
from duly.api.shapes import RunAnswer, ScheduleAnswer, TimingAnswer
from duly.core.run import Run
from duly.core.schedule import Cursor, Definition, Facts, Schedule, Target, TargetKind
from duly.core.timing import Timing

OTHERWISE = {"job_type": "job", "job_payload": "payload"}


def snake(name: str) -> str:
    plain = re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), name)
    return OTHERWISE.get(plain, plain)


def test_a_schedule_has_every_name_of_its_answer() -> None:
    names = {snake(name) for name in ScheduleAnswer.__annotations__}
    assert {name for name in names if not hasattr(Schedule, name)} == set()


@pytest.mark.parametrize("timing", [
    Cron("0 2 * * *", "Europe/Berlin", dst_gap="skip", dst_fold="both", strict_fields=5),
    Every("5m", anchor="start", after_completion=True),
    Every("5m", anchor=datetime(2026, 1, 1, tzinfo=UTC)),
    Once("2027-03-15T14:00:00Z", on_past="fire"),
])  # fmt: skip
def test_a_schedule_tells_its_timing_as_its_answer_does(timing: Timing) -> None:
    definition = Definition(key="k", timing=timing, target=Target(TargetKind.JOB, "work"))
    schedule = Schedule(Facts(id="1", key="k", name="k"), definition, Cursor("1"))
    told = {name: getattr(schedule, snake(name)) for name in TimingAnswer.__annotations__}
    answered = timing_answer(timing)
    assert {name: at(value) if isinstance(value, datetime) else value for name, value in told.items()} == answered


def test_a_run_has_every_name_of_its_answer() -> None:
    names = {snake(name) for name in RunAnswer.__annotations__}
    assert {name for name in names if not hasattr(Run, name)} <= {"attempts"}
