"""Where errors point: to the item of a list, to the member of an object, and to each of them that is wrong."""

from typing import Any

import httpx2
import pytest

BASE = {"name": "x", "everyMs": 60_000, "jobType": "x"}
WEBHOOK = {"kind": "webhook", "url": "https://example.com/hook"}
UNKNOWN = "01890000-0000-7000-8000-000000000000"


def aimed(**target: Any) -> dict[str, Any]:
    return {"name": "x", "everyMs": 60_000, "target": WEBHOOK | target}


@pytest.mark.parametrize(
    "method, path, body, pointers",
    [
        ("POST", "/schedules", BASE | {"tags": ["a", 5, "", 7]}, ["/tags/1", "/tags/2", "/tags/3"]),
        ("POST", "/schedules", BASE | {"excludeDates": ["2027-01-01", "2027-02-30"]}, ["/excludeDates/1"]),
        ("POST", "/schedules", BASE | {"excludeDates": [5, "2027-01-01", None]},
         ["/excludeDates/0", "/excludeDates/2"]),
        ("POST", "/schedules", BASE | {"calendars": ["a", "no spaces"]}, ["/calendars/1"]),
        ("POST", "/schedules", BASE | {"metadata": {"ownerId": 5, "tenantId": 6}},
         ["/metadata/ownerId", "/metadata/tenantId"]),
        ("POST", "/schedules", aimed(headers={"a.b/c~_d": "x"}), ["/target/headers/a.b~1c~0_d"]),
        ("POST", "/schedules", aimed(time_out=5), ["/target/time_out"]),
        ("PUT", "/calendars/c", {"dates": ["2027-01-01", "2027-02-30"]}, ["/dates/1"]),
        ("PUT", "/calendars/c", {"yearly": ["12-25", "02-31"]}, ["/yearly/1"]),
        ("PUT", "/calendars/c", {"ranges": [{"from": "2027-01-01", "to": "2027-01-02"}, {"from": "2027-01-01"}]},
         ["/ranges/1/to"]),
        ("PUT", "/calendars/c", {"ranges": [{"from": "2027-01-01", "to": "2027-02-30"}]}, ["/ranges/0/to"]),
        ("PUT", "/calendars/c", {"ranges": [{"from": "2027-01-02", "to": "2027-01-01"}]}, ["/ranges/0"]),
        ("PUT", "/calendars/c", {"ranges": [{"from": 5, "till": "x"}, 7]},
         ["/ranges/0/from", "/ranges/0/till", "/ranges/0/to", "/ranges/1"]),
        ("POST", "/schedules:apply", {"schedules": [BASE | {"key": "a"}, 5, None]}, ["/schedules/1", "/schedules/2"]),
        ("POST", "/schedules:apply", {"schedules": [BASE | {"key": "a"}] * 2}, ["/schedules/1/key"]),
        ("POST", "/schedules:apply", {"schedules": [BASE | {"key": "a"}, BASE | {"key": "b", "tags": ["", "x", ""]}]},
         ["/schedules/1/tags/0", "/schedules/1/tags/2"]),
        ("POST", "/schedules:apply", {"schedules": [], "keep": ["x", 5, 6]}, ["/keep/1", "/keep/2"]),
        ("POST", "/schedules:apply", {"schedules": [], "set": ""}, ["/set"]),
        ("POST", "/dead-letters:redrive", {"ids": [UNKNOWN, 5, "x" * 37]}, ["/ids/1", "/ids/2"]),
        ("POST", "/keys", {"name": "ci", "scopes": []}, ["/scopes"]),
        ("POST", "/keys", {"name": "ci", "scopes": ["read", "fly", "swim"]}, ["/scopes/1", "/scopes/2"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_every_place_is_named(
    api: httpx2.AsyncClient, method: str, path: str, body: Any, pointers: list[str]
) -> None:
    answer = await api.request(method, path, json=body)
    assert answer.status_code == 422, answer.text
    assert sorted(error["pointer"] for error in answer.json()["errors"]) == pointers


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_what_there_is_no_room_to_tell_is_counted(api: httpx2.AsyncClient) -> None:
    answer = await api.post("/schedules:apply", json={"schedules": [], "keep": [5] * 70})
    assert len(answer.json()["errors"]) == 50
    assert "and 69 more, the first 50 in errors" in answer.json()["detail"]
