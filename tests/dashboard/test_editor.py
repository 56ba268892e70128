"""Making and changing a schedule in a form: previews, errors where they belong, and two people at once."""

import re
from html import unescape
from typing import Any

import httpx2
import pytest

from duly import Cron, Duly
from tests.dashboard.test_pages import FIELDS, send

NEW = "/schedules/new"
WHOLE = {
    "name": "Nightly", "key": "nightly", "aim": "jobType", "aimed": "report", "when": "cron",
    "cronExpression": "30 2 * * *", "timezone": "Europe/Berlin",
}  # fmt: skip


async def test_a_schedule_is_made_once_however_often_it_is_sent(site: httpx2.AsyncClient, app: Duly) -> None:
    hidden = dict(FIELDS.findall((await site.get(NEW)).text))
    first = await site.post(NEW, data={**hidden, **WHOLE, "jobPayload": '{"a": [1]}', "tags": "x, y"})
    second = await site.post(NEW, data={**hidden, **WHOLE})
    assert first.status_code == second.status_code == 303
    assert first.headers["location"] == second.headers["location"]
    made = await app.schedules.get("nightly")
    assert made is not None
    assert (made.name, made.job, made.payload, made.tags) == ("Nightly", "report", {"a": [1]}, ("x", "y"))


async def test_a_preview_says_it_in_words_and_stores_nothing(site: httpx2.AsyncClient, app: Duly) -> None:
    answer = await send(site, NEW, f"{NEW}/preview", **WHOLE, **{"dst/fold": "both"})
    text = unescape(answer.text)
    assert answer.status_code == 200
    assert "At 02:30 every day, Europe/Berlin" in text
    assert text.count('<li>\n<span class="mono">') == 10
    assert "duly schedule create nightly" in text
    assert 'value="30 2 * * *"' in text
    assert (await app.schedules.list()).items == []


@pytest.mark.parametrize(
    "values, field, told",
    [
        ({"cronExpression": "0 25 * * *"}, "cronExpression", "expected 0-23"),
        ({"timezone": "Berlin"}, "timezone", "expected 'UTC' or an IANA name"),
        ({"when": "every", "everyMs": "soon"}, "everyMs", "expected a whole number"),
        ({"when": "weekly", "weeklyTime": ""}, "weeklyTime", "expected a time of day"),
        ({"maxAttempts": "101"}, "maxAttempts", "expected a whole number from 1 to 100"),
        ({"retryPolicy/delaySeconds": "-1"}, "retryPolicy/delaySeconds", "expected a number from 0"),
        ({"key": "no spaces"}, "key", "expected"),
        ({"aim": "topic", "aimed": "Not A Topic"}, "aimed", "expected"),
        ({"jobPayload": "{"}, "jobPayload", "expected a JSON value"),
        ({"calendars": "nowhere"}, "calendars", "nowhere"),
    ],
)
async def test_an_error_stands_beside_its_field_and_nothing_typed_is_lost(
    site: httpx2.AsyncClient, app: Duly, values: dict[str, Any], field: str, told: str
) -> None:
    answer = await send(site, NEW, NEW, **{**WHOLE, **values})
    text = unescape(answer.text)
    assert answer.status_code == 422
    place = re.search(rf'id="wrong-{field.replace("/", "-")}">(.*?)</span></div>', text, re.S)
    assert place is not None
    assert told in place[1]
    closed = re.findall(r'<details class="panel">(.*?)</details>', text, re.S)
    assert not any(told in hidden for hidden in closed), "an error that nobody sees"
    assert 'value="Nightly"' in text
    assert (await app.schedules.list()).items == []


async def test_what_the_api_says_of_a_body_is_what_the_form_says(site: httpx2.AsyncClient) -> None:
    body = {"name": "x", "jobType": "y", "cronExpression": "0 25 * * *", "timezone": "Berlin", "maxAttempts": 0}
    problem = (await site.post("/api/v1/schedules", json=body)).json()
    values = {"name": "x", "aimed": "y", "cronExpression": "0 25 * * *", "timezone": "Berlin", "maxAttempts": "0"}
    text = unescape((await send(site, NEW, NEW, when="cron", aim="jobType", **values)).text)
    assert len(problem["errors"]) == 3
    for error in problem["errors"]:
        assert error["detail"] in text


async def test_a_key_that_is_taken_is_told_beside_the_key(site: httpx2.AsyncClient, app: Duly) -> None:
    await app.schedules.create(key="nightly", timing=Cron("0 1 * * *"), job="x")
    answer = await send(site, NEW, NEW, **WHOLE)
    assert answer.status_code == 422
    assert re.search(r'id="wrong-key"><span class="wrong"', answer.text)


async def test_what_was_not_written_yet_is_not_wrong_yet(site: httpx2.AsyncClient) -> None:
    answer = await send(site, NEW, f"{NEW}/preview", when="cron", cronExpression="0 2 * * *", aim="jobType", aimed="")
    assert 'class="wrong"' not in answer.text


async def test_one_like_another_begins_with_its_values(site: httpx2.AsyncClient, app: Duly) -> None:
    made = await app.schedules.create(key="a", timing=Cron("5 4 * * *", timezone="Asia/Tokyo"), job="report")
    text = unescape((await site.get(f"{NEW}?like={made.id}")).text)
    assert 'value="5 4 * * *"' in text
    assert 'value="Asia/Tokyo"' in text
    assert "At 04:05 every day, Asia/Tokyo" in text


async def edit_of(site: httpx2.AsyncClient, id: str) -> dict[str, str]:
    """The form as a browser would send it unchanged."""
    text = (await site.get(f"/schedules/{id}/edit")).text
    values = {name: unescape(value) for name, value in FIELDS.findall(text)}
    for name, value in re.findall(r'name="([^"]+)" aria-describedby[^>]* value="([^"]*)"', text):
        values[name] = unescape(value)
    for name, inner in re.findall(r'<select id="[^"]*" name="([^"]+)"[^>]*>(.*?)</select>', text, re.S):
        chosen = re.search(r'value="([^"]*)" selected', inner)
        values[name] = chosen[1] if chosen else ""
    for name, inner in re.findall(r'<textarea id="[^"]*" name="([^"]+)"[^>]*>(.*?)</textarea>', text, re.S):
        values[name] = unescape(inner)
    way = re.search(r'name="when" value="(\w+)" checked', text)
    assert way is not None
    return {**values, "when": way[1]}


async def test_an_edit_that_changes_nothing_changes_nothing(site: httpx2.AsyncClient, app: Duly) -> None:
    made = await app.schedules.create(key="a", timing=Cron("5 4 * * *"), job="x", payload={"a": 1}, timeout=None)
    values = await edit_of(site, made.id)
    assert (await site.post(f"/schedules/{made.id}/edit", data=values)).status_code == 303
    after = await app.schedules.get("a")
    assert after is not None
    assert after.revision == made.revision


async def test_an_edit_writes_what_was_changed_and_who_did(site: httpx2.AsyncClient, app: Duly) -> None:
    made = await app.schedules.create(key="a", timing=Cron("5 4 * * *"), job="x", tags=["t"])
    values = await edit_of(site, made.id)
    await site.post(f"/schedules/{made.id}/edit", data={**values, "cronExpression": "6 4 * * *", "tags": ""})
    after = await app.schedules.get("a")
    assert after is not None
    assert (after.cron_expression, after.tags, after.job) == ("6 4 * * *", (), "x")


async def test_two_who_edit_at_once_are_told_of_each_other_and_lose_nothing(
    site: httpx2.AsyncClient, app: Duly
) -> None:
    made = await app.schedules.create(key="a", timing=Cron("5 4 * * *"), job="x")
    mine = {**await edit_of(site, made.id), "cronExpression": "6 4 * * *", "name": "Mine"}
    await app.schedules.update(made.id, name="Theirs", queue="slow", by="key:bob")

    refused = await site.post(f"/schedules/{made.id}/edit", data=mine)
    text = unescape(refused.text)
    assert refused.status_code == 412
    assert "Somebody else changed it while you did" in text
    assert re.search(r'<td>name</td><td><code>"Theirs"</code></td><td><code>"Mine"</code> <b>replaces it</b>', text)
    assert re.search(r'<td>queue</td><td><code>"slow"</code></td><td>not touched', text)
    unchanged = await app.schedules.get("a")
    assert unchanged is not None
    assert unchanged.cron_expression == "5 4 * * *"

    again = {**mine, **{name: unescape(value) for name, value in FIELDS.findall(refused.text)}}
    assert (await site.post(f"/schedules/{made.id}/edit", data=again)).status_code == 303
    after = await app.schedules.get("a")
    assert after is not None
    assert (after.name, after.cron_expression, after.queue) == ("Mine", "6 4 * * *", "slow")


async def test_a_form_whose_memory_was_tampered_with_changes_its_own_fields_only(
    site: httpx2.AsyncClient, app: Duly
) -> None:
    made = await app.schedules.create(key="a", timing=Cron("5 4 * * *"), job="x")
    values = await edit_of(site, made.id)
    for memory in ("", "[", "[1]", '"x"'):
        answer = await site.post(f"/schedules/{made.id}/edit", data={**values, "before": memory, "revision": "9" * 40})
        assert answer.status_code in (303, 422)
    after = await app.schedules.get("a")
    assert after is not None
    assert after.cron_expression == "5 4 * * *"
