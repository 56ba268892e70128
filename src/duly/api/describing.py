"""What each field means, for the document: written once for all bodies and answers that have a field of that name.

A type may say it itself; ``Schema.field`` is for a name that means something else there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

FIELDS: Mapping[str, str] = {
    "action": "What is to be done, or was.",
    "afterCompletion": "Whether an interval counts from the end of the run.",
    "anchor": "What an interval counts from.",
    "at": "When.",
    "attemptNumber": "Which attempt, from 1.",
    "backoff": "Whether waits grow (`exponential`) or not (`fixed`).",
    "by": "Who did it.",
    "calendars": "Names of calendars; nothing fires on their dates.",
    "cancelRequested": "Whether it was told to stop.",
    "cancelled": "How many were cancelled.",
    "catchUp": "What becomes of windows that were missed during an outage.",
    "changes": "What differs, field by field.",
    "clientRequestId": "Names the request that created it; a second one with it is refused.",
    "code": "Stable; programs decide by it.",
    "completed": "How many ended well.",
    "completedAt": "When it ended, well or not.",
    "correlationId": "What it belongs to elsewhere.",
    "count": "How many.",
    "createdAt": "When it was made.",
    "createdBy": "Who made it.",
    "cronExpression": "The cron expression that it is, or became.",
    "dailyTime": "A time of every day, on the wall clock of `timezone`.",
    "dates": "Single dates.",
    "day": "The day of the month.",
    "dayOfWeek": "0 and 7 are Sunday, 1 is Monday.",
    "delaySeconds": "The first wait.",
    "description": "For people.",
    "detail": "What was given, what was expected, what to do.",
    "dryRun": "Whether it was only foretold.",
    "dst": "What happens where clocks change.",
    "durationMs": "How long the last attempt took.",
    "endAt": "No window after this instant.",
    "accepted": "Whether the run will hear of it.",
    "askedAt": "When the body asked for it.",
    "doneAt": "When it ended.",
    "endedAt": "When it ended.",
    "error": "What went wrong.",
    "errorMessage": "What went wrong, in the words of the last attempt.",
    "errors": "Everything that is wrong, by its place.",
    "everyMs": "The interval in milliseconds.",
    "excludeDates": "Dates of its own, in `timezone`, on which nothing fires.",
    "existingId": "The id of what is there already.",
    "explanation": "The timing in words.",
    "failed": "How many failed.",
    "fair": "Whether keys or tenants are served in turn.",
    "fairnessKey": "Whose share of a fair queue it is; the tenant's if absent.",
    "field": "The name of the field.",
    "fields": "What changed, field by field.",
    "expiresAt": "From when on it is refused.",
    "minIntervalMs": "The least time between two fires.",
    "payloadBytes": "The largest payload.",
    "quotas": "How much the owner may have and ask for.",
    "requestsPerMinute": "Requests of this key.",
    "revokedAt": "Since when it is refused.",
    "scopes": "What it may do.",
    "QuotasAnswer.schedules": "Schedules that have not ended.",
    "filter": "Which ones; an empty filter fits all.",
    "finishedAt": "When it was done.",
    "fireCurrentWindow": "Whether the window at the time of creation fires as well.",
    "firedAt": "When its run was made.",
    "firingPaused": "Whether all firing is stopped.",
    "firstAt": "The first of them.",
    "fold": "A local time that comes twice.",
    "force": "Run beside others of the schedule, whatever its overlap policy.",
    "from": "The first date.",
    "gap": "A local time that does not exist.",
    "host": "The machine.",
    "hour": "0 to 23.",
    "id": "Unique, for ever; a UUID.",
    "instance": "Which process worked on it.",
    "intervalMinutes": "The interval in minutes, where it is whole minutes.",
    "items": "What was asked for.",
    "jitter": "A delay of every fire, the same on every instance.",
    "jobPayload": "Any JSON value, up to 256 KiB.",
    "jobType": "The name of the job.",
    "jobs": "What its worker can run.",
    "key": "Unique in its tenant; chosen by whoever made it.",
    "kind": "Why it is there.",
    "lastAt": "The last of them.",
    "lastDay": "What ended in the last 24 hours.",
    "lastError": "What went wrong with the newest window, also while it is tried again.",
    "lastFiredAt": "When it fired last.",
    "lastHour": "What ended in the last hour.",
    "lastRunId": "The newest of them.",
    "limit": "How many.",
    "maxAttempts": "How often a run may be tried, the first included.",
    "maxConcurrent": "With `allow`: how many runs at once.",
    "maxDelaySeconds": "The longest wait.",
    "maxLatenessSeconds": "A window that is later than this is not fired any more.",
    "maxMs": "The longest delay.",
    "maxQueued": "With `queue`: how many runs may wait.",
    "maxRetries": "The same without the first.",
    "maxRunning": "How many of its runs may be running, in the fleet.",
    "maxRuns": "The end after so many windows.",
    "CatchUpAnswer.maxRuns": "With `all`: how many of the newest missed windows fire.",
    "CatchUpBody.maxRuns": "With `all`: how many of the newest missed windows fire.",
    "metadata": "Whose it is and what it belongs to.",
    "minMs": "The shortest delay.",
    "minute": "0 to 59.",
    "monthlyTime": "A time of one day of every month, on the wall clock of `timezone`.",
    "name": "For people; need not be unique.",
    "QueueAnswer.name": "The queue's name.",
    "CalendarAnswer.name": "Unique in its tenant.",
    "new": "After.",
    "newestFirst": "Whether what came last goes first.",
    "nextCursor": "Asks for the next page; null on the last.",
    "note": "What a change of the clocks or a calendar did to it, in words.",
    "old": "Before.",
    "onPast": "What happens to an instant that has gone by.",
    "onceAt": "The instant of a one-shot.",
    "outcome": "What became of it.",
    "overlapPolicy": "What becomes of a window while an earlier run has not ended.",
    "owner": "Of this owner.",
    "ownerId": "Whose it is.",
    "parameter": "The query parameter that it is about.",
    "pauseAfterFailures": "Pause after so many failed runs in a row.",
    "paused": "Whether nothing starts.",
    "pausedAt": "Since when.",
    "pausedBy": "By whom.",
    "pausedReason": "Why.",
    "pausedUntil": "Until when; null is until resumed.",
    "payload": "What the handler is given.",
    "periodMs": "The length of a period.",
    "pid": "The process.",
    "pointer": "The place in the body, as a JSON pointer.",
    "policy": "The newest missed window (`latest`), none (`skip`) or `all`.",
    "priority": "The smaller goes first.",
    "queue": "The queue that its runs wait in.",
    "ranges": "From one date to another, both counted.",
    "rateLimit": "How many of its runs may start in a period.",
    "reason": "Why, in a word or a few.",
    "refused": "Those that were not dealt with, and why.",
    "replacedBy": "The id of the one that a reschedule put in its place.",
    "replaces": "The id of the one whose place it took.",
    "requestId": "The request's id; the log has it.",
    "result": "What the handler returned.",
    "retryAfterSeconds": "When it is worth asking again.",
    "retryPolicy": "How long a run waits between attempts.",
    "revision": "The present revision.",
    "roles": "What it does.",
    "runId": "The run that it is about.",
    "running": "How many are running.",
    "scheduleId": "The schedule that it belongs to; null if none.",
    "scheduleKey": "The schedule's key.",
    "scheduleType": "What the timing is.",
    "scheduledAt": "The instant that it is for.",
    "schedules": "How many schedules.",
    "set": "The name of what is applied together.",
    "startAt": "No window before this instant.",
    "startedAt": "When it began.",
    "status": "How far it is.",
    "Problem.status": "The status of the answer.",
    "strictFields": "5 where seconds are refused.",
    "tag": "With this tag.",
    "tags": "Words to find it by.",
    "target": "An outside queue or webhook.",
    "tenant": "Of this tenant.",
    "tenantId": "Which tenant's it is.",
    "timeoutSeconds": "How long one attempt may take; null is without limit.",
    "timezone": "The zone of its wall clock, and of the local times that are shown.",
    "title": "The kind of problem, in words.",
    "to": "The last date.",
    "topic": "What listeners hear it under.",
    "type": "What happened.",
    "tzVersion": "Its rules of time zones.",
    "updatedAt": "When it was changed last.",
    "updatedBy": "Who changed it last.",
    "version": "Its version of duly.",
    "weeklyTime": "A time of one day of every week, on the wall clock of `timezone`.",
    "windowAt": "The nominal instant.",
    "windowCount": "How many windows this row stands for.",
    "workflow": "The name of the workflow.",
}

EXAMPLES: Mapping[str, Any] = {
    "errorMessage": "ConnectionError: refused",
    "lastError": "ConnectionError: refused",
    "error": "ConnectionError: refused",
    "createdBy": "cli",
    "updatedBy": "cli",
    "pausedBy": "cli",
    "by": "cli",
    "tenantId": "shop-1",
    "tenant": "shop-1",
    "correlationId": "order-7",
    "disabledReason": "it answered 410: it wants nothing more",
    "failingSince": "2026-11-16T09:00:00Z",
    "schedule": "nightly-report",
    "owner": "user-42",
    "nextCursor": "019363a0-5c00-7d83-91f8-20a939dbcd79",
    "maxLatenessSeconds": 86400,
    "maxRuns": 10,
    "note": "02:30 does not exist on this day; fires at 03:00",
    "errorType": "shop.errors.CardRefused",
    "type": "shop.errors.CardRefused",
    "message": "the card was refused",
    "errorLocation": "shop/orders.py:41 in charge",
    "stack": "Traceback (most recent call last): ...",
    "reason": "on leave",
    "reasonDetail": "excluded by br-holidays",
    "waitsFor": "its queue 'mail', which ann paused: the provider is down",
    "parameter": "limit",
    "matched": 12,
    "minMs": 30000,
    "maxMs": 50000,
    "day": 15,
    "dayOfWeek": 1,
    "hour": 9,
    "minute": 30,
    "everyMs": 60000,
    "intervalMinutes": 30,
    "onceAt": "2099-03-15T14:00:00Z",
    "anchor": "epoch",
    "description": "What sales wants to see with the first coffee",
    "workflow": "daily-report",
    "timeoutSeconds": 600,
    "maxQueued": 1000,
    "maxConcurrent": 2,
    "maxAttempts": 5,
    "maxRetries": 4,
    "maxDelaySeconds": 3600,
    "jitter": 0.2,
    "pauseAfterFailures": 5,
    "strictFields": 5,
    "revision": 3,
    "schedules": 2,
    "limit": 1000,
    "windowCount": 12,
    "fairnessKey": "user-42",
    "pausedReason": "on leave",
    "topic": "billing.invoice",
    "key": "nightly",
    **dict.fromkeys(
        ("finishedAt", "startAt", "endAt", "pausedUntil", "acknowledgedAt", "since", "revokedAt"),
        "2099-01-01T00:00:00Z",
    ),
    **dict.fromkeys(("replaces", "replacedBy", "redriveOf", "redrivenAs"), "019363a0-5c00-7d83-91f8-20a939dbcd79"),
}
"""Values for fields that no example of a whole has."""


_PLAIN = frozenset({"string", "integer", "number"})


def describe(components: dict[str, Any]) -> None:
    """Give every field of every schema its description, where its type has none."""
    for schema, name, field in _fields(components):
        said = FIELDS.get(f"{schema}.{name}") or FIELDS.get(name)
        if said is not None:
            field.setdefault("description", said)


def illustrate(components: dict[str, Any], shown: Mapping[str, list[Any]]) -> None:
    """Give fields an example: the first value that they have in an example of a whole; ``shown`` is by schema.

    Failing that, the value that a field of that name has elsewhere.
    """
    found: dict[tuple[str, str], Any] = {}
    for schema, values in shown.items():
        for value in values:
            _collect(components, {"$ref": f"/{schema}"}, value, found)
    elsewhere = {name: value for (_, name), value in reversed(found.items())} | dict(EXAMPLES)
    for schema, name, field in _fields(components):
        value = found.get((schema, name), elsewhere.get(name) if _is_plain(field) else None)
        if value is not None:
            field.setdefault("examples", [value])


def _is_plain(field: dict[str, Any]) -> bool:
    """Whether it is text or a number that a person may choose."""
    options = field.get("anyOf", [field])
    return any(option.get("type") in _PLAIN and "enum" not in option for option in options)


def _fields(components: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for schema, body in components.items():
        for name, field in body.get("properties", {}).items():
            yield schema, name, field


def _collect(components: dict[str, Any], schema: dict[str, Any], value: Any, found: dict[tuple[str, str], Any]) -> None:
    for option in (schema, *schema.get("anyOf", ())):
        if isinstance(value, list) and "items" in option:
            for item in value:
                _collect(components, option["items"], item, found)
        if isinstance(value, dict) and "$ref" in option:
            name = option["$ref"].rpartition("/")[2]
            for field, inner in components[name].get("properties", {}).items():
                if value.get(field) is None:
                    continue
                if not isinstance(value[field], dict):
                    found.setdefault((name, field), value[field])
                _collect(components, inner, value[field], found)
