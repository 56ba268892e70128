"""Every page in a real browser, wide and narrow, with long, foreign and hostile texts in all that is stored."""

import pytest
from playwright.async_api import Page, expect

from duly import Duly, Every, Fatal, Retry, WorkflowContext
from tests.browser.conftest import IN_THE_BROWSERS_LOOP, Site

pytestmark = IN_THE_BROWSERS_LOOP

NASTY = "<img src=x onerror=\"alert('in')\"><script>alert('in')</script>'\"`${alert(1)}{{7*7}}</title>"
FITTING = ("/", "/schedules", "/runs", "/dead-letters", "/upcoming", "/queues")
"""Lists that people look at on the way: what is in them is seen without moving them sideways."""

PAGES = (
    *FITTING, "/dead-letters:all", "/schedules/nasty", "/schedules/nasty/edit", "/schedules/nasty/trigger",
    "/schedules/new?like=nasty", "/runs/{dead}", "/runs/{dead}/redrive", "/runs/{flow}", "/forecast", "/calendars",
    "/calendars:edit?name=holidays", "/queues:limits?queue=mail",
    "/instances", "/audit",
)  # fmt: skip


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
async def test_what_people_wrote_is_never_run_and_never_breaks_a_page(site: Site, app: Duly, phone: bool) -> None:
    """A dialog, a violation of the policy or an error on the console fails it; see ``Window``."""
    dead, flow = await _fill(app)
    window = await site.open("/", phone=phone)

    for path in PAGES:
        await window.visit(path.format(dead=dead, flow=flow))
        assert await window.page.locator("main img, main script:not([src])").count() == 0, path
        assert await _sideways(window.page, "html") == 0, path
        if path in FITTING:
            assert await _sideways(window.page, ".scroll") == 0, path


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
async def test_the_stack_of_a_failed_attempt_is_folded_and_can_be_read_and_copied(
    site: Site, app: Duly, phone: bool
) -> None:
    @app.job("pay", retry=Retry(max_attempts=1))
    async def pay() -> None:
        raise Fatal("refused " + "x" * 200)

    async with app:
        run = await app.enqueue("pay")
        await app.runs.wait(run.id, timeout=30)
        window = await site.open(f"/runs/{run.id}", phone=phone)

        stack = window.page.locator("details.stack")
        await expect(stack.locator("pre")).to_be_hidden()
        await stack.locator("summary").click()
        await expect(stack.locator("pre")).to_contain_text("test_looks.py")
        await expect(stack.get_by_role("button", name="Copy")).to_be_visible()
        assert await _sideways(window.page, "html") == 0


async def test_on_a_phone_the_name_of_the_page_is_seen_among_the_others(site: Site) -> None:
    window = await site.open("/audit", phone=True)

    await expect(window.page.locator("nav [aria-current=page]")).to_be_in_viewport(ratio=0.95)


async def test_all_dead_letters_of_a_page_are_ticked_at_once(site: Site, app: Duly) -> None:
    await _fill(app)
    window = await site.open("/dead-letters")

    await window.page.check("[data-all]")
    await expect(window.page.locator("[data-ticked]")).to_have_text("2 ticked:")
    await window.page.click("text=Acknowledge picked")

    await expect(window.page.locator(".said")).to_have_text("2 runs acknowledged")
    await expect(window.page.locator("main")).to_contain_text("There are none")


async def test_a_forecast_is_on_the_clock_of_its_reader(site: Site, app: Duly) -> None:
    await app.schedules.create(key="often", timing=Every("10m"), job="x")
    window = await site.open("/forecast")

    # In one look, since the next minute brings other marks.
    await window.page.wait_for_function(
        """() => {
            const mark = document.querySelector("text[data-minute]");
            const at = new Date(mark.dataset.minute);
            return mark.textContent === at.toLocaleTimeString("en-GB", {hour: "2-digit", minute: "2-digit"});
        }"""
    )


async def _fill(app: Duly) -> tuple[str, str]:
    """Something nasty of every kind; answers a dead run and one of a workflow."""

    @app.job(NASTY[:90])
    async def pay() -> None:
        raise Fatal(NASTY)

    @app.workflow("flow", version="1")
    async def flow(ctx: WorkflowContext, input: object) -> str:
        async def step() -> str:
            return NASTY

        await ctx.step(NASTY[:90], step)
        raise Fatal(NASTY)

    await app.schedules.create(
        key="nasty", name=NASTY, description=NASTY, timing=Every("1h"), job=NASTY[:90], tags=[NASTY[:90]],
        payload={NASTY: NASTY}, metadata={"owner_id": NASTY[:120], "tenant_id": NASTY[:90], "correlation_id": NASTY},
    )  # fmt: skip
    await app.schedules.pause("nasty", reason=NASTY)
    await app.schedules.create(key="k" * 200, name="W" * 200, timing=Every("1d"), job="j" * 100)
    await app.schedules.create(key="rtl", name="שלום עולם " * 15, timing=Every("2h"), job="تقرير-ليلي")
    await app.queues.pause("mail", NASTY)
    await app.calendars.put("holidays", yearly=["12-25"], description=NASTY)
    await app.start()
    dead = await app.enqueue(NASTY[:90])
    begun = await app.workflows.start("flow", {"a": NASTY})
    for run in (dead, begun):
        await app.runs.wait(run.id, timeout=30)
    return dead.id, begun.id


async def _sideways(page: Page, selector: str) -> int:
    """How many pixels of something can only be seen by moving it sideways."""
    found: int = await page.evaluate(
        "(all) => Math.max(0, ...[...document.querySelectorAll(all)].map((one) => one.scrollWidth - one.clientWidth))",
        selector,
    )
    return found
