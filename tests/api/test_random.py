"""Whatever is sent: never a 5xx, always a problem or an answer of the promised shape, and a refusal changes nothing."""

import asyncio
from typing import Any

import httpx2
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duly import Duly
from duly.api.openapi import Problem, codes_of
from duly.api.reading import BodyUnreadable, json_value
from duly.api.route import Route
from duly.api.routes import ROUTES
from tests.properties import examples
from tests.store_choice import postgres_too

FIELDS = sorted({field for route in ROUTES if route.body for field in route.body.__struct_encode_fields__})
INSIDE = ["hour", "minute", "day", "dayOfWeek", "policy", "maxRuns", "minMs", "maxMs", "gap", "fold", "backoff",
          "delaySeconds", "jitter", "ownerId", "tenantId", "clientRequestId", "kind", "name", "url"]  # fmt: skip
WORDS = ["", "x", "k", "5", "UTC", "Europe/Berlin", "0 2 * * *", "* * * * * *", "2099-01-01T00:00:00Z",
         "2000-01-01T00:00:00Z",
         "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00+23:59", "latest", "all", "queue", "skip", "start", "fire",
         "a.b", "\x00", "\u2028", "\U0001f41d", "x" * 300]  # fmt: skip
NUMBERS = [0, 1, -1, 5, 5.0, 0.5, 59, 60, 1000, 60_000, 2**31, 2**53, 2**63, -(2**63), 1e308, -0.0, True, False, None]

scalars = st.sampled_from([*WORDS, *NUMBERS]) | st.text(max_size=20) | st.integers(-(2**63), 2**64 - 1)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(INSIDE) | st.text(max_size=5), inner),
    max_leaves=8,
)
seeds = st.sampled_from(
    [
        {},
        {"name": "x", "cronExpression": "0 2 * * *", "jobType": "x"},
        {"name": "x", "everyMs": 60_000, "topic": "a.b"},
        {"name": "x", "onceAt": "2099-01-01T00:00:00Z", "jobType": "x"},
        {"jobType": "x"},
        {"everyMs": 60_000},
    ]
)
bodies = st.builds(
    lambda seed, more: {**seed, **more}, seeds, st.dictionaries(st.sampled_from(FIELDS), values, max_size=3)
)
queries = st.dictionaries(
    st.sampled_from(
        ["limit", "cursor", "status", "q", "owner", "tenant", "tag", "enabled", "jobType", "scheduleId", "count"]
    ),
    st.sampled_from(
        [*WORDS, "0", "200", "201", "true", "pending", "%", "_", "\\", "01890000-0000-7000-8000-000000000000"]
    ),
    max_size=3,
)
refs = st.sampled_from(
    ["k", "K", "x" * 201, "01890000-0000-7000-8000-000000000000", "sched:k:5", "sched:k:99999999999999", "%00"]
)


async def state(app: Duly) -> Any:
    schedules = [schedule async for schedule in app.schedules.iterate()]
    return schedules, [run.id async for run in app.runs.iterate()]


@pytest.mark.timeout(600)
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    route=st.sampled_from([route for route in ROUTES if not route.streams]),
    ref=refs,
    body=bodies | values,
    query=queries,
    etag=st.sampled_from([None, '"1"', "x"]),
)
@postgres_too("other values cannot be stored")
async def test_nothing_that_is_sent_breaks_it(
    app: Duly, api: httpx2.AsyncClient, route: Route, ref: str, body: Any, query: dict[str, str], etag: str | None
) -> None:
    # One store for all examples: what the ones before left there belongs to the test, but for what they still do.
    await asyncio.gather(*app._driving._tasks.values(), return_exceptions=True)
    if "authorization" not in api.headers:
        api.headers["authorization"] = f"Bearer {(await app.keys.create('root', scopes=['admin'])).text}"
    await api.put("/schedules/k", json={"everyMs": 60_000, "jobType": "x"})
    before = await state(app)
    answer = await ask(api, route, ref, body, query, etag)
    after = await state(app)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        problem = msgspec.convert(answer.json(), Problem, strict=True)
        assert problem["code"] in (*codes_of(route), "NOT_FOUND")
        assert after == before
    elif route.answer is not None:
        assert msgspec.convert(answer.json(), route.answer, strict=True)
        assert answer.status_code in (route.status, route.also)


async def ask(
    client: httpx2.AsyncClient, route: Route, ref: str, body: Any, query: dict[str, str], etag: str | None
) -> httpx2.Response:
    content = None if route.body is None else msgspec.json.encode(body)
    headers = {"content-type": "application/json"} | ({"if-match": etag} if etag else {})
    parameters = query if route.query else {}
    path = route.path.replace("{ref}", ref)
    return await client.request(route.method, path, content=content, params=parameters, headers=headers)


@settings(max_examples=examples(300))
@given(raw=st.binary(max_size=60) | st.text(max_size=60).map(str.encode) | values.map(msgspec.json.encode))
def test_bytes_are_read_or_refused_by_name(raw: bytes) -> None:
    try:
        value = json_value(raw)
    except BodyUnreadable:
        return
    assert msgspec.json.decode(msgspec.json.encode(value)) == value
