"""Stored timings come back equal, and what is not understood is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.core.errors import CronInvalid, DulyError, ValidationFailed
from duly.core.timing import Cron, Every, Once, describe, from_description
from tests.core.timing.changes import ZONES, utc
from tests.core.timing.expressions import meanings

CRONS = st.builds(
    Cron,
    meanings().map(lambda meaning: meaning.text),
    st.sampled_from(ZONES),
    dst_gap=st.sampled_from(["fire_after", "skip"]),
    dst_fold=st.sampled_from(["first", "second", "both"]),
    strict_fields=st.sampled_from([None, 5]),
)
EVERIES = st.builds(
    lambda length, anchor, start, ends: Every(milliseconds=length, anchor=anchor, after_completion=ends).anchored_at(
        start
    ),
    st.integers(1000, 10**9),
    st.sampled_from(["epoch", "start", utc("2026-01-05T09:00:00.123456+01:00")]),
    st.integers(-(10**12), 10**13),
    st.booleans(),
)
ONCES = st.builds(Once.at_instant, st.integers(-(10**13), 10**14), st.sampled_from(["reject", "fire"]))


@given(CRONS | EVERIES | ONCES)
def test_a_description_goes_through_json_and_comes_back_equal(timing):
    assert from_description(json.loads(json.dumps(describe(timing)))) == timing


def test_descriptions_are_plain_and_stable():
    assert describe(Cron("0 2 * * *", "Europe/Berlin")) == {
        "kind": "cron",
        "expr": "0 2 * * *",
        "timezone": "Europe/Berlin",
        "dst_gap": "fire_after",
        "dst_fold": "first",
        "strict_fields": None,
    }
    assert describe(Every("5m")) == {
        "kind": "every",
        "every_ms": 300_000,
        "anchor": "epoch",
        "anchor_ms": 0,
        "after_completion": False,
    }
    assert describe(Once("1970-01-01T00:00:01Z")) == {"kind": "once", "at_ms": 1000, "on_past": "reject"}


def test_an_unanchored_start_stays_unanchored():
    every = Every("5m", anchor="start")
    assert from_description(describe(every)) == every
    assert describe(every)["anchor_ms"] is None


def test_a_stored_interval_may_be_shorter_than_the_default_minimum():
    every = Every(milliseconds=10, minimum_ms=1)
    assert from_description(describe(every)) == every


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"kind": "lunar"},
        {"kind": "cron"},
        {"kind": "cron", "expr": "* * * * *"},
        {**describe(Cron("* * * * *")), "calendar": "holidays"},
        {**describe(Every("5m")), "phase": 3},
        {**describe(Every("5m")), "anchor": "moon"},
        {**describe(Every("5m")), "anchor": "instant", "anchor_ms": None},
        {**describe(Every("5m")), "anchor_ms": "0"},
        {**describe(Every("5m")), "every_ms": 0},
        {**describe(Every("5m")), "every_ms": 2.5},
        {"kind": "once", "at_ms": "soon", "on_past": "reject"},
        {"kind": "once", "at_ms": 5, "on_past": "maybe"},
        {"kind": "once", "at_ms": 10**18, "on_past": "reject"},
    ],
)
def test_what_this_version_does_not_know_is_refused(description):
    with pytest.raises(ValidationFailed):
        from_description(description)


def test_a_stored_expression_is_checked_again():
    with pytest.raises(CronInvalid) as refusal:
        from_description({**describe(Cron("* * * * *")), "expr": "0 0 30 2 *"})
    assert isinstance(refusal.value, DulyError)
