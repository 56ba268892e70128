"""The first page: what it shows to whom."""

import httpx2
import pytest

from duly import Cron, Duly, Every
from duly.api.shapes_control import DeadGroupAnswer
from duly.dashboard.charts import bars, rounded_up, spark
from duly.dashboard.overview import by_job, quantile
from duly.store.seen import Outcomes
from duly.testing import ManualClock
from tests.api.conftest import let_die
from tests.contract.suite import Trial
from tests.dashboard.conftest import log_in

FLEET = ("figures", "load", "fleet")


async def test_what_is_overdue_and_what_died_comes_first(
    site: httpx2.AsyncClient, app: Duly, clock: ManualClock
) -> None:
    calm = (await site.get("/")).text
    await app.schedules.create(key="late-one", timing=Every("1m"), job="x")
    await let_die(app, "fragile")
    clock.move(minutes=5)

    shown = (await site.get("/")).text

    assert "all is well" in calm
    assert "Overdue and failing" not in calm
    trouble = shown[shown.index("Overdue and failing") : shown.index("Due now")]
    assert "overdue" in trouble
    assert "late-one" in trouble
    assert "fragile" in trouble
    assert "no use" in trouble


async def test_what_nobody_does_is_told_with_who_is_missing(
    site: httpx2.AsyncClient, app: Duly, clock: ManualClock
) -> None:
    await app.schedules.create(key="late-one", timing=Every("1m"), job="x")
    await app.enqueue("report")
    clock.move(minutes=5)

    alone = (await site.get("/")).text
    await Trial(app._store, clock).worker("report", name="w1")
    clock.move(seconds=5)
    helped = (await site.get("/")).text

    assert "Nothing fires, and nobody takes over what dead instances ran: no scheduler is alive" in alone
    assert "Nothing runs: no worker is alive" in alone
    assert "Nothing fires, and nobody takes over what dead instances ran: no scheduler is alive" in helped
    assert "Nothing runs" not in helped


async def test_a_job_that_no_live_worker_knows_is_among_the_trouble(
    site: httpx2.AsyncClient, app: Duly, clock: ManualClock
) -> None:
    await Trial(app._store, clock).worker("report", name="w1")
    await app.enqueue("letter")
    await app._store.hold_unknown_jobs()

    shown = (await site.get("/")).text

    trouble = shown[shown.index("Overdue and failing") : shown.index("Due now")]
    assert "needs a look" in shown
    assert "1 waits" in trouble
    assert "runs?status=pending&amp;jobType=letter" in trouble


async def test_who_sees_only_their_own_is_not_told_who_is_missing(
    site: httpx2.AsyncClient, app: Duly, clock: ManualClock
) -> None:
    await app.schedules.create(key="of-ann", timing=Every("1m"), job="x", metadata={"owner_id": "ann"})
    made = await app.keys.create("ann", owner="ann")
    clock.move(minutes=5)
    await log_in(site, made.text)

    shown = (await site.get("/")).text

    assert "of-ann" in shown
    assert "no scheduler is alive" not in shown


def test_errors_that_differ_by_a_number_hide_no_other_job() -> None:
    def group(job: str, error: str, count: int, minute: int) -> DeadGroupAnswer:
        at = f"2026-11-18T20:{minute:02}:00Z"
        raised: DeadGroupAnswer = {
            "jobType": job, "error": error, "errorType": None, "errorLocation": None, "count": count, "firstAt": at,
            "lastAt": at, "lastRunId": "r",
        }  # fmt: skip
        return raised

    found = by_job([
        group("mail", "no route", 4, 1), group("charge", "order 1", 3, 2), group("charge", "order 2", 2, 3)
    ])  # fmt: skip

    assert [(one["jobType"], one["count"], one["errors"], one["error"], one["lastAt"]) for one in found] == [
        ("charge", 5, 2, "order 1", "2026-11-18T20:03:00Z"),
        ("mail", 4, 1, "no route", "2026-11-18T20:01:00Z"),
    ]


async def test_a_stop_of_all_firing_is_told_with_its_reason(site: httpx2.AsyncClient, app: Duly) -> None:
    await app.firing.pause(reason="the moon is full", by="ann")

    shown = (await site.get("/")).text

    assert "nothing fires" in shown
    assert "by ann: the moon is full" in shown


async def test_what_is_of_the_fleet_is_for_admins(site: httpx2.AsyncClient, app: Duly) -> None:
    await app.schedules.create(key="of-bob", timing=Every("1m"), job="x", metadata={"owner_id": "bob"})
    await app.schedules.create(key="of-ann", timing=Every("1m"), job="x", metadata={"owner_id": "ann"})
    made = await app.keys.create("ann", owner="ann")
    await log_in(site, made.text)

    page = (await site.get("/")).text
    parts = (await site.get("/", headers={"x-duly-parts": ",".join((*FLEET, "coming"))})).json()

    assert "of-ann" in page
    assert "of-bob" not in page
    assert not any(f'data-part="{name}"' in page for name in FLEET)
    assert set(parts) == {"coming"}


async def test_the_chart_shows_what_was_and_what_will_be(
    site: httpx2.AsyncClient, app: Duly, clock: ManualClock
) -> None:
    await app.schedules.create(key="often", timing=Cron("*/30 * * * *"), job="x")
    await let_die(app)

    part = (await site.get("/", headers={"x-duly-parts": "load"})).json()["load"]

    values = part.partition('data-values="')[2].partition('"')[0].split(",")
    assert len(values) == 360
    assert values[179] == "1", "what died in this minute"
    assert values[180:].count("1") == 5
    assert 'class="bad" d="M' in part


def test_a_spark_has_its_newest_on_the_right() -> None:
    found = spark(Outcomes(("failed", "completed", "skipped"), 0))

    assert found.paths == {"bad": "M95 16v-16h4v16z", "ok": "M90 16v-16h4v16z", "idle": "M85 16v-5h4v5z"}
    assert found.words == "last 3: 1 completed, 1 failed, 1 skipped"
    assert spark(None).words == spark(Outcomes()).words == "no run has ended yet"


def test_bars_stand_on_the_ground_and_a_small_one_can_be_seen() -> None:
    found = bars({"ok": [0, 1, 1000]}, width=30, height=100)

    assert found.top == 1000
    assert found.paths["ok"] == "M10 100v-1h8V100zM20 100v-100h8V100z"
    assert bars({}, width=30, height=100).paths == {}


@pytest.mark.parametrize("value, top", [(0, 4), (4, 4), (5, 10), (11, 20), (21, 40), (41, 100), (40_001, 100_000)])
def test_a_scale_ends_at_a_round_number(value: int, top: int) -> None:
    assert rounded_up(value) == top


def test_a_quantile_is_one_of_the_numbers() -> None:
    numbers = list(range(1, 101))

    assert (quantile(numbers, 0.5), quantile(numbers, 0.99), quantile([7], 0.99), quantile([], 0.5)) == (
        51,
        100,
        7,
        None,
    )
