"""Crontabs become schedules that fire when cron did; what would not is left, and says why."""

from typing import Any

import pytest

from duly.cli.importing.crontab import MAIL_NOTE, TZ_NOTE, read_crontab
from duly.cli.importing.values import Imported, notes_together


def read(text: str, *, system: bool = False) -> Imported:
    found = Imported()
    read_crontab(text, file="tab", timezone="Europe/Berlin", job="shell", system=system, into=found)
    return found


def only(text: str, *, system: bool = False) -> dict[str, Any]:
    found = read(text, system=system)
    assert not found.left
    (one,) = found.carried
    return one.body


def test_a_line_is_carried_over_as_cron_ran_it() -> None:
    body = only("# Nightly\n# of the shop\n0 2 * * *  /usr/local/bin/backup --all > /dev/null")
    key = body.pop("key")
    assert key.startswith("cron-backup-")
    assert body == {
        "name": "/usr/local/bin/backup --all > /dev/null",
        "description": "Nightly\nof the shop",
        "cronExpression": "0 2 * * *",
        "timezone": "Europe/Berlin",
        "jobType": "shell",
        "jobPayload": {"command": "/usr/local/bin/backup --all > /dev/null"},
        "overlapPolicy": "allow",
        "catchUp": {"policy": "skip"},
        "maxAttempts": 1,
        "timeoutSeconds": None,
    }


@pytest.mark.parametrize(
    ("line", "expression", "payload"),
    [
        ("*/5 9-17 * * mon-fri x", "*/5 9-17 * * MON-FRI", {"command": "x"}),
        ("0\t0\t1,15\t*\t5\tx y", "0 0 1,15 * 5", {"command": "x y"}),
        ("@daily x", "0 0 * * *", {"command": "x"}),
        ("@Midnight\tx", "0 0 * * *", {"command": "x"}),
        ("@hourly x", "0 * * * *", {"command": "x"}),
        ("@weekly x", "0 0 * * 0", {"command": "x"}),
        ("@monthly x", "0 0 1 * *", {"command": "x"}),
        ("@annually x", "0 0 1 1 *", {"command": "x"}),
        ("-0 1 * * 7 x", "0 1 * * 7", {"command": "x"}),
        ("0 1 * * * mail bob%hello%world", "0 1 * * *", {"command": "mail bob", "stdin": "hello\nworld"}),
        (r"0 1 * * * date +\%F", "0 1 * * *", {"command": "date +%F"}),
        (r"0 1 * * * date +\%F%in\%put", "0 1 * * *", {"command": "date +%F", "stdin": "in%put"}),
        ("0 1 * * * A=1 x # y", "0 1 * * *", {"command": "A=1 x # y"}),
    ],
)
def test_times_and_commands(line: str, expression: str, payload: dict[str, str]) -> None:
    body = only(line)
    assert (body["cronExpression"], body["jobPayload"]) == (expression, payload)


def test_settings_hold_for_the_lines_below_them() -> None:
    found = read(
        "0 1 * * * a\n"
        "SHELL=/bin/bash\nPATH = /usr/bin:/bin\n\"QUOTED NAME\"='kept  as it is'\nMAILTO=ops@example.org\n"
        "0 1 * * * b\n"
        'CRON_TZ=Asia/Tokyo\nMAILTO=""\n'
        "0 1 * * * c\n"
        "CRON_TZ=\nTZ=:America/New_York\n"
        "0 1 * * * d\n"
    )
    a, b, c, d = (one.body for one in found.carried)
    kept = {"SHELL": "/bin/bash", "PATH": "/usr/bin:/bin", "QUOTED NAME": "kept  as it is"}
    assert "environment" not in a["jobPayload"]
    assert b["jobPayload"]["environment"] == kept
    assert [one["timezone"] for one in (a, b, c, d)] == [
        "Europe/Berlin",
        "Europe/Berlin",
        "Asia/Tokyo",
        "Europe/Berlin",
    ]
    assert notes_together(found.carried) == [f"tab:6: {MAIL_NOTE}"]
    (tokyo,) = read("TZ=:America/New_York\n0 1 * * * d").carried
    assert (tokyo.body["timezone"], tokyo.notes) == ("America/New_York", (TZ_NOTE,))


def test_a_crontab_of_the_system_names_the_user() -> None:
    body = only("17 *\t* * *\troot    cd / && run-parts /etc/cron.hourly", system=True)
    assert body["jobPayload"] == {"command": "cd / && run-parts /etc/cron.hourly", "user": "root"}
    assert only("@daily root x", system=True)["jobPayload"] == {"command": "x", "user": "root"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("@reboot /start", "when the machine starts"),
        ("@fortnightly x", "@fortnightly is not a time"),
        ("61 * * * * x", "cron field 'minute' is '61'"),
        ("0 0 30 2 * x", "never"),
        ("0~30 * * * * x", "at random"),
        ("0 0 */2 * 1 x", "both agree"),
        ("0 0 13 * */5 x", "both agree"),
        ("0 0 * * *", "a command"),
        ("0 0 *", "five fields"),
        ("H * * * * x", "'H'"),
    ],
)
def test_what_would_fire_at_another_time_is_left(line: str, reason: str) -> None:
    found = read(line)
    assert not found.carried
    (left,) = found.left
    assert (left.place, left.what) == ("tab:1", line)
    assert reason in left.reason


def test_a_star_on_one_side_is_no_conflict() -> None:
    assert only("0 0 */2 * * x")["cronExpression"] == "0 0 */2 * *"
    assert only("0 0 13 * 5 x")["cronExpression"] == "0 0 13 * 5"


def test_a_zone_that_is_none_leaves_the_line() -> None:
    found = read("CRON_TZ=Mars/Olympus\n0 1 * * * x")
    assert "Mars/Olympus" in found.left[0].reason


def test_keys_are_those_of_the_command_and_differ_by_user_and_number() -> None:
    first = [one.body["key"] for one in read("0 1 * * * x\n0 2 * * * x\n0 3 * * * y").carried]
    again = [one.body["key"] for one in read("5 5 * * * x\n6 6 * * * x\n0 3 * * * y").carried]
    assert first == again
    assert len(set(first)) == 3
    assert first[1] == first[0] + "-2"
    root, bob = (one.body["key"] for one in read("0 1 * * * root x\n0 1 * * * bob x", system=True).carried)
    assert root != bob
