"""The list of schedules, in a real browser."""

import apsw
import pytest
from playwright.async_api import expect

from duly import Duly, Every, RunContext
from duly.core.schedule import Schedule
from tests.browser.conftest import IN_THE_BROWSERS_LOOP, Site

pytestmark = IN_THE_BROWSERS_LOOP

NASTY = "<img src=x onerror=\"alert('in')\"><script>alert('in')</script>'\"`${alert(1)}{{7*7}}</title>"
MANY = 100_000


async def test_one_of_many_thousands_is_found_while_typing(site: Site) -> None:
    await _fill(site.app, MANY)
    window = await site.open("/schedules")
    await window.page.wait_for_selector('[data-pulse="on"]')
    await window.page.evaluate("window.stayed = true")

    await window.page.keyboard.press("/")
    await window.page.keyboard.type("user 99777")

    await expect(window.page.locator("tbody tr")).to_have_count(1)
    await expect(window.page.locator("tbody tr")).to_contain_text("Digest for user 99777")
    assert "q=user+99777" in window.page.url
    assert await window.page.evaluate("window.stayed")
    assert await window.page.evaluate("document.activeElement.value") == "user 99777", "the focus is where it was"
    await window.page.reload()
    await expect(window.page.locator("tbody tr")).to_have_count(1)


async def test_those_that_match_are_paused_with_a_reason(site: Site) -> None:
    for key in ("finance-a", "finance-b", "other"):
        await site.app.schedules.create(key=key, timing=Every("1h"), job="x", tags=[key.partition("-")[0]])
    window = await site.open("/schedules")

    await window.page.fill("[data-search]", "finance")
    await expect(window.page.locator("tbody tr")).to_have_count(2)
    await window.page.click("text=Pause…")
    await expect(window.page.locator("h1")).to_have_text("Pause 2 schedules?")
    await window.page.fill("#reason", "books are closed")
    await window.page.click("button.primary")

    await expect(window.page.locator("tbody tr")).to_have_count(2)
    await expect(window.page.locator("tbody")).to_contain_text("books are closed")
    assert (await _schedule(site.app, "finance-a")).paused_reason == "books are closed"
    assert (await _schedule(site.app, "other")).enabled


async def test_ticks_stay_while_the_list_refreshes(site: Site) -> None:
    for key in ("one", "two"):
        await site.app.schedules.create(key=key, timing=Every("1h"), job="x")
    window = await site.open("/schedules")
    await window.page.wait_for_selector('[data-pulse="on"]')
    await window.page.check('[aria-label="Tick one"]')
    await expect(window.page.locator("[data-ticked]")).to_have_text("1 ticked:")

    await site.app.schedules.create(key="three", timing=Every("1h"), job="x")
    await expect(window.page.locator("tbody tr")).to_have_count(3)
    assert await window.page.is_checked('[aria-label="Tick one"]')
    await window.page.click("text=Delete…")
    await expect(window.page.locator(".keys li")).to_have_count(1)
    await window.page.click("button.primary")

    await expect(window.page.locator(".said")).to_have_text("Deleted 1 schedule.")
    await expect(window.page.locator("tbody tr")).to_have_count(2)


async def test_a_fire_shows_without_a_reload(site: Site, app: Duly) -> None:
    @app.job("blink", every="1s")
    async def blink(run: RunContext) -> None:
        return None

    window = await site.open("/")
    await window.page.wait_for_selector('[data-pulse="on"]')
    await window.page.evaluate("window.stayed = true")
    await app.start()
    try:
        await expect(window.page.locator("#part-newest")).to_contain_text("blink")
        await expect(window.page.locator("#part-newest")).to_contain_text("completed")
        await expect(window.page.locator("#part-coming")).to_contain_text("blink")
    finally:
        await app.stop()
    assert await window.page.evaluate("window.stayed")


async def test_it_works_without_a_script(site: Site) -> None:
    for key in ("one", "two"):
        await site.app.schedules.create(key=key, timing=Every("1h"), job="x")
    window = await site.open("/schedules", script=False)

    await window.page.fill("[data-search]", "two")
    await window.page.click("text=Search")
    await expect(window.page.locator("tbody tr")).to_have_count(1)
    await window.page.click("text=Pause…")
    await window.page.click("button.primary")

    await expect(window.page.get_by_text("Pause has begun")).to_be_visible()


@pytest.mark.parametrize("path", ["/", "/schedules", "/schedules?q={q}", "/schedules:bulk?action=pause&q={q}"])
async def test_what_people_wrote_is_never_run(site: Site, path: str) -> None:
    """A dialog, a violation of the policy or an error on the console fails it; see ``Window``."""
    made = await site.app.schedules.create(
        key="k", name=NASTY, description=NASTY, timing=Every("1h"), job="x", tags=[NASTY[:90]], payload={"a": NASTY},
        metadata={"owner_id": NASTY[:120]},
    )  # fmt: skip
    await site.app.schedules.pause(made.id, reason=NASTY)
    window = await site.open(path.replace("{q}", "%3Cimg%20src%3Dx"))

    text = await window.page.inner_text("main")

    assert path == "/" or NASTY[:10] in text
    assert await window.page.locator("main img, main script").count() == 0


async def _fill(app: Duly, many: int) -> None:
    """Copies of one schedule, written beside the app: to create so many takes longer than to look for one."""
    made = await app.schedules.create(key="user-0", name="Digest for user 0", timing=Every("1h"), job="digest")
    own = {
        "id": "substr(id, 1, 24) || printf('%012x', n)",
        "schedule_id": "substr(schedule_id, 1, 24) || printf('%012x', n)",
        "key": "'user-' || n",
        "name": "'Digest for user ' || n",
    }
    connection = apsw.Connection(app.url.removeprefix("sqlite:///"))
    with connection:
        for table, id in (("duly_schedules", "id"), ("duly_revisions", "schedule_id"), ("duly_cursors", "schedule_id")):
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            connection.execute(
                f"WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {many})"
                f" INSERT INTO {table} ({', '.join(columns)})"
                f" SELECT {', '.join(own.get(name, name) for name in columns)} FROM numbers, {table} WHERE {id} = ?",
                (made.id,),
            )
    connection.close()


async def _schedule(app: Duly, key: str) -> Schedule:
    found = await app.schedules.get(key)
    assert found is not None
    return found
