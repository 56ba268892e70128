"""Runs that failed for good: grouped by job and error, let go again or laid to rest, one, some or all."""

from __future__ import annotations

from typing import Any

from duly.api import queries
from duly.api.operations import dead, overlooking
from duly.api.shapes import HandledAnswer
from duly.core.credential import Scope
from duly.core.errors import ValidationFailed

from .asking import asked
from .page import RUNS, Action, Form, Page, Part, Values, View, Went
from .words import plural

FILTERS = ("jobType", "error", "errorType", "errorLocation", "queue", "scheduleId", "tenant")
ACTS = {"redrive": "Redrive", "acknowledge": "Acknowledge"}
_WHY = {
    "not_dead": "not dead any more",
    "not_found": "not there",
    "no_payload": "without a payload",
    "lane_full": "behind too many others",
}


async def _groups(view: View) -> Values:
    narrowed = asked(view, ("queue", "scheduleId", "tenant"))
    return {"groups": (await overlooking.list_dead_groups(view.app, narrowed))["items"]}


async def _letters(view: View) -> Values:
    page = await dead.list_dead_letters(view.app, asked(view, queries.DEAD_LETTERS))
    return {"page": page, "filters": asked(view, FILTERS)}


async def _all(view: View) -> Values:
    """What one action would be done to: nothing is done by looking."""
    act = view.query.get("act", "redrive")
    if act not in ACTS:
        raise ValidationFailed(f"act is {act[:60]!r}; expected {' or '.join(ACTS)}", field="act")
    filters = asked(view, FILTERS)
    groups = (await overlooking.list_dead_groups(view.app, filters))["items"]
    return {
        "act": act,
        "verb": ACTS[act],
        "groups": groups,
        "many": sum(group["count"] for group in groups),
        "filters": filters,
    }


async def _redrive(view: View, form: Form) -> Went:
    body = {**_which(form), "force": form.get("force") == "on"}
    done = await dead.redrive_dead_letters(view.app, body, by=view.caller.name)
    return _told(done, "will go again")


async def _acknowledge(view: View, form: Form) -> Went:
    return _told(await dead.acknowledge_dead_letters(view.app, _which(form)), "acknowledged")


def _which(form: Form) -> dict[str, Any]:
    """Those that were picked, or all that fit what the list was narrowed to."""
    if form.get("which") == "all":
        return {"filter": {name: text for name in FILTERS if (text := form.get(name))}}
    return {"ids": list(form.all("id"))}


def _told(done: HandledAnswer, became: str) -> Went:
    said = f"{done['count']} {plural(done['count'], 'run')} {became}"
    if done["refused"]:
        reasons = sorted({_WHY[one["reason"]] for one in done["refused"]})
        said += f"; {len(done['refused'])} not: {', '.join(reasons)}"
    return Went(to="/dead-letters", said=said + ("; there are more" if done["more"] else ""))


PAGE = Page(
    path="/dead-letters",
    label="Dead letters",
    title="Dead letters",
    template="dead_letters.html",
    parts=(
        Part(name="groups", load=_groups, on=(RUNS,), least=5),
        # Not refreshed by itself: a box that somebody ticks must not move.
        Part(name="letters", load=_letters),
    ),
    actions=(
        Action(path="/dead-letters/redrive", run=_redrive, scope=Scope.TRIGGER),
        Action(path="/dead-letters/acknowledge", run=_acknowledge, scope=Scope.WRITE),
    ),
)
ALL = Page(
    path="/dead-letters:all",
    title=lambda values: f"{values['verb']} dead letters",
    template="dead_all.html",
    parts=(Part(name="plan", load=_all),),
)
