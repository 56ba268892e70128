"""``duly queue`` on both stores and on a server."""

import json
from typing import Any

import pytest
from click.testing import Result

from tests.cli.conftest import Duly


@pytest.fixture(autouse=True)
def _with_a_database(request: pytest.FixtureRequest) -> None:
    for name in ("anywhere", "duly"):
        if name in request.fixturenames and "without" not in request.node.name:
            run: Duly = request.getfixturevalue(name)
            run("schedule", "create", "first", "--daily", "02:00", "--job", "report")


def answer(done: Result) -> Any:
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_a_queue_is_set_up_and_shown(anywhere: Duly) -> None:
    done = anywhere("queue", "set", "mail", "--max-running", "5", "--rate", "100/m", "--fair", "-o", "json")
    made = answer(done)
    assert (made["maxRunning"], made["rateLimit"], made["fair"]) == (5, {"limit": 100, "periodMs": 60_000}, True)
    assert done.stderr == "set up queue mail\n"
    changed = answer(anywhere("queue", "set", "mail", "--rate", "none", "--newest-first", "-o", "json"))
    assert (changed["maxRunning"], changed["rateLimit"], changed["newestFirst"]) == (5, None, True)
    assert answer(anywhere("queue", "get", "mail", "-o", "json")) == changed
    assert answer(anywhere("queue", "list", "-o", "json"))["items"] == [changed]
    assert anywhere("queue", "list", "-o", "name").stdout == "mail\n"


def test_a_queue_is_paused_and_resumed(anywhere: Duly) -> None:
    paused = anywhere("queue", "pause", "mail", "--reason", "the provider is down")
    assert paused.exit_code == 0
    assert paused.stderr == "paused queue mail: 0 running to their end, 0 waiting\n"
    assert "the provider is down" in paused.stdout
    assert "paused" in anywhere("queue", "list").stdout
    resumed = answer(anywhere("queue", "resume", "mail", "-o", "json"))
    assert (resumed["paused"], resumed["pausedReason"]) == (False, None)


def test_a_run_that_does_not_start_says_where_it_is_and_what_it_waits_for(anywhere: Duly) -> None:
    anywhere("schedule", "update", "first", "--queue", "mail", "--priority", "5")
    run = anywhere("schedule", "trigger", "first", "-o", "name").stdout.strip()
    told = anywhere("run", "get", run).stdout
    assert "queue      mail, priority 5\n" in told
    assert "waits for  a worker: none is alive\n" in told


def test_a_table_says_what_matters(duly: Duly) -> None:
    duly("queue", "set", "mail", "--max-running", "5", "--rate", "10/30s", "--fair")
    told = duly("queue", "get", "mail").stdout
    assert "0 of 5" in told
    assert "10 in 30 s" in told
    assert "fair, oldest first" in told
    assert duly("queue", "list").stdout.split()[:4] == ["QUEUE", "STATE", "RUNNING", "WAITING"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--max-running", "many"], "expected a whole number, or none"),
        (["--rate", "100"], "expected a number and a period"),
        (["--rate", "100/year"], "expected a number and a period"),
        ([], "say what to change"),
        (["--max-running", "0"], "max-running"),
    ],
)
def test_a_bad_value_is_exit_code_2(duly: Duly, flags: list[str], words: str) -> None:
    done = duly("queue", "set", "mail", *flags)
    assert done.exit_code == 2, done.output
    assert words in done.stderr.replace("maxRunning", "max-running")


def test_without_a_database_there_is_nothing_to_list(duly: Duly) -> None:
    assert duly("queue", "list").exit_code == 78
