"""The routes of workflows: start them, send them messages, look at their steps."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope

from .bodies_workflow import HookBody, PublishBody, ResultBody, SignalBody, StartBody, TaskFailBody
from .http import Call
from .operations import workflows
from .replies import Reply
from .route import Route
from .shapes import RunAnswer, StartedRunAnswer
from .shapes_workflow import EndedAnswer, EventHandlerPage, PublishedAnswer, StepPage, UpdateAnswer, ValueAnswer


async def _start(app: Duly, call: Call) -> Reply:
    run = await workflows.start(app, call.ref, call.body, id=call.id)
    return Reply(run, 202, location=f"/runs/{run['id']}")


async def _steps(app: Duly, call: Call) -> Reply:
    return Reply(await workflows.list_steps(app, call.ref))


async def _signal(app: Duly, call: Call) -> Reply:
    run = await workflows.signal(app, call.ref, call.name, call.body)
    return Reply(run, 202, location=f"/runs/{run['id']}")


async def _update(app: Duly, call: Call) -> Reply:
    return Reply(await workflows.update(app, call.ref, call.name, call.body))


async def _value(app: Duly, call: Call) -> Reply:
    return Reply(await workflows.value(app, call.ref, call.name))


async def _publish(app: Duly, call: Call) -> Reply:
    return Reply(await workflows.publish(app, call.ref, call.body, id=call.id), 202)


async def _on_event(app: Duly, call: Call) -> Reply:
    return Reply(await workflows.list_on_event(app))


async def _complete(app: Duly, call: Call) -> Reply:
    return Reply(await workflows.complete_task(app, call.ref, call.body))


async def _fail(app: Duly, call: Call) -> Reply:
    return Reply(await workflows.fail_task(app, call.ref, call.body))


async def _receive(app: Duly, call: Call) -> Reply:
    return Reply(await workflows.receive(app, call.ref, call.body))


WORKFLOWS: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/workflows/{ref}/runs",
        name="startWorkflow",
        summary="Start a workflow",
        said="Start a workflow. With an `id` of your own it is started once; a name or a version that no live worker"
        " knows is refused.",
        run=_start,
        scope=Scope.TRIGGER,
        body=StartBody,
        body_needed=False,
        answer=StartedRunAnswer,
        status=202,
        codes=("WORKFLOW_UNKNOWN", "SCHEDULE_ENQUEUE_FAILURE", "SINGLETON_QUEUE_FULL"),
    ),
    Route(
        method="GET",
        path="/runs/{ref}/steps",
        name="listSteps",
        summary="List what is recorded of a workflow's run, by position",
        run=_steps,
        scope=Scope.READ,
        answer=StepPage,
    ),
    Route(
        method="POST",
        path="/runs/{ref}/signals/{name}",
        name="signalRun",
        summary="Send a signal to a workflow's run; it is kept until the run waits for it",
        run=_signal,
        scope=Scope.TRIGGER,
        body=SignalBody,
        body_needed=False,
        answer=RunAnswer,
        status=202,
        codes=("CONFLICT",),
    ),
    Route(
        method="POST",
        path="/runs/{ref}/updates/{name}",
        name="updateRun",
        summary="Send what the workflow's validator of that name lets pass",
        run=_update,
        scope=Scope.TRIGGER,
        body=SignalBody,
        body_needed=False,
        answer=UpdateAnswer,
        codes=("CONFLICT",),
    ),
    Route(
        method="GET",
        path="/runs/{ref}/values/{name}",
        name="getValue",
        summary="Ask for what a workflow's run shows under a name",
        run=_value,
        scope=Scope.READ,
        answer=ValueAnswer,
    ),
    Route(
        method="POST",
        path="/events/{ref}",
        name="publishEvent",
        summary="Publish an event: tell the runs that wait for it, start what is declared for it",
        said="Publish an event: runs that wait for it are told, jobs and workflows that are declared `on_event` are"
        " started with its payload, at once or gathered. With an `id` of your own it is published once.",
        run=_publish,
        scope=Scope.TRIGGER,
        body=PublishBody,
        body_needed=False,
        answer=PublishedAnswer,
        status=202,
        codes=("SCHEDULE_ENQUEUE_FAILURE",),
    ),
    Route(
        method="GET",
        path="/event-handlers",
        name="listEventHandlers",
        summary="List which jobs and workflows events start",
        run=_on_event,
        scope=Scope.READ,
        answer=EventHandlerPage,
    ),
    Route(
        method="POST",
        path="/tasks/{ref}/complete",
        name="completeTask",
        summary="End a task that a workflow handed out; twice is fine",
        run=_complete,
        scope=Scope.TRIGGER,
        body=ResultBody,
        body_needed=False,
        answer=EndedAnswer,
    ),
    Route(
        method="POST",
        path="/tasks/{ref}/fail",
        name="failTask",
        summary="End a task that a workflow handed out with an error; twice is fine",
        run=_fail,
        scope=Scope.TRIGGER,
        body=TaskFailBody,
        answer=EndedAnswer,
    ),
    Route(
        method="POST",
        path="/hooks/{ref}",
        name="receiveHook",
        summary="Post what a workflow waits for to the URL that it has handed out",
        said="Post what a workflow waits for to the URL that it has handed out: any JSON, or nothing. Twice is fine,"
        " the first counts. The token in the URL is the credential.",
        run=_receive,
        open=True,
        once=False,
        body=HookBody,
        body_needed=False,
        answer=EndedAnswer,
    ),
)
