"""The routes of queues. A name that nobody set up is a queue too, so none of them is ever not found."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope

from .bodies import NoBody, QueueBody, QueuePauseBody
from .http import Call
from .operations import queues
from .replies import Reply
from .route import Route
from .shapes import QueueAnswer, QueuePage


async def _list(app: Duly, call: Call) -> Reply:
    return Reply(await queues.list_queues(app))


async def _get(app: Duly, call: Call) -> Reply:
    return Reply(await queues.get_queue(app, call.ref))


async def _put(app: Duly, call: Call) -> Reply:
    return Reply(await queues.put_queue(app, call.ref, call.body))


async def _patch(app: Duly, call: Call) -> Reply:
    return Reply(await queues.patch_queue(app, call.ref, call.body))


async def _pause(app: Duly, call: Call) -> Reply:
    return Reply(await queues.pause_queue(app, call.ref, call.body, by=call.by))


async def _resume(app: Duly, call: Call) -> Reply:
    return Reply(await queues.resume_queue(app, call.ref, call.body))


QUEUES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/queues",
        name="listQueues",
        summary="List queues that were set up or have open runs, by name",
        run=_list,
        scope=Scope.READ,
        answer=QueuePage,
    ),
    Route(
        method="GET",
        path="/queues/{ref}",
        name="getQueue",
        summary="Look at a queue",
        run=_get,
        scope=Scope.READ,
        answer=QueueAnswer,
    ),
    Route(
        method="PUT",
        path="/queues/{ref}",
        name="putQueue",
        summary="Limit a queue exactly so; a pause stays",
        run=_put,
        scope=Scope.ADMIN,
        body=QueueBody,
        answer=QueueAnswer,
    ),
    Route(
        method="PATCH",
        path="/queues/{ref}",
        name="patchQueue",
        summary="Change some limits of a queue",
        run=_patch,
        scope=Scope.ADMIN,
        body=QueueBody,
        answer=QueueAnswer,
    ),
    Route(
        method="POST",
        path="/queues/{ref}/pause",
        name="pauseQueue",
        summary="Let nothing of a queue start; schedules go on firing, and their runs wait",
        run=_pause,
        scope=Scope.ADMIN,
        body=QueuePauseBody,
        body_needed=False,
        answer=QueueAnswer,
    ),
    Route(
        method="POST",
        path="/queues/{ref}/resume",
        name="resumeQueue",
        summary="Let the runs of a queue start again",
        run=_resume,
        scope=Scope.ADMIN,
        body=NoBody,
        body_needed=False,
        answer=QueueAnswer,
    ),
)
