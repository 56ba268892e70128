"""``POST /schedules:apply``: many schedules at once."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope

from .bodies import ApplyBody
from .http import Call
from .operations.applying import apply_schedules
from .replies import Reply
from .route import SCHEDULE_CODES, Route
from .shapes import ApplyAnswer


async def _apply(app: Duly, call: Call) -> Reply:
    return Reply(await apply_schedules(app, call.body, by=call.by))


APPLY = Route(
    method="POST",
    path="/schedules:apply",
    name="applySchedules",
    summary="Make many schedules exactly what is given",
    said="Create or replace each by its key. Everything is checked before anything is changed; the second time "
    "changes nothing. What belongs to the `set` and is not here any more is pruned if that is asked for.",
    run=_apply,
    scope=Scope.WRITE,
    body=ApplyBody,
    answer=ApplyAnswer,
    codes=(*SCHEDULE_CODES, "SCHEDULE_CLIENT_REQUEST_ID_IN_USE"),
)
