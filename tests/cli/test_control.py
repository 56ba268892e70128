"""What operators do on the command line: on each store and on a server, with the same answers."""

import getpass
import json
from typing import Any

from click.testing import Result

from duly.api.examples_control import ANSWERS as EXAMPLES
from duly.cli.overview import late_table
from tests.acceptance.rules import rule
from tests.cli.conftest import Duly

PAST = ("--from", "2026-03-01T00:00:00Z", "--to", "2026-03-05T00:00:00Z")


def answer(result: Result) -> Any:
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


HOURLY = ("--every", "1h", "--start-at", "2099-01-01T00:00:00Z")
"""None of its windows comes while a test runs."""


def fill(duly: Duly, count: int = 3) -> None:
    for n in range(count):
        made = duly("schedule", "create", f"s{n}", *HOURLY, "--job", "work", "--tag", "etl", "-q", "-o", "name")
        assert made.exit_code == 0, made.stderr


@rule("I9")
def test_all_that_match_are_paused_resumed_and_deleted(anywhere: Duly) -> None:
    fill(anywhere)
    anywhere("schedule", "create", "other", "--every", "1h", "--job", "work")
    many = ("--all-matching", "--tag", "etl")
    asked = anywhere("schedule", "pause", *many, "--reason", "incident")
    assert (asked.exit_code, asked.stdout) == (2, "")
    assert "Pause 3 schedules (s0, s1, s2)? Nobody is there to ask" in asked.stderr
    paused = anywhere("schedule", "pause", *many, "--reason", "incident", "--yes", "-o", "json")
    assert "paused 3 of 3 schedules" in paused.stderr
    operation = answer(paused)
    assert (operation["changed"], operation["status"]) == (3, "completed")
    assert answer(anywhere("operation", "get", operation["id"], "-o", "json")) == operation
    assert operation["id"] in anywhere("operation", "list").stdout
    assert anywhere("schedule", "list", "--paused", "-o", "name").stdout.split() == ["s0", "s1", "s2"]
    resumed = anywhere("schedule", "resume", *many, "--reason", "another", "--yes")
    assert "resumed 0 of 3 schedules; 3 had nothing to change" in resumed.stderr
    assert anywhere("schedule", "resume", "s0", "s1", "-q").exit_code == 0
    triggered = anywhere("schedule", "trigger", *many, "--yes")
    assert "triggered 3 of 3 schedules" in triggered.stderr
    assert "2 schedules" in anywhere("schedule", "cancel", "--all-matching", "--enabled", "--tag", "etl").stderr
    deleted = anywhere("schedule", "delete", "--all-matching", "--everything", "--yes")
    assert "deleted 4 of 4 schedules" in deleted.stderr
    assert "no schedule matches" in anywhere("schedule", "delete", *many, "--yes").stderr


def test_a_command_line_that_is_not_clear_is_refused(duly: Duly) -> None:
    for words, told in (
        ((), "it is not clear which"),
        (("--all-matching",), "--all-matching needs to know which"),
        (("a", "--tag", "x"), "one way to say which"),
        (("--all-matching", "--everything", "--tag", "x"), "do not go together"),
    ):
        done = duly("schedule", "pause", *words, "--yes")
        assert (done.exit_code, told in done.stderr) == (2, True), done.stderr
    assert "say --all" in duly("pause").stderr
    assert "say --all" in duly("resume").stderr


def test_a_backfill_is_foretold_made_and_looked_at(anywhere: Duly) -> None:
    anywhere("schedule", "create", "daily", "--cron", "0 2 * * *", "--job", "report")
    foretold = anywhere("schedule", "backfill", "daily", *PAST, "--dry-run", "-o", "json")
    assert len(answer(foretold)["items"]) == 4
    assert "4 windows; nothing was made" in foretold.stderr
    made = anywhere("schedule", "backfill", "daily", *PAST, "--rate", "2", "--payload", "[1]", "-o", "json")
    operation = answer(made)
    assert (operation["matched"], operation["kind"]) == (4, "backfill")
    assert f"duly operation get {operation['id']}" in made.stderr
    assert "0 of 4 runs ended" in anywhere("operation", "get", operation["id"]).stdout
    runs = answer(anywhere("run", "list", "--schedule", "daily", "-o", "json"))["items"]
    for run in runs:
        anywhere("run", "cancel", run["id"])
    assert "4 of 4 runs ended, 4 failed" in anywhere("operation", "get", operation["id"]).stdout
    wrong = anywhere("schedule", "backfill", "daily", "--from", "2026-03-01", "--to", "2026-03-05T00:00:00Z")
    assert (wrong.exit_code, wrong.stderr.startswith("duly: --from is '2026-03-01'")) == (2, True), wrong.stderr
    assert anywhere("schedule", "backfill", "nobody", *PAST).exit_code == 3
    slow = anywhere("schedule", "backfill", "daily", *PAST, "--rate", "0")
    assert slow.stderr.startswith("duly: --rate is 0; expected a number from 1/60"), slow.stderr
    turned = anywhere("schedule", "backfill", "daily", "--from", PAST[3], "--to", PAST[1])
    assert "--to is 2026-03-01T00:00:00+00:00; expected an instant that is not before --from" in turned.stderr
    looked = anywhere("schedule", "preview", "--every", "1h", "--after", "now")
    assert looked.stderr.startswith("duly: --after is 'now'")


def test_the_trail_says_who_did_it(anywhere: Duly, store_user: str | None) -> None:
    fill(anywhere, 1)
    anywhere("schedule", "update", "s0", "--tag", "other")
    anywhere("schedule", "pause", "s0", "--reason", "on leave")
    found = answer(anywhere("schedule", "changes", "s0", "-o", "json"))
    assert [item["action"] for item in found["items"]] == ["pause", "edit", "create"]
    assert {item["by"] for item in found["items"]} == {store_user}
    shown = anywhere("schedule", "changes", "s0").stdout
    assert 'tags: ["etl"] -> ["other"]' in shown
    assert "there are more than 1" in anywhere("schedule", "changes", "s0", "--limit", "1").stderr
    assert anywhere("schedule", "changes", "nobody").exit_code == 3


def test_a_purge_leaves_nothing(anywhere: Duly) -> None:
    fill(anywhere, 2)
    run = anywhere("schedule", "trigger", "s0", "-q", "-o", "name").stdout.strip()
    anywhere("schedule", "delete", "s1", "--yes")
    purged = anywhere("schedule", "delete", "s0", "s1", "--purge", "--yes")
    assert purged.stderr == "purged schedule s0\npurged schedule s1\n"
    assert anywhere("run", "get", run).exit_code == 3
    assert anywhere("schedule", "delete", "s0", "--purge", "--yes").exit_code == 3


def test_the_switch_stops_all_and_is_seen(anywhere: Duly, store_user: str | None) -> None:
    fill(anywhere, 1)
    paused = anywhere("pause", "--all", "--reason", "incident", "-o", "json")
    assert answer(paused)["reason"] == "incident"
    doctor = anywhere("doctor")
    if store_user is not None:  # the server of these tests has no health to ask for
        assert f"nothing fires: paused by {store_user}: incident" in doctor.stdout
        assert "`duly resume --all`" in doctor.stdout
    assert answer(anywhere("stats", "-o", "json"))["firingPaused"] is True
    assert "firing goes on" in anywhere("resume", "--all").stderr
    assert "nothing was paused" in anywhere("resume", "--all").stderr
    restored = anywhere("db", "restored", "--reason", "backup of 04:00")
    assert (restored.exit_code, "choose" in restored.stderr) == (0, True)
    refused = anywhere("resume", "--all")
    assert (refused.exit_code, "--backlog" in refused.stderr) == (4, True), refused.stderr
    resumed = answer(anywhere("resume", "--all", "--backlog", "skip", "-o", "json"))
    assert resumed["status"] == "completed"
    assert [item["key"] for item in answer(anywhere("upcoming", "-o", "json"))["items"]] == ["s0"]
    assert "s0" in anywhere("schedule", "upcoming").stdout
    assert "last hour" in anywhere("stats").stdout


def test_what_should_have_fired_is_listed(anywhere: Duly) -> None:
    fill(anywhere, 1)
    assert "nothing is late" in anywhere("late").stderr
    assert answer(anywhere("late", "--owner", "ann", "-o", "json")) == {"items": [], "nextCursor": None}
    table = late_table(EXAMPLES["listLate"]["items"])
    assert table.rows[0][:2] == ["u42-digest", "overdue"]
    assert table.rows[0][4] == "2 windows"


def test_the_user_is_named(duly: Duly) -> None:
    made = answer(duly("schedule", "create", "k", "--every", "1h", "--job", "j", "-o", "json"))
    assert made["createdBy"] == getpass.getuser()


def test_an_ended_schedule_is_not_paused_and_the_command_says_so(anywhere: Duly) -> None:
    fill(anywhere, 1)
    assert anywhere("schedule", "cancel", "s0", "--yes").exit_code == 0
    done = anywhere("schedule", "pause", "s0", "--reason", "on leave")
    assert (done.exit_code, done.stdout) == (4, "")
    assert "schedule 's0' is cancelled and cannot be paused" in done.stderr
