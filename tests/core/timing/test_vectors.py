"""Every public vector: next fires, previous fires and refusals."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from duly.core.errors import CronInvalid, TimezoneInvalid
from duly.core.timing import Cron
from tests.core.timing.changes import utc

PATH = Path(__file__).parents[2] / "vectors" / "cron-public.jsonl"
CASES = [json.loads(line) for line in PATH.read_text("utf-8").splitlines()]


def shown(instant: datetime | None) -> str | None:
    return None if instant is None else f"{instant:%Y-%m-%dT%H:%M:%SZ}"


def the(form: str) -> list[object]:
    return [pytest.param(case, id=case["id"]) for case in CASES if form in case]


def test_the_vectors_are_all_there():
    assert len(CASES) == 1206
    assert len(the("next")) + len(the("prev")) + len(the("error")) == len(CASES)


@pytest.mark.parametrize("case", the("next"))
def test_the_next_fires_are_those_of_the_vector(case):
    cron, instant = Cron(case["expr"], case["tz"]), utc(case["after"])
    fires = []
    for _ in case["next"]:
        following = cron.next_after(instant)
        assert following is not None
        fires.append(shown(following))
        instant = following
    assert fires == case["next"]


@pytest.mark.parametrize("case", the("next"))
def test_the_fires_of_the_vector_are_found_again_backwards(case):
    cron = Cron(case["expr"], case["tz"])
    for fire in case["next"]:
        assert shown(cron.latest_at(utc(fire))) == fire


@pytest.mark.parametrize("case", the("prev"))
def test_the_previous_fire_is_that_of_the_vector(case):
    assert shown(Cron(case["expr"], case["tz"]).latest_at(utc(case["at"]))) == case["prev"]


@pytest.mark.parametrize("case", the("error"))
def test_what_the_vector_refuses_is_refused(case):
    with pytest.raises(TimezoneInvalid if case["error"] == "zone" else CronInvalid) as refusal:
        Cron(case["expr"], case["tz"])
    assert "expected" in str(refusal.value)
