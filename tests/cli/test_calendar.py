"""``duly calendar``, and the flags of schedules that name calendars."""

import json
from pathlib import Path
from typing import Any

from click.testing import Result

from tests.cli.conftest import Duly

SET = ("calendar", "set", "br-holidays", "--yearly", "12-25", "-d", "2027-02-09", "-d", "2026-11-20")
NIGHTLY = ("schedule", "create", "nightly", "--cron", "0 2 * * *", "--job", "report")


def answer(done: Result) -> Any:
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_a_calendar_is_set_shown_listed_and_deleted(anywhere: Duly) -> None:
    done = anywhere(*SET, "-r", "2026-12-24..2027-01-02", "--description", "Brazil", "-o", "json")
    made = answer(done)
    assert (made["dates"], made["yearly"]) == (["2026-11-20", "2027-02-09"], ["12-25"])
    assert (made["ranges"], made["description"]) == ([{"from": "2026-12-24", "to": "2027-01-02"}], "Brazil")
    assert done.stderr == "calendar br-holidays is at revision 1\n"
    assert answer(anywhere("calendar", "get", "br-holidays", "-o", "json")) == made
    told = anywhere("calendar", "get", "br-holidays").stdout
    assert "2026-11-20, 2027-02-09" in told
    assert "2026-12-24..2027-01-02" in told
    assert anywhere("calendar", "list", "-o", "name").stdout == "br-holidays\n"
    assert "Brazil" in anywhere("calendar", "list").stdout
    assert anywhere("calendar", "delete", "br-holidays", "--yes").exit_code == 0
    gone = anywhere("calendar", "get", "br-holidays")
    assert (gone.exit_code, gone.stderr.splitlines()[0]) == (3, "duly: there is no calendar 'br-holidays'")


def test_a_body_comes_from_a_file_and_flags_win_over_it(anywhere: Duly, tmp_path: Path) -> None:
    file = tmp_path / "body.json"
    file.write_text('{"dates": ["2026-01-01"], "yearly": ["12-25"]}')
    made = answer(anywhere("calendar", "set", "c", "-f", str(file), "-d", "2026-11-20", "-o", "json"))
    assert (made["dates"], made["yearly"]) == (["2026-11-20"], ["12-25"])


def test_a_stale_revision_and_a_calendar_in_use_are_conflicts(anywhere: Duly) -> None:
    anywhere(*SET)
    assert anywhere(*SET, "-d", "2028-01-01", "--if-revision", "1").exit_code == 0
    assert anywhere(*SET, "--if-revision", "1").exit_code == 4
    made = answer(anywhere(*NIGHTLY, "--calendar", "br-holidays", "--exclude", "2026-12-31", "-o", "json"))
    assert (made["calendars"], made["excludeDates"]) == (["br-holidays"], ["2026-12-31"])
    kept = anywhere("calendar", "delete", "br-holidays", "--yes")
    assert kept.exit_code == 4
    assert "named by 1 schedule that has not ended" in kept.stderr
    shown = anywhere("schedule", "get", "nightly").stdout
    assert "br-holidays" in shown
    assert "2026-12-31" in shown


def test_what_is_wrong_is_told_by_its_flag(anywhere: Duly) -> None:
    unknown = anywhere(*NIGHTLY, "--calendar", "none")
    assert unknown.exit_code == 2
    assert "there is no calendar 'none'" in unknown.stderr
    assert "duly calendar set" in unknown.stderr
    assert "--exclude has 'soon'; expected a date" in anywhere(*NIGHTLY, "--exclude", "soon").stderr
    assert anywhere("calendar", "set", "c", "-d", "2026-02-30").exit_code == 2
    assert "--range is 'x'" in anywhere("calendar", "set", "c", "-r", "x").stderr
    assert anywhere("calendar", "list").stderr == "no calendars\n"


def test_a_preview_shows_what_is_excluded_and_by_what(anywhere: Duly) -> None:
    anywhere(*SET)
    asked = ("schedule", "preview", "--cron", "0 2 * * *", "--after", "2026-11-18T12:00:00Z", "-n", "3")
    told = anywhere(*asked, "--calendar", "br-holidays", "--exclude", "2026-11-19").stdout.splitlines()
    assert told[1].endswith("excluded by its own dates")
    assert told[2].endswith("excluded by br-holidays")
    assert not told[3].endswith("holidays")


def test_a_tenant_has_calendars_of_its_own(anywhere: Duly) -> None:
    anywhere("calendar", "set", "c", "--tenant", "acme")
    assert anywhere("calendar", "get", "c").exit_code == 3
    assert anywhere("calendar", "get", "c", "--tenant", "acme").exit_code == 0
    assert anywhere("calendar", "list", "--tenant", "other").stderr == "no calendars\n"
    assert anywhere(*NIGHTLY, "--tenant", "acme", "--calendar", "c").exit_code == 0
