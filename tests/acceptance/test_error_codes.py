"""The eleven error codes of S2: ten are refusals that change nothing, the eleventh is a line of the log.

Each code is provoked in Python (an exception with the code), on the command line (an exit code and one line on stderr)
and over REST (a problem document), on both stores, and the rows of the store are compared before and after.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from duly import Cron, Duly, Every, Once, Retry
from duly.api.application import application
from duly.core.errors import ALREADY_CANCELLED, DulyError
from tests.acceptance.conftest import Duly as Command
from tests.acceptance.conftest import execute, snapshot
from tests.acceptance.rules import rule

BODY = {"name": "x", "cronExpression": "0 2 * * *", "jobType": "work"}
PAST = "2020-01-01T00:00:00Z"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One code, and one way to provoke it for each interface."""

    code: str
    python: Callable[[Duly], Any]
    cli: tuple[str, ...]
    exit_code: int
    path: str = "/schedules"
    body: dict[str, Any]
    status: int = 422

    def __str__(self) -> str:
        return self.code.removeprefix("SCHEDULE_").lower()


def create(*timing: str, job: tuple[str, ...] = ("--job", "work")) -> tuple[str, ...]:
    return ("schedule", "create", "new", *timing, *job)


CASES = [
    Case(
        code="SCHEDULE_MOMENT_IN_PAST",
        python=lambda app: app.schedules.create("new", Once(PAST), job="work"),
        cli=create("--at", PAST),
        exit_code=2,
        body=BODY | {"cronExpression": None, "onceAt": PAST},
    ),
    Case(
        code="SCHEDULE_TIMEZONE_INVALID",
        python=lambda app: app.schedules.create("new", Cron("0 2 * * *", "EST"), job="work"),
        cli=create("--cron", "0 2 * * *", "--timezone", "EST"),
        exit_code=2,
        body=BODY | {"timezone": "EST"},
    ),
    Case(
        code="SCHEDULE_TOPIC_INVALID",
        python=lambda app: app.schedules.create("new", Every("1h"), topic="a.b.c.d"),
        cli=create("--every", "1h", job=("--topic", "a.b.c.d")),
        exit_code=2,
        body={"name": "x", "everyMs": 3_600_000, "topic": "a.b.c.d"},
    ),
    Case(
        code="SCHEDULE_CRON_INVALID",
        python=lambda app: app.schedules.create("new", Cron("61 * * * *"), job="work"),
        cli=create("--cron", "61 * * * *"),
        exit_code=2,
        body=BODY | {"cronExpression": "61 * * * *"},
    ),
    Case(
        code="SCHEDULE_INTERVAL_TOO_SHORT",
        python=lambda app: app.schedules.create("new", Every(milliseconds=999), job="work"),
        cli=create("--every", "999ms"),
        exit_code=2,
        body=BODY | {"cronExpression": None, "everyMs": 999},
    ),
    Case(
        code="SCHEDULE_CLIENT_REQUEST_ID_IN_USE",
        python=lambda app: app.schedules.create(
            "new", Every("1h"), job="work", metadata={"client_request_id": "request-1"}
        ),
        cli=(*create("--every", "1h"), "--client-request-id", "request-1"),
        exit_code=4,
        body=BODY | {"metadata": {"clientRequestId": "request-1"}},
        status=409,
    ),
    Case(
        code="SCHEDULE_JOB_NOT_FOUND",
        python=lambda app: app.schedules.reschedule("nobody", timing=Every("2h")),
        cli=("schedule", "reschedule", "nobody", "--every", "2h"),
        exit_code=3,
        path="/schedules/nobody/reschedule",
        body={"everyMs": 7_200_000},
        status=404,
    ),
    Case(
        code="SCHEDULE_JOB_NOT_CANCELLABLE",
        python=lambda app: app.schedules.reschedule("ended", timing=Every("2h")),
        cli=("schedule", "reschedule", "ended", "--every", "2h"),
        exit_code=4,
        path="/schedules/ended/reschedule",
        body={"everyMs": 7_200_000},
        status=409,
    ),
    Case(
        code="SCHEDULE_RETRY_POLICY_INVALID",
        python=lambda app: app.schedules.create("new", Every("1h"), job="work", retry=Retry(max_attempts=101)),
        cli=(*create("--every", "1h"), "--max-attempts", "101"),
        exit_code=2,
        body=BODY | {"maxAttempts": 101},
    ),
    Case(
        code="SCHEDULE_ENQUEUE_FAILURE",
        python=lambda app: app.schedules.trigger("kept"),
        cli=("schedule", "trigger", "kept"),
        exit_code=69,
        path="/schedules/kept/trigger",
        body={},
        status=503,
    ),
]


@pytest.fixture
def stored(url: str) -> str:
    """A store with a schedule that waits and one that has ended; it refuses to keep any run, as a full disk would."""
    with Duly(url).sync as app:
        app.schedules.create("kept", Every("1h"), job="work")
        app.schedules.create("ended", Every("1h"), job="work", metadata={"client_request_id": "request-1"})
        app.schedules.cancel("ended")
    if url.startswith("sqlite"):
        execute(url, "CREATE TRIGGER full BEFORE INSERT ON duly_runs BEGIN SELECT RAISE(ABORT, 'disk full'); END")
    else:
        execute(url, "ALTER TABLE duly_runs ADD CONSTRAINT disk_full CHECK (false)")
    return url


@rule("S2.40", "S2.41", "S2.42", "S2.43", "S2.44", "S2.45", "S2.46", "S2.47", "S2.49", "S2.50", "C7")
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_python_raises_the_code_and_nothing_changes(stored: str, case: Case) -> None:
    before = snapshot(stored)
    app = Duly(stored)
    await app.open()
    try:
        with pytest.raises(DulyError) as refused:
            await case.python(app)
    finally:
        await app.close()
    assert refused.value.code == case.code
    assert snapshot(stored) == before


@rule("S2.40")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_command_line_says_so_with_its_exit_code_and_nothing_changes(
    stored: str, duly: Command, case: Case
) -> None:
    before = snapshot(stored)
    done = duly(*case.cli)
    assert (done.exit_code, done.stdout) == (case.exit_code, ""), done.stderr
    assert done.stderr.startswith("duly: ")
    assert snapshot(stored) == before


@rule("S2.40")
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_rest_answers_a_problem_with_the_code_and_nothing_changes(stored: str, case: Case) -> None:
    before = snapshot(stored)
    app = Duly(stored)
    await app.open()
    try:
        transport = httpx2.ASGITransport(app=application(app))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost/api/v1") as client:
            answer = await client.post(case.path, json=case.body)
    finally:
        await app.close()
    problem = answer.json()
    assert (answer.status_code, problem["status"], problem["code"]) == (case.status, case.status, case.code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["type"].startswith("urn:duly:problem:")
    assert snapshot(stored) == before


def test_the_ten_codes_are_all_there() -> None:
    ours = {kind.code for kind in _tree(DulyError) if kind.code.startswith("SCHEDULE_")}
    own = {"SCHEDULE_KEY_IN_USE", "SCHEDULE_RUN_ACTIVE", "SCHEDULE_REVISION_STALE"}
    assert {case.code for case in CASES} == ours - own
    assert len(CASES) == 10


def _tree(kind: type[DulyError]) -> set[type[DulyError]]:
    return {kind} | {below for child in kind.__subclasses__() for below in _tree(child)}


@rule("S2.45")
async def test_a_client_request_id_in_use_names_the_schedule_that_has_it(stored: str) -> None:
    app = Duly(stored)
    await app.open()
    try:
        ended = await app.schedules.get("ended")
        with pytest.raises(DulyError) as refused:
            await app.schedules.create("new", Every("1h"), job="work", metadata={"client_request_id": "request-1"})
    finally:
        await app.close()
    assert ended is not None
    assert refused.value.details["existing_id"] == ended.id


def _lines(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if ALREADY_CANCELLED in record.getMessage()]


@rule("S2.48", "I11")
async def test_already_cancelled_is_a_line_of_the_log_and_no_error(
    stored: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = Duly(stored)
    await app.open()
    caplog.set_level(logging.INFO)
    try:
        assert (await app.schedules.cancel("kept")).status == "cancelled"
        assert _lines(caplog) == [], "the first cancel is no news"
        before = snapshot(stored)
        again = await app.schedules.cancel("kept")
        transport = httpx2.ASGITransport(app=application(app))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost/api/v1") as client:
            answer = await client.post("/schedules/kept/cancel")
    finally:
        await app.close()
    assert (again.status, answer.status_code, answer.json()["status"]) == ("cancelled", 200, "cancelled")
    assert [(line.levelname, getattr(line, "schedule_id", None)) for line in _lines(caplog)] == [("INFO", again.id)] * 2
    assert snapshot(stored) == before


@rule("S2.48")
def test_already_cancelled_is_exit_code_0(stored: str, duly: Command, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    before = snapshot(stored)
    assert duly("schedule", "cancel", "ended", "--yes").exit_code == 0
    assert [line.levelname for line in _lines(caplog)] == ["INFO"]
    assert snapshot(stored) == before
