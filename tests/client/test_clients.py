"""Both clients against the real API: every noun, and problems as the errors that they are."""

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest

import duly
from duly.client import AsyncClient, Client
from duly.client.nouns import Server
from duly.client.runs import Runs
from duly.client.schedules import Schedules
from duly.core import errors

T = TypeVar("T")
PAST = datetime(2026, 3, 1, tzinfo=UTC)
NIGHTLY = {"key": "nightly", "cronExpression": "0 2 * * *", "timezone": "Europe/Berlin", "jobType": "report"}


class Blocking:
    """An ``AsyncClient`` that is waited for, so that one text tests both."""

    def __init__(self, url: str) -> None:
        self._runner = asyncio.Runner()
        self._client = self._runner.run(self._make(url))
        self.schedules: Any = Waited(self._client.schedules, self._runner)
        self.runs: Any = Waited(self._client.runs, self._runner)
        for noun in ("operations", "firing", "queues", "calendars"):
            setattr(self, noun, Waited(getattr(self._client, noun), self._runner))

    async def _make(self, url: str) -> AsyncClient:
        return AsyncClient(url)

    def each(self, page: Any, *arguments: Any, **query: Any) -> list[dict[str, Any]]:
        async def collect() -> list[dict[str, Any]]:
            return [item async for item in self._client.each(page.inner, *arguments, **query)]

        return self._runner.run(collect())

    def __enter__(self) -> "Blocking":
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()


class Waited:
    def __init__(self, noun: Any, runner: asyncio.Runner) -> None:
        self._noun = noun
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._noun, name)

        async def finished(answer: Awaitable[T]) -> T:
            return await answer

        def call(*arguments: Any, **options: Any) -> Any:
            return self._runner.run(finished(inner(*arguments, **options)))

        call.inner = inner  # type: ignore[attr-defined]
        return call


@pytest.fixture(params=[Client, Blocking], ids=["sync", "async"])
def client(request: pytest.FixtureRequest, server_url: str) -> Any:
    with request.param(server_url) as client:
        yield client


def test_a_schedule_from_birth_to_death(client: Any) -> None:
    made = client.schedules.create(NIGHTLY)
    assert client.schedules.get("nightly") == client.schedules.get(made["id"])
    changed = client.schedules.update("nightly", {"tags": ["x"]}, if_revision=1)
    assert (changed["tags"], changed["cronExpression"]) == (["x"], "0 2 * * *")
    assert client.schedules.pause("nightly", reason="leave", until="2099-01-01T00:00:00Z")["pausedReason"] == "leave"
    assert client.schedules.resume("nightly")["enabled"] is True
    assert len(client.schedules.upcoming("nightly", count=3)["items"]) == 3
    run = client.schedules.trigger("nightly", payload={"by": "hand"})
    assert client.runs.get(run["id"])["payload"] == {"by": "hand"}
    assert [item["id"] for item in client.schedules.executions("nightly")["items"]] == [run["id"]]
    assert client.runs.cancel(run["id"])["status"] == "cancelled"
    assert client.schedules.cancel("nightly")["status"] == "cancelled"
    assert client.schedules.delete("nightly") == {}
    assert client.schedules.delete("nightly") == {}
    with pytest.raises(errors.NotFound):
        client.schedules.get("nightly")


def test_put_makes_and_replaces(client: Any) -> None:
    body = {name: value for name, value in NIGHTLY.items() if name != "key"}
    first = client.schedules.put("nightly", body)
    second = client.schedules.put("nightly", {**body, "cronExpression": "0 3 * * *"}, if_revision=first["revision"])
    assert (second["id"], second["cronExpression"]) == (first["id"], "0 3 * * *")


def test_preview_stores_nothing(client: Any) -> None:
    answer = client.schedules.preview({"cronExpression": "0 9 * * *", "after": "2099-01-01T00:00:00Z", "count": 1})
    assert answer["items"][0]["windowAt"] == "2099-01-01T09:00:00Z"
    assert client.schedules.list()["items"] == []


def test_each_goes_through_all_pages(client: Any) -> None:
    for number in range(5):
        client.schedules.create({**NIGHTLY, "key": f"k{number}", "tags": ["even"] if number % 2 == 0 else []})
    assert [item["key"] for item in client.each(client.schedules.list, limit=2)] == ["k0", "k1", "k2", "k3", "k4"]
    assert [item["key"] for item in client.each(client.schedules.list, tag="even", limit=1)] == ["k0", "k2", "k4"]
    page = client.schedules.list(limit=2)
    rest = client.each(client.schedules.list, limit=2, cursor=page["nextCursor"])
    assert [item["key"] for item in rest] == ["k2", "k3", "k4"]
    assert client.schedules.list(enabled=False)["items"] == []


def test_a_run_is_asked_for_directly(client: Any) -> None:
    run = client.runs.enqueue("send", {"user": 42}, priority=3)
    assert client.runs.list(job="send")["items"][0]["id"] == run["id"]
    with pytest.raises(errors.WaitTimeout):
        client.runs.wait(run["id"], timeout=0)
    client.runs.cancel(run["id"])
    assert client.runs.wait(run["id"], timeout=60)["status"] == "cancelled"


def test_a_schedule_is_described_in_the_words_of_python(client: Any) -> None:
    made = client.schedules.create(
        "nightly",
        duly.Cron("0 2 * * *", "Europe/Berlin", dst_fold="second"),
        job="report",
        payload={"n": 1},
        retry=duly.Retry(max_attempts=5, delay=2),
        timeout=60,
        catch_up="all",
        overlap="queue",
        jitter=(10, 20),
        end_at=datetime(2099, 1, 1, tzinfo=UTC),
        tags=["x"],
        metadata={"owner_id": "ann"},
    )
    assert (made["cronExpression"], made["timezone"], made["dst"]["fold"]) == ("0 2 * * *", "Europe/Berlin", "second")
    assert (made["maxAttempts"], made["retryPolicy"]["delaySeconds"], made["timeoutSeconds"]) == (5, 2, 60)
    assert (made["catchUp"]["policy"], made["overlapPolicy"], made["jitter"]["maxMs"]) == ("all", "queue", 20)
    assert (made["endAt"], made["tags"], made["metadata"]["ownerId"]) == ("2099-01-01T00:00:00Z", ["x"], "ann")
    assert made["jobPayload"] == {"n": 1}
    changed = client.schedules.update("nightly", timing=duly.Every("1h"), retry=None, if_revision=1)
    assert (changed["everyMs"], changed["maxAttempts"]) == (3_600_000, 3)
    put = client.schedules.put("other", duly.Once("2099-01-01T00:00:00Z"), "report")
    with pytest.raises(duly.DulyError, match="job is given twice"):
        client.schedules.put("other", duly.Once("2099-01-01T00:00:00Z"), "report", job="another")
    assert put["onceAt"] == "2099-01-01T00:00:00Z"
    again = client.schedules.reschedule("other", duly.Once("2099-01-02T00:00:00Z"), if_revision=put["revision"])
    assert again["replaces"] == put["id"]
    assert len(client.schedules.preview(duly.Every("1h"), count=3)["items"]) == 3


@pytest.mark.parametrize("wrong", ["nightly", 5, b"x"], ids=repr)
def test_what_is_no_list_or_no_truth_is_refused_and_not_taken_for_one(client: Any, wrong: Any) -> None:
    client.schedules.create({**NIGHTLY, "tags": ["n"]})
    calls = {
        "tags of a schedule": lambda: client.schedules.create("k", duly.Every("1h"), job="x", tags=wrong),
        "tags of runs": lambda: client.runs.list(tags=wrong),
        "ids of schedules": lambda: client.schedules.pause_many(ids=wrong),
        "ids of dead letters": lambda: client.runs.redrive_many(ids=wrong),
        "what to keep": lambda: client.schedules.apply([], set="s", prune="delete", keep=wrong),
        "everything": lambda: client.schedules.pause_many(everything=wrong),
    }
    for what, call in calls.items():
        with pytest.raises(errors.ValidationFailed):
            pytest.fail(f"{what} were taken: {call()}")
    (kept,) = client.schedules.list()["items"]
    assert (kept["key"], kept["enabled"]) == ("nightly", True)


def test_operators_have_all_of_it(client: Any) -> None:
    for n in range(3):
        client.schedules.create({**NIGHTLY, "key": f"k{n}", "tags": ["etl"]})
    assert client.schedules.count(tag="etl")["matched"] == 3
    begun = client.schedules.pause_many(tag="etl", reason="incident", until=datetime(2099, 1, 1, tzinfo=UTC))
    seen: list[Any] = []
    done = client.operations.wait(begun["id"], seen.append)
    assert (done["changed"], done["arguments"]["reason"], seen[-1]) == (3, "incident", done)
    assert client.operations.get(begun["id"]) == done
    assert client.operations.list()["items"][0]["id"] == begun["id"]
    resumed = client.schedules.resume_many(ids=["k0", "nobody"])
    assert sorted(item["outcome"] for item in resumed["items"]) == ["changed", "not_found"]
    assert client.schedules.changes("k0", limit=1)["items"][0]["action"] == "resume"
    windows = client.schedules.backfill("k0", PAST, "2026-03-03T00:00:00Z", dry_run=True)
    assert len(windows["items"]) == 2
    assert client.schedules.backfill("k0", PAST, "2026-03-03T00:00:00Z", payload=None)["matched"] == 2
    assert client.schedules.coming(limit=1)["items"][0]["key"] == "k0"
    assert client.schedules.late(limit=1) == {"items": [], "nextCursor": None}
    assert client.schedules.stats()["firingPaused"] is False
    assert client.firing.pause(reason="incident")["paused"] is True
    assert client.firing.resume("skip")["kind"] == "resume_all"
    assert client.firing.state()["paused"] in (True, False)
    assert client.firing.restored()["epoch"] == 2
    assert client.runs.dead()["items"] == client.runs.dead_groups()["items"] == []
    assert client.runs.redrive_many(job="x")["count"] == client.runs.acknowledge_many()["count"] == 0
    assert client.queues.set("mail", rate=5, per=60)["rateLimit"] == {"limit": 5, "periodMs": 60_000}
    assert client.calendars.put("h", yearly=["12-25"], ranges=[("2027-01-01", "2027-01-02")])["yearly"] == ["12-25"]
    assert client.schedules.delete("k1", purge=True) == {}


def test_problems_are_the_errors_that_an_app_would_raise(client: Any) -> None:
    made = client.schedules.create(NIGHTLY)
    with pytest.raises(errors.KeyInUse) as in_use:
        client.schedules.create(NIGHTLY)
    assert in_use.value.existing_id == made["id"]
    assert in_use.value.code == "SCHEDULE_KEY_IN_USE"
    with pytest.raises(errors.CronInvalid, match="cron field 'hour' is '25'; expected 0-23") as invalid:
        client.schedules.create({**NIGHTLY, "key": "other", "cronExpression": "0 25 * * *"})
    assert invalid.value.details["errors"][0]["pointer"] == "/cronExpression"
    assert invalid.value.field is None
    with pytest.raises(errors.RevisionStale):
        client.schedules.update("nightly", {"tags": []}, if_revision=7)
    with pytest.raises(errors.ValidationFailed):
        client.schedules.create({**NIGHTLY, "key": "other", "colour": "red"})
    with pytest.raises(duly.DulyError):
        client.runs.get("01900000-0000-7000-8000-000000000000")


def test_a_key_with_odd_characters_finds_its_way(client: Any) -> None:
    client.schedules.create({**NIGHTLY, "key": "u:42@home.now"})
    assert client.schedules.get("u:42@home.now")["key"] == "u:42@home.now"
    with pytest.raises(errors.NotFound):
        client.schedules.get("../runs?x=1#y")


def test_the_nouns_are_the_same_for_both() -> None:
    """There are no twins: what one client can do, the other can."""
    with Client("http://127.0.0.1:1") as client:
        assert {type(client.schedules), type(client.runs), type(client.server)} == {Schedules, Runs, Server}
