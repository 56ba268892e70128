"""``duly import``: a report of everything; all of it, or the rest if that is wanted; and again is safe."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Duly

GOOD = "0 2 * * * /bin/backup\n@daily /bin/clean\n"
BAD = "@reboot /bin/start\n"


def test_a_crontab_is_imported_and_importing_again_changes_nothing(anywhere: Duly) -> None:
    command = ("import", "crontab", "-", "-z", "UTC")
    first = anywhere(*command, input=GOOD)
    assert first.exit_code == 0, first.stderr
    assert [line.split()[-1] for line in first.stdout.splitlines()[1:]] == ["created", "created"]
    again = json.loads(anywhere(*command, "-o", "json", input=GOOD.replace("0 2", "0 3")).stdout)
    assert [item["outcome"] for item in again["items"]] == ["changed", "unchanged"]
    shown = json.loads(anywhere("schedule", "list", "-o", "json").stdout)
    assert sorted(one["cronExpression"] for one in shown["items"]) == ["0 0 * * *", "0 3 * * *"]
    backup = json.loads(anywhere("schedule", "get", again["items"][0]["key"], "-o", "json").stdout)
    assert (backup["jobType"], backup["jobPayload"]) == ("shell", {"command": "/bin/backup"})
    assert (backup["maxAttempts"], backup["timeoutSeconds"], backup["overlapPolicy"]) == (1, None, "allow")


def test_what_cannot_be_carried_over_stops_the_import_unless_the_rest_is_wanted(duly: Duly) -> None:
    refused = duly("import", "crontab", "-", "-z", "UTC", input=GOOD + BAD)
    assert refused.exit_code == 1
    assert "stdin:3: @reboot /bin/start" in refused.stderr
    assert "--allow-partial" in refused.stderr
    assert not Path("duly.db").exists()
    partial = duly("import", "crontab", "-", "-z", "UTC", "--allow-partial", "--paused", "-o", "json", input=GOOD + BAD)
    assert partial.exit_code == 0
    answer = json.loads(partial.stdout)
    assert [one["place"] for one in answer["notCarriedOver"]] == ["stdin:3"]
    assert all(one["enabled"] is False for one in answer["schedules"])
    listed = json.loads(duly("schedule", "list", "-o", "json").stdout)["items"]
    assert [one["enabled"] for one in listed] == [False, False]


def test_a_zone_that_is_none_is_refused_before_anything_is_read(duly: Duly) -> None:
    done = duly("import", "crontab", "-", "--timezone", "EST", "--allow-partial", input="0 2 * * * /bin/true\n")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("duly: --timezone is 'EST'; expected 'UTC' or an IANA name")


def test_the_zone_of_the_machine_is_told_only_where_it_counts(duly: Duly, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duly.cli.importing.loading.local_zone", lambda: "Etc/UTC")
    words = "times are those of Etc/UTC"
    covered = duly("import", "crontab", "-", "--dry-run", input="CRON_TZ=Europe/Berlin\n0 2 * * * /bin/true\n")
    assert (covered.exit_code, words in covered.stderr) == (0, False)
    assert words in duly("import", "crontab", "-", "--dry-run", input="0 2 * * * /bin/true\n").stderr


def test_a_dry_run_needs_no_store_and_makes_none(duly: Duly) -> None:
    shown = duly("import", "crontab", "-", "-z", "UTC", "--dry-run", input=GOOD)
    assert shown.exit_code == 0
    assert "dry run" in shown.stderr
    assert len(shown.stdout.splitlines()) == 3
    assert not Path("duly.db").exists()


def test_folders_and_system_crontabs(duly: Duly, tmp_path: Path) -> None:
    folder = tmp_path / "cron.d"
    folder.mkdir()
    (folder / "shop").write_text("0 1 * * * root /bin/a\n")
    (folder / "shop.bak").write_text("0 1 * * * root /bin/b\n")
    shown = duly("import", "crontab", str(folder), "--system", "-z", "UTC", "--dry-run", "-o", "json")
    (one,) = json.loads(shown.stdout)["schedules"]
    assert one["jobPayload"] == {"command": "/bin/a", "user": "root"}
    missing = duly("import", "crontab", "nowhere", "-z", "UTC")
    assert (missing.exit_code, "nowhere" in missing.stderr) == (2, True)


def test_a_program_is_read_and_what_has_gone_by_is_left(duly: Duly, tmp_path: Path) -> None:
    (tmp_path / "program_to_import.py").write_text(
        "from types import SimpleNamespace as N\n"
        "app = N(conf=N(beat_schedule={'a': {'task': 't', 'schedule': 60}}, timezone='UTC'), tasks={})\n"
    )
    read = duly("import", "celery", "program_to_import:app", "-o", "name")
    assert (read.exit_code, read.stdout) == (0, "a\n"), read.stderr
    (tmp_path / "jobs.json").write_text(
        json.dumps(
            [
                {"id": "old", "func": "f", "trigger": {"type": "date", "run_date": "2020-01-01T00:00:00+00:00"}},
                {"id": "new", "func": "f", "trigger": {"type": "date", "run_date": "2099-01-01T00:00:00+00:00"}},
            ]
        )
    )
    partial = duly("import", "apscheduler", "jobs.json", "--allow-partial", "-o", "name")
    assert (partial.exit_code, partial.stdout) == (0, "new\n")
    assert "has gone by" in partial.stderr


@pytest.mark.parametrize(
    ("source", "code", "words"),
    [
        ("missing_module:app", 2, "cannot be imported"),
        ("json:nothing", 2, "has no 'nothing'"),
        ("json:dumps", 2, "beat_schedule"),
        ("nowhere.json", 2, "cannot be read"),
        ("broken.json", 2, "not JSON"),
        ("list.json", 2, "dumpdata"),
        ("needs_it:app", 78, "needs celery"),
        ("raises_it:app", 78, "ZeroDivisionError"),
    ],
)
def test_a_source_that_cannot_be_read_is_one_line(
    duly: Duly, tmp_path: Path, source: str, code: int, words: str
) -> None:
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "needs_it.py").write_text("raise ModuleNotFoundError('no', name='celery.app')")
    (tmp_path / "raises_it.py").write_text("1 / 0")
    refused = duly("import", "celery", source)
    assert refused.exit_code == code
    assert words in refused.stderr
    assert len(refused.stderr.splitlines()) <= 2
