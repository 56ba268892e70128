"""What is refused: with which status, code and place, and that a refused request changes nothing."""

from typing import Any

import httpx2
import pytest

from duly import Duly
from duly.api import reading
from duly.api.answers import schedule_answer
from duly.app.upcoming import upcoming
from tests.acceptance.rules import rule

UNKNOWN = "01890000-0000-7000-8000-000000000000"
TIMINGS = {
    "cronExpression": "0 2 * * *",
    "everyMs": 60_000,
    "intervalMinutes": 5,
    "dailyTime": {"hour": 1, "minute": 2},
    "weeklyTime": {"dayOfWeek": 1, "hour": 1, "minute": 2},
    "monthlyTime": {"day": 1, "hour": 1, "minute": 2},
    "onceAt": "2099-01-01T00:00:00Z",
}
TARGETS = {"jobType": "x", "workflow": "x", "topic": "a.b", "target": {"kind": "queue", "name": "q"}}
BASE = {"name": "x", "cronExpression": "0 2 * * *", "jobType": "x"}


def without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in BASE.items() if name not in names}


def case(code: str, pointer: str, **fields: Any) -> Any:
    return pytest.param(BASE | fields, code, pointer, id=f"{pointer}={str(list(fields.values())[-1])[:30]}")


VALIDATION = "VALIDATION_FAILED"
BODIES = [
    pytest.param({}, VALIDATION, "/name", id="empty"),
    pytest.param([], VALIDATION, "", id="list"),
    pytest.param("x", VALIDATION, "", id="text"),
    pytest.param(without("name"), VALIDATION, "/name", id="no name"),
    pytest.param(without("cronExpression"), VALIDATION, "", id="no timing"),
    pytest.param(without("jobType"), VALIDATION, "", id="no target"),
    *(
        pytest.param(without("cronExpression") | {a: TIMINGS[a], b: TIMINGS[b]}, VALIDATION, "", id=f"{a}+{b}")
        for a in TIMINGS
        for b in TIMINGS
        if a < b
    ),
    *(
        pytest.param(without("jobType") | {a: TARGETS[a], b: TARGETS[b]}, VALIDATION, "", id=f"{a}+{b}")
        for a in TARGETS
        for b in TARGETS
        if a < b and {a, b} != {"topic", "target"}
    ),
    case(VALIDATION, "/cron", cron="* * * * *"),
    case(VALIDATION, "/nextFireAt", nextFireAt="2000-01-01T00:00:00Z"),
    case(VALIDATION, "/id", id=UNKNOWN),
    case(VALIDATION, "/a~1b~0c", **{"a/b~c": 1}),
    case("SCHEDULE_CRON_INVALID", "/cronExpression", cronExpression=""),
    case("SCHEDULE_CRON_INVALID", "/cronExpression", cronExpression="* * * * * * *"),
    case("SCHEDULE_CRON_INVALID", "/cronExpression", cronExpression="* * * * 8"),
    case("SCHEDULE_CRON_INVALID", "/cronExpression", cronExpression="5-1 * * * *"),
    case("SCHEDULE_CRON_INVALID", "/cronExpression", cronExpression="\uff11 * * * *"),
    case("SCHEDULE_CRON_INVALID", "/cronExpression", cronExpression="0 0 30 2 *"),
    case("SCHEDULE_CRON_INVALID", "/cronExpression", cronExpression="0 0 31 2,4,6,9,11 *"),
    case("SCHEDULE_CRON_INVALID", "/cronExpression", cronExpression="@reboot"),
    case("SCHEDULE_CRON_INVALID", "/cronExpression", cronExpression="* " * 200),
    case("SCHEDULE_CRON_INVALID", "/cronExpression", strictFields=5, cronExpression="0 0 2 * * *"),
    case(VALIDATION, "/cronExpression", cronExpression=5),
    case("SCHEDULE_INTERVAL_TOO_SHORT", "/everyMs", cronExpression=None, everyMs=0),
    case("SCHEDULE_INTERVAL_TOO_SHORT", "/everyMs", cronExpression=None, everyMs=-1000),
    case("SCHEDULE_INTERVAL_TOO_SHORT", "/everyMs", cronExpression=None, everyMs=999),
    case("SCHEDULE_INTERVAL_TOO_SHORT", "/intervalMinutes", cronExpression=None, intervalMinutes=0),
    case(VALIDATION, "/everyMs", cronExpression=None, everyMs=True),
    case(VALIDATION, "/everyMs", cronExpression=None, everyMs="60000"),
    case(VALIDATION, "/everyMs", cronExpression=None, everyMs=1000.5),
    case(VALIDATION, "/everyMs", cronExpression=None, everyMs=2**60),
    case("SCHEDULE_TIMEZONE_INVALID", "/timezone", timezone="Mars/Olympus"),
    case("SCHEDULE_TIMEZONE_INVALID", "/timezone", timezone="europe/berlin"),
    case("SCHEDULE_TIMEZONE_INVALID", "/timezone", timezone="CET"),
    case("SCHEDULE_TIMEZONE_INVALID", "/timezone", timezone="posixrules"),
    case("SCHEDULE_TIMEZONE_INVALID", "/timezone", timezone="+05:30"),
    case("SCHEDULE_TIMEZONE_INVALID", "/timezone", timezone="../../etc/passwd"),
    case("SCHEDULE_MOMENT_IN_PAST", "/onceAt", cronExpression=None, onceAt="2016-01-01T00:00:00Z"),
    case("SCHEDULE_MOMENT_IN_PAST", "/onceAt", cronExpression=None, onceAt="0001-01-01T00:00:00Z"),
    case(VALIDATION, "/onceAt", cronExpression=None, onceAt="2099-12-31T23:59:60Z"),
    case(VALIDATION, "/onceAt", cronExpression=None, onceAt="2099-02-30T00:00:00Z"),
    case(VALIDATION, "/onceAt", cronExpression=None, onceAt="tomorrow"),
    case(VALIDATION, "/onceAt", cronExpression=None, onceAt=4_102_444_800),
    case(VALIDATION, "/dailyTime/hour", cronExpression=None, dailyTime={"hour": 24, "minute": 0}),
    case(VALIDATION, "/dailyTime/minute", cronExpression=None, dailyTime={"hour": 1}),
    case(VALIDATION, "/dailyTime/second", cronExpression=None, dailyTime={"hour": 1, "minute": 1, "second": 1}),
    case(VALIDATION, "/weeklyTime/dayOfWeek", cronExpression=None, weeklyTime={"dayOfWeek": 8, "hour": 1, "minute": 1}),
    case(VALIDATION, "/monthlyTime/day", cronExpression=None, monthlyTime={"day": 0, "hour": 1, "minute": 1}),
    case(VALIDATION, "/onPast", onPast="fire"),
    case(VALIDATION, "/dst/gap", dst={"gap": "later"}),
    case(VALIDATION, "/dst/gap", cronExpression=None, everyMs=5000, dst={"gap": "skip"}),
    case(VALIDATION, "/anchor", cronExpression=None, everyMs=5000, anchor="noon"),
    case("SCHEDULE_TOPIC_INVALID", "/topic", jobType=None, topic="Upper"),
    case("SCHEDULE_TOPIC_INVALID", "/topic", jobType=None, topic="a.b.c.d"),
    case(VALIDATION, "/target/kind", jobType=None, target={"kind": "fax"}),
    case("SCHEDULE_RETRY_POLICY_INVALID", "/maxAttempts", maxAttempts=0),
    case("SCHEDULE_RETRY_POLICY_INVALID", "/maxAttempts", maxAttempts=101),
    case("SCHEDULE_RETRY_POLICY_INVALID", "/maxRetries", maxRetries=100),
    case("SCHEDULE_RETRY_POLICY_INVALID", "/maxRetries", maxRetries=-1),
    case(VALIDATION, "/maxRetries", maxAttempts=3, maxRetries=2),
    case(VALIDATION, "/maxAttempts", maxAttempts="3"),
    case("SCHEDULE_RETRY_POLICY_INVALID", "/retryPolicy/delaySeconds", retryPolicy={"delaySeconds": 86_401}),
    case("SCHEDULE_RETRY_POLICY_INVALID", "/retryPolicy/delaySeconds", retryPolicy={"delaySeconds": -1}),
    case("SCHEDULE_RETRY_POLICY_INVALID", "/retryPolicy/jitter", retryPolicy={"jitter": 1.5}),
    case(VALIDATION, "/retryPolicy/backoff", retryPolicy={"backoff": "linear"}),
    case(VALIDATION, "/timeoutSeconds", timeoutSeconds=0),
    case(VALIDATION, "/timeoutSeconds", timeoutSeconds=1e308),
    case(VALIDATION, "/timeoutSeconds", timeoutSeconds="60"),
    case(VALIDATION, "/overlapPolicy", overlapPolicy="maybe"),
    case(VALIDATION, "/maxQueued", maxQueued=-1),
    case(VALIDATION, "/maxConcurrent", maxConcurrent=0),
    case(VALIDATION, "/catchUp/policy", catchUp={"policy": "some"}),
    case(VALIDATION, "/catchUp/maxLatenessSeconds", catchUp={"maxLatenessSeconds": 1e300}),
    case(VALIDATION, "/catchUp/maxRuns", catchUp={"maxRuns": 0}),
    case(VALIDATION, "/jitter", jitter={"minMs": 5, "maxMs": 1}),
    case(VALIDATION, "/jitter/maxMs", jitter={"minMs": 5}),
    case(VALIDATION, "/startAt", startAt="2099-01-01T00:00:00"),
    case(VALIDATION, "/endAt", startAt="2099-01-01T00:00:00Z", endAt="2098-01-01T00:00:00Z"),
    case(VALIDATION, "/maxRuns", maxRuns=0),
    case(VALIDATION, "/maxRuns", maxRuns=2**31),
    case(VALIDATION, "/pauseAfterFailures", pauseAfterFailures=0),
    case(VALIDATION, "/queue", queue=""),
    case(VALIDATION, "/queue", queue="a\tb"),
    case(VALIDATION, "/priority", priority=40_000),
    case(VALIDATION, "/enabled", enabled="yes"),
    case(VALIDATION, "/enabled", enabled=None),
    case(VALIDATION, "/tags", tags=["a"] * 51),
    case(VALIDATION, "/tags/1", tags=["a", ""]),
    case(VALIDATION, "/tags/0", tags=["x" * 101]),
    case(VALIDATION, "/metadata/ownerId", metadata={"ownerId": "x" * 129}),
    case(VALIDATION, "/metadata/owner", metadata={"owner": "x"}),
    case(VALIDATION, "/name", name="a" * 10_000),
    case(VALIDATION, "/name", name=""),
    case(VALIDATION, "/name", name="a\r\nSet-Cookie: x=1"),
    case(VALIDATION, "/name", name="a\n"),
    case(VALIDATION, "/name", name=None),
    case(VALIDATION, "/description", description="\x00"),
    case(VALIDATION, "/key", key="-starts-badly"),
    case(VALIDATION, "/key", key="has space"),
    case(VALIDATION, "/key", key="k" * 201),
    case(VALIDATION, "/key", key=""),
    case(VALIDATION, "/jobType", jobType="x" * 101),
    case(VALIDATION, "/jobType", jobType="topic:a"),
    case(VALIDATION, "/jobPayload", jobPayload={"a": "nul \x00"}),
    case(VALIDATION, "/jobPayload", jobPayload={"\x00": 1}),
]


@rule("S3.14", "S0.8", "S0.9", "S4.12", "S4.15")
@pytest.mark.parametrize("body, code, pointer", BODIES)
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_create_refuses(api: httpx2.AsyncClient, body: Any, code: str, pointer: str) -> None:
    answer = await api.post("/schedules", json=body)
    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert (problem["type"], problem["status"]) == ("urn:duly:problem:validation-error", 422)
    assert pointer in [error["pointer"] for error in problem["errors"]]
    assert problem["code"] in (code, VALIDATION)
    assert code in [error["code"] for error in problem["errors"]]
    assert (await api.get("/schedules")).json()["items"] == []


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"",
        b"not json",
        b'{"name": "a", "name": "b", "cronExpression": "* * * * *", "jobType": "x"}',
        b'{"name": "a", "cronExpression": "* * * * *", "jobType": "x", "jobPayload": {"a": [{"b": 1, "b": 1}]}}',
        b'{"name": "a", "cronExpression": "* * * * *", "jobType": "x", "jobPayload": NaN}',
        b'{"name": "a", "cronExpression": "* * * * *", "jobType": "x", "jobPayload": [-Infinity]}',
        b'{"name": "a", "cronExpression": "* * * * *", "jobType": "x", "jobPayload": 1e400}',
        b'{"name": "a", "cronExpression": "* * * * *", "jobType": "x", "jobPayload": ' + b"9" * 5000 + b"}",
        b'{"name": "a", "cronExpression": "* * * * *", "jobType": "x", "jobPayload": 123456789012345678901234}',
        b'{"name": "a", "cronExpression": "* * * * *", "jobType": "x", "jobPayload": "\\ud800"}',
        b'{"name": "\xc3\x28"}',
        b"\xff\xfe{\x00}\x00",
        b"\xef\xbb\xbf{}",
        b"[" * 100_000,
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b'{"jobPayload": {' + b",".join(b'"%d":1' % number for number in range(70_000)) + b"}}",
        b"{} {}",
    ],
    ids=lambda raw: raw[:30].decode("latin-1") + f"... {len(raw)} bytes",
)
async def test_a_body_that_means_nothing_is_400(api: httpx2.AsyncClient, raw: bytes) -> None:
    answer = await api.post("/schedules", content=raw, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_JSON")
    assert (await api.get("/schedules")).json()["items"] == []


async def test_a_payload_may_be_64_deep_and_no_deeper(api: httpx2.AsyncClient) -> None:
    def nested(depth: int) -> Any:
        return [] if depth == 1 else [nested(depth - 1)]

    assert (await api.post("/schedules", json=BASE | {"jobPayload": nested(64)})).status_code == 201
    answer = await api.post("/schedules", json=BASE | {"jobPayload": nested(66)})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/jobPayload")


async def test_payload_and_body_have_their_limits(api: httpx2.AsyncClient) -> None:
    whole = BASE | {"jobPayload": "x" * (256 * 1024 - 2)}
    assert (await api.post("/schedules", json=whole)).status_code == 201
    for size in (256 * 1024 - 1, 1024 * 1024 + 1):
        answer = await api.post("/schedules", json=BASE | {"jobPayload": "x" * size})
        assert (answer.status_code, answer.json()["code"]) == (413, "PAYLOAD_TOO_LARGE")
        answer = await api.post("/runs", json={"jobType": "x", "payload": "x" * size})
        assert (answer.status_code, answer.json()["code"]) == (413, "PAYLOAD_TOO_LARGE")
    assert len((await api.get("/schedules")).json()["items"]) == 1


async def test_a_body_without_a_length_is_cut_off_at_the_limit(api: httpx2.AsyncClient) -> None:
    read = 0

    async def endless() -> Any:
        nonlocal read
        while True:
            read += 65_536
            yield b" " * 65_536

    answer = await api.post("/runs", content=endless(), headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert read <= 1024 * 1024 + 2 * 65_536


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "application/x-python-pickle"},
        {"content-type": "application/json; charset=utf-16"},
        {"content-type": "application/json", "content-encoding": "gzip"},
        {},
    ],
)
async def test_only_plain_json_is_read(api: httpx2.AsyncClient, headers: dict[str, str]) -> None:
    answer = await api.post("/runs", content=b'{"jobType": "x"}', headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert (await api.get("/runs")).json()["items"] == []


@pytest.mark.parametrize(
    "kind", ["application/json; charset=UTF-8", "application/merge-patch+json", "APPLICATION/JSON"]
)
async def test_json_by_any_of_its_names_is_read(api: httpx2.AsyncClient, kind: str) -> None:
    answer = await api.post("/runs", content=b'{"jobType": "x"}', headers={"content-type": kind})
    assert answer.status_code == 202


@pytest.mark.parametrize("ref", [UNKNOWN, "no-such-key", "..%2f..%2fadmin", "a%20b", "%00", "18446744073709551616"])
@pytest.mark.parametrize(
    "method, path",
    [
        ("GET", "/schedules/{}"),
        ("PATCH", "/schedules/{}"),
        ("POST", "/schedules/{}/pause"),
        ("POST", "/schedules/{}/resume"),
        ("POST", "/schedules/{}/cancel"),
        ("POST", "/schedules/{}/trigger"),
        ("GET", "/schedules/{}/executions"),
        ("GET", "/schedules/{}/upcoming"),
        ("GET", "/runs/{}"),
        ("POST", "/runs/{}/cancel"),
    ],
)
async def test_what_is_not_there_is_404(api: httpx2.AsyncClient, method: str, path: str, ref: str) -> None:
    answer = await api.request(method, path.format(ref), json=None if method == "GET" else {})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert answer.json()["code"] in ("SCHEDULE_JOB_NOT_FOUND", "NOT_FOUND")


@pytest.mark.parametrize(
    "path, parameter",
    [
        ("/schedules?limit=0", "limit"),
        ("/schedules?limit=201", "limit"),
        ("/schedules?limit=5.0", "limit"),
        ("/schedules?limit=%D9%A5", "limit"),
        ("/schedules?limit=" + "9" * 5000, "limit"),
        ("/schedules?limit=", "limit"),
        ("/schedules?limit=5&limit=5", "limit"),
        ("/schedules?cursor=AAAA", "cursor"),
        ("/schedules?offset=5", "offset"),
        ("/schedules?enabled=1", "enabled"),
        ("/schedules?status=running", "status"),
        ("/schedules?q=%00", "q"),
        ("/schedules?owner=" + "x" * 129, "owner"),
        ("/runs?sort=id;drop%20table%20runs", "sort"),
        ("/runs?status=succeeded%27%20OR%201=1--", "status"),
        ("/runs?cursor=x%27", "cursor"),
        ("/schedules/x/executions?status=active", "status"),
        ("/schedules/x/upcoming?count=0", "count"),
        ("/schedules/x/upcoming?count=101", "count"),
        ("/schedules/x?limit=5", "limit"),
    ],
)
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_bad_parameter_is_named(api: httpx2.AsyncClient, path: str, parameter: str) -> None:
    answer = await api.get(path)
    assert (answer.status_code, answer.json()["code"]) == (422, VALIDATION)
    assert [error["parameter"] for error in answer.json()["errors"]] == [parameter]


@pytest.mark.parametrize(
    "method, path, body, pointer",
    [
        ("PATCH", "/schedules/k", {"key": "other"}, "/key"),
        ("PATCH", "/schedules/k", {"cronExpression": None}, ""),
        ("PATCH", "/schedules/k", {"cronExpression": "x"}, "/cronExpression"),
        ("PATCH", "/schedules/k", {"everyMs": 60_000, "onceAt": "2099-01-01T00:00:00Z"}, ""),
        ("PATCH", "/schedules/k", {"name": None}, "/name"),
        ("PATCH", "/schedules/k", {"metadata": {"tenantId": "other"}}, "/metadata/tenantId"),
        ("PATCH", "/schedules/k", {"jobType": "a", "workflow": "b"}, ""),
        ("PATCH", "/schedules/k", {"endAt": "yesterday"}, "/endAt"),
        ("POST", "/schedules/k/pause", {"until": "2000-01-01T00:00:00Z"}, "/until"),
        ("POST", "/schedules/k/pause", {"until": "soon"}, "/until"),
        ("POST", "/schedules/k/pause", {"reason": "x" * 1001}, "/reason"),
        ("POST", "/schedules/k/pause", {"why": "x"}, "/why"),
        ("POST", "/schedules/k/resume", {"catchUp": "yes"}, "/catchUp"),
        ("POST", "/schedules/k/trigger", {"force": 1}, "/force"),
        ("POST", "/schedules/k/trigger", {"payload": "\x00"}, "/payload"),
        ("POST", "/schedules/k/cancel", {"now": True}, "/now"),
        ("POST", "/runs", {}, "/jobType"),
        ("POST", "/runs", {"jobType": ""}, "/jobType"),
        ("POST", "/runs", {"jobType": "x", "runAt": "2099-01-01T00:00:00"}, "/runAt"),
        ("POST", "/runs", {"jobType": "x", "maxAttempts": 0}, "/maxAttempts"),
        ("POST", "/runs", {"jobType": "x", "payload": ["\x00"]}, "/payload"),
        ("POST", "/runs", {"jobType": "x", "priority": "high"}, "/priority"),
        ("POST", "/schedules:preview", {}, ""),
        ("POST", "/schedules:preview", {"everyMs": 5000, "count": 0}, "/count"),
        ("POST", "/schedules:preview", {"everyMs": 5000, "count": 101}, "/count"),
        ("POST", "/schedules:preview", {"everyMs": 5000, "after": "now"}, "/after"),
        ("POST", "/schedules:preview", {"everyMs": 5000, "key": "no spaces"}, "/key"),
        ("POST", "/schedules:preview", {"cronExpression": "x", "timezone": "x"}, "/timezone"),
    ],
)
async def test_other_bodies_are_as_strict(
    api: httpx2.AsyncClient, app: Duly, method: str, path: str, body: Any, pointer: str
) -> None:
    before = (await api.put("/schedules/k", json=BASE | {"metadata": {"tenantId": ""}})).json()
    answer = await api.request(method, path, json=body)
    assert answer.status_code == 422, answer.text
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]
    assert (await api.get("/schedules/k")).json() == before
    assert (await app.runs.list()).items == []


EARLY, LATE = "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"
HOURLY = {"name": "x", "everyMs": 3_600_000, "jobType": "x", "key": "far"}
PREVIEW = {"cronExpression": "0 2 * * *", "timezone": "Asia/Kolkata"}
INSTANTS = [
    ("POST", "/schedules", HOURLY, "startAt"),
    ("POST", "/schedules", HOURLY, "endAt"),
    ("POST", "/schedules", HOURLY, "anchor"),
    ("POST", "/schedules", {"name": "x", "jobType": "x", "key": "far", "onPast": "fire"}, "onceAt"),
    ("PUT", "/schedules/far", HOURLY, "endAt"),
    ("PATCH", "/schedules/good", {}, "startAt"),
    ("PATCH", "/schedules/good", {}, "endAt"),
    ("POST", "/schedules/good/pause", {}, "until"),
    ("POST", "/schedules/good/reschedule", {"onPast": "fire"}, "onceAt"),
    ("POST", "/runs", {"jobType": "x"}, "runAt"),
    ("POST", "/schedules:preview", PREVIEW, "after"),
    ("POST", "/schedules:preview", {"onPast": "fire"}, "onceAt"),
]


@pytest.mark.parametrize("value", [EARLY, LATE])
@pytest.mark.parametrize("method, path, body, field", INSTANTS, ids=lambda given: given if type(given) is str else "")
async def test_an_instant_that_could_not_be_shown_again_is_refused_and_nothing_is_stored(
    api: httpx2.AsyncClient, method: str, path: str, body: dict[str, Any], field: str, value: str
) -> None:
    good = (await api.post("/schedules", json=BASE | {"key": "good"})).json()
    answer = await api.request(method, path, json=body | {field: value})
    assert answer.status_code == 422, answer.text
    assert [error["pointer"] for error in answer.json()["errors"]] == [f"/{field}"]
    listed = await api.get("/schedules")
    assert [(item["key"], item["revision"]) for item in listed.json()["items"]] == [("good", good["revision"])]
    assert (await api.get("/runs")).json()["items"] == []


@pytest.mark.parametrize("value", ["1970-01-01T00:00:00Z", "9998-12-31T23:59:59Z"])
async def test_the_first_and_the_last_instant_of_the_range_are_taken(api: httpx2.AsyncClient, value: str) -> None:
    answer = await api.post("/schedules:preview", json=PREVIEW | {"after": value})
    assert answer.status_code == 200, answer.text
    made = await api.post("/schedules", json=HOURLY | ({"startAt": value} if value < "2000" else {"endAt": value}))
    assert made.status_code == 201, made.text


async def test_a_stored_instant_beyond_what_can_be_shown_hides_no_list(api: httpx2.AsyncClient, app: Duly) -> None:
    """As older versions stored it; it is shown as the last instant there is."""
    await api.post("/schedules", json=HOURLY | {"endAt": "9998-01-01T00:00:00Z", "timezone": "Asia/Kolkata"})
    (schedule,) = (await app.schedules.list()).items
    schedule.definition.end_at = schedule.cursor.next_window_at = schedule.cursor.fire_at = 253_402_387_139_000
    shown = schedule_answer(schedule, app.settings, app.clock.now(), whole=False)
    assert shown["endAt"] == shown["nextFireAt"] == "9999-12-31T23:59:59Z"
    (window, *_) = upcoming(schedule, 3, None)
    assert window.fire_at.year == window.local_time.year == 9999


async def test_only_a_few_unknown_names_are_compared_and_only_fifty_are_told(
    api: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def counted(name: str, known: Any, most: int) -> list[str]:
        asked.append(name)
        return []

    monkeypatch.setattr(reading, "get_close_matches", counted)
    names = ["a" * 41, *(f"b{number}" for number in range(5000))]
    answer = await api.post("/schedules", json=BASE | dict.fromkeys(names, 1))
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 50
    assert "and 5000 more, the first 50 in errors" in answer.json()["detail"]
    assert len(asked) == 4, "the longest of the first five is not compared"
    asked.clear()
    many = [BASE | {"key": f"k{number}", "nam": 1} for number in range(1000)]
    answer = await api.post("/schedules:apply", json={"schedules": many})
    assert answer.status_code == 422, answer.text
    assert len(answer.json()["errors"]) == len(asked) == 50


@pytest.mark.parametrize("field", ["name", "queue", "tags"])
async def test_control_characters_that_terminals_obey_are_refused_in_one_line(
    api: httpx2.AsyncClient, field: str
) -> None:
    evil: Any = "x\x9b2J"
    answer = await api.post("/schedules", json=BASE | {field: [evil] if field == "tags" else evil})
    assert answer.status_code == 422
    assert (await api.get("/schedules")).json()["items"] == []
