"""The OpenAPI document, made from the table of routes and the types of bodies and answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
from msgspec import Meta

from duly.core.run import RunStatus
from duly.core.schedule import ScheduleStatus
from duly.core.version import VERSION

from . import queries
from .describing import describe, illustrate
from .examples import ANSWERS, BODIES, problem_example
from .findings import FieldError
from .http import PREFIX
from .problems import CODES, MEDIA_TYPE
from .route import Route
from .routes import ROUTES
from .streaming import MEDIA_TYPE as STREAM

ABOUT = """Schedules that fire each window exactly once, and the runs that come of them.

* JSON in camelCase, times in RFC 3339 and UTC. Nothing is converted: `"5"` is not `5`, and an unknown field is refused.
* Ids and keys are both accepted in paths. Lists page by `cursor`, never by offset.
* Every error is an `application/problem+json` document (RFC 9457) with a stable `code`; `errors` names each wrong \
field by a JSON pointer.
* `ETag` is the revision; send it as `If-Match` to change only what you have read.
* `Idempotency-Key` on a POST makes it safe to ask again.
* `X-Request-ID` is answered as it came, or made.
"""
LICENSE = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
IF_MATCH = r'^(\*|(W/)?"[\x21\x23-\x7e]*"(, ?(W/)?"[\x21\x23-\x7e]*")*)$'
BEARER = (
    "An API key (`duly_live_…`, made by `duly key create`) or a token of the configured issuer. While there is "
    "neither a key nor an issuer, a server on loopback asks for none."
)
ALWAYS = (
    "NOT_AUTHORISED",
    "FORBIDDEN",
    "QUOTA_EXCEEDED",
    "VALIDATION_FAILED",
    "INVALID_REQUEST",
    "URI_TOO_LONG",
    "HEADERS_TOO_LARGE",
    "TOO_MANY_CONNECTIONS",
    "NOT_READY",
    "CROSS_SITE_REQUEST",
    "HOST_NOT_ALLOWED",
    "INTERNAL_ERROR",
    "PAYLOAD_UNREADABLE",
    "STORE_UNAVAILABLE",
    "OUTCOME_UNKNOWN",
)
WITH_BODY = ("INVALID_JSON", "REQUEST_TIMEOUT", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE")
PARAMETERS: dict[str, tuple[str, dict[str, Any]]] = {
    "enabled": ("Paused (`false`) or not (`true`).", {"type": "boolean"}),
    "jobType": ("Of this job only.", {"type": "string", "maxLength": 100}),
    "workflow": ("Of this workflow only, in any version.", {"type": "string", "maxLength": 100}),
    "owner": ("Of this owner only.", {"type": "string", "maxLength": 128}),
    "tenant": ("Of this tenant only.", {"type": "string", "maxLength": 128}),
    "topic": ("Of this topic only.", {"type": "string", "maxLength": 200}),
    "tag": ("With this tag only; of runs, with all of these, parted by commas.", {"type": "string", "maxLength": 1000}),
    "attr": (
        "Of workflows with these attributes only: `customer:ann,amount:gte:5`; eq, ne, gt, gte, lt, lte.",
        {"type": "string", "maxLength": 1000},
    ),
    "q": ("Name or key contains this.", {"type": "string", "maxLength": 200}),
    "queue": ("Of this queue only.", {"type": "string", "maxLength": 200}),
    "error": ("With this in the text of the error.", {"type": "string", "maxLength": 4096}),
    "errorType": ("With this exception type, as a group has it.", {"type": "string", "maxLength": 200}),
    "errorLocation": ("Raised by this line of the app, as a group has it.", {"type": "string", "maxLength": 300}),
    "scheduleId": ("Of this schedule only, by id or key; also of a deleted one, by id.", {"type": "string"}),
    "type": (
        "Only events of these types, joined by commas.",
        {"type": "string", "examples": ["run.failed,run.completed"]},
    ),
    "limit": ("How many on a page.", {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}),
    "cursor": ("The `nextCursor` of the page before.", {"type": "string"}),
    "since": ("An instant, or how long ago, such as `24h` or `7d`.", {"type": "string", "default": "24h"}),
    "until": ("An instant with an offset; now if absent.", {"type": "string", "format": "date-time"}),
    "schedule": ("Of this schedule only, by id or key; also of a deleted one.", {"type": "string", "maxLength": 200}),
    "late": ("How long after its time a window may fire.", {"type": "string", "default": "60s"}),
    "count": ("How many windows.", {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}),
    "purge": ("Also remove its runs, and all that was kept of it.", {"type": "boolean", "default": False}),
    "cancelRunning": ("Also stop what is running.", {"type": "boolean", "default": False}),
}


class Problem(TypedDict):
    """An RFC 9457 problem document."""

    type: Annotated[str, Meta(description="`urn:duly:problem:` and the kind of problem")]
    title: str
    status: int
    code: Annotated[Literal[tuple(CODES)], Meta(description="stable; programs decide by it")]  # type: ignore[valid-type]
    detail: Annotated[str, Meta(description="what was given, what was expected, what to do")]
    instance: Annotated[str, Meta(description="`urn:duly:request:` and the request's id")]
    requestId: str
    errors: NotRequired[list[FieldError]]
    existingId: NotRequired[str]
    revision: NotRequired[int]
    retryAfterSeconds: NotRequired[int]
    schedules: NotRequired[int]


@lru_cache(maxsize=16)
def document_bytes(root: str = "") -> bytes:
    """The document as JSON; ``root`` is where the API is mounted."""
    return msgspec.json.encode(document(root))


def document(root: str = "") -> dict[str, Any]:
    """The whole document."""
    types = [Problem, *_types(ROUTES)]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    known = dict(zip(map(str, types), schemas, strict=True))
    describe(components)
    illustrate(components, _shown(known))
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for route in ROUTES:
        paths[PREFIX + route.path][route.method.lower()] = _operation(route, known)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "duly",
            "version": VERSION,
            "description": ABOUT,
            "license": LICENSE,
        },
        "servers": [{"url": root or "/"}],
        "tags": [
            {"name": "schedules", "description": "What fires, and when"},
            {"name": "runs", "description": "What came of it"},
            {"name": "dead-letters", "description": "What failed for good"},
            {"name": "calendars", "description": "When nothing fires"},
            {"name": "instances", "description": "Who does it"},
            {"name": "queues", "description": "How much of it at once"},
            {"name": "events", "description": "What happens, as it happens"},
            {"name": "operations", "description": "What is done to many, and how far it is"},
            {"name": "upcoming", "description": "What fires next"},
            {"name": "stats", "description": "How it all fares"},
            {"name": "firing", "description": "The switch of the fleet"},
            {"name": "keys", "description": "Who may call"},
            {"name": "webhooks", "description": "Who is told"},
        ],
        "paths": dict(paths),
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "description": BEARER}},
        },
        "security": [{"bearer": []}, {}],
    }


def _shown(schemas: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The examples of whole bodies and answers, by the name of their schema."""
    shown: dict[str, list[Any]] = defaultdict(list)
    for route in ROUTES:
        if route.answer is not None and "$ref" in schemas[str(route.answer)]:
            shown[schemas[str(route.answer)]["$ref"].rpartition("/")[2]].append(ANSWERS[route.name])
        if route.body is not None:
            values = [value for _, value in BODIES[route.name].values()]
            shown[schemas[str(route.body)]["$ref"].rpartition("/")[2]] += values
    shown["Problem"] = [problem_example(code) for code in CODES]
    return shown


def codes_of(route: Route) -> tuple[str, ...]:
    """Every code that a route may answer."""
    body = WITH_BODY if route.body is not None else ()
    ref = _NOT_FOUND[route.path.split("/")[1]] if "{ref}" in route.path else ()
    stale = ("SCHEDULE_REVISION_STALE", "INVALID_HEADER") if route.if_match else ()
    keyed = ("INVALID_HEADER", "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_IN_USE") if route.keyed else ()
    return tuple(dict.fromkeys((*body, *ref, *stale, *keyed, *route.codes, *ALWAYS)))


def _operation(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "tags": [route.path.strip("/").partition("/")[0].partition(":")[0]],
        "summary": route.summary,
        "description": _description(route),
        "parameters": _parameters(route),
        "responses": _responses(route, schemas),
    }
    if route.body is not None:
        examples = BODIES[route.name]
        operation["requestBody"] = {
            "required": route.body_needed,
            "content": {
                "application/json": {
                    "schema": schemas[str(route.body)],
                    "examples": {
                        name: {"summary": summary, "value": value} for name, (summary, value) in examples.items()
                    },
                }
            },
        }
    return operation


def _description(route: Route) -> str:
    said = f"{route.said or f'{route.summary}.'} {_asks_for(route)}"
    return said if route.body is None or route.body_needed else f"{said} The body may be absent."


def _asks_for(route: Route) -> str:
    return "It asks for no credential." if route.open else f"Scope: `{route.scope}`."


def _parameters(route: Route) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if "{ref}" in route.path:
        told = _REFS[route.path.split("/")[1]]
        found.append({"name": "ref", "in": "path", "required": True, "description": told, "schema": {"type": "string"}})
    if "{name}" in route.path:
        told = "Its name."
        found.append(
            {"name": "name", "in": "path", "required": True, "description": told, "schema": {"type": "string"}}
        )
    for name in route.query:
        if name == "status":
            words = list(ScheduleStatus) if route.query is queries.SCHEDULES else list(RunStatus)
            told, schema = "With this status only.", {"type": "string", "enum": [str(word) for word in words]}
        else:
            told, schema = PARAMETERS[name]
        found.append({"name": name, "in": "query", "required": False, "description": told, "schema": schema})
    if route.streams:
        told = "The id of the last event that arrived; what came after it is sent first."
        schema = {"type": "string", "pattern": "^[0-9]{1,18}$"}
        found.append(
            {"name": "Last-Event-ID", "in": "header", "required": False, "description": told, "schema": schema}
        )
    if route.if_match:
        told = "The revision that was read, in quotes; another one is answered 412."
        schema = {"type": "string", "examples": ['"3"'], "pattern": IF_MATCH}
        found.append({"name": "If-Match", "in": "header", "required": False, "description": told, "schema": schema})
    if route.keyed:
        told = "Names the request: asked again with the same key within a day, it gets the first answer."
        size = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[\\x20-\\x7e]+$"}
        found.append(
            {"name": "Idempotency-Key", "in": "header", "required": False, "description": told, "schema": size}
        )
    return found


def _responses(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status in (route.status, route.also):
        if status is None:
            continue
        answer: dict[str, Any] = {"description": _WORDS[status]}
        other = status == route.also and route.also_answer is not None
        shape = route.also_answer if other else route.answer
        if shape is not None:
            example = ANSWERS[f"{route.name} {status}" if other else route.name]
            kind, schema = "application/json", schemas[str(shape)]
            if route.streams:
                kind = STREAM
                schema = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
                text = msgspec.json.encode(example).decode()
                example = f"id: {example['id']}\nevent: {example['type']}\ndata: {text}\n\n"
            answer["content"] = {kind: {"schema": schema, "example": example}}
        headers = {"X-Request-ID": {"description": "The request's id.", "schema": {"type": "string"}}}
        if route.etag:
            headers["ETag"] = {"description": "The revision, in quotes.", "schema": {"type": "string"}}
        if status in (201, 202) and "id" in getattr(shape, "__annotations__", ()):
            headers["Location"] = {"description": "Where it is.", "schema": {"type": "string"}}
        responses[str(status)] = {**answer, "headers": headers}
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in codes_of(route):
        by_status[CODES[code][0].status].append(code)
    for problem_status, codes in sorted(by_status.items()):
        responses[str(problem_status)] = {
            "description": " ".join(f"`{code}`: {CODES[code][1]}" for code in codes),
            "content": {
                MEDIA_TYPE: {
                    "schema": schemas[str(Problem)],
                    "examples": {code: {"value": problem_example(code)} for code in codes},
                }
            },
        }
    return responses


def _types(routes: Iterable[Route]) -> list[Any]:
    found = [kind for route in routes for kind in (route.body, route.answer, route.also_answer) if kind is not None]
    return list({str(kind): kind for kind in found}.values())


_NOT_FOUND: dict[str, tuple[str, ...]] = {
    "schedules": ("SCHEDULE_JOB_NOT_FOUND", "DEFINITION_UNREADABLE"),
    "runs": ("SCHEDULE_JOB_NOT_FOUND",),
    "calendars": ("CALENDAR_NOT_FOUND",),
    "queues": (),
    "workflows": (),
    "events": (),
    "tasks": ("SCHEDULE_JOB_NOT_FOUND",),
    "hooks": ("SCHEDULE_JOB_NOT_FOUND",),
    "operations": ("OPERATION_NOT_FOUND",),
    "keys": ("KEY_NOT_FOUND",),
    "webhooks": ("WEBHOOK_NOT_FOUND",),
}
_REFS = {
    "schedules": "Id or key.",
    "runs": "Id or window key (`sched:<key>:<epoch ms>`).",
    "calendars": "The calendar's name.",
    "queues": "The queue's name.",
    "workflows": "The workflow's name.",
    "events": "The event's name.",
    "tasks": "The token that `ctx.task` gave out.",
    "hooks": "The token at the end of the URL that `ctx.webhook` made.",
    "operations": "The operation's id.",
    "keys": "The key's id, which is the first 8 characters after `duly_live_`.",
    "webhooks": "The webhook's id.",
}
_WORDS = {200: "As it is now.", 201: "It is new.", 202: "It is stored and will run.", 204: "It is gone."}
