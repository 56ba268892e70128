"""``duly audit`` on both stores and on a server."""

import json

from tests.cli.conftest import Duly, execute


def test_a_clean_audit_says_so_and_exits_with_0(anywhere: Duly) -> None:
    anywhere("schedule", "create", "first", "--every", "1h", "--start-at", "2099-01-01T00:00:00Z", "--job", "report")
    done = anywhere("audit", "-o", "json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["schedules"], found["clean"], found["findings"], found["nextCursor"]) == (1, True, [], None)
    assert done.stderr.startswith("1 schedule, 0 windows from ")
    assert done.stderr.endswith(": nothing is wrong\n")
    (told,) = anywhere("audit", "--schedule", "first").stderr.splitlines()
    assert told.endswith(" UTC: nothing is wrong")


def test_what_is_found_is_listed_and_exits_with_1(on_store: Duly, store_url: str) -> None:
    on_store("schedule", "create", "first", "--every", "1m", "--job", "report")
    for table, column in (("schedules", "created_at"), ("revisions", "made_at")):
        execute(store_url, f"UPDATE duly_{table} SET {column} = {column} - 300000")
    done = on_store("audit", "--since", "1h", "--late", "30s")
    assert done.exit_code == 1
    assert done.stdout.split()[:4] == ["FAULT", "SCHEDULE", "WINDOW", "WHAT"]
    assert "missed" in done.stdout
    assert "no row says what became of these" in done.stdout
    assert done.stderr.endswith(": 1 finding\n")
    named = on_store("audit", "-o", "name")
    assert named.stdout.startswith("sched:first:")
    earlier = on_store("audit", "--since", "2020-01-01T00:00:00Z", "--until", "2020-01-02T00:00:00Z")
    assert earlier.exit_code == 0


def test_a_bad_value_is_told_by_its_flag(anywhere: Duly) -> None:
    for flag, value in (("--since", "24x"), ("--late", "x"), ("--until", "yesterday")):
        done = anywhere("audit", flag, value)
        assert done.exit_code == 2
        assert done.stderr.startswith(f"duly: {flag} is '{value}'; expected "), done.stderr


def test_bad_values_and_unknown_schedules_are_refused(anywhere: Duly) -> None:
    anywhere("schedule", "create", "first", "--every", "1h", "--job", "report")
    wrong = anywhere("audit", "--since", "yesterday")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "expected a duration such as 24h, or RFC 3339 text with an offset" in wrong.stderr
    for flag in ("--since", "--until"):
        wrong = anywhere("audit", flag, "2026-02-29T00:00:00Z")
        assert wrong.stderr == f"duly: {flag} is '2026-02-29T00:00:00Z'; expected a date that exists\n"
    assert anywhere("audit", "--late", "0s").exit_code == 2
    assert anywhere("audit", "--since", "2026-01-02T00:00:00Z", "--until", "2026-01-01T00:00:00Z").exit_code == 2
    assert anywhere("audit", "--schedule", "nobody").exit_code == 3
