"""``/dead-letters`` and the redrive of a run: runs that failed for good."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope

from . import queries
from .bodies import AcknowledgeManyBody, RedriveBody, RedriveManyBody
from .http import Call
from .operations import dead
from .replies import Reply
from .route import Route
from .shapes import HandledAnswer, RunPage, WholeRunAnswer


async def _redrive_run(app: Duly, call: Call) -> Reply:
    run = await dead.redrive_run(app, call.ref, call.body, by=call.by)
    return Reply(run, 202, location=f"/runs/{run['id']}")


async def _list_dead(app: Duly, call: Call) -> Reply:
    return Reply(await dead.list_dead_letters(app, call.query))


async def _redrive_dead(app: Duly, call: Call) -> Reply:
    return Reply(await dead.redrive_dead_letters(app, call.body, by=call.by), 202)


async def _acknowledge_dead(app: Duly, call: Call) -> Reply:
    return Reply(await dead.acknowledge_dead_letters(app, call.body), 202)


DEAD_LETTERS: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/runs/{ref}/redrive",
        name="redriveRun",
        summary="Let a dead run go again with a fresh budget",
        said="It is the same run, with its id. Another payload makes a new run, and the dead one stays as it is.",
        run=_redrive_run,
        scope=Scope.TRIGGER,
        body=RedriveBody,
        body_needed=False,
        answer=WholeRunAnswer,
        status=202,
        codes=("RUN_NOT_DEAD", "SCHEDULE_RUN_ACTIVE", "CONFLICT"),
    ),
    Route(
        method="GET",
        path="/dead-letters",
        name="listDeadLetters",
        summary="List runs that failed for good, newest first",
        run=_list_dead,
        scope=Scope.READ,
        query=queries.DEAD_LETTERS,
        answer=RunPage,
    ),
    Route(
        method="POST",
        path="/dead-letters:redrive",
        name="redriveDeadLetters",
        summary="Let many dead runs go again, oldest first",
        run=_redrive_dead,
        scope=Scope.TRIGGER,
        body=RedriveManyBody,
        answer=HandledAnswer,
        status=202,
    ),
    Route(
        method="POST",
        path="/dead-letters:acknowledge",
        name="acknowledgeDeadLetters",
        summary="Take runs out of the dead letters",
        run=_acknowledge_dead,
        scope=Scope.WRITE,
        body=AcknowledgeManyBody,
        answer=HandledAnswer,
        status=202,
    ),
)
