"""What can be asked of runs of workflows."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from duly.api.answers import run_answer, started_answer
from duly.api.answers_workflow import event_handler_answer, published_answer, step_answer
from duly.api.bodies_workflow import PublishBody, ResultBody, SignalBody, StartBody, TaskFailBody
from duly.api.findings import telling
from duly.api.reading import read
from duly.api.shapes import RunAnswer, StartedRunAnswer
from duly.api.shapes_workflow import EndedAnswer, EventHandlerPage, PublishedAnswer, StepPage, UpdateAnswer, ValueAnswer
from duly.app import Duly

from .runs import find

_PLACES = {
    "id": "/id", "version": "/version", "tags": "/tags", "attributes": "/attributes", "singleton": "/singleton",
    "max_running": "/maxRunning", "max_queued": "/maxQueued",
}  # fmt: skip
_OPTIONS = ("version", "tags", "attributes", "singleton", "max_running", "max_queued")


async def start(app: Duly, name: str, body: object, *, id: str | None = None) -> StartedRunAnswer:
    """Ask for a run of a workflow; with an ``id`` of the caller's own, once."""
    given = read(StartBody, {} if body is None else body)
    input = None if given.input is UNSET else given.input
    options: dict[str, Any] = {word: value for word in _OPTIONS if (value := getattr(given, word)) not in (None, UNSET)}
    with telling(input="/input", payload="/input", **_PLACES):
        run = await app.workflows.start(name, input, id=given.id or id, **options)
    return started_answer(run, given.id)


async def list_steps(app: Duly, ref: str) -> StepPage:
    """What is recorded of a run, by position."""
    run = await find(app, ref)
    history = await app.workflows.history(run.id)
    return {
        "items": [step_answer(run.id, step) for step in history.steps],
        "nextCursor": None,
        "bytes": history.bytes,
        "warning": history.warning,
    }


async def signal(app: Duly, ref: str, name: str, body: object) -> RunAnswer:
    """Send a signal; it is kept until the run waits for it."""
    run = await find(app, ref)
    await app.workflows.signal(run.id, name, _payload(body))
    return run_answer(await find(app, run.id))


async def update(app: Duly, ref: str, name: str, body: object) -> UpdateAnswer:
    """Send what a validator of the workflow lets pass."""
    run = await find(app, ref)
    done = await app.workflows.update(run.id, name, _payload(body))
    return {"accepted": done.accepted, "reason": done.reason}


async def value(app: Duly, ref: str, name: str) -> ValueAnswer:
    """What a run shows under a name."""
    run = await find(app, ref)
    shown = await app.workflows.query(run.id, name, UNSET)
    return {"name": name, "value": None if shown is UNSET else shown, "published": shown is not UNSET}


async def publish(app: Duly, event: str, body: object, *, id: str | None = None) -> PublishedAnswer:
    """Tell all who wait for an event, and start what is declared for it; with an ``id`` of the caller's own, once."""
    given = read(PublishBody, {} if body is None else body)
    payload = None if given.payload is UNSET else given.payload
    with telling(id="/id", payload="/payload"):
        return published_answer(await app.workflows.publish(event, payload, id=given.id or id))


async def list_on_event(app: Duly) -> EventHandlerPage:
    """What events start."""
    return {"items": [event_handler_answer(one) for one in await app.workflows.on_event()], "nextCursor": None}


async def complete_task(app: Duly, token: str, body: object) -> EndedAnswer:
    given = read(ResultBody, {} if body is None else body)
    result = None if given.result is UNSET else given.result
    with telling(payload="/result"):
        return {"ended": await app.workflows.complete_task(token, result)}


async def fail_task(app: Duly, token: str, body: object) -> EndedAnswer:
    return {"ended": await app.workflows.fail_task(token, read(TaskFailBody, body).error)}


async def receive(app: Duly, token: str, body: object) -> EndedAnswer:
    """What was posted to a webhook that a run waits for."""
    with telling(payload=""):
        return {"ended": await app.workflows.receive(token, body)}


def _payload(body: object) -> Any:
    given = read(SignalBody, {} if body is None else body)
    return None if given.payload is UNSET else given.payload
