"""What operators can have done: one action on many schedules, a backfill, a purge; and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from duly.api import queries
from duly.api.answers import upcoming_answer
from duly.api.answers_control import operation_answer
from duly.api.arguments import instant
from duly.api.bodies_control import BackfillBody, BulkBody, ScheduleFilterBody
from duly.api.findings import Findings, telling
from duly.api.queries import read_query
from duly.api.reading import read
from duly.api.shapes import UpcomingPage
from duly.api.shapes_control import MatchingAnswer, OperationAnswer, OperationPage
from duly.app import Duly
from duly.app.operations import Progress
from duly.app.watching import carry_on
from duly.core.errors import OperationNotFound
from duly.core.ids import is_id
from duly.core.operation import Operation, OperationKind

from .schedules import check_revision, find, is_ref, unknown

PURGE_WITHIN = 5.0
"""Seconds that a request waits for a purge; what takes longer goes on beside it."""

LATELY = 200
"""So many of the newest operations are looked through for a purge that is asked for again."""

_FIELDS = {"enabled": "enabled", "job_type": "job", "owner": "owner", "tenant": "tenant", "topic": "topic",
           "tag": "tag", "status": "status", "q": "q"}  # fmt: skip
_OF = {
    "reason": ("pause", "resume"),
    "until": ("pause",),
    "catch_up": ("resume",),
    "cancel_running": ("delete",),
    "force": ("trigger",),
}
_JSON = {"catch_up": "catchUp", "cancel_running": "cancelRunning"}


async def change_many(
    app: Duly,
    body: object,
    *,
    by: str | None = None,
    id: str | None = None,
    on_progress: Progress | None = None,
) -> OperationAnswer | MatchingAnswer:
    """Begin to do one thing to many schedules.

    What was named is done when this answers. What a filter found is done beside it, or with ``on_progress`` before.
    """
    given = read(BulkBody, body)
    words = _words(given)
    filters = _which(given)
    with telling(filter="/filter", ids="/ids"):
        if given.dry_run:
            found = await app.schedules.count(**filters)
            return {"dryRun": True, "matched": found.count, "more": found.more, "keys": list(found.keys)}
        plan = await app.schedules.plan(given.action, **words, **filters)
    begun = await app.operations.begin(plan.order, missing=plan.missing, by=by, id=id)
    if plan.order.ids is not None or on_progress is not None:
        return operation_answer(await _driven(app, begun, on_progress))
    carry_on(app, begun.id)
    return operation_answer(begun)


async def backfill(
    app: Duly, ref: str, body: object, *, by: str | None = None, id: str | None = None
) -> OperationAnswer | UpcomingPage:
    """Make runs of the windows of a past range; or tell which those are."""
    given = read(BackfillBody, body)
    findings = Findings()
    with findings.at("/from"):
        since = instant(given.from_, "from")
    with findings.at("/to"):
        until = instant(given.to, "to")
    findings.check()
    assert since is not None
    assert until is not None
    schedule = await find(app, ref)
    asked: dict[str, Any] = {"force": given.force, "rate_per_second": given.rate_per_second or None}
    if given.rate_per_second == 0:
        asked["rate_per_second"] = 0
    if given.payload is not UNSET:
        asked["payload"] = given.payload
    places = {"from": "/from", "to": "/to", "payload": "/payload", "rate_per_second": "/ratePerSecond"}
    with telling(**places):
        if given.dry_run:
            windows = await app.schedules.backfill(schedule.id, since, until, dry_run=True, **asked)
            return {"items": [upcoming_answer(window) for window in windows], "nextCursor": None}
        return operation_answer(await app.schedules.backfill(schedule.id, since, until, by=by, id=id, **asked))


async def remove_schedule(
    app: Duly,
    ref: str,
    query: Mapping[str, str] | None = None,
    if_revision: int | None = None,
    *,
    by: str | None = None,
) -> OperationAnswer | None:
    """Remove a schedule and keep its runs, or purge them too; None when that is done, else how far it is."""
    options = read_query(query or {}, queries.DELETE)
    if not is_ref(ref):
        raise unknown(ref)
    if if_revision is not None:
        before = await app.schedules.get(ref)
        if before is not None:
            check_revision(before, if_revision)
    cancel_running = options.get("cancelRunning", False)
    if not options.get("purge"):
        await app.schedules.delete(ref, cancel_running=cancel_running, by=by)
        return None
    begun = await app.schedules.begin_purge(ref, cancel_running=cancel_running, by=by)
    if begun is None:
        if not await _was_purged(app, ref):
            raise unknown(ref)
        return None
    done = begun if begun.finished else await app.operations.drive(begun.id, within=PURGE_WITHIN)
    if done.finished:
        return None
    carry_on(app, done.id)
    return operation_answer(done)


async def get_operation(app: Duly, id: str) -> OperationAnswer:
    """How far an operation has come."""
    found = await app.operations.get(id) if is_id(id) else None
    if found is None:
        raise OperationNotFound.named(id)
    return operation_answer(found)


async def list_operations(app: Duly, query: Mapping[str, str]) -> OperationPage:
    """One page, newest first."""
    page = await app.operations.list(**read_query(query, queries.PAGE))
    return {
        "items": [operation_answer(operation, whole=False) for operation in page.items],
        "nextCursor": page.next_cursor,
    }


async def _was_purged(app: Duly, ref: str) -> bool:
    """Whether one of the last operations has purged what was asked for by this id or key: nothing else knows of it."""
    lately = await app.operations.list(limit=LATELY)
    return any(
        operation.kind is OperationKind.PURGE
        and ref in (operation.arguments.get("schedule_id"), operation.arguments.get("ref"))
        for operation in lately.items
    )


async def _driven(app: Duly, begun: Operation, on_progress: Progress | None) -> Operation:
    return begun if begun.finished else await app.operations.drive(begun.id, on_progress)


def _which(given: BulkBody) -> dict[str, Any]:
    findings = Findings()
    ways = (given.ids is not UNSET, given.filter is not UNSET, given.everything)
    if sum(ways) != 1:
        findings.add("it is not clear which are meant; expected one of ids, filter, or everything: true", pointer="")
    findings.check()
    if given.ids is not UNSET:
        return {"ids": given.ids}
    if not isinstance(given.filter, ScheduleFilterBody):
        return {"everything": True}
    named = {word: getattr(given.filter, field) for field, word in _FIELDS.items()}
    where = {word: value for word, value in named.items() if value is not UNSET}
    if not where:
        findings.add("filter is empty; expected at least one condition, or everything: true instead", pointer="/filter")
    findings.check()
    return where


def _words(given: BulkBody) -> dict[str, Any]:
    """The options of the action; one that goes with another action is refused."""
    findings = Findings()
    words: dict[str, Any] = {}
    for name, actions in _OF.items():
        value = getattr(given, name)
        if value is UNSET or value is None:
            continue
        shown = _JSON.get(name, name)
        if given.action not in actions:
            findings.add(f"{shown} goes with {' and '.join(actions)}, not with {given.action}", pointer=f"/{shown}")
        words[name] = value
    if "until" in words:
        with findings.at("/until"):
            words["until"] = instant(words["until"], "until")
    findings.check()
    return words
