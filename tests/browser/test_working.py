"""What people come for, in a real browser: make a schedule, see it fire, trigger, edit, backfill, redrive."""

from datetime import timedelta

from duly import Cron, Duly, Every, Fatal, RunContext
from duly.core.instants import to_datetime
from tests.browser.conftest import IN_THE_BROWSERS_LOOP, Site

pytestmark = IN_THE_BROWSERS_LOOP


async def test_a_schedule_is_made_with_a_preview_and_seen_to_fire_without_a_reload(site: Site, app: Duly) -> None:
    @app.job("beat")
    async def beat(run: RunContext) -> str:
        return "<b>done</b>"

    await app.start()
    page = (await site.open("/schedules/new")).page
    await page.fill("#name", "Beat <i>")
    await page.fill("#aimed", "beat")
    await page.fill("#cronExpression", "0 25 * * *")
    await page.wait_for_selector("#wrong-cronExpression >> text=expected 0-23")
    await page.fill("#cronExpression", "30 2 * * *")
    await page.fill("#timezone", "Europe/Berlin")
    await page.wait_for_selector("#preview >> text=At 02:30 every day, Europe/Berlin")
    assert await page.locator("#preview .windows li").count() == 10
    assert await page.inner_text("#wrong-cronExpression") == ""
    assert await page.locator("text=Preview >> visible=true").count() == 0, "the button is for whoever has no script"

    await page.click(".way >> text=Every")
    await page.fill("#everyMs", "1")
    await page.select_option("#everyMs-unit", "seconds")
    await page.wait_for_selector("#preview >> text=Every second")
    await page.click("text=Create")
    await page.wait_for_selector("h1 >> text=Beat <i>")
    await page.evaluate("window.stayed = true")
    await page.wait_for_selector(".strip .cell.completed")
    await page.wait_for_selector("#part-runs .state.ok")
    assert await page.evaluate("window.stayed")


async def test_a_schedule_can_be_made_without_a_script(site: Site, app: Duly) -> None:
    page = (await site.open("/schedules/new", script=False)).page
    await page.fill("#name", "Plain")
    await page.fill("#aimed", "x")
    await page.click(".way >> text=Weekly")
    await page.fill("#weeklyTime", "09:00")
    await page.select_option("#weeklyTime-dayOfWeek", "5")
    await page.click("text=Preview")
    assert "At 09:00 on Friday" in await page.inner_text("#preview")
    await page.click("text=Create")
    assert await page.inner_text("h1") == "Plain"


async def test_a_run_is_triggered_with_a_payload_and_watched_to_its_end(site: Site, app: Duly) -> None:
    given: list[object] = []

    @app.job("report")
    async def report(run: RunContext) -> None:
        given.append(run.payload)

    await app.start()
    made = await app.schedules.create(key="r", timing=Every("1h"), job="report", payload={"pages": 1})
    window = await site.open(f"/schedules/{made.id}")
    window.allowed.append("422")
    page = window.page
    await page.click("text=Trigger with another payload")
    await page.fill("#payload", '{"pages": 2')
    await page.click("button >> text=Trigger")
    await page.wait_for_selector("#payload-wrong >> text=payload is not JSON")
    await page.fill("#payload", '{"pages": 2}')
    await page.click("button >> text=Trigger")
    await page.wait_for_selector(".head .state.ok")
    assert given == [{"pages": 2}]


async def test_two_who_edit_at_once_are_told_kindly(site: Site, app: Duly) -> None:
    made = await app.schedules.create(key="e", timing=Cron("5 4 * * *"), job="x")
    window = await site.open(f"/schedules/{made.id}/edit")
    window.allowed.append("412")
    page = window.page
    await app.schedules.update(made.id, queue="slow", by="key:bob")
    await page.fill("#cronExpression", "6 4 * * *")
    await page.wait_for_selector("#preview >> text=At 04:06 every day")
    await page.click("text=Save")
    await page.wait_for_selector("text=Somebody else changed it while you did")
    assert await page.input_value("#cronExpression") == "6 4 * * *"
    await page.click("text=Save on top")
    await page.wait_for_selector("text=is changed")
    after = await app.schedules.get(made.id)
    assert after is not None
    assert (after.cron_expression, after.queue) == ("6 4 * * *", "slow")


async def test_a_backfill_is_looked_at_before_it_is_made(site: Site, app: Duly) -> None:
    made = await app.schedules.create(key="b", timing=Cron("0 * * * *"), job="x")
    now = to_datetime(app.clock.now()).replace(minute=0)
    page = (await site.open(f"/schedules/{made.id}")).page
    await page.click("summary >> text=Backfill")
    for name, hours in (("from", 5), ("to", 3)):
        await page.fill(f"#backfill-{name}", f"{now - timedelta(hours=hours):%Y-%m-%dT%H:%M}")
    await page.click("button >> text=Look")
    await page.wait_for_selector("text=3 windows would run")
    assert (await app.runs.list()).items == []
    await page.click("text=Run 3 windows")
    await page.wait_for_selector("text=3 windows will run, oldest first")
    assert len((await app.runs.list()).items) == 3


async def test_dead_letters_are_redriven_some_and_one_with_another_payload(site: Site, app: Duly) -> None:
    broken = {"yes": True}

    @app.job("pay")
    async def pay(run: RunContext) -> str:
        if broken["yes"] and run.payload != {"good": True}:
            raise Fatal("<script>alert(1)</script> no such account")
        return "paid"

    await app.start()
    runs = [await app.enqueue("pay", {"n": number}) for number in range(3)]
    for run in runs:
        await app.runs.wait(run.id, timeout=30)
    page = (await site.open("/dead-letters")).page
    assert await page.inner_text("#part-groups tbody td.num") == "3"
    await page.click("text=Edit and redrive >> nth=0")
    await page.fill("#payload", '{"good": true}')
    await page.click("button >> text=Redrive")
    await page.wait_for_selector(".head .state.ok")
    broken["yes"] = False
    await page.goto(site.url + "/dead-letters")
    await page.check("input[name=id] >> nth=0")
    await page.click("text=Redrive picked")
    await page.wait_for_selector("text=1 run will go again")
    await page.click("#part-groups >> text=Redrive all")
    await page.wait_for_selector("h1 >> text=Redrive 1 dead letter?")
    await page.click("button.primary")
    await page.wait_for_selector("text=There are none")
