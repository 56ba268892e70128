"""The frame of every page, in a real browser."""

import asyncio

from playwright.async_api import Route, expect

from duly import Every
from tests.browser.conftest import IN_THE_BROWSERS_LOOP, Site
from tests.dashboard.test_words import DISTANCES

pytestmark = IN_THE_BROWSERS_LOOP


async def test_a_change_shows_without_a_reload(site: Site) -> None:
    window = await site.open("/schedules")
    await window.page.wait_for_selector('[data-pulse="on"]')
    await window.page.evaluate("window.stayed = true")

    await site.app.schedules.create(key="made-later", timing=Every("1h"), job="x")

    await window.page.wait_for_selector("text=made-later")
    assert await window.page.evaluate("window.stayed")


async def test_light_and_dark_can_be_switched_and_are_remembered(site: Site) -> None:
    window = await site.open()
    await window.page.wait_for_selector('[data-pulse="on"]')
    background = "getComputedStyle(document.body).backgroundColor"
    light = await window.page.evaluate(background)

    await window.page.click("[data-theme-switch]")
    dark = await window.page.evaluate(background)
    await window.visit("/schedules")

    assert light != dark
    assert await window.page.evaluate(background) == dark


async def test_a_page_is_reached_and_left_with_the_keyboard_alone(site: Site) -> None:
    window = await site.open()
    await window.page.keyboard.press("Tab")
    assert await window.page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(3):
        await window.page.keyboard.press("Tab")
    outline = await window.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    await window.page.keyboard.press("Enter")
    await window.page.wait_for_url("**/schedules")

    assert outline == "solid"


async def test_whoever_logs_in_with_a_key_that_only_reads_sees_no_action(site: Site) -> None:
    made = await site.app.keys.create("looker", scopes=["read"], owner="me")
    window = await site.open("/schedules")
    assert window.page.url.endswith("/login?to=%2Fschedules")

    await window.page.fill("#key", "duly_live_nonsense")
    await window.page.click("button")
    await window.page.wait_for_selector("#wrong")
    await window.page.fill("#key", made.text)
    await window.page.click("button")
    await window.page.wait_for_url("**/schedules")

    assert await window.page.inner_text(".who") == "looker read only"
    await window.page.click("text=Log out")
    await window.page.wait_for_url("**/login")
    window.allowed.append("401")


async def test_the_script_tells_a_distance_as_the_server_does(site: Site) -> None:
    """Else a page would change its words, and be laid out again, as soon as its script runs."""
    page = (await site.open()).page
    script = await page.evaluate("document.querySelector('script').src")

    told = await page.evaluate(
        "async ([script, seconds]) => { const { distance } = await import(script); return seconds.map(distance); }",
        [script, list(DISTANCES)],
    )

    assert told == list(DISTANCES.values())


async def test_what_is_typed_before_the_scripts_came_is_looked_for(site: Site) -> None:
    for key in ("one", "two"):
        await site.app.schedules.create(key=key, timing=Every("1h"), job="x")
    window = await site.open("/login")
    typed = asyncio.Event()

    async def later(route: Route) -> None:
        await typed.wait()
        await route.continue_()

    await window.page.route("**/main.js", later)
    await window.visit("/schedules")
    await window.page.fill("[data-search]", "two")
    typed.set()

    await expect(window.page.locator("tbody tr")).to_have_count(1)
