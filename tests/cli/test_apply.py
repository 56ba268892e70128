"""``duly schedule apply`` and ``diff`` on both stores and on a server: the same answers, errors and exit codes."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from duly import Duly as Scheduler
from duly.api.operations.applying import apply_schedules
from duly.testing import ManualClock
from tests.cli.conftest import Duly

SCHEDULES = """
set: shop
schedules:
  - key: nightly
    cronExpression: 0 2 * * *
    timezone: Europe/Berlin
    jobType: report
    tags: [finance, daily]
  - key: sync
    intervalMinutes: 10
    startAt: 2099-01-01T00:00:00Z
    jobType: sync-inventory
    jobPayload: {full: false, since: 2026-11-16}
    catchUp: {policy: skip}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "schedules.yaml"
    file.write_text(SCHEDULES)
    return file


def applied(done: Result) -> dict[str, str]:
    assert done.exit_code in (0, 1), done.stderr
    return {item["key"]: item["outcome"] for item in json.loads(done.stdout)["items"]}


def changes(done: Result, key: str) -> dict[str, Any]:
    (item,) = [item for item in json.loads(done.stdout)["items"] if item["key"] == key]
    return {change["field"]: (change["old"], change["new"]) for change in item["changes"]}


def get(run: Duly, key: str) -> Any:
    return json.loads(run("schedule", "get", key, "-o", "json").stdout)


APPLY = ("schedule", "apply", "-f", "schedules.yaml")
DIFF = ("schedule", "diff", "-f", "schedules.yaml", "-o", "json")


def test_the_second_apply_changes_nothing(anywhere: Duly, file: Path) -> None:
    done = anywhere(*APPLY, "-o", "json")
    assert applied(done) == {"nightly": "created", "sync": "created"}
    assert done.stderr == "2 created in set shop\n"
    made = get(anywhere, "nightly"), get(anywhere, "sync")
    assert (made[0]["cronExpression"], made[0]["timezone"], made[0]["tags"]) == (
        "0 2 * * *", "Europe/Berlin", ["finance", "daily"]
    )  # fmt: skip
    assert made[1]["jobPayload"] == {"full": False, "since": "2026-11-16"}, "a date in a file stays text"
    again = anywhere(*APPLY, "--prune", "-o", "json")
    assert applied(again) == {"nightly": "unchanged", "sync": "unchanged"}
    assert (get(anywhere, "nightly"), get(anywhere, "sync")) == made


def test_diff_shows_each_field_and_its_exit_code_says_whether_there_is_one(anywhere: Duly, file: Path) -> None:
    new = anywhere(*DIFF)
    assert new.exit_code == 1
    assert changes(new, "sync")["catchUp.policy"] == (None, "skip")
    assert anywhere("schedule", "list").stderr == "no schedules\n", "it only looks"
    anywhere(*APPLY)
    assert anywhere(*DIFF).exit_code == 0
    assert anywhere(*DIFF[:-2]).stderr == "not applied: 2 unchanged in set shop\nnothing differs\n"
    file.write_text(SCHEDULES.replace("0 2 * * *", "30 3 * * *").replace("    tags: [finance, daily]\n", ""))
    other = anywhere(*DIFF)
    assert other.exit_code == 1
    assert applied(other) == {"nightly": "changed", "sync": "unchanged"}
    assert changes(other, "nightly") == {
        "cronExpression": ("0 2 * * *", "30 3 * * *"),
        "tags": (["finance", "daily"], []),
    }
    shown = anywhere(*DIFF[:-2]).stdout
    assert "nightly  changed  cronExpression  0 2 * * *" in shown
    foretold = anywhere(*APPLY, "--dry-run", "-o", "json")
    assert (foretold.exit_code, foretold.stdout) == (0, other.stdout)
    assert get(anywhere, "nightly")["revision"] == 1
    assert applied(anywhere(*APPLY, "-o", "json")) == {"nightly": "changed", "sync": "unchanged"}
    assert (get(anywhere, "nightly")["revision"], get(anywhere, "nightly")["tags"]) == (2, [])


def test_a_pause_of_a_person_stays(anywhere: Duly, file: Path) -> None:
    anywhere(*APPLY)
    anywhere("schedule", "pause", "nightly", "--reason", "on leave")
    assert applied(anywhere(*APPLY, "-o", "json")) == {"nightly": "unchanged", "sync": "unchanged"}
    assert get(anywhere, "nightly")["pausedReason"] == "on leave"


def test_prune_pauses_what_the_set_had_and_has_no_more(anywhere: Duly, file: Path) -> None:
    anywhere("schedule", "create", "by-hand", "--every", "1h", "--job", "j")
    anywhere(*APPLY)
    file.write_text(SCHEDULES.partition("  - key: sync")[0])
    assert applied(anywhere(*APPLY, "-o", "json")) == {"nightly": "unchanged"}
    assert get(anywhere, "sync")["enabled"] is True
    told = anywhere(*DIFF, "--prune")
    assert (told.exit_code, applied(told)) == (1, {"nightly": "unchanged", "sync": "orphaned"})
    assert changes(told, "sync") == {"enabled": (True, False), "set": ("shop", None)}
    assert applied(anywhere(*APPLY, "--prune", "-o", "json")) == {"nightly": "unchanged", "sync": "orphaned"}
    assert get(anywhere, "sync")["pausedReason"] == "orphan: no longer in set 'shop'"
    assert get(anywhere, "by-hand")["enabled"] is True
    assert anywhere(*DIFF, "--prune").exit_code == 0
    file.write_text(SCHEDULES)
    assert applied(anywhere(*APPLY, "--prune", "-o", "json")) == {"nightly": "unchanged", "sync": "changed"}
    assert get(anywhere, "sync")["enabled"] is True


def test_prune_deletes_when_told_so_and_asks(anywhere: Duly, file: Path) -> None:
    anywhere(*APPLY)
    file.write_text(SCHEDULES.partition("  - key: sync")[0])
    unasked = anywhere(*APPLY, "--prune=delete")
    assert unasked.exit_code == 2
    assert "Delete schedule sync?" in unasked.stderr
    assert get(anywhere, "sync")["enabled"] is True
    assert applied(anywhere(*APPLY, "--prune=delete", "--yes", "-o", "json"))["sync"] == "deleted"
    assert anywhere("schedule", "get", "sync").exit_code == 3
    assert anywhere(*APPLY, "--prune=delete").exit_code == 0, "where nothing is to be deleted, nobody is asked"


def test_sets_leave_each_others_alone(anywhere: Duly, file: Path) -> None:
    anywhere(*APPLY)
    other = '[{"key": "mine", "everyMs": 60000, "jobType": "j"}]'
    assert anywhere("schedule", "apply", "-f", "-", "--set", "mail", "--prune", input=other).exit_code == 0
    assert get(anywhere, "nightly")["enabled"] is True
    taken = anywhere("schedule", "apply", "-f", "schedules.yaml", "--set", "mail")
    assert taken.exit_code == 4
    assert "schedule 'nightly' belongs to set 'shop'" in taken.stderr
    assert "schedule 'sync' belongs to set 'shop'" in taken.stderr


def test_prune_without_a_set_is_refused(duly: Duly, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text('{"key": "k", "everyMs": 60000, "jobType": "j"}')
    done = duly("schedule", "apply", "--prune", "-f", "one.json")
    assert done.exit_code == 2
    assert "--set NAME" in done.stderr
    assert not (tmp_path / "duly.db").exists()


def test_everything_that_is_wrong_is_told_by_file_key_and_field(anywhere: Duly, tmp_path: Path) -> None:
    folder = tmp_path / "schedules"
    (folder / "mail").mkdir(parents=True)
    (folder / "a.json").write_text(
        json.dumps([
            {"key": "good", "everyMs": 60000, "jobType": "j"},
            {"key": "bad", "cronExpression": "0 25 * * *", "timezone": "Berlin", "jobType": "j", "colour": "red"},
        ])
    )  # fmt: skip
    (folder / "mail" / "b.toml").write_text(
        '[[schedules]]\nkey = "late"\nonceAt = 2001-01-01T00:00:00Z\njobType = "j"\n'
        '[[schedules]]\nkey = "lost"\neveryMs = 60000\n'
    )
    done = anywhere("schedule", "apply", "-f", "schedules")
    assert done.exit_code == 2
    assert done.stdout == ""
    told = done.stderr
    assert told.startswith("duly: ")
    assert "and nothing was changed:\n" in told
    assert "schedules/a.json: bad: colour: 'colour' is not known here" in told
    assert "schedules/mail/b.toml: late: onceAt: onceAt is 2001-01-01T00:00:00+00:00, which has gone by" in told
    assert "schedules/mail/b.toml: lost: no target was given" in told
    assert anywhere("schedule", "list").stderr == "no schedules\n"
    (folder / "a.json").write_text(json.dumps({"key": "bad", "cronExpression": "0 25 * * *", "jobType": "j"}))
    (folder / "mail" / "b.toml").unlink()
    one = anywhere("schedule", "apply", "-f", "schedules").stderr
    assert one.startswith("duly: schedules/a.json: bad: cronExpression: cron field 'hour' is '25'; expected 0-23\n")


def test_a_key_that_comes_twice_is_refused_with_both_places(duly: Duly, tmp_path: Path) -> None:
    entry = {"key": "k", "everyMs": 60000, "jobType": "j"}
    (tmp_path / "a.json").write_text(json.dumps([{**entry, "key": "other"}, entry]))
    (tmp_path / "b.json").write_text(json.dumps(entry))
    done = duly("schedule", "apply", "-f", "a.json", "-f", "b.json")
    assert done.exit_code == 2
    assert "key 'k' is in a.json (schedule 2) and in b.json (schedule 1); rename one" in done.stderr
    assert not (tmp_path / "duly.db").exists()


def test_a_refused_apply_leaves_no_database_behind(duly: Duly, file: Path, tmp_path: Path) -> None:
    file.write_text(SCHEDULES.replace("0 2 * * *", "0 99 * * *"))
    assert duly(*APPLY).exit_code == 2
    assert duly(*APPLY, "--dry-run").exit_code == 78
    assert duly("schedule", "diff", "-f", "schedules.yaml").exit_code == 78
    assert [path.name for path in tmp_path.iterdir()] == ["schedules.yaml"]
    file.write_text(SCHEDULES)
    assert duly(*APPLY).exit_code == 0


def test_a_one_shot_whose_moment_has_gone_by_since_stays_as_it_is(on_store: Duly, store_url: str) -> None:
    body = {"key": "tax", "onceAt": "2026-03-15T14:00:00Z", "jobType": "remind"}

    async def apply_long_ago() -> None:
        app = Scheduler(store_url, clock=ManualClock(datetime(2026, 1, 1, tzinfo=UTC)))
        await app.open()
        await apply_schedules(app, {"schedules": [body]})
        await app.close()

    asyncio.run(apply_long_ago())
    again = on_store("schedule", "apply", "-f", "-", "-o", "json", input=json.dumps(body))
    assert applied(again) == {"tax": "unchanged"}
    late = on_store("schedule", "apply", "-f", "-", input=json.dumps({**body, "key": "other"}))
    assert (late.exit_code, "which has gone by" in late.stderr) == (2, True)


def test_more_than_one_request_can_carry_is_checked_as_a_whole(
    anywhere: Duly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duly.cli.portions.MOST", 3)
    entries = [{"key": f"k{number}", "everyMs": 60000, "jobType": "j"} for number in range(8)]
    many = ("schedule", "apply", "-f", "-", "--set", "many", "--prune", "-o", "json")
    wrong = [*entries[:4], {**entries[4], "everyMs": 5}, *entries[5:7], {**entries[7], "timezone": "Mars"}]
    refused = anywhere(*many, input=json.dumps(wrong))
    assert refused.exit_code == 2
    assert "stdin: k4: everyMs" in refused.stderr
    assert "stdin: k7: timezone" in refused.stderr
    assert anywhere("schedule", "list").stderr == "no schedules\n"
    assert list(applied(anywhere(*many, input=json.dumps(entries)))) == [f"k{number}" for number in range(8)]
    fewer = applied(anywhere(*many, input=json.dumps(entries[:7])))
    assert fewer == {f"k{number}": "unchanged" for number in range(7)} | {"k7": "orphaned"}


def test_apply_prints_names_of_what_differs(duly: Duly, file: Path) -> None:
    duly(*APPLY)
    file.write_text(SCHEDULES.replace("0 2 * * *", "0 3 * * *"))
    assert duly(*APPLY, "-o", "name", "-q").stdout == "nightly\n"
    table = duly(*APPLY).stdout
    assert "KEY      OUTCOME    FIELDS" in table
    assert "nightly  unchanged" in table
