"""The first page: what is late, what fails, how much there is, what comes next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from duly.api.operations import instances, overlooking, queues, runs
from duly.api.shapes import InstancePage
from duly.api.shapes_control import ComingPage, DeadGroupAnswer, StatsAnswer
from duly.app.watching import jobs_nobody_knows
from duly.core.credential import Scope

from .charts import bars
from .page import RUNS, SCHEDULES, Page, Part, Values, View

MINUTE_MS: Final = 60_000
HOURS: Final = 3
"""How far the chart looks back, and how far ahead."""

MOST: Final = 10_000
"""Where the API's counts stop."""

FEW: Final = 8
MOST_GROUPS: Final = 200
"""Of how many errors the dead letters of a job are put together."""

WIDTH, HEIGHT = 720, 96
_AHEAD_FOR: Final = 60.0
_FIGURES_FOR: Final = 2.0


async def _figures(view: View) -> Values:
    stats = await _stats(view)
    lags = await view.remembered("lags", _FIGURES_FOR, view.app.schedules.lags)
    return {
        "stats": stats,
        "lag_median": quantile(lags, 0.5),
        "lag_worst": quantile(lags, 0.99),
        "lags": len(lags),
        "most": MOST,
    }


async def _load(view: View) -> Values:
    """Windows and runs of each minute of the last hours, and what is to come in the next ones."""
    this_minute = view.app.clock.now() // MINUTE_MS * MINUTE_MS
    past = await _past(view, this_minute)
    ahead = await view.remembered("forecast", _AHEAD_FOR, lambda: view.app.schedules.forecast(hours=HOURS))
    minutes = HOURS * 60
    coming = [0] * minutes + list(ahead.fires)
    chart = bars({"ok": [m.ended + m.open for m in past], "ahead": coming, "bad": [m.dead for m in past]}, width=WIDTH,
                 height=HEIGHT)  # fmt: skip
    return {
        "chart": chart,
        "hours": HOURS,
        "chart_since": this_minute - (minutes - 1) * MINUTE_MS,
        "chart_values": [m.ended + m.open for m in past] + list(ahead.fires),
        "chart_exact": ahead.exact,
        "busiest": max(ahead.fires, default=0),
    }


async def _past(view: View, this_minute: int) -> list[Any]:
    """The last minutes; one that is over hardly changes, so it is counted once in a while only."""
    since = this_minute - (HOURS * 60 - 1) * MINUTE_MS
    lately = this_minute - 2 * MINUTE_MS

    async def over() -> list[Any]:
        return await view.app.schedules.minutes(since=since, until=lately)

    kept = await view.remembered(f"minutes until {lately}", 5 * 60.0, over)
    return kept + await view.app.schedules.minutes(since=lately, until=this_minute + MINUTE_MS)


async def _first(view: View) -> ComingPage:
    """What fires next; it begins with what should have fired already, so one more than are shown tells all."""
    asked = {"limit": str(FEW + 1)}
    return await view.remembered("coming", 1.0, lambda: overlooking.list_coming(view.app, asked))


async def _coming(view: View) -> Values:
    return {"coming": (await _first(view))["items"][:FEW]}


async def _trouble(view: View) -> Values:
    overdue = [one for one in (await _first(view))["items"] if one["health"] != "on_time"]
    asked = {"limit": str(MOST_GROUPS)}
    groups = await view.remembered("dead", _FIGURES_FOR, lambda: overlooking.list_dead_groups(view.app, asked))
    firing = await overlooking.get_firing(view.app)
    return {
        "overdue": overdue[:FEW],
        "overdue_more": len(overdue) > FEW,
        "dead": by_job(groups["items"])[:FEW],
        "firing": firing,
        **(await _absent(view, bool(overdue)) if view.may(Scope.ADMIN) else {"absent": [], "unknown": []}),
    }


async def _absent(view: View, overdue: bool) -> Values:
    """Whom the work waits for: the roles that no live process has, and the jobs that no live worker knows."""
    fleet = (await _instances(view))["items"]
    stats = await _stats(view)
    roles = {role for instance in fleet for role in instance["roles"]}
    absent = [role for role, wanted in (("scheduler", overdue), ("worker", stats["ready"])) if wanted]
    unknown: Mapping[str, int] = {}
    if stats["unknownJob"] and "worker" in roles:
        unknown = await view.remembered("unknown jobs", _FIGURES_FOR, lambda: jobs_nobody_knows(view.app))
    most = sorted(unknown.items(), key=lambda one: (-one[1], one[0]))
    return {"absent": [role for role in absent if role not in roles], "unknown": most[:FEW]}


def by_job(groups: Sequence[DeadGroupAnswer]) -> list[dict[str, Any]]:
    """The dead letters of each job, with its commonest error: texts that differ by a number are a group each."""
    found: dict[str, dict[str, Any]] = {}
    for group in groups:
        one = found.setdefault(group["jobType"], {**group, "count": 0, "errors": 0})
        one["count"] += group["count"]
        one["errors"] += 1
        one["lastAt"] = max(one["lastAt"], group["lastAt"])
    return sorted(found.values(), key=lambda one: -one["count"])


async def _newest(view: View) -> Values:
    return {"newest": (await runs.list_runs(view.app, {"limit": str(FEW)}))["items"]}


async def _queues(view: View) -> Values:
    found = await view.remembered("queues", _FIGURES_FOR, lambda: queues.list_queues(view.app))
    busy = sorted(found["items"], key=lambda queue: (-queue["waiting"], -queue["running"], queue["name"]))
    return {"queues": busy[:FEW], "queues_more": max(0, len(busy) - FEW)}


async def _fleet(view: View) -> Values:
    return {"instances": (await _instances(view))["items"]}


async def _instances(view: View) -> InstancePage:
    return await view.remembered("instances", _FIGURES_FOR, lambda: instances.list_instances(view.app))


async def _stats(view: View) -> StatsAnswer:
    return await view.remembered("stats", _FIGURES_FOR, lambda: overlooking.get_stats(view.app))


def quantile(numbers: Sequence[int], part: float) -> int | None:
    """The number that so large a part of sorted numbers does not exceed."""
    return numbers[min(len(numbers) - 1, int(len(numbers) * part))] if numbers else None


PAGE = Page(
    path="/",
    label="Overview",
    title="Overview",
    template="overview.html",
    parts=(
        Part(name="figures", load=_figures, on=(RUNS, SCHEDULES), least=2, every=15, scope=Scope.ADMIN),
        Part(name="trouble", load=_trouble, on=(RUNS, SCHEDULES), least=2, every=15),
        Part(name="load", load=_load, on=(RUNS,), least=15, every=60, scope=Scope.ADMIN),
        Part(name="coming", load=_coming, on=(RUNS, SCHEDULES), least=2, every=15),
        Part(name="newest", load=_newest, on=(RUNS,), least=2),
        Part(name="queues", load=_queues, on=(RUNS,), least=3, every=15),
        Part(name="fleet", load=_fleet, every=15, scope=Scope.ADMIN),
    ),
)
