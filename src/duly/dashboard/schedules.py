"""All schedules: searched, narrowed, and changed many at a time."""

from __future__ import annotations

from typing import Any, Final

from duly.api.operations import controlling, schedules
from duly.core.credential import Scope
from duly.core.errors import Forbidden
from duly.core.timing import Cron, Every, explain

from .charts import SPARK, spark
from .page import RUNS, SCHEDULES, Action, Form, Page, Part, Values, View, Went
from .words import count, plural

FILTERS: Final = ("q", "enabled", "status", "jobType", "tag", "owner", "tenant", "topic")
ACTIONS: Final = {
    "pause": ("Pause", "Paused"),
    "resume": ("Resume", "Resumed"),
    "trigger": ("Trigger", "Triggered"),
    "cancel": ("Cancel", "Cancelled"),
    "delete": ("Delete", "Deleted"),
}
CHIPS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("All", {}),
    ("Active", {"status": "active", "enabled": "true"}),
    ("Paused", {"enabled": "false"}),
    ("Never fired", {"status": "pending"}),
    ("Completed", {"status": "completed"}),
    ("Failed", {"status": "failed"}),
    ("Cancelled", {"status": "cancelled"}),
)
_BY_CHIP: Final = ("enabled", "status")
_NAMED: Final = (("jobType", "job"), ("tag", "tag"), ("owner", "owner"), ("tenant", "tenant"), ("topic", "topic"))
SHOWN_OPERATIONS: Final = 3
ROWS: Final = 25
"""Schedules of one page: a few more than a screen has room for, for a browser lays out every one before any is seen."""
LOOKS: Final = 10
"""Looks for the first schedule that fits a filter. Each is bounded; a person waits for a find, not for a cursor."""


def filters_of(view: View) -> dict[str, str]:
    """The filter that a query asks for; a field that was left empty asks for nothing."""
    return {name: text for name in FILTERS if (text := view.query.get(name, "").strip())}


async def _tools(view: View) -> Values:
    where = filters_of(view)
    chosen = {name: where[name] for name in _BY_CHIP if name in where}
    rest = dict.fromkeys((*_BY_CHIP, "cursor"))
    chips = [(label, view.here(**{**rest, **query}), query == chosen) for label, query in CHIPS]
    named = [(label, where[name], view.here(**{name: None, "cursor": None})) for name, label in _NAMED if name in where]
    return {"where": where, "chips": chips, "named": named, "actions": _allowed(view)}


async def _rows(view: View) -> Values:
    where = filters_of(view)
    page = await _first_found(view, {**where, **_cursor(view), "limit": str(ROWS)})
    outcomes = await view.app.schedules.outcomes([one["id"] for one in page["items"]], each=SPARK)
    rows = [(one, timing_words(one), spark(outcomes.get(one["id"]))) for one in page["items"]]
    return {
        "rows": rows,
        "next_cursor": page["nextCursor"],
        "first": "cursor" not in view.query,
        "filtered": bool(where),
        "owners": any(one["metadata"]["ownerId"] for one in page["items"]),
    }


async def _first_found(view: View, query: dict[str, str]) -> Any:
    """The first page with something on it, or the last one that was looked at."""
    page = await schedules.list_schedules(view.app, query)
    for _ in range(LOOKS - 1):
        if page["items"] or page["nextCursor"] is None:
            break
        page = await schedules.list_schedules(view.app, {**query, "cursor": page["nextCursor"]})
    return page


async def _operations(view: View) -> Values:
    page = await controlling.list_operations(view.app, {"limit": str(SHOWN_OPERATIONS)})
    return {"operations": [one for one in page["items"] if one["finishedAt"] is None]}


async def _bulk(view: View) -> Values:
    """What one action would be done to: nothing is done by looking."""
    action = view.query.get("action", "")
    body = _body(action, list(view.repeated.get("id", ())), filters_of(view))
    found = await controlling.change_many(view.app, {**body, "dryRun": True})
    return {
        "action": action,
        "verb": ACTIONS[action][0],
        "found": found,
        "ids": view.repeated.get("id", ()),
        "where": filters_of(view),
    }


async def _change(view: View, form: Form) -> Went:
    action = form.get("action")
    if action == "trigger" and not view.may(Scope.TRIGGER):
        raise Forbidden("this needs the scope trigger, which the key does not have")
    where = {name: text for name in FILTERS if (text := form.get(name).strip())}
    body = _body(action, list(form.all("id")), where)
    if form.get("reason").strip() and action in ("pause", "resume"):
        body["reason"] = form.get("reason").strip()
    done: Any = await controlling.change_many(view.app, body, by=view.caller.name)
    to = {name: form.get(name) for name in FILTERS}
    if done["status"] == "running":
        return Went(to="/schedules", said=f"{ACTIONS[action][0]} has begun: its progress is shown below.", query=to)
    many = done["changed"]
    said = f"{ACTIONS[action][1]} {count(many)} {plural(many, 'schedule')}."
    if done["refused"]:
        said += f" {count(done['refused'])} could not be: {_why(done)}"
    return Went(to="/schedules", said=said, query=to)


def timing_words(schedule: Any) -> str:
    """When a schedule fires, in words."""
    if schedule["cronExpression"] is not None:
        zone = schedule["timezone"]
        words = explain(Cron(schedule["cronExpression"], zone, strict_fields=schedule["strictFields"]))
        return words.removesuffix(f", {zone}")
    if schedule["everyMs"] is not None:
        return explain(Every(milliseconds=schedule["everyMs"]))
    return "Once"


def _body(action: str, ids: list[str], where: dict[str, str]) -> dict[str, Any]:
    """What the API is asked for: those that are named, else all that match, else all."""
    if ids:
        return {"action": action, "ids": ids}
    if not where:
        return {"action": action, "everything": True}
    filter: dict[str, Any] = dict(where)
    if "enabled" in filter:
        filter["enabled"] = filter["enabled"] == "true"
    return {"action": action, "filter": filter}


def _why(done: Any) -> str:
    return next((item["detail"] for item in done.get("items", ()) if item.get("detail")), "see its operation")


def _allowed(view: View) -> list[tuple[str, str]]:
    needed = {"trigger": Scope.TRIGGER}
    if not view.may(Scope.WRITE):
        return []
    return [(name, words[0]) for name, words in ACTIONS.items() if view.may(needed.get(name, Scope.WRITE))]


def _cursor(view: View) -> dict[str, str]:
    return {"cursor": view.query["cursor"]} if view.query.get("cursor") else {}


def _title(values: Values) -> str:
    return f"{values['verb']} schedules"


PAGE = Page(
    path="/schedules",
    label="Schedules",
    title="Schedules",
    template="schedules.html",
    parts=(
        Part(name="tools", load=_tools),
        Part(name="operations", load=_operations, on=(SCHEDULES,), least=1, every=5),
        Part(name="rows", load=_rows, on=(RUNS, SCHEDULES), least=2, every=60),
    ),
)
BULK = Page(
    path="/schedules:bulk",
    title=_title,
    template="bulk.html",
    scope=Scope.WRITE,
    parts=(Part(name="plan", load=_bulk, scope=Scope.WRITE),),
    actions=(Action(path="/schedules:bulk", run=_change, scope=Scope.WRITE),),
)
