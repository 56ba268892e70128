"""Every page about schedules and runs: what it shows, what it does, and to whom."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import httpx2
import pytest

from duly import Cron, Duly, Every, Fatal, WorkflowContext
from duly.testing import ManualClock
from tests.api.conftest import client_of, sqlite_url
from tests.contract.suite import Trial
from tests.dashboard.conftest import log_in, served
from tests.dashboard.lively import BEGIN, ERROR, Lively, live

FIELDS = re.compile(r'<input type="hidden" name="(token|back|request|before|revision)" value="([^"]*)"')


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(BEGIN)


@pytest.fixture
async def lively(app: Duly, clock: ManualClock) -> Lively:
    return await live(app, clock)


async def text_of(site: httpx2.AsyncClient, path: str) -> str:
    answer = await site.get(path)
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


async def send(site: httpx2.AsyncClient, page: str, action: str, **values: Any) -> httpx2.Response:
    """Send a form of a page, with what its hidden fields hold."""
    hidden = {name: unescape(value) for name, value in FIELDS.findall((await site.get(page)).text)}
    return await site.post(action, data={**hidden, **values})


async def test_a_schedule_shows_its_windows_its_words_and_its_changes(site: httpx2.AsyncClient, lively: Lively) -> None:
    text = await text_of(site, f"/schedules/{lively.nightly.id}")
    assert "At 02:30 every day, Europe/Berlin" in text
    assert "clocks go back on 2026-10-25: 03:00 becomes 02:00" in text
    for outcome in ("completed", "failed", "skipped", "next"):
        assert re.search(rf'class="cell {outcome}"', text), outcome
    assert "Sends the report of the day before." in text
    assert '"format": "pdf"' in text
    assert "a window that is due while a run has not ended is skipped, and recorded" in text
    assert "duly schedule create nightly-report" in text
    assert (await site.get("/schedules/nightly-report")).status_code == 200, "a key is as good as an id"
    assert (await site.get("/schedules/nothing")).status_code == 404


async def test_what_is_paused_says_why_and_until_when(site: httpx2.AsyncClient, app: Duly, lively: Lively) -> None:
    page = f"/schedules/{lively.nightly.id}"
    answer = await send(site, page, f"{page}/pause", reason="on <b>leave</b>", until="2026-12-01T08:00")
    assert answer.status_code == 303
    paused = await app.schedules.get(lively.nightly.id)
    assert paused is not None
    assert (paused.paused_reason, str(paused.paused_until)) == ("on <b>leave</b>", "2026-12-01 07:00:00+00:00")
    shown = (await site.get(page)).text
    assert "on &lt;b&gt;leave&lt;/b&gt;" in shown
    assert "(Europe/Berlin): on &lt;b&gt;" in shown, "the end of the pause, in whose time"
    await send(site, page, f"{page}/resume", catchUp="on")
    resumed = await app.schedules.get(lively.nightly.id)
    assert resumed is not None
    assert resumed.enabled


async def test_a_run_that_does_not_start_says_what_it_waits_for(
    site: httpx2.AsyncClient, app: Duly, clock: ManualClock
) -> None:
    await app.queues.pause("out", "the provider is down", by="ann")
    run = await app.enqueue("mail", queue="out")
    assert "Waits for a worker: none is alive" in await text_of(site, f"/runs/{run.id}")
    await Trial(app._store, clock).worker("mail", name="w1")
    assert "Waits for its queue 'out', which ann paused: the provider is down" in await text_of(site, f"/runs/{run.id}")


async def test_what_is_overdue_does_not_call_it_next(
    site: httpx2.AsyncClient, app: Duly, clock: ManualClock, lively: Lively
) -> None:
    page = f"/schedules/{lively.nightly.id}"
    assert "should have fired" not in await text_of(site, page)
    clock.move(hours=30)
    assert "should have fired" in await text_of(site, page)


async def test_a_run_under_way_shows_how_long_it_has_been(
    site: httpx2.AsyncClient, app: Duly, clock: ManualClock
) -> None:
    worker = await Trial(app._store, clock).worker("mail", name="w1")
    await app.enqueue("mail")
    await worker.claim()
    clock.move(minutes=7)
    assert re.search(r'<td class="wide num"><span class="quiet"><time [^>]*data-shown="since"[^>]*>7 min</time>',
                     (await site.get("/runs")).text)  # fmt: skip


async def test_a_trigger_takes_another_payload_and_is_one_run_however_often_it_is_sent(
    site: httpx2.AsyncClient, app: Duly, lively: Lively
) -> None:
    page = f"/schedules/{lively.nightly.id}/trigger"
    hidden = dict(FIELDS.findall((await site.get(page)).text))
    form = {**hidden, "payload": '{"format": "csv"}'}
    first, second = await site.post(page, data=form), await site.post(page, data=form)
    assert first.headers["location"] == second.headers["location"]
    run = await app.runs.get(first.headers["location"].rsplit("/", 1)[1])
    assert run is not None
    assert run.payload == {"format": "csv"}
    wrong = await site.post(page, data={**hidden, "payload": "{not json"})
    assert wrong.status_code == 422
    assert "payload is not JSON" in wrong.text
    assert "{not json" in unescape(wrong.text), "what was typed is kept"


async def test_a_backfill_is_looked_at_first_and_then_made(site: httpx2.AsyncClient, app: Duly, lively: Lively) -> None:
    page = f"/schedules/{lively.nightly.id}"
    asked = {"from": "2026-10-23T00:00", "to": "2026-10-25T23:00", "ratePerSecond": ""}
    shown = unescape((await site.get(page, params=asked)).text)
    assert "<b>3 windows</b> would run" in shown
    assert "02:30 comes twice that day (clocks go back); fires at the first only" in shown
    assert not [run for run in (await app.runs.list()).items if run.kind == "backfill"]
    answer = await send(site, page, f"{page}/backfill", **asked)
    assert answer.status_code == 303
    assert len([run for run in (await app.runs.list()).items if run.kind == "backfill"]) == 3
    wrong = unescape((await site.get(page, params={**asked, "to": "2030-01-01T00:00"})).text)
    assert "expected" in wrong[wrong.index('role="alert"') :][:400]


async def test_the_page_of_a_cancelled_schedule_says_that_it_is_not_backfilled(
    site: httpx2.AsyncClient, app: Duly, lively: Lively
) -> None:
    await app.schedules.cancel(lively.nightly.id)
    asked = {"from": "2026-10-23T00:00", "to": "2026-10-25T23:00"}
    shown = await site.get(f"/schedules/{lively.nightly.id}", params=asked)
    assert shown.status_code == 200
    assert "is cancelled and cannot be backfilled" in unescape(shown.text)


async def test_a_deleted_schedule_is_gone_and_its_runs_stay(
    site: httpx2.AsyncClient, app: Duly, lively: Lively
) -> None:
    page = f"/schedules/{lively.nightly.id}"
    run = (await app.runs.list(schedule=lively.nightly.id)).items[-1]
    await send(site, page, f"{page}/delete")
    assert await app.schedules.get(lively.nightly.id) is None
    assert "deleted" in await text_of(site, f"/runs/{run.id}")


async def test_a_run_shows_its_attempts_and_where_it_comes_from(
    site: httpx2.AsyncClient, app: Duly, lively: Lively
) -> None:
    failed = next(run for run in (await app.runs.list(schedule=lively.nightly.id, limit=100)).items if run.attempt > 1)
    text = await text_of(site, f"/runs/{failed.id}")
    assert text.count(ERROR) >= 2
    assert f"schedules/{lively.nightly.id}" in text
    assert str(failed.window_key) in text
    assert text.count("<rect") == 1 + failed.attempt
    assert await text_of(site, f"/runs/{failed.window_key}")


async def test_the_steps_of_a_workflow_are_drawn(tmp_path: Path) -> None:
    app = Duly(sqlite_url(tmp_path))

    async def gather() -> int:
        return 42

    @app.workflow("month-end", version="1")
    async def month_end(ctx: WorkflowContext, input: Any) -> dict[str, int]:
        rows = await ctx.step("gather rows", gather)
        await ctx.sleep(seconds=0.01)
        return {"rows": rows}

    async with app, client_of(served(app)) as site:
        run = await app.workflows.start("month-end", {"region": "EU"})
        await app.runs.wait(run.id, timeout=30)
        text = await text_of(site, f"/runs/{run.id}")
    assert re.search(r'class="bar completed step".*gather rows', text, re.S)
    assert 'class="bar completed sleep"' in text
    assert '"rows": 42' in text


async def test_what_a_workflow_undid_stands_below_what_it_did(tmp_path: Path) -> None:
    app = Duly(sqlite_url(tmp_path))

    async def reserve() -> int:
        return 42

    async def give_back(output: int) -> None: ...

    async def ship() -> None:
        raise Fatal("the carrier refused it")

    @app.workflow("fulfil", version="1")
    async def fulfil(ctx: WorkflowContext) -> None:
        await ctx.step("reserve", reserve, compensate=give_back)
        await ctx.step("ship", ship)

    async with app, client_of(served(app)) as site:
        run = await app.workflows.start("fulfil")
        await app.runs.wait(run.id, timeout=30)
        text = await text_of(site, f"/runs/{run.id}")
    steps = text[text.index("<h2>Steps</h2>") :]
    assert steps.index(">ship<") < steps.index("compensate:reserve")
    assert ">-1<" not in steps


async def test_runs_are_narrowed_and_paged(site: httpx2.AsyncClient, lively: Lively) -> None:
    failed = await text_of(site, "/runs?status=failed&jobType=send-invoice&workflow=")
    assert "no such customer" in failed
    assert '<span class="state ok">completed</span>' not in failed
    first = await text_of(site, "/runs?limit=5")
    assert first.count("<tr data-key") == 5
    following = re.search(r'rel="next" href="([^"]*)"', first)
    assert following is not None
    second = await text_of(site, f"/{following[1].lstrip('./')}")
    assert not set(re.findall(r'<tr data-key="([^"]*)"', first)) & set(re.findall(r'<tr data-key="([^"]*)"', second))
    assert (await site.get("/runs?status=nonsense")).status_code == 422


async def test_dead_letters_are_grouped_redriven_and_laid_to_rest(
    site: httpx2.AsyncClient, app: Duly, lively: Lively
) -> None:
    text = await text_of(site, "/dead-letters")
    assert "no such customer: 0" in text
    before = len((await app.runs.dead()).items)
    picked = await send(site, "/dead-letters", "/dead-letters/redrive", id=[lively.dead])
    assert picked.status_code == 303
    assert len((await app.runs.dead()).items) == before - 1
    asks = await text_of(site, "/dead-letters:all?act=acknowledge&jobType=send-invoice&error=no+such+customer")
    many = len((await app.runs.dead(job="send-invoice")).items)
    assert f"Acknowledge {many} dead letter" in asks, "looking changes nothing"
    assert (await site.get("/dead-letters:all?act=burn")).status_code == 422
    await send(
        site, "/dead-letters:all?act=acknowledge", "/dead-letters/acknowledge",
        which="all", jobType="send-invoice", error="no such customer",
    )  # fmt: skip
    assert (await app.runs.dead(job="send-invoice")).items == []


async def test_a_dead_run_is_edited_and_redriven(site: httpx2.AsyncClient, app: Duly, lively: Lively) -> None:
    page = f"/runs/{lively.dead}/redrive"
    answer = await send(site, page, page, payload='{"customer": 1}')
    goes = await app.runs.get(answer.headers["location"].rsplit("/", 1)[1])
    assert goes is not None
    assert (goes.redrive_of, goes.payload) == (lively.dead, {"customer": 1})
    assert (await send(site, page, page, payload="[")).status_code == 422


async def test_an_open_run_is_cancelled(site: httpx2.AsyncClient, app: Duly) -> None:
    run = await app.enqueue("x")
    await send(site, f"/runs/{run.id}", f"/runs/{run.id}/cancel")
    cancelled = await app.runs.get(run.id)
    assert cancelled is not None
    assert cancelled.status == "cancelled"


async def test_a_queue_is_paused_with_a_reason_and_resumed(site: httpx2.AsyncClient, app: Duly) -> None:
    await app.queues.set("mail", max_running=5)
    await app.queues.set("a/b?c", max_running=5)
    await send(site, "/queues", "/queues/pause", queue="a/b?c")
    assert (await app.queues.get("a/b?c")).paused, "any name is a queue"
    await send(site, "/queues", "/queues/pause", queue="mail", reason="provider is down")
    assert "provider is down" in await text_of(site, "/queues")
    await send(site, "/queues", "/queues/resume", queue="mail")
    assert not (await app.queues.get("mail")).paused


async def test_the_limits_of_a_queue_are_changed_and_nothing_typed_is_lost(site: httpx2.AsyncClient, app: Duly) -> None:
    await app.queues.set("a/b?c", max_running=5, rate=10, per=60)
    page = "/queues:limits?queue=a%2Fb%3Fc"
    shown = await text_of(site, page)
    wrong = await send(site, page, page, maxRunning="many", limit="3", periodSeconds="0.5")
    right = await send(site, page, page, maxRunning="", limit="3", periodSeconds="0.5", fair="on")
    queue = await app.queues.get("a/b?c")

    assert all(f'value="{value}"' in shown for value in ("5", "10", "60"))
    assert wrong.status_code == 422
    assert "maxRunning" in wrong.text
    assert 'value="many"' in wrong.text
    assert right.headers["location"] == "./queues"
    assert (queue.max_running, queue.rate, queue.per, queue.fair) == (None, 3, 0.5, True)


async def test_calendars_and_the_audit_are_shown(site: httpx2.AsyncClient, app: Duly, lively: Lively) -> None:
    await app.calendars.put("holidays", yearly=["12-25"], ranges=[("2026-12-27", "2026-12-31")])
    text = await text_of(site, "/calendars")
    assert "12-25" in text
    assert "2026-12-27 to 2026-12-31" in text
    assert re.search(r"\d+ windows", await text_of(site, "/audit?since=24h"))


async def test_a_calendar_is_made_changed_and_deleted_and_nobody_overwrites_another(
    site: httpx2.AsyncClient, app: Duly
) -> None:
    new, edit = "/calendars:edit", "/calendars:edit?name=holidays"
    wrong = await send(site, new, new, name="holidays", yearly="12-25", ranges="2026-12-27 until then")
    made = await send(site, new, new, name="holidays", yearly="12-25", ranges="2026-12-27 to 2026-12-31")
    again = await send(site, new, new, name="holidays", yearly="01-01")
    shown = await text_of(site, edit)
    stale = await site.get(edit)
    await send(site, edit, edit, description="closed", yearly="12-25, 12-26", dates="2027-04-02", ranges="")
    hidden = dict(FIELDS.findall(stale.text))
    late = await site.post(edit, data={**hidden, "yearly": "05-01"})
    found = await app.calendars.get("holidays")
    assert found is not None

    assert (wrong.status_code, made.status_code, again.status_code, late.status_code) == (422, 303, 422, 422)
    assert "2026-12-27 until then" in wrong.text
    assert "2026-12-27 to 2026-12-31" in shown
    assert (found.description, len(found.days.yearly), len(found.days.dates)) == ("closed", 2, 1)
    await send(site, edit, "/calendars:delete?name=holidays")
    assert await app.calendars.get("holidays") is None


async def test_an_audit_of_some_schedules_does_not_speak_for_all(
    site: httpx2.AsyncClient, app: Duly, lively: Lively
) -> None:
    whole, part = [await text_of(site, path) for path in ("/audit?since=1h", "/audit?since=1h&limit=1")]
    assert "Of these" not in whole
    assert "Of these 1 schedule nothing was missed" in part


async def test_what_comes_next_and_the_herd_in_it_are_seen(
    site: httpx2.AsyncClient, app: Duly, clock: ManualClock
) -> None:
    for number in range(40):
        await app.schedules.create(key=f"user-{number}", timing=Cron("0 8 * * *"), job="x")
    await app.schedules.create(key="often", timing=Every("10m"), job="x")
    coming = await text_of(site, "/upcoming")
    assert coming.index("often") < coming.index("user-0")
    text = await text_of(site, "/forecast")
    assert "A herd at" in text
    assert 'class="herd"' in text
    assert "Every schedule that fires in this time was looked at." in text
    assert (await site.get("/forecast?hours=7")).status_code == 422


PAGES = ("/schedules/{nightly}", "/runs", "/runs/{dead}", "/dead-letters", "/upcoming", "/forecast", "/queues")
ACTIONS = (
    "/schedules/new", "/schedules/new/preview", "/schedules/{nightly}/edit", "/schedules/{nightly}/trigger",
    "/schedules/{nightly}/pause", "/schedules/{nightly}/resume", "/schedules/{nightly}/backfill",
    "/schedules/{nightly}/delete", "/runs/{dead}/cancel", "/runs/{dead}/redrive", "/runs/{dead}/acknowledge",
    "/dead-letters/redrive", "/dead-letters/acknowledge", "/queues/pause", "/queues/resume", "/queues:limits",
    "/calendars:edit", "/calendars:delete",
)  # fmt: skip


async def test_whoever_only_reads_sees_no_action_and_none_is_done_for_them(
    site: httpx2.AsyncClient, app: Duly, lively: Lively
) -> None:
    key = await app.keys.create("looker", scopes=["read"], owner="ann")
    await log_in(site, key.text)
    named = {"nightly": lively.nightly.id, "dead": lively.dead}
    for page in PAGES:
        answer = await site.get(page.format(**named))
        assert answer.status_code == 200, page
        forms = re.findall(r'<form method="post" action="([^"]*)"', answer.text)
        assert {form.rsplit("/", 1)[-1] for form in forms} == {"logout"}, page
    hidden = dict(FIELDS.findall((await site.get("/runs")).text))
    for action in ACTIONS:
        answer = await site.post(action.format(**named), data=hidden)
        assert answer.status_code == 403, action
    for page in ("/schedules/new", f"/schedules/{lively.nightly.id}/edit", "/instances", "/audit"):
        assert (await site.get(page)).status_code == 403


async def test_what_is_somebody_elses_is_not_there(site: httpx2.AsyncClient, app: Duly, lively: Lively) -> None:
    key = await app.keys.create("bob", scopes=["read", "write", "trigger"], owner="bob", tenant="acme")
    await log_in(site, key.text)
    named = {"nightly": lively.nightly.id, "dead": lively.dead}
    for page in ("/schedules/{nightly}", "/schedules/{nightly}/edit", "/schedules/{nightly}/trigger", "/runs/{dead}"):
        assert (await site.get(page.format(**named))).status_code == 404, page
    for page in ("/runs", "/dead-letters", "/upcoming", "/forecast"):
        text = await text_of(site, page)
        assert "nightly-report" not in text
        assert "send-invoice" not in text
    hidden = dict(FIELDS.findall((await site.get("/runs")).text))
    before = json.dumps([run.id for run in (await app.runs.dead()).items])
    for action in ACTIONS:
        if "queues" not in action and "new" not in action:
            await site.post(action.format(**named), data={**hidden, "id": lively.dead, "which": "all"})
    assert await app.schedules.get(lively.nightly.id) is not None
    assert json.dumps([run.id for run in (await app.runs.dead()).items]) == before


async def test_a_run_that_was_triggered_names_its_schedule_as_others_do(site: httpx2.AsyncClient, app: Duly) -> None:
    made = await app.schedules.create(key="by-hand", timing=Every("1h"), job="work")
    await app.schedules.trigger(made.id)
    assert f'/schedules/{made.id}" class="cut">by-hand</a>' in await text_of(site, "/runs")


HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}"


async def test_no_stored_text_becomes_part_of_a_page(site: httpx2.AsyncClient, app: Duly, clock: ManualClock) -> None:
    made = await app.schedules.create(
        key="x", name=HOSTILE, description=HOSTILE, timing=Every("1h"), job=HOSTILE, payload={HOSTILE: HOSTILE},
        tags=[HOSTILE], queue=HOSTILE, fairness_key=HOSTILE,
        metadata={"owner_id": HOSTILE, "tenant_id": HOSTILE, "correlation_id": HOSTILE},
    )  # fmt: skip
    await app.schedules.pause(made.id, reason=HOSTILE, by=HOSTILE[:100])
    await app.schedules.trigger(made.id)
    await app.calendars.put("c", yearly=["12-25"], description=HOSTILE, tenant=HOSTILE, by=HOSTILE[:100])
    trial = Trial(app._store, clock)
    worker = await trial.worker(HOSTILE, session=app._chance.session(), name=HOSTILE)
    (claim,) = await worker.claim()
    await worker.fail(claim, HOSTILE, fatal=True)
    await app.queues.pause(HOSTILE, HOSTILE, by=HOSTILE[:100])
    await app.schedules.resume(made.id)
    for path in (
        f"/schedules/{made.id}", f"/schedules/{made.id}/edit", f"/schedules/{made.id}/trigger",
        f"/schedules/new?like={made.id}", f"/runs/{claim.id}", f"/runs/{claim.id}/redrive", "/runs", "/dead-letters",
        "/upcoming", "/forecast", "/queues", "/calendars", "/instances", "/audit",
    ):  # fmt: skip
        answer = await site.get(path)
        assert answer.status_code == 200, path
        assert "<script>alert" not in answer.text, path
        assert "<img src=x" not in answer.text, path
        assert not re.search(r"<[^>]*\sonerror=[^>]*>", re.sub(r'"[^"]*"', "", answer.text)), path
    for query in ("status", "scheduleId", "jobType", "cursor", "from", "hours", "since", "like", "changes", "error"):
        for path in ("/runs", "/dead-letters", "/forecast", "/audit", "/schedules/new", f"/schedules/{made.id}"):
            answer = await site.get(path, params={query: HOSTILE})
            assert answer.status_code < 500, (path, query)
            assert "<script>alert" not in answer.text, (path, query)


async def test_the_newest_runs_stand_first_whatever_their_ids(
    site: httpx2.AsyncClient, app: Duly, clock: ManualClock
) -> None:
    ids = []
    for own in (None, "fe000000-0000-4000-8000-000000000000", "00000001-0000-4000-8000-000000000000"):
        clock.move(seconds=100)
        ids.append((await app.enqueue("unheard-of", id=own)).id)
    for page in ("/runs", "/"):
        text = await text_of(site, page)
        found = [id for id in re.findall(r"/runs/([0-9a-f-]{36})", text) if id in ids]
        assert list(dict.fromkeys(found)) == ids[::-1], page
