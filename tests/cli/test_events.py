"""``duly events``: what happens, line by line, on a store and on a server."""

import json

from tests.cli.conftest import Duly


def test_it_follows_from_where_somebody_was(anywhere: Duly) -> None:
    began = anywhere("events", "--after", "99", "--count", "1", "-o", "json")
    assert began.exit_code == 0, began.stderr
    reset = json.loads(began.stdout)
    assert (reset["type"], reset["reason"]) == ("stream.reset", "unknown")
    assert anywhere("schedule", "create", "k", "--every", "1h", "--job", "work").exit_code == 0
    assert anywhere("schedule", "pause", "k", "--reason", "on leave").exit_code == 0
    told = anywhere("events", "--after", reset["id"], "--count", "2", "--schedule", "k")
    first, second = told.stdout.splitlines()
    assert "schedule.created" in first
    assert second.split()[2:] == ["schedule.paused", "k", "work", "on", "leave"]
    only = anywhere("events", "--after", reset["id"], "--count", "1", "--type", "schedule.paused", "-o", "name")
    assert only.stdout == "k\n"


def test_a_bad_type_is_exit_code_2(anywhere: Duly) -> None:
    refused = anywhere("events", "--type", "run.exploded")
    assert refused.exit_code == 2
    assert "run.exploded" in refused.stderr
