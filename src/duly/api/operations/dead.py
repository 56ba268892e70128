"""What can be done about runs that failed for good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import UNSET

from duly.api import queries
from duly.api.answers import run_answer
from duly.api.bodies import AcknowledgeManyBody, DeadFilterBody, RedriveBody, RedriveManyBody
from duly.api.findings import telling
from duly.api.queries import read_query
from duly.api.reading import read
from duly.api.shapes import HandledAnswer, RunPage, WholeRunAnswer
from duly.app import Duly
from duly.app.dead import HandledMany
from duly.core.errors import ValidationFailed
from duly.store.dead import Done

from .runs import find, get_run

_REASONS: dict[Done, Literal["not_dead", "not_found", "no_payload", "lane_full"]] = {
    Done.NOT_DEAD: "not_dead",
    Done.NOT_FOUND: "not_found",
    Done.NO_PAYLOAD: "no_payload",
    Done.LANE_FULL: "lane_full",
}


async def list_dead_letters(app: Duly, query: Mapping[str, str]) -> RunPage:
    """One page, newest first, without payloads."""
    where = read_query(query, queries.DEAD_LETTERS)
    named = {"schedule": where.pop("scheduleId", None), "job": where.pop("jobType", None)}
    named |= {"error_type": where.pop("errorType", None), "error_location": where.pop("errorLocation", None)}
    page = await app.runs.dead(**named, **where)
    return {"items": [run_answer(run, whole=False) for run in page.items], "nextCursor": page.next_cursor}


async def redrive_run(app: Duly, ref: str, body: object = None, *, by: str | None = None) -> WholeRunAnswer:
    """Let a dead run go again; with another payload as a new run."""
    given = read(RedriveBody, {} if body is None else body)
    run = await find(app, ref)
    with telling(payload="/payload"):
        goes = await app.runs.redrive(run.id, given.payload, force=given.force, by=by)
    return await get_run(app, goes.id)


async def redrive_dead_letters(app: Duly, body: object, *, by: str | None = None) -> HandledAnswer:
    """Let many dead runs go again: those that are named, or those that fit."""
    given = read(RedriveManyBody, body)
    return _handled(await app.runs.redrive_many(**_which(given), force=given.force, by=by))


async def acknowledge_dead_letters(app: Duly, body: object) -> HandledAnswer:
    """Take runs out of the dead letters: those that are named, or those that fit."""
    return _handled(await app.runs.acknowledge_many(**_which(read(AcknowledgeManyBody, body))))


def _which(given: AcknowledgeManyBody | RedriveManyBody) -> dict[str, Any]:
    if (given.ids is UNSET) == (given.filter is UNSET):
        raise ValidationFailed(
            "the body has neither or both of ids and filter; expected one of them ({} fits all)", field="filter"
        )
    if not isinstance(given.filter, DeadFilterBody):
        return {"ids": given.ids}
    where = given.filter
    asked = {
        "schedule": where.schedule_id,
        "job": where.job_type,
        "queue": where.queue,
        "tenant": where.tenant,
        "error": where.error,
        "error_type": where.error_type,
        "error_location": where.error_location,
    }
    return {"most": given.limit} | {name: value for name, value in asked.items() if value is not UNSET}


def _handled(handled: HandledMany) -> HandledAnswer:
    return {
        "count": handled.count,
        "refused": [{"id": one.run_id, "reason": _REASONS[one.outcome]} for one in handled.refused],
        "more": handled.more,
    }
