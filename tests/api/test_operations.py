"""What the routes and the command line both call."""

import subprocess
import sys
from typing import Any

import pytest

from duly import Duly
from duly.api.operations import runs, schedules
from duly.api.problems import problem_of
from duly.core.errors import CronInvalid, DulyError, NotFound, RevisionStale, TimezoneInvalid, ValidationFailed
from duly.core.ids import window_run_id
from tests.acceptance.rules import rule
from tests.app.conftest import a_moment_later

SMALLEST = {"name": "Nightly", "cronExpression": "0 2 * * *", "jobType": "report"}


async def refused(app: Duly, body: object) -> DulyError:
    with pytest.raises(DulyError) as caught:
        await schedules.create_schedule(app, body)
    assert (await schedules.list_schedules(app, {}))["items"] == []
    return caught.value


async def test_the_smallest_body_makes_a_schedule(app: Duly) -> None:
    made = await schedules.create_schedule(app, SMALLEST)
    assert (made["name"], made["jobType"], made["cronExpression"]) == ("Nightly", "report", "0 2 * * *")
    assert (made["key"], made["scheduleType"], made["status"], made["enabled"]) == (made["id"], "cron", "pending", True)
    assert (made["maxAttempts"], made["maxRetries"], made["timeoutSeconds"]) == (3, 2, 3600)
    assert await schedules.get_schedule(app, made["id"]) == made


async def test_everything_that_is_wrong_is_told_at_once(app: Duly) -> None:
    error = await refused(app, {"name": 5, "cronExpresion": "* * * * *", "dailyTime": {"hour": "5", "minute": 61}})
    _, problem = problem_of(error)
    assert {one["pointer"] for one in problem["errors"]} == {
        "/name", "/cronExpresion", "/dailyTime/hour", "/dailyTime/minute",
    }  # fmt: skip
    details = {one["pointer"]: one["detail"] for one in problem["errors"]}
    assert details["/cronExpresion"] == "'cronExpresion' is not known here; did you mean cronExpression?"
    assert "expected a whole number from 0 to 23; send it without quotes" in details["/dailyTime/hour"]


async def test_a_zone_and_an_expression_are_both_told(app: Duly) -> None:
    error = await refused(app, SMALLEST | {"cronExpression": "99 * * * *", "timezone": "Mars/Olympus"})
    assert isinstance(error, ValidationFailed)
    codes = {one["pointer"]: one["code"] for one in problem_of(error)[1]["errors"]}
    assert codes == {"/timezone": TimezoneInvalid.code, "/cronExpression": CronInvalid.code}


async def test_one_error_keeps_its_own_kind(app: Duly) -> None:
    assert isinstance(await refused(app, SMALLEST | {"cronExpression": "99 * * * *"}), CronInvalid)


@rule("S2.32", "S4.1", "S4.7", "S4.8", "S4.9", "S4.10", "S4.11")
@pytest.mark.parametrize(
    "given, shown",
    [
        ({"dailyTime": {"hour": 14, "minute": 5}}, {"cronExpression": "5 14 * * *"}),
        ({"weeklyTime": {"dayOfWeek": 1, "hour": 9, "minute": 0}}, {"cronExpression": "0 9 * * 1"}),
        ({"monthlyTime": {"day": 15, "hour": 14, "minute": 30}}, {"cronExpression": "30 14 15 * *"}),
        ({"intervalMinutes": 30}, {"everyMs": 1_800_000, "scheduleType": "interval"}),
        ({"onceAt": "2100-03-15T14:00:00+01:00"}, {"onceAt": "2100-03-15T13:00:00Z", "scheduleType": "once"}),
        (
            {"onceAt": "2100-07-01T14:00:00", "timezone": "Europe/Berlin"},
            {"onceAt": "2100-07-01T12:00:00Z", "scheduleType": "once"},
        ),
    ],
)
async def test_friendly_timings_show_what_they_became(app: Duly, given: dict[str, Any], shown: dict[str, Any]) -> None:
    made: Any = await schedules.create_schedule(app, {"name": "x", "jobType": "report", **given})
    assert {name: made[name] for name in shown} == shown
    others = {"cronExpression", "everyMs", "intervalMinutes", "dailyTime", "weeklyTime", "monthlyTime", "onceAt"}
    assert {made[name] for name in others - shown.keys()} == {None}


async def test_a_patch_changes_what_it_names_and_leaves_the_rest(app: Duly) -> None:
    made: Any = await schedules.create_schedule(
        app,
        SMALLEST | {"key": "k", "description": "old", "dst": {"fold": "second"}, "retryPolicy": {"delaySeconds": 9}},
    )
    await a_moment_later(app)
    changed: Any = await schedules.patch_schedule(
        app, "k", {"timezone": "Europe/Berlin", "dst": {"gap": "skip"}, "maxRetries": 7, "description": None}
    )
    differing = {name for name in made if made[name] != changed[name]}
    assert differing - {"nextWindowAt", "nextFireAt"} == {
        "timezone", "dst", "maxAttempts", "maxRetries", "description", "revision", "updatedAt",
    }  # fmt: skip
    assert changed["dst"] == {"gap": "skip", "fold": "second"}
    assert (changed["cronExpression"], changed["maxAttempts"], changed["description"]) == ("0 2 * * *", 8, None)
    assert changed["retryPolicy"]["delaySeconds"] == 9


async def test_another_way_to_say_when_replaces_the_first(app: Duly) -> None:
    await schedules.create_schedule(app, SMALLEST | {"key": "k", "dst": {"fold": "second"}})
    changed = await schedules.patch_schedule(app, "k", {"everyMs": 60_000})
    assert (changed["scheduleType"], changed["everyMs"], changed["cronExpression"]) == ("interval", 60_000, None)


async def test_a_patch_of_another_revision_changes_nothing(app: Duly) -> None:
    made = await schedules.create_schedule(app, SMALLEST | {"key": "k"})
    await schedules.patch_schedule(app, "k", {"priority": 5}, made["revision"])
    with pytest.raises(RevisionStale):
        await schedules.patch_schedule(app, "k", {"priority": 9}, made["revision"])
    assert (await schedules.get_schedule(app, "k"))["priority"] == 5


async def test_what_is_neither_an_id_nor_a_key_is_not_found(app: Duly) -> None:
    for ref in ("..", "a b", "\x00", "ä", "x" * 300, "0" * 36):
        with pytest.raises(NotFound):
            await schedules.get_schedule(app, ref)
        with pytest.raises(NotFound):
            await runs.get_run(app, ref)


@rule("S0.14")
@pytest.mark.duly_start("2026-01-05T00:30:00Z")
async def test_an_interval_run_is_found_by_its_bucket(app: Duly) -> None:
    body = {"key": "tick", "everyMs": 3_600_000, "jobType": "x", "fireCurrentWindow": True}
    made = await schedules.create_schedule(app, body)
    fired = await app._store.fire_due(limit=10, rules=app.settings.fire_rules)
    assert fired.runs == 1
    (run,) = (await schedules.list_executions(app, "tick", {}))["items"]
    assert run["windowKey"] is not None
    window = int(run["windowKey"].rpartition(":")[2])
    assert run["id"] == window_run_id(made["id"], window)
    assert (await runs.get_run(app, f"sched:tick:{window}"))["id"] == run["id"]
    assert (await runs.get_run(app, f"sched:tick:{window // 3_600_000}"))["id"] == run["id"]
    await schedules.patch_schedule(app, "tick", {"everyMs": 1_800_000})
    for number in (window // 3_600_000, window // 1_800_000):
        with pytest.raises(NotFound):
            await runs.get_run(app, f"sched:tick:{number}")


@pytest.mark.processes
def test_operations_need_no_web_framework() -> None:
    code = (
        "import duly.api.operations.schedules, duly.api.operations.runs, duly.api.problems, sys;"
        "print(sorted({'fastapi', 'starlette', 'pydantic', 'uvicorn'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
