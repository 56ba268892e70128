"""Workers that only have HTTP: they claim, beat and report, and what is not theirs any more is refused."""

import asyncio
from typing import Any

import httpx2
import pytest

from duly import Duly
from duly.api.application import application
from duly.app.watching import live_instances
from duly.core.errors import ValidationFailed
from duly.core.run import RunStatus
from duly.testing import ManualClock
from tests.api.conftest import client_of


async def ask(api: httpx2.AsyncClient, verb: str, **body: Any) -> Any:
    answer = await api.post(f"/worker/{verb}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def refused(api: httpx2.AsyncClient, verb: str, **body: Any) -> None:
    answer = await api.post(f"/worker/{verb}", json=body)
    assert (answer.status_code, answer.json()["code"]) == (409, "LEASE_LOST"), answer.text


async def lent(api: httpx2.AsyncClient, session: str | None = None, *, wait: float = 0) -> dict[str, Any]:
    """Claim the one run there is; answer what every report of it carries."""
    answer = await ask(api, "claim", jobs=["send"], session=session, waitSeconds=wait)
    (run,) = answer["runs"]
    return {"session": answer["session"], "runId": run["runId"], "fence": run["fence"]}


async def test_a_run_is_claimed_and_completed_and_told_twice_is_fine(api: httpx2.AsyncClient, app: Duly) -> None:
    run = await app.enqueue("send", {"user": 42}, timeout=60)
    answer = await ask(api, "claim", jobs=["send", "other"], name="gpu-1", host="h", pid=7, version="mine/1")
    (claimed,) = answer["runs"]
    told = ("runId", "fence", "jobType", "payload", "attemptNumber", "timeoutSeconds", "kind", "lostBefore")
    assert [claimed[name] for name in told] == [run.id, 1, "send", {"user": 42}, 1, 60, "direct", False]
    (instance,) = (await api.get("/instances")).json()["items"]
    assert [instance[name] for name in ("name", "host", "pid", "version", "jobs")] == [
        "gpu-1", "h", 7, "mine/1", ["other", "send"],
    ]  # fmt: skip
    report = {"session": answer["session"], "runId": run.id, "fence": 1, "result": {"sent": 3}}
    assert await ask(api, "complete", **report) == {"runId": run.id, "status": "completed"}
    assert await ask(api, "complete", **report) == {"runId": run.id, "status": "completed"}
    assert (await api.get(f"/runs/{run.id}")).json()["result"] == {"sent": 3}
    assert (await ask(api, "claim", jobs=["send"], session=answer["session"]))["runs"] == []


async def test_failures_follow_the_rules_of_every_other_worker(api: httpx2.AsyncClient, app: Duly) -> None:
    run = await app.enqueue("send", max_attempts=3)
    report = await lent(api)
    soon = {"backoff": "fixed", "delaySeconds": 0, "jitter": 0}
    failed = await ask(api, "fail", **report, error="no route", retryPolicy=soon)
    assert failed == await ask(api, "fail", **report, error="no route") == {"runId": run.id, "status": "pending"}
    report = await lent(api, report["session"])
    assert await ask(api, "release", **report, snoozeSeconds=0.001) == {"released": 1}
    report = await lent(api, report["session"], wait=20)
    assert report["fence"] == 3
    assert (await ask(api, "fail", **report, error="no such user", fatal=True))["status"] == "failed"
    whole = (await api.get(f"/runs/{run.id}")).json()
    assert (whole["reason"], whole["attemptNumber"], whole["errorMessage"]) == ("fatal", 2, "no such user")
    assert [attempt["outcome"] for attempt in whole["attempts"]] == ["failed", "snoozed", "failed"]


async def test_what_is_stale_is_refused_and_changes_nothing(api: httpx2.AsyncClient, app: Duly) -> None:
    run = await app.enqueue("send")
    report = await lent(api)
    other = (await ask(api, "claim", jobs=["send"]))["session"]
    for stale in (report | {"fence": 2}, report | {"session": other}, report | {"session": "9" * 19}):
        await refused(api, "complete", **stale)
        await refused(api, "fail", **stale, error="no", fatal=True)
        await refused(api, "release", **stale)
        await refused(api, "heartbeat", **stale)
    for verb in ("complete", "heartbeat"):
        await refused(api, verb, **report | {"runId": "nonsense"})
    await refused(api, "claim", jobs=["send"], session="12345")
    await refused(api, "heartbeat", session="12345")
    found = await app.runs.get(run.id)
    assert found is not None
    assert found.status is RunStatus.RUNNING


async def test_a_heartbeat_tells_what_was_cancelled_and_what_is_lost(api: httpx2.AsyncClient, app: Duly) -> None:
    run = await app.enqueue("send")
    report = await lent(api)
    mine = [{"runId": run.id, "fence": 1}, {"runId": run.id, "fence": 7}]
    beat = await ask(api, "heartbeat", session=report["session"], runs=mine[:1])
    assert beat["runs"] == [{"runId": run.id, "fence": 1, "cancelRequested": False}]
    assert (beat["cancelled"], beat["lost"]) == ([], [])
    assert await ask(api, "heartbeat", **report) == beat, "every call may carry runId, fence and session"
    await app.runs.cancel(run.id)
    beat = await ask(api, "heartbeat", session=report["session"], runs=mine)
    assert (beat["cancelled"], beat["lost"]) == ([run.id], [run.id])


async def test_r05_who_completes_what_was_cancelled_is_told_that_it_came_too_late(
    api: httpx2.AsyncClient, app: Duly
) -> None:
    run = await app.enqueue("send")
    report = await lent(api)
    await app.runs.cancel(run.id)
    answer = await api.post("/worker/complete", json=report | {"result": 1})
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT"), answer.text
    assert "was cancelled meanwhile" in answer.json()["detail"]
    found = await app.runs.get(run.id)
    assert found is not None
    assert (found.status, found.result) == (RunStatus.CANCELLED, None)


async def test_o20_a_key_for_some_queues_claims_from_no_other(app: Duly) -> None:
    mine, other = [await app.enqueue("send", queue=queue) for queue in ("mine", "others")]
    key = await app.keys.create("gpu", scopes=["worker"], queues=["mine", "also-mine"])
    async with client_of(application(app), "http://localhost/api/v1") as api:
        api.headers["authorization"] = f"Bearer {key.text}"
        for queues in (["others"], ["mine", "others"], ["of nobody"]):
            refused = await api.post("/worker/claim", json={"jobs": ["send"], "queues": queues})
            assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN"), refused.text
        assert await live_instances(app) == [], "nor was a session begun"
        answer = await ask(api, "claim", jobs=["send"], limit=10)
        assert [run["runId"] for run in answer["runs"]] == [mine.id]
        assert (await ask(api, "claim", jobs=["send"], session=answer["session"], queues=["also-mine"]))["runs"] == []
    successor = await app.keys.rotate(key.key.id)
    assert successor.key.queues == frozenset({"mine", "also-mine"})
    found = await app.runs.get(other.id)
    assert found is not None
    assert found.status is RunStatus.PENDING


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"scopes": ["read"], "queues": ["a"]}, "without the scope worker"),
        ({"scopes": ["worker"], "queues": []}, "1 to 100"),
        ({"scopes": ["worker"], "queues": ["a\x00b"]}, "queue"),
    ],
)
async def test_queues_of_a_key_that_mean_nothing_are_refused(app: Duly, words: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationFailed, match=said):
        await app.keys.create("gpu", **words)
    assert await app.keys.list() == []


async def test_a_stop_gives_everything_back_untried(api: httpx2.AsyncClient, app: Duly) -> None:
    run = await app.enqueue("send")
    report = await lent(api)
    assert await ask(api, "release", session=report["session"]) == {"released": 1}
    assert await ask(api, "release", session=report["session"]) == {"released": 0}
    found = await app.runs.get(run.id)
    assert found is not None
    assert (found.status, found.attempt) == (RunStatus.PENDING, 0)
    await refused(api, "complete", **report)


async def test_a_worker_that_died_loses_its_run_and_its_late_report_is_refused(url: str) -> None:
    clock = ManualClock()
    app = Duly(url, clock=clock)
    await app.open()
    async with client_of(application(app), "http://localhost/api/v1") as api:
        run = await app.enqueue("send")
        zombie = await lent(api)
        clock.move(seconds=app.settings.lease + 1)
        rules = app.settings.fire_rules
        assert list((await app._store.take_lost(limit=10, rules=rules)).runs) == [run.id]
        await refused(api, "heartbeat", session=zombie["session"])
        report = await lent(api)
        assert (report["runId"], report["fence"]) == (run.id, 2)
        await refused(api, "complete", **zombie)
        assert (await ask(api, "complete", **report))["status"] == "completed"
    await app.close()


async def test_a_claim_that_waits_is_woken_by_the_run_it_waits_for(url: str) -> None:
    """The clock stands still: nothing but the wake-up can end the wait."""
    app = Duly(url, roles=("api",), clock=ManualClock())
    async with app, client_of(application(app), "http://localhost/api/v1") as api:
        session = (await ask(api, "claim", jobs=["send"], limit=0))["session"]
        for limit in (1, 0):
            waiting = asyncio.create_task(
                ask(api, "claim", jobs=["send"], session=session, limit=limit, waitSeconds=20)
            )
            while not app.lending._waiting:  # noqa: ASYNC110 - until the request has come to wait
                await asyncio.sleep(0.001)
            run = await app.enqueue("send")
            answer = await waiting
            assert [run["runId"] for run in answer["runs"]] == [run.id][:limit]
            assert answer["changed"] == ([] if limit else ["runs"])


async def test_what_was_claimed_for_one_who_left_is_given_back(app: Duly) -> None:
    from duly.app.lending import Worker
    from duly.core.rules.suspects import ONE

    worker = Worker(jobs=("send",), name="w", host="", pid=0, version="")
    session = await app.lending.open(worker)
    run = await app.enqueue("send")
    claiming = asyncio.create_task(app.lending.claim(session, jobs=["send"], limit=1, wait=20, suspects=ONE))
    asked = app._store.claim_runs

    async def leave_meanwhile(*args: Any, **words: Any) -> Any:
        claiming.cancel()
        return await asked(*args, **words)

    app._store.claim_runs = leave_meanwhile  # type: ignore[method-assign]
    with pytest.raises(asyncio.CancelledError):
        await claiming
    found = await app.runs.get(run.id)
    assert found is not None
    assert (found.status, found.attempt, found.fence) == (RunStatus.PENDING, 0, 1)


REPORT = {"session": "1", "runId": "x", "fence": 1}


@pytest.mark.parametrize(
    ("verb", "body", "pointer"),
    [
        ("claim", {}, "/jobs"),
        ("claim", {"jobs": []}, "/jobs"),
        ("claim", {"jobs": ["send", "workflow:order"]}, "/jobs/1"),
        ("claim", {"jobs": ["send"], "limit": 101}, "/limit"),
        ("claim", {"jobs": ["send"], "waitSeconds": 26}, "/waitSeconds"),
        ("claim", {"jobs": ["send"], "session": 5}, "/session"),
        ("claim", {"jobs": ["send"], "session": "-5"}, "/session"),
        ("heartbeat", {}, "/session"),
        ("heartbeat", {"session": "1", "fence": 1}, "/runId"),
        ("heartbeat", {"session": "1", "runs": [{"runId": "x"}]}, "/runs/0/fence"),
        ("complete", {"session": "1", "runId": "x"}, "/fence"),
        ("fail", REPORT, "/error"),
        ("fail", REPORT | {"error": "no", "retryPolicy": {"delaySeconds": -1}}, "/retryPolicy/delaySeconds"),
        ("release", {"session": "1", "runId": "x"}, "/fence"),
        ("release", {"session": "1", "snoozeSeconds": 5}, "/snoozeSeconds"),
    ],
)
async def test_what_is_wrong_is_named(sqlite_api: httpx2.AsyncClient, verb: str, body: Any, pointer: str) -> None:
    answer = await sqlite_api.post(f"/worker/{verb}", json=body)
    assert answer.status_code == 422, answer.text
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


@pytest.fixture
async def sqlite_api() -> Any:
    app = Duly("sqlite:///:memory:")
    await app.open()
    async with client_of(application(app), "http://localhost/api/v1") as api:
        yield api
    await app.close()
