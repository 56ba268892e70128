"""``duly schedule`` and ``duly run`` on both stores and on a server: the same answers, errors and exit codes."""

import asyncio
import getpass
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from duly import Duly as Scheduler
from duly import Every
from duly.cli import main
from duly.cli.times import instant_ms, system_now
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.cli.conftest import Duly, working
from tests.client.serving import served
from tests.databases import ready_file

HOUR = 3_600_000
NIGHTLY = ("schedule", "create", "nightly", "--cron", "0 2 * * *", "--timezone", "Europe/Berlin", "--job", "report")


def answer(done: Result) -> Any:
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_create_names_a_job_that_this_process_does_not_know(anywhere: Duly) -> None:
    done = anywhere(*NIGHTLY, "--payload", '{"day": "yesterday"}', "-o", "json")
    made = answer(done)
    assert (made["key"], made["jobType"], made["jobPayload"]) == ("nightly", "report", {"day": "yesterday"})
    assert (made["cronExpression"], made["timezone"]) == ("0 2 * * *", "Europe/Berlin")
    assert done.stderr == "created schedule nightly\n"


def test_a_table_says_what_matters_and_in_the_schedules_own_zone(anywhere: Duly) -> None:
    told = anywhere(*NIGHTLY, "--start-at", "2099-01-01T00:00:00Z").stdout
    assert "At 02:00 every day, Europe/Berlin" in told
    assert " 02:00 +0" in told
    assert "(in " in told


@pytest.mark.parametrize(
    "flags, field, value",
    [
        (["--every", "90m"], "everyMs", 5_400_000),
        (["--every", "90"], "everyMs", 90_000),
        (["--at", "2099-03-15T14:00:00Z"], "onceAt", "2099-03-15T14:00:00Z"),
        (["--at", "2099-03-15T14:00", "-z", "Asia/Kolkata"], "onceAt", "2099-03-15T08:30:00Z"),
        (["--daily", "14:05"], "cronExpression", "5 14 * * *"),
        (["--weekly", "MON 09:00"], "cronExpression", "0 9 * * 1"),
        (["--monthly", "15 14:30"], "cronExpression", "30 14 15 * *"),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else None,
)
def test_there_are_many_ways_to_say_when(duly: Duly, flags: list[str], field: str, value: Any) -> None:
    assert answer(duly("schedule", "create", "k", *flags, "--job", "j", "-o", "json"))[field] == value


def test_every_flag_reaches_its_field(anywhere: Duly) -> None:
    made = answer(
        anywhere(
            *NIGHTLY, "--name", "Nightly report", "--description", "all of it", "--max-attempts", "7",
            "--backoff", "fixed", "--retry-delay", "10s", "--timeout", "5m", "--overlap", "queue", "--max-queued", "4",
            "--catch-up", "all", "--max-lateness", "2h", "--queue", "slow", "--priority", "9",
            "--start-at", "2099-01-01T00:00:00Z", "--end-at", "2099-12-31T00:00:00Z", "--max-runs", "3",
            "--pause-after-failures", "2", "--tag", "a", "--tag", "b", "--owner", "u1", "--tenant", "t1", "--paused",
            "--client-request-id", "r1", "--jitter", "5s-60s", "--dst-gap", "skip", "--dst-fold", "second",
            "-o", "json",
        )
    )  # fmt: skip
    expected = {
        "name": "Nightly report", "description": "all of it", "maxAttempts": 7, "timeoutSeconds": 300,
        "overlapPolicy": "queue", "maxQueued": 4, "queue": "slow", "priority": 9, "startAt": "2099-01-01T00:00:00Z",
        "endAt": "2099-12-31T00:00:00Z", "maxRuns": 3, "pauseAfterFailures": 2, "tags": ["a", "b"], "enabled": False,
        "jitter": {"minMs": 5000, "maxMs": 60_000}, "dst": {"gap": "skip", "fold": "second"},
    }  # fmt: skip
    assert {name: made[name] for name in expected} == expected
    assert (made["retryPolicy"]["backoff"], made["retryPolicy"]["delaySeconds"]) == ("fixed", 10)
    assert (made["catchUp"]["policy"], made["catchUp"]["maxLatenessSeconds"]) == ("all", 7200)
    metadata = made["metadata"]
    assert (metadata["ownerId"], metadata["tenantId"], metadata["clientRequestId"]) == ("u1", "t1", "r1")


def test_no_timeout_is_a_word(duly: Duly) -> None:
    assert answer(duly(*NIGHTLY, "--timeout", "none", "-o", "json"))["timeoutSeconds"] is None


def test_a_body_comes_from_a_file_or_from_stdin_and_flags_win(duly: Duly, tmp_path: Path) -> None:
    body = {"key": "from-file", "cronExpression": "0 3 * * *", "jobType": "report", "tags": ["x"]}
    (tmp_path / "body.json").write_text(json.dumps(body))
    assert answer(duly("schedule", "create", "-f", "body.json", "-o", "json"))["tags"] == ["x"]
    made = answer(duly("schedule", "create", "other", "-f", "-", "--tag", "y", "-o", "json", input=json.dumps(body)))
    assert (made["key"], made["tags"], made["cronExpression"]) == ("other", ["y"], "0 3 * * *")


def test_a_payload_comes_from_a_file_or_from_stdin(duly: Duly, tmp_path: Path) -> None:
    (tmp_path / "payload.json").write_text('{"from": "file"}')
    assert answer(duly(*NIGHTLY, "--payload", "@payload.json", "-o", "json"))["jobPayload"] == {"from": "file"}
    done = duly("schedule", "update", "nightly", "--payload", "-", "-o", "json", input="[1, 2]")
    assert answer(done)["jobPayload"] == [1, 2]


def test_list_filters_and_pages(anywhere: Duly) -> None:
    for number in range(5):
        tag = "even" if number % 2 == 0 else "odd"
        anywhere("schedule", "create", f"k{number}", "--every", "1h", "--job", "j", "--tag", tag)
    assert anywhere("schedule", "list", "-o", "name").stdout.split() == ["k0", "k1", "k2", "k3", "k4"]
    assert anywhere("schedule", "list", "--tag", "odd", "-o", "name").stdout.split() == ["k1", "k3"]
    assert anywhere("schedule", "list", "--search", "k4", "-o", "name").stdout.split() == ["k4"]
    some = anywhere("schedule", "list", "--limit", "2", "-o", "name")
    assert some.stdout.split() == ["k0", "k1"]
    assert "there are more than 2" in some.stderr
    page = answer(anywhere("schedule", "list", "--limit", "2", "-o", "json"))
    assert len(page["items"]) == 2
    assert page["nextCursor"] is not None
    assert answer(anywhere("schedule", "list", "--all", "-o", "json"))["nextCursor"] is None


def test_an_empty_list_says_so_on_stderr(anywhere: Duly) -> None:
    done = anywhere("schedule", "list")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "no schedules\n")
    assert anywhere("schedule", "list", "--tag", "x", "-q").stderr == ""


def test_a_key_of_several_tenants_is_a_conflict(anywhere: Duly) -> None:
    body = {"key": "k", "everyMs": 3_600_000, "jobType": "work"}
    for tenant in ("acme", "umbrella"):
        Path("body.json").write_text(json.dumps(body | {"metadata": {"tenantId": tenant}}))
        assert anywhere("schedule", "create", "-f", "body.json").exit_code == 0
    for verb in ("get", "pause", "trigger"):
        refused = anywhere("schedule", verb, "k")
        assert (refused.exit_code, "several tenants" in refused.stderr) == (4, True)
    assert anywhere("schedule", "delete", "k", "--yes").exit_code == 4


def test_update_changes_what_is_given_and_guards_the_revision(anywhere: Duly) -> None:
    anywhere(*NIGHTLY, "--tag", "kept")
    changed = answer(
        anywhere("schedule", "update", "nightly", "--cron", "0 4 * * *", "--if-revision", "1", "-o", "json")
    )
    assert (changed["cronExpression"], changed["tags"], changed["revision"]) == ("0 4 * * *", ["kept"], 2)
    assert changed["timezone"] == "Europe/Berlin"
    stale = anywhere("schedule", "update", "nightly", "--cron", "0 5 * * *", "--if-revision", "1")
    assert stale.exit_code == 4
    assert "revision" in stale.stderr
    assert anywhere("schedule", "update", "nightly").exit_code == 2


def test_an_instant_may_be_a_length_from_now(anywhere: Duly) -> None:
    begun = system_now()
    made = json.loads(anywhere("schedule", "create", "tea", "--at", "2h", "--job", "j", "-o", "json").stdout)
    assert 0 <= instant_ms(made["onceAt"]) - begun - 2 * HOUR < HOUR
    paused = json.loads(anywhere("schedule", "pause", "tea", "--until", "1h", "-o", "json").stdout)
    assert 0 <= instant_ms(paused["pausedUntil"]) - begun - HOUR < HOUR
    wrong = anywhere("schedule", "pause", "tea", "--until", "tomorrow")
    assert wrong.exit_code == 2
    assert wrong.stderr == (
        "duly: --until is 'tomorrow'; expected an instant such as 2027-03-15T14:00:00Z,"
        " or a length from now, such as 2h or 7d\n"
    )


def test_a_backfill_may_say_how_long_ago(anywhere: Duly) -> None:
    anywhere("schedule", "create", "k", "--every", "1h", "--job", "j")
    done = anywhere("schedule", "backfill", "k", "--from", "3h", "--to", "1s", "--dry-run", "-o", "name")
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout.splitlines()) in (2, 3)  # two within the second after a full hour
    wrong = anywhere("schedule", "backfill", "k", "--from", "ever", "--to", "1s")
    assert wrong.stderr.startswith("duly: --from is 'ever'; expected an instant such as ")


def test_pause_and_resume(anywhere: Duly) -> None:
    anywhere(*NIGHTLY)
    done = anywhere("schedule", "pause", "nightly", "--reason", "on leave", "--until", "2099-01-01T00:00:00Z")
    assert "paused    " in done.stdout
    assert "on leave; until 2099-01-01 01:00 +01:00" in done.stdout
    assert anywhere("schedule", "list", "--paused", "-o", "name").stdout == "nightly\n"
    resumed = answer(anywhere("schedule", "resume", "nightly", "-o", "json"))
    assert (resumed["enabled"], resumed["pausedReason"]) == (True, None)


@pytest.mark.parametrize("action", ["pause", "resume", "trigger", "cancel"])
def test_several_are_one_document_and_an_unknown_one_does_not_stop_the_others(anywhere: Duly, action: str) -> None:
    for key in "ab":
        anywhere("schedule", "create", key, "--every", "1h", "--job", "j")
    yes = {"cancel": ["--yes"], "trigger": ["--force"]}.get(action, [])
    done = anywhere("schedule", action, "a", "missing", "gone", "b", "-o", "json", *yes)
    told = json.loads(done.stdout)
    assert (len(told["items"]), told["nextCursor"], done.exit_code) == (2, None, 3)
    assert "missing" in done.stderr
    assert "gone" in done.stderr
    many = anywhere("schedule", action, "a", "b", "-o", "yaml", *yes)
    assert (many.exit_code, many.stdout.partition("\n")[0]) == (0, "items:")
    one = anywhere("schedule", action, "a", "-o", "json", *yes)
    assert "items" not in json.loads(one.stdout)


def test_deleting_several_goes_on_after_an_unknown_one(anywhere: Duly) -> None:
    for key in "ab":
        anywhere("schedule", "create", key, "--every", "1h", "--job", "j")
    done = anywhere("schedule", "delete", "a", "missing", "b", "--yes")
    assert (done.exit_code, "missing" in done.stderr) == (3, True)
    assert answer(anywhere("schedule", "list", "-o", "json"))["items"] == []


def test_trigger_makes_a_run_that_the_run_commands_show(anywhere: Duly) -> None:
    anywhere(*NIGHTLY)
    run_id = anywhere("schedule", "trigger", "nightly", "--payload", '{"by": "hand"}', "-o", "name").stdout.strip()
    shown = anywhere("run", "get", run_id)
    assert '{"by": "hand"}' in shown.stdout
    assert re.search(r"^schedule +nightly \([0-9a-f-]{36}\)$", shown.stdout, re.MULTILINE)
    assert anywhere("run", "list", "--schedule", "nightly", "-o", "name").stdout.split() == [run_id]
    assert anywhere("run", "list", "--status", "completed").stderr == "no runs like that\n"
    assert "pending" in anywhere("run", "list").stdout
    cancelled = anywhere("run", "cancel", run_id)
    assert cancelled.stderr == f"cancelled run {run_id}\n"
    assert anywhere("run", "cancel", run_id).exit_code == 0


def test_preview_shows_the_windows_of_a_schedule(anywhere: Duly) -> None:
    anywhere("schedule", "create", "k", "--cron", "30 2 * * *", "-z", "Europe/Berlin", "--job", "j", "--start-at",
             "2099-03-27T12:00:00Z")  # fmt: skip
    told = anywhere("schedule", "preview", "k", "-n", "3").stdout
    assert "2099-03-28 02:30 +01:00" in told
    assert "02:30 does not exist that day" in told


def test_preview_of_a_timing_needs_no_database(duly: Duly, tmp_path: Path) -> None:
    done = duly("schedule", "preview", "--daily", "09:00", "--after", "2099-01-01T00:00:00Z", "-n", "1", "-o", "name")
    assert done.stdout == "2099-01-01T09:00:00Z\n"
    assert list(tmp_path.iterdir()) == []


def test_preview_wants_a_schedule_or_a_timing(duly: Duly) -> None:
    assert duly("schedule", "preview").exit_code == 2
    assert duly("schedule", "preview", "k", "--daily", "09:00").exit_code == 2
    assert duly("schedule", "preview", "k", "--after", "2099-01-01T00:00:00Z").exit_code == 2


def test_cancel_is_for_good_and_asks(anywhere: Duly) -> None:
    anywhere(*NIGHTLY)
    assert anywhere("schedule", "cancel", "nightly").exit_code == 2
    assert answer(anywhere("schedule", "cancel", "nightly", "--yes", "-o", "json"))["status"] == "cancelled"
    assert anywhere("schedule", "cancel", "nightly", "--yes").exit_code == 0


def test_reschedule_puts_another_timing_in_its_place(anywhere: Duly) -> None:
    old = answer(anywhere(*NIGHTLY, "-o", "json"))
    done = anywhere("schedule", "reschedule", "nightly", "--at", "2099-03-16T14:00:00Z", "-o", "json")
    new = answer(done)
    assert (new["key"], new["replaces"], new["onceAt"]) == ("nightly", old["id"], "2099-03-16T14:00:00Z")
    assert "takes its place" in done.stderr
    assert answer(anywhere("schedule", "get", old["id"], "-o", "json"))["replacedBy"] == new["id"]
    empty = anywhere("schedule", "reschedule", "nightly")
    assert (empty.exit_code, "no timing was given" in empty.stderr) == (2, True)


def test_delete_asks_and_frees_the_key(anywhere: Duly) -> None:
    anywhere(*NIGHTLY)
    unasked = anywhere("schedule", "delete", "nightly")
    assert (unasked.exit_code, unasked.stdout) == (2, "")
    assert "--yes" in unasked.stderr
    assert anywhere("schedule", "delete", "nightly", "--yes").stderr == "deleted schedule nightly\n"
    assert anywhere("schedule", "get", "nightly").exit_code == 3
    assert anywhere("schedule", "delete", "nightly", "--yes").exit_code == 3
    assert anywhere(*NIGHTLY).exit_code == 0


@pytest.mark.parametrize(
    "arguments, code, told",
    [
        (["get", "nope"], 3, "there is no schedule with id or key 'nope'"),
        (["create", "nightly", "--every", "1h", "--job", "j"], 4, "'nightly' is in use"),
        (["create", "x", "--cron", "0 25 * * *", "--job", "j"], 2, "cron field 'hour' is '25'; expected 0-23"),
        (["create", "x", "--cron", "0 2 * * *", "-z", "Berlin", "--job", "j"], 2, "timezone is 'Berlin'"),
        (["create", "x", "--every", "10ms", "--job", "j"], 2, "10"),
        (["create", "x", "--every", "soon", "--job", "j"], 2, "--every: duration is 'soon'"),
        (["create", "x", "--at", "2001-01-01T00:00:00Z", "--job", "j"], 2, "or --on-past fire"),
        (["create", "x", "--job", "j"], 2, "no timing was given; expected exactly one of --cron, --every, --daily"),
        (
            ["create", "x", "--every", "1h"],
            2,
            "no target was given; expected exactly one of --job, --workflow, --topic, --target",
        ),
        (["create", "x", "--every", "1h", "--job", "j", "--target", "{}"], 2, "--job and --target were given"),
        (["create", "x", "--every", "1h", "--daily", "09:00", "--job", "j"], 2, "--daily and --every were given"),
        (["create", "x", "--every", "1h", "--job", "j", "--payload", "{a: 1}"], 2, "--payload is not JSON"),
        (["create", "x", "--every", "1h", "--job", "j", "--payload", "@nowhere"], 2, "'nowhere' cannot be read"),
        (["create", "-f", "nowhere.json"], 2, "'nowhere.json' cannot be read"),
        (["create", "--every", "1h", "--job", "j"], 2, "a KEY is missing"),
        (["create", "no spaces", "--every", "1h", "--job", "j"], 2, "no spaces"),
        (
            ["create", "x", "--every", "1h", "--job", "j", "--max-attempts", "0"],
            2,
            "--max-attempts is 0; expected a whole number",
        ),
        (["list", "--limit", "0"], 2, "--limit"),
        (["pause", "nightly", "--until", "tomorrow"], 2, "tomorrow"),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else None,
)
def test_a_mistake_is_one_clear_line_and_its_exit_code(
    anywhere: Duly, arguments: list[str], code: int, told: str
) -> None:
    anywhere(*NIGHTLY)
    done = anywhere("schedule", *arguments)
    assert done.exit_code == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("duly: ")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) <= 2


@rule("K5")
def test_json_yaml_and_name_are_all_of_stdout(duly: Duly) -> None:
    duly(*NIGHTLY)
    assert duly("schedule", "get", "nightly", "-o", "name").stdout == "nightly\n"
    assert duly("schedule", "get", "nightly", "-o", "yaml").stdout.startswith('id: "')
    assert json.loads(duly("schedule", "get", "nightly", "-o", "json").stdout)["key"] == "nightly"


@pytest.mark.parametrize(
    "flags",
    [["--cron", "0 25 * * *"], ["--at", "2001-01-01T00:00:00Z"], ["--every", "1h", "--max-attempts", "0"], []],
    ids=lambda flags: " ".join(flags),
)
def test_a_refused_create_leaves_no_database_behind(duly: Duly, tmp_path: Path, flags: list[str]) -> None:
    assert duly("schedule", "create", "k", *flags, "--job", "j").exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_no_live_worker_knows_is_created_with_a_word_about_it(store_url: str) -> None:
    runner = CliRunner()

    def run(*arguments: str, **env: str) -> Result:
        return runner.invoke(main, list(arguments), env=env)

    with working(store_url, "report", "remind"), served(store_url) as server:
        for number, env in enumerate(({"DULY_DATABASE_URL": store_url}, {"DULY_API_URL": server})):
            create = ("schedule", "create", f"k{number}", "--every", "1h")
            known = run(*create, "--job", "report", **env)
            assert known.stderr == f"created schedule k{number}\n"
            changed = run("schedule", "update", f"k{number}", "--job", "raport", **env)
            assert changed.exit_code == 0
            told = "warning: no live worker knows job 'raport'; did you mean 'report'?\n"
            assert changed.stderr.startswith(told)
            body = json.dumps({"key": f"f{number}", "everyMs": 60_000, "jobType": "zzz"})
            applied = runner.invoke(main, ["schedule", "apply", "-f", "-"], input=body, env=env)
            assert applied.exit_code == 0
            assert applied.stderr.startswith("warning: no live worker knows job 'zzz'; its runs wait until one does\n")
            assert run(*create[:2], f"q{number}", *create[3:], "--job", "raport", "-q", **env).stderr == ""


def test_a_window_that_was_never_tried_shows_no_tries(on_store: Duly, store_url: str) -> None:
    async def create_long_ago() -> None:
        app = Scheduler(store_url, clock=ManualClock(datetime(2026, 1, 1, tzinfo=UTC)))
        await app.open()
        await app.schedules.create("k", Every("1h"), job="j")
        await app.close()

    asyncio.run(create_long_ago())
    on_store("schedule", "cancel", "k", "--yes")
    listed = on_store("run", "list")
    (line,) = [line for line in listed.stdout.splitlines() if " skipped " in line]
    assert " -  " in line
    assert "/0" not in line
    assert "attempt" not in on_store("run", "get", line.split()[0]).stdout


def test_a_moment_in_the_past_is_told_in_one_wording(anywhere: Duly) -> None:
    body = '{"key": "k", "onceAt": "2001-01-01T00:00:00Z", "jobType": "j"}'
    told = "is 2001-01-01T00:00:00+00:00, which has gone by; expected an instant after "
    by_flags = anywhere("schedule", "create", "k", "--at", "2001-01-01T00:00:00Z", "--job", "j").stderr
    assert by_flags.startswith(f"duly: --at {told}")
    assert by_flags.endswith(", or --on-past fire\n")
    by_file = anywhere("schedule", "apply", "-f", "-", input=body).stderr
    assert f"k: onceAt: onceAt {told}" in by_file
    assert ', or onPast "fire"\n' in by_file


def test_what_a_person_made_on_a_store_says_so(duly: Duly) -> None:
    assert answer(duly(*NIGHTLY, "-o", "json"))["createdBy"] == getpass.getuser()


@pytest.mark.parametrize("value", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
@pytest.mark.parametrize(
    "command",
    [
        ["schedule", "create", "far", "--every", "1h", "--job", "j", "--start-at"],
        ["schedule", "create", "far", "--every", "1h", "--job", "j", "--end-at"],
        ["schedule", "create", "far", "--job", "j", "--on-past", "fire", "--at"],
        ["schedule", "pause", "nightly", "--until"],
        ["schedule", "preview", "--cron", "0 2 * * *", "-z", "Asia/Kolkata", "--after"],
        ["cron", "next", "0 2 * * *", "-z", "America/New_York", "--after"],
    ],
    ids=lambda command: command[-1],
)
def test_an_instant_out_of_range_is_refused_and_lists_still_work(
    anywhere: Duly, command: list[str], value: str
) -> None:
    answer(anywhere(*NIGHTLY, "-o", "json"))
    done = anywhere(*command, value)
    assert done.exit_code == 2, done.output
    assert "expected an instant" in done.stderr
    assert [item["key"] for item in answer(anywhere("schedule", "list", "-o", "json"))["items"]] == ["nightly"]


def test_runs_are_listed_newest_first_whatever_their_ids(duly: Duly, tmp_path: Path) -> None:
    url = f"sqlite:///{ready_file(tmp_path, 'runs.db')}"
    clock = ManualClock("2026-01-05T00:00:00Z")
    ids = []
    app = Scheduler(url, clock=clock).sync
    for own in (None, "fe000000-0000-4000-8000-000000000000", None, "00000001-0000-4000-8000-000000000000"):
        clock.move(seconds=100)
        ids.append(app.enqueue("absent", id=own).id)
    app.close()
    listed = duly("run", "list", "--database-url", url, "-o", "name")
    assert listed.stdout.split() == ids[::-1]
    assert duly("run", "list", "--limit", "2", "--database-url", url, "-o", "name").stdout.split() == ids[:1:-1]
