"""What one GETs can be sent back: a PUT or a PATCH of it changes nothing, whatever the timing and the target."""

from typing import Any

import httpx2
import pytest

SET_BY_THE_SERVER = {
    "id", "status", "health", "scheduleType", "nextWindowAt", "nextFireAt", "lastFiredAt", "firedAt", "attempts",
    "lastError", "pausedReason", "pausedUntil", "revision", "createdAt", "updatedAt", "createdBy", "replaces",
    "replacedBy",
}  # fmt: skip
TIMINGS: dict[str, dict[str, Any]] = {
    "cron": {"cronExpression": "0 2 * * *"},
    "cron in a zone": {"cronExpression": "0 2 * * *", "timezone": "Europe/Berlin", "dst": {"gap": "skip"}},
    "seconds": {"cronExpression": "30 0 2 * * *"},
    "strict": {"cronExpression": "0 2 * * *", "strictFields": 5},
    "daily": {"dailyTime": {"hour": 9, "minute": 30}, "timezone": "America/Sao_Paulo"},
    "weekly": {"weeklyTime": {"dayOfWeek": 7, "hour": 9, "minute": 30}},
    "monthly": {"monthlyTime": {"day": 31, "hour": 9, "minute": 30}},
    "every": {"everyMs": 90_000, "jitter": {"maxMs": 500}},
    "minutes": {"intervalMinutes": 5, "timezone": "Asia/Kolkata"},
    "from its start": {"everyMs": 90_000, "anchor": "start"},
    "from a start": {"everyMs": 90_000, "anchor": "start", "startAt": "2099-01-01T00:00:00Z"},
    "from an instant": {"everyMs": 90_000, "anchor": "2027-01-01T00:00:00.123Z"},
    "after completion": {"everyMs": 90_000, "afterCompletion": True},
    "once": {"onceAt": "2099-01-01T00:00:00.5Z"},
    "once on a wall clock": {"onceAt": "2099-01-01T00:00:00", "timezone": "Asia/Kolkata", "onPast": "fire"},
}
SCHEDULES = {name: timing | {"jobType": "x"} for name, timing in TIMINGS.items()} | {
    "workflow": {"everyMs": 90_000, "workflow": "w"},
    "topic": {"everyMs": 90_000, "topic": "billing.invoice"},
    "queue": {"everyMs": 90_000, "target": {"kind": "queue", "name": "mail", "format": "raw"}, "topic": "a.b"},
    "in order": {"everyMs": 90_000, "target": {"kind": "queue", "name": "mail", "ordered": True}},
    "webhook": {"everyMs": 90_000, "target": {"kind": "webhook", "url": "https://example.com/hook"}},
    "all of it": {
        "cronExpression": "0 2 * * *", "jobType": "x", "maxRetries": 6, "retryPolicy": {"delaySeconds": 3.5},
        "timeoutSeconds": None, "overlapPolicy": "allow", "maxConcurrent": 3, "catchUp": {"policy": "all"},
        "startAt": "2030-01-01T00:00:00Z", "endAt": "2040-01-01T00:00:00Z", "maxRuns": 6, "pauseAfterFailures": 2,
        "queue": "q", "priority": -3, "fairnessKey": "f", "enabled": False, "tags": ["a", "b"], "description": "d",
        "excludeDates": ["2031-01-01"], "fireCurrentWindow": True, "jobPayload": [1, {"a": None}],
        "metadata": {"ownerId": "o", "correlationId": "c", "clientRequestId": "r"},
    },
}  # fmt: skip


@pytest.mark.parametrize("given", SCHEDULES.values(), ids=SCHEDULES)
async def test_what_is_answered_can_be_sent_back_and_changes_nothing(
    api: httpx2.AsyncClient, given: dict[str, Any]
) -> None:
    made = await api.post("/schedules", json={"name": "n", "key": "k"} | given)
    assert made.status_code == 201, made.text
    answer = made.json()
    body = {name: value for name, value in answer.items() if name not in {*SET_BY_THE_SERVER, "maxRetries"}}
    put = await api.put("/schedules/k", json=body)
    assert (put.status_code, put.json()) == (200, answer)
    patched = await api.patch("/schedules/k", json={name: body[name] for name in body if name != "key"})
    assert (patched.status_code, patched.json()) == (200, answer)


async def test_what_cannot_be_sent_back_is_named_and_to_be_left_out(api: httpx2.AsyncClient) -> None:
    answer = (await api.put("/schedules/k", json={"everyMs": 90_000, "jobType": "x"})).json()
    refused = (await api.put("/schedules/k", json=answer)).json()
    assert {error["pointer"][1:] for error in refused["errors"]} == SET_BY_THE_SERVER
    twins = {name: value for name, value in answer.items() if name not in SET_BY_THE_SERVER}
    (error,) = (await api.put("/schedules/k", json=twins)).json()["errors"]
    assert (error["pointer"], error["detail"]) == (
        "/maxRetries",
        "maxAttempts is 3 and maxRetries is 2; leave one of them out",
    )


@pytest.mark.parametrize("timing", ["cron", "daily", "every", "once"])
@pytest.mark.parametrize(
    "option", [{"onPast": "reject"}, {"anchor": "epoch"}, {"afterCompletion": False}, {"dst": {"gap": "fire_after"}}]
)
async def test_an_option_that_asks_for_nothing_goes_with_every_timing(
    api: httpx2.AsyncClient, timing: str, option: dict[str, Any]
) -> None:
    made = await api.put("/schedules/k", json=TIMINGS[timing] | {"jobType": "x"})
    again = await api.put("/schedules/k", json=TIMINGS[timing] | option | {"jobType": "x"})
    assert (again.status_code, again.json()) == (200, made.json())
