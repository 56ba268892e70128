"""What the receiver of a delivered run can tell of it, where its target says ``expect: ack``."""

from __future__ import annotations

from msgspec import UNSET

from duly.api.findings import telling
from duly.api.reading import read
from duly.api.worker_bodies import DoneBody, NotDoneBody, ReportAnswer, StartedBody
from duly.app import Duly
from duly.app.payload import encode_payload
from duly.core.run import Completed, Failed, Outcome

from .runs import find


async def started(app: Duly, ref: str, body: object) -> ReportAnswer:
    """Keep that a receiver has begun: its time counts from now."""
    return await _answer(app, ref, read(StartedBody, body).fence, None)


async def completed(app: Duly, ref: str, body: object) -> ReportAnswer:
    """Keep that a receiver did its work, and what it answered."""
    given = read(DoneBody, body)
    result = None
    if given.result not in (UNSET, None):
        with telling(payload="/result"):
            result = encode_payload(given.result, app.settings.result_limit)
    return await _answer(app, ref, given.fence, Completed(result))


async def failed(app: Duly, ref: str, body: object) -> ReportAnswer:
    """Keep that a receiver could not do it; the run is delivered again if it may be."""
    given = read(NotDoneBody, body)
    error = given.error.replace("\x00", "\\x00")  # which no store keeps
    return await _answer(app, ref, given.fence, Failed(error, fatal=given.fatal is True))


async def _answer(app: Duly, ref: str, fence: int, outcome: Outcome | None) -> ReportAnswer:
    run = await find(app, ref)  # one of somebody else is not found
    status = await app.lending.answer(run.id, fence, outcome)
    return {"runId": run.id, "status": status.value}
