"""The frame of every page: who gets in, what headers say, where it may be mounted."""

import re
from importlib.resources import files

import httpx2
import pytest
from fastapi import FastAPI

from duly import Duly
from duly.dashboard import dashboard
from duly.dashboard.pages import PAGES
from duly.dashboard.sessions import LASTS
from duly.testing import ManualClock
from tests.api.conftest import client_of
from tests.counting import at_least
from tests.dashboard.conftest import log_in

NEEDS = {"/schedules:bulk": "?action=pause"}
PLAIN = [page.path + NEEDS.get(page.path, "") for page in PAGES if "{" not in page.path]


@pytest.mark.parametrize("path", [*PLAIN, "/login"])
async def test_every_page_forbids_what_it_does_not_need(site: httpx2.AsyncClient, path: str) -> None:
    answer = await site.get(path)

    assert answer.status_code == 200, answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", answer.text)
    assert not re.search(r"(?:href|src|action)=\"(?:https?:)?//", answer.text)


@pytest.mark.parametrize("path", PLAIN)
async def test_once_there_is_a_key_every_page_asks_for_it(site: httpx2.AsyncClient, app: Duly, path: str) -> None:
    await app.keys.create("ops", scopes=["admin"])

    answer = await site.get(path)
    part = await site.get(path, headers={"x-duly-parts": "rows"})

    assert answer.status_code == 303
    assert answer.headers["location"].lstrip("./").startswith("login?to=")
    assert part.status_code == 401
    assert part.text == ""


async def test_a_login_lasts_for_half_a_day(site: httpx2.AsyncClient, app: Duly, clock: ManualClock) -> None:
    made = await app.keys.create("ops", scopes=["admin"])
    answer = await log_in(site, made.text)

    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 303
    assert "HttpOnly; SameSite=Strict" in cookie
    assert made.text not in cookie
    assert (await site.get("/")).status_code == 200
    await clock.advance(seconds=LASTS)
    assert (await site.get("/")).status_code == 303


async def test_a_revoked_key_ends_its_logins_at_once(site: httpx2.AsyncClient, app: Duly) -> None:
    made = await app.keys.create("ops", scopes=["admin"])
    await log_in(site, made.text)

    await app.keys.revoke(made.key.id)

    assert (await site.get("/")).status_code == 303


async def test_a_cookie_that_was_changed_is_nobodys(site: httpx2.AsyncClient, app: Duly) -> None:
    reader = await app.keys.create("reader", scopes=["read"])
    admin = await app.keys.create("admin", scopes=["admin"])
    cookie = (await log_in(site, reader.text)).headers["set-cookie"].partition(";")[0]
    site.cookies.clear()

    forged = cookie.replace(reader.key.id, admin.key.id)

    assert (await site.get("/", headers={"cookie": cookie})).status_code == 200
    assert (await site.get("/", headers={"cookie": forged})).status_code == 303
    assert (await site.get("/", headers={"cookie": "duly_session=a.b.c.d"})).status_code == 303


async def test_a_logout_ends_the_session_also_for_who_copied_its_cookie(site: httpx2.AsyncClient, app: Duly) -> None:
    made = await app.keys.create("ops", scopes=["admin"])
    cookie = (await log_in(site, made.text)).headers["set-cookie"].partition(";")[0]
    token = re.findall(r'name="token" value="(\w+)"', (await site.get("/")).text)[0]

    refused = await site.post("/logout", data={"token": "0" * 64})
    done = await site.post("/logout", data={"token": token})
    site.cookies.clear()

    assert refused.headers["location"] == "./"
    assert done.headers["location"] == "./login"
    assert (await site.get("/", headers={"cookie": cookie})).status_code == 303


async def test_a_wrong_key_and_one_that_may_not_read_get_no_session(site: httpx2.AsyncClient, app: Duly) -> None:
    worker = await app.keys.create("worker", scopes=["worker"])
    answers = [await log_in(site, "duly_live_" + "a" * 51), await log_in(site, worker.text), await log_in(site, "")]

    assert [answer.status_code for answer in answers] == [401, 401, 401]
    assert not any("set-cookie" in answer.headers for answer in answers)


@pytest.mark.parametrize("to", ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)"])
async def test_a_login_leads_to_no_other_site(site: httpx2.AsyncClient, app: Duly, to: str) -> None:
    made = await app.keys.create("ops", scopes=["admin"])

    answer = await site.post("/login", data={"key": made.text, "to": to})

    assert answer.headers["location"] == "./"


async def test_a_link_from_another_site_finds_who_is_logged_in(site: httpx2.AsyncClient, app: Duly) -> None:
    """The browser keeps a strict cookie back; the page asks again by itself, and then it is there."""
    await app.keys.create("ops", scopes=["admin"])

    answer = await site.get("/schedules", headers={"sec-fetch-site": "cross-site"})

    assert answer.status_code == 200
    assert 'http-equiv="refresh"' in answer.text


async def test_it_works_under_any_prefix(app: Duly) -> None:
    web = FastAPI()
    web.mount("/ops/duly", dashboard(app))
    async with client_of(web, "http://localhost") as client:
        page = await client.get("/ops/duly/schedules")
        style = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page.text)[0]
        links = set(re.findall(r'href="([^"]+)"', page.text))
        shown = await client.get(f"http://localhost/ops/duly/{style}")
        missing = await client.get("/ops/duly/nonsense")

    assert page.status_code == shown.status_code == 200
    at_least(links, 20, "links")
    assert not [link for link in links if not link.startswith(("./", "../", "#", "?"))]
    assert missing.status_code == 404
    assert "Not found" in missing.text


async def test_mounted_without_a_key_it_is_for_this_machine_alone(app: Duly) -> None:
    async with client_of(dashboard(app), "http://localhost") as client:
        here = await client.get("/")
        proxied = await client.get("/", headers={"x-forwarded-for": "203.0.113.7"})
        rebound = await client.get("/", headers={"host": "evil.example"})

    assert here.status_code == 200
    assert [proxied.status_code, rebound.status_code] == [401, 421]
    assert "duly key create" in proxied.text


async def test_a_file_is_kept_for_ever_under_the_name_of_its_version(site: httpx2.AsyncClient) -> None:
    path = re.findall(r'src="\./(static/[^"]+time\.js)"', (await site.get("/")).text)[0]

    answer = await site.get(f"/{path}")
    again = await site.get(f"/{path}", headers={"if-none-match": answer.headers["etag"]})
    old = await site.get("/static/0123456789ab/time.js")

    assert "immutable" in answer.headers["cache-control"]
    assert (again.status_code, again.content) == (304, b"")
    assert "immutable" not in old.headers["cache-control"]
    assert (await site.get(f"/{path}".replace("time.js", "..%2Fpages.py"))).status_code == 404


async def test_a_page_waits_for_one_script_and_names_all_others_so_that_none_waits_for_another(
    site: httpx2.AsyncClient,
) -> None:
    page = (await site.get("/")).text
    asked = re.findall(r'<(?:script|link)[^>]* (?:src|href)="\./static/\w+/([^"]+)"', page)
    folder = re.findall(r'src="\.(/static/\w+/)time\.js"', page)[0]
    named = re.findall(r'data-scripts="([^"]+)"', page)[0].split()

    assert asked == ["style.css", "icon.svg", "time.js"]
    assert {"main.js", "live.js", "morph.js"} <= set(named)
    for name in named:
        body = (await site.get(folder + name)).text
        assert set(re.findall(r'from "\./(\w+\.js)"', body)) <= {*named, "time.js"}, name


async def test_styles_are_written_apart_and_sent_as_one(site: httpx2.AsyncClient) -> None:
    path = re.findall(r'href="\.(/static/[^"]+\.css)"', (await site.get("/")).text)[0]
    folder = files("duly.dashboard") / "static"
    sent = (await site.get(path)).text

    for name in ("style.css", "views.css"):
        assert (folder / name).read_text() in sent


async def test_the_api_beside_it_is_as_it_was(site: httpx2.AsyncClient) -> None:
    missing = await site.get("/nonsense", headers={"accept": "application/json"})
    page = await site.get("/nonsense", headers={"accept": "text/html,*/*"})
    below = await site.get("/api/v1/nonsense", headers={"accept": "text/html,*/*"})

    assert missing.json()["code"] == below.json()["code"] == "NOT_FOUND"
    assert (page.status_code, "there is no such page" in page.text) == (404, True)
    assert (await site.get("/docs")).status_code == 200
    assert (await site.get("/api/v1/schedules")).json() == {"items": [], "nextCursor": None}


async def test_an_address_that_forms_send_to_is_a_page_to_a_person_and_a_problem_to_a_program(
    site: httpx2.AsyncClient,
) -> None:
    page = await site.get("/schedules/one/pause", headers={"accept": "text/html,*/*"})
    problem = await site.get("/schedules/one/pause", headers={"accept": "application/json"})

    assert (page.status_code, problem.status_code) == (405, 405)
    assert "a form sends to it" in page.text
    assert page.headers["allow"] == problem.headers["allow"] == "POST"
    assert problem.json()["code"] == "METHOD_NOT_ALLOWED"


async def test_a_form_of_a_session_that_is_over_leads_back_to_its_page(site: httpx2.AsyncClient, app: Duly) -> None:
    data = {"token": "0" * 64, "back": "schedules/one?from=2026-01-01", "action": "pause"}

    stale = await site.post("/schedules:bulk", data=data)
    elsewhere = await site.post("/schedules:bulk", data={**data, "back": "//elsewhere.example/"})
    await app.keys.create("admin", scopes=["admin"])
    over = await site.post("/schedules:bulk", data=data)

    assert stale.status_code == 403
    assert "nothing was done" in stale.text
    assert 'href="./schedules/one?from=2026-01-01"' in stale.text
    assert "elsewhere.example" not in elsewhere.text
    assert over.headers["location"] == "./login?to=%2Fschedules%2Fone%3Ffrom%3D2026-01-01"


def test_every_template_and_every_script_has_a_page_or_another_that_uses_it() -> None:
    """One that nobody uses was left behind."""
    folder = files("duly.dashboard")
    templates = {one.name: one.read_text() for one in (folder / "templates").iterdir()}
    scripts = {one.name: one.read_text() for one in (folder / "static").iterdir() if not one.name.endswith(".css")}
    code = "".join(one.read_text() for one in folder.iterdir() if one.name.endswith(".py"))
    whole = code + "".join(templates.values()) + "".join(scripts.values())
    at_least(templates, 25, "templates")
    at_least(scripts, 13, "scripts")

    assert {name for name in [*templates, *scripts] if name not in whole} == set()
