"""Attributes are the REST names in snake_case (DESIGN 6.1), whatever REST comes to answer."""

import re

from duly.api.shapes import RunAnswer, ScheduleAnswer
from duly.core.run import Run
from duly.core.schedule import Schedule

OTHERWISE = {"job_type": "job", "job_payload": "payload"}
FRIENDLY_INPUT = {"interval_minutes", "daily_time", "weekly_time", "monthly_time", "dst", "strict_fields", "on_past"}
OF_THE_TIMING = {"anchor", "after_completion"}


def snake(name: str) -> str:
    plain = re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), name)
    return OTHERWISE.get(plain, plain)


def test_a_schedule_has_every_name_of_its_answer() -> None:
    names = {snake(name) for name in ScheduleAnswer.__annotations__}
    missing = {name for name in names if not hasattr(Schedule, name)}
    assert missing <= FRIENDLY_INPUT | OF_THE_TIMING


def test_a_run_has_every_name_of_its_answer() -> None:
    names = {snake(name) for name in RunAnswer.__annotations__}
    assert {name for name in names if not hasattr(Run, name)} <= {"attempts"}
