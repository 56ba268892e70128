"""Stored definitions and calendars: read back as they were written, also by those who wrote before."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from duly.core.calendar import DateRange, Days, MonthDay
from duly.core.policy import CatchUp
from duly.core.schedule import Definition, Target, TargetKind
from duly.core.timing import Cron, Every
from duly.store.codec import Bodies, decode_body, decode_days, encode_body, encode_days

# As it was written before definitions could name calendars.
BEFORE = (
    '{"key":"k","shape":{"timing":{"kind":"cron","expr":"0 2 * * *","timezone":"UTC","dst_gap":"fire_after",'
    '"dst_fold":"first","strict_fields":null},"target":["job","j",null,null],"overlap":"skip",'
    '"catch_up":["latest",86400000,100],"retry":null,"jitter":null,"timeout_ms":3600000,"max_queued":1,'
    '"max_concurrent":null,"start_at":null,"end_at":null,"max_runs":null,"queue":"default","priority":0,'
    '"pause_after_failures":null,"fire_current_window":false}}'
)


def define(**fields: object) -> Definition:
    return Definition(key="k", timing=Cron("0 2 * * *"), target=Target(TargetKind.JOB, "j"), **fields)  # type: ignore[arg-type]


def test_a_definition_of_before_names_no_calendar_and_excludes_nothing() -> None:
    found = decode_body(BEFORE, "{}")
    assert found == define(max_queued=1, catch_up=CatchUp(max_lateness=timedelta(hours=24)))
    assert not found.excludes


def test_a_definition_without_calendars_is_written_without_a_word_about_them() -> None:
    text = encode_body(define())
    assert "calendars" not in text
    assert "exclude_dates" not in text


def test_calendars_and_dates_are_read_back() -> None:
    definition = define(calendars=("a", "b"), exclude_dates=(date(2026, 12, 31),))
    assert decode_body(encode_body(definition), "{}") == definition


def test_definitions_that_are_written_together_are_written_as_they_are_alone() -> None:
    alike = [define(), replace(define(), key="l", timing=Every("1h")), define(priority=1), define(priority=1), define()]
    encode = Bodies().encode
    assert [encode(one) for one in alike] == [encode_body(one) for one in alike]
    assert [decode_body(encode(one), "{}") for one in alike] == alike


@pytest.mark.parametrize(
    "days",
    [
        Days(),
        Days((date(2026, 12, 25),)),
        Days((), (DateRange(date(2026, 12, 24), date(2027, 1, 2)),), (MonthDay(2, 29),)),
    ],
)
def test_the_dates_of_a_calendar_are_read_back(days: Days) -> None:
    assert decode_days(encode_days(days)) == days
