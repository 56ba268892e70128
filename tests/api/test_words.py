"""What a refusal says: the value as it was sent, under the name it was sent by."""

from typing import Any

import httpx2
import pytest

HOURLY = {"name": "n", "jobType": "x"}


@pytest.mark.parametrize(
    "path, body, pointer, words",
    [
        (
            "/schedules",
            HOURLY | {"cronExpression": "0 2 * * *", "anchor": "2026-01-01T00:00:00Z"},
            "/anchor",
            "anchor is '2026-01-01T00:00:00Z'; expected nothing here, since it does not go with cronExpression",
        ),
        (
            "/schedules",
            HOURLY | {"intervalMinutes": 1_000_000_000},
            "/intervalMinutes",
            "intervalMinutes is 1000000000; expected at most 5270400",
        ),
        (
            "/worker/heartbeat",
            {"session": "nope"},
            "/session",
            "session is 'nope'; expected the digits that the first claim answered, as text",
        ),
        ("/keys", {"name": "k", "expiresAt": "2001-01-01T00:00:00Z"}, "/expiresAt", "expiresAt is 2001-01-01"),
        ("/dead-letters:redrive", {"ids": ["x"]}, "/ids/0", "'x'; expected a UUID"),
    ],
)
async def test_a_refusal_names_what_was_sent(
    api: httpx2.AsyncClient, path: str, body: dict[str, Any], pointer: str, words: str
) -> None:
    answer = await api.post(path, json=body)
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["pointer"]) == (422, pointer)
    assert words in error["detail"]
