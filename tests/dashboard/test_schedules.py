"""The list of schedules, and what is done to many of them."""

import re

import httpx2
import pytest

from duly import Cron, Duly, Every
from duly.app import paging
from duly.dashboard.schedules import ROWS
from duly.store.methods import reading
from tests.api.conftest import let_die
from tests.dashboard.conftest import log_in


async def make(app: Duly, key: str, **words: object) -> None:
    await app.schedules.create(key=key, timing=Every("1h"), job="x", **words)  # type: ignore[arg-type]


def keys_in(page: str) -> list[str]:
    return re.findall(r'aria-label="Tick ([\w-]+)"', page)


async def post(site: httpx2.AsyncClient, path: str, data: dict[str, object]) -> httpx2.Response:
    """Send a form as its page would."""
    page = await site.get("/schedules")
    token = re.findall(r'name="token" value="(\w+)"', page.text)
    return await site.post(path, data={"token": token[0] if token else await _token(site), **data})


async def _token(site: httpx2.AsyncClient) -> str:
    page = await site.get("/schedules:bulk", params={"action": "pause"})
    return str(re.findall(r'name="token" value="(\w+)"', page.text)[0])


@pytest.mark.parametrize(
    "query, expected",
    [
        ({}, ["nightly", "hourly", "asleep"]),
        ({"q": "IGHT"}, ["nightly"]),
        ({"q": "fin"}, ["nightly"]),
        ({"q": "ann"}, ["hourly"]),
        ({"tag": "finance"}, ["nightly"]),
        ({"owner": "ann"}, ["hourly"]),
        ({"enabled": "false"}, ["asleep"]),
        ({"enabled": "false", "q": "hour"}, []),
        ({"q": ""}, ["nightly", "hourly", "asleep"]),
    ],
)
async def test_it_is_narrowed_by_its_address(
    site: httpx2.AsyncClient, app: Duly, query: dict[str, str], expected: list[str]
) -> None:
    await make(app, "nightly", tags=["finance"])
    await make(app, "hourly", metadata={"owner_id": "ann"})
    await make(app, "asleep", enabled=False)

    page = await site.get("/schedules", params=query)

    assert page.status_code == 200
    assert sorted(keys_in(page.text)) == sorted(expected)


async def test_a_page_leads_to_the_next_one(site: httpx2.AsyncClient, app: Duly) -> None:
    await app.schedules.create_many([{"key": f"k{n:03}", "timing": Every("1h"), "job": "x"} for n in range(35)])

    first = await site.get("/schedules")
    link = re.findall(r'href="\./(schedules\?cursor=[^"]+)"', first.text)[0]
    second = await site.get(f"/{link}")

    assert len(keys_in(first.text)) == ROWS
    assert len(keys_in(second.text)) == 35 - ROWS
    assert "First page" in second.text


async def test_it_looks_on_until_something_fits_however_little_one_look_sees(
    site: httpx2.AsyncClient, app: Duly, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LOOKED_AT", 5)
    monkeypatch.setattr(paging, "LOOK_FOR", 0)
    keys = [*(f"hay-{n:02}" for n in range(40)), "needle"]
    await app.schedules.create_many([{"key": key, "timing": Every("1h"), "job": "x"} for key in keys])

    assert keys_in((await site.get("/schedules", params={"q": "needle"})).text) == ["needle"]


async def test_a_row_tells_when_in_words_and_in_its_own_zone(site: httpx2.AsyncClient, app: Duly) -> None:
    await app.schedules.create(key="k", timing=Cron("0 2 * * *", "America/Sao_Paulo"), job="x")

    page = (await site.get("/schedules")).text

    assert "At 02:00 every day" in page
    assert 'data-zone="America/Sao_Paulo"' in page


@pytest.mark.parametrize("query", [{"enabled": "perhaps"}, {"status": "odd"}, {"cursor": "x"}, {"q": "\0"}])
async def test_what_cannot_be_asked_is_said_and_not_guessed(site: httpx2.AsyncClient, query: dict[str, str]) -> None:
    page = await site.get("/schedules", params=query)

    assert page.status_code == 422
    assert "expected" in page.text


async def test_before_anything_is_done_its_number_is_shown(site: httpx2.AsyncClient, app: Duly) -> None:
    for n in range(7):
        await make(app, f"k{n}", tags=["t"])

    page = (await site.get("/schedules:bulk", params={"action": "pause", "tag": "t"})).text

    assert "Pause 7 schedules" in page
    assert "and 2 more" in page
    assert all(schedule.enabled for schedule in (await app.schedules.list()).items)


async def test_those_that_are_ticked_are_paused_with_a_reason(site: httpx2.AsyncClient, app: Duly) -> None:
    await make(app, "one")
    await make(app, "two")
    one = await app.schedules.get("one")
    assert one is not None

    answer = await post(site, "/schedules:bulk", {"action": "pause", "id": one.id, "reason": "on leave"})
    page = await site.get("/schedules")

    assert answer.status_code == 303
    assert "Paused 1 schedule." in page.text
    assert "on leave" in page.text
    two = await app.schedules.get("two")
    assert two is not None
    assert two.enabled
    assert "Paused 1 schedule." not in (await site.get("/schedules")).text, "it is said once"


async def test_all_that_match_are_done_beside(site: httpx2.AsyncClient, app: Duly) -> None:
    await make(app, "mine", tags=["t"])
    await make(app, "other")

    answer = await post(site, "/schedules:bulk", {"action": "delete", "tag": "t"})

    assert answer.headers["location"] == "./schedules?tag=t"
    operation = (await app.operations.list()).items[0]
    done = await app.operations.drive(operation.id)
    assert (done.kind, done.changed) == ("delete", 1)
    assert await app.schedules.get("other") is not None


async def test_a_form_without_its_token_changes_nothing(site: httpx2.AsyncClient, app: Duly) -> None:
    await make(app, "one")

    for data in ({}, {"token": ""}, {"token": "0" * 64}, {"token": "ä"}):
        answer = await site.post("/schedules:bulk", data={"action": "delete", "q": "one", **data})
        assert answer.status_code == 403
    cross = await site.post(
        "/schedules:bulk", data={"action": "delete", "q": "one"}, headers={"sec-fetch-site": "cross-site"}
    )

    assert cross.status_code == 403
    assert await app.schedules.get("one") is not None


async def test_who_may_only_read_is_shown_no_action_and_refused_one(site: httpx2.AsyncClient, app: Duly) -> None:
    await make(app, "one", metadata={"owner_id": "ann"})
    made = await app.keys.create("looker", scopes=["read"], owner="ann")
    await log_in(site, made.text)

    page = (await site.get("/schedules")).text
    token = re.findall(r'name="token" value="(\w+)"', page)[0]
    confirm = await site.get("/schedules:bulk", params={"action": "pause"})
    answer = await site.post("/schedules:bulk", data={"action": "pause", "q": "one", "token": token})

    assert "one" in page
    assert "Pause…" not in page
    assert "New schedule" not in page
    assert (confirm.status_code, answer.status_code) == (403, 403)


async def test_who_may_not_trigger_does_not(site: httpx2.AsyncClient, app: Duly) -> None:
    await make(app, "one", metadata={"owner_id": "ann"})
    made = await app.keys.create("writer", scopes=["read", "write"], owner="ann")
    await log_in(site, made.text)

    page = (await site.get("/schedules")).text
    answer = await post(site, "/schedules:bulk", {"action": "trigger", "q": "one", "back": "schedules"})
    said = (await site.get("/schedules")).text

    assert "Trigger…" not in page
    assert answer.headers["location"] == "./schedules"
    assert "scope trigger" in said
    assert (await app.runs.list()).items == []


async def test_others_are_neither_seen_nor_changed(site: httpx2.AsyncClient, app: Duly) -> None:
    await make(app, "of-bob", metadata={"owner_id": "bob"})
    bobs = await app.schedules.get("of-bob")
    assert bobs is not None
    made = await app.keys.create("ann", owner="ann")
    await log_in(site, made.text)

    page = (await site.get("/schedules", params={"owner": "bob"})).text
    await post(site, "/schedules:bulk", {"action": "delete", "id": bobs.id})

    assert "of-bob" not in page
    assert await app.schedules.get("of-bob") is not None


async def test_what_people_wrote_is_text_and_nothing_else(site: httpx2.AsyncClient, app: Duly) -> None:
    nasty = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
    made = await app.schedules.create(
        key="k", name=nasty, timing=Every("1h"), job="x", tags=["<b>t"], metadata={"owner_id": nasty[:60]}
    )
    await app.schedules.pause(made.id, reason=nasty)
    await let_die(app, "<u>job")

    pages = [(await site.get(path)).text for path in ("/", "/schedules", f"/schedules?q={'%3Cscript%3E'}")]

    for page in pages:
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "<b>t" not in page
        assert "<u>job" not in page
    assert "&lt;script&gt;" in pages[1]
