"""PATCH of a target: merged as RFC 7396 has it, and what goes beside it stays."""

from typing import Any

import httpx2
import msgspec
import pytest

from duly import Duly
from duly.api.merging import merge_patch, patch_between
from duly.core.signing import write_secret

SECRET = write_secret(bytes(32))
WEBHOOK = {"kind": "webhook", "url": "https://example.com/a", "secret": SECRET, "headers": {"x-a": "1", "x-b": "2"}}


@pytest.fixture
async def hooked(api: httpx2.AsyncClient) -> None:
    body = {"everyMs": 90_000, "target": WEBHOOK, "topic": "billing.invoice"}
    assert (await api.put("/schedules/k", json=body)).status_code == 201


async def stored(app: Duly) -> tuple[Any, str | None]:
    found = await app.schedules.get("k")
    assert found is not None
    target = found.definition.target
    return None if target.spec is None else msgspec.json.decode(target.spec), target.topic


@pytest.mark.usefixtures("hooked")
@pytest.mark.parametrize(
    "patch, target",
    [
        ({"url": "https://example.com/b"}, WEBHOOK | {"url": "https://example.com/b"}),
        ({"kind": "webhook", "format": "raw"}, WEBHOOK | {"format": "raw"}),
        ({"headers": {"x-a": None, "x-c": "3"}}, WEBHOOK | {"headers": {"x-b": "2", "x-c": "3"}}),
        ({"secret": None}, {name: value for name, value in WEBHOOK.items() if name != "secret"}),
        ({"kind": "queue", "name": "mail"}, {"kind": "queue", "name": "mail"}),
        ({}, WEBHOOK),
    ],
)
async def test_what_is_not_named_stays(api: httpx2.AsyncClient, app: Duly, patch: Any, target: Any) -> None:
    answer = await api.patch("/schedules/k", json={"target": patch})
    assert answer.status_code == 200, answer.text
    assert await stored(app) == (target, "billing.invoice")
    assert answer.json()["revision"] == (1 if target == WEBHOOK else 2)


@pytest.mark.usefixtures("hooked")
async def test_a_topic_beside_a_target_changes_alone(api: httpx2.AsyncClient, app: Duly) -> None:
    await api.patch("/schedules/k", json={"topic": "billing.reminder"})
    assert await stored(app) == (WEBHOOK, "billing.reminder")
    await api.patch("/schedules/k", json={"topic": None})
    assert await stored(app) == (WEBHOOK, None)
    answer = (await api.patch("/schedules/k", json={"target": None, "topic": "billing.invoice"})).json()
    assert (answer["target"], answer["topic"]) == (None, "billing.invoice")


@pytest.mark.usefixtures("hooked")
async def test_a_schedule_keeps_a_target(api: httpx2.AsyncClient, app: Duly) -> None:
    answer = await api.patch("/schedules/k", json={"target": None})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/target")
    assert await stored(app) == (WEBHOOK, "billing.invoice")
    answer = await api.patch("/schedules/k", json={"jobType": "x"})
    assert (answer.json()["jobType"], answer.json()["target"], answer.json()["topic"]) == ("x", None, None)
    answer = await api.patch("/schedules/k", json={"target": {"format": "raw"}})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/target/kind")


@pytest.mark.parametrize(
    "before, patch, after",
    [  # of the table in RFC 7396, appendix A, what objects can have
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_patch_does_what_the_standard_says(before: Any, patch: Any, after: Any) -> None:
    assert merge_patch(before, patch) == after
    assert merge_patch(before, patch_between(before, after)) == after


async def test_jitter_is_merged_with_what_it_was(api: httpx2.AsyncClient) -> None:
    body = {"everyMs": 3_600_000, "jobType": "x", "jitter": {"minMs": 30_000, "maxMs": 50_000}}
    assert (await api.put("/schedules/k", json=body)).status_code == 201
    for patch, merged in (
        ({"maxMs": 60_000}, (30_000, 60_000)),
        ({"minMs": 10}, (10, 60_000)),
        ({}, (10, 60_000)),
        ({"minMs": 1, "maxMs": 2}, (1, 2)),
    ):
        answer = await api.patch("/schedules/k", json={"jitter": patch})
        assert answer.status_code == 200, answer.text
        assert (answer.json()["jitter"]["minMs"], answer.json()["jitter"]["maxMs"]) == merged
    assert (await api.patch("/schedules/k", json={"jitter": {"minMs": 3}})).status_code == 422
    assert (await api.patch("/schedules/k", json={"jitter": None})).json()["jitter"] is None
    alone = await api.patch("/schedules/k", json={"jitter": {"minMs": 3}})
    assert (alone.status_code, alone.json()["errors"][0]["pointer"]) == (422, "/jitter/maxMs")


async def test_the_longest_wait_follows_a_delay_unless_it_was_chosen(api: httpx2.AsyncClient) -> None:
    body = {"everyMs": 3_600_000, "jobType": "x", "retryPolicy": {"backoff": "fixed", "delaySeconds": 7200}}
    shown = (await api.put("/schedules/k", json=body)).json()["retryPolicy"]
    assert (shown["delaySeconds"], shown["maxDelaySeconds"]) == (7200, 7200)
    for patch, longest in (
        ({"delaySeconds": 10}, 3600),
        ({"delaySeconds": 5000}, 5000),
        ({"maxDelaySeconds": 60}, 60),
        ({"delaySeconds": 7200}, 60),
    ):
        shown = (await api.patch("/schedules/k", json={"retryPolicy": patch})).json()["retryPolicy"]
        assert shown["maxDelaySeconds"] == longest
