"""Errors as RFC 9457 problems: which status, which words, and never a stack, a statement or a path."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from duly.core import errors
from duly.core.errors import DulyError, Invalid

from .findings import field_errors
from .reading import BodyUnreadable
from .wording import in_json_words

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = 1
"""Seconds after which it is worth asking again when the store did not answer."""
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:@/+=-]{1,128}")


@dataclass(frozen=True, slots=True)
class Kind:
    """A class of problems: its status, the last word of its type, and its title."""

    status: int
    name: str
    title: str

    @property
    def type(self) -> str:
        return f"urn:duly:problem:{self.name}"


BAD_REQUEST = Kind(400, "invalid-request", "The request cannot be read")
UNREADABLE = Kind(400, "invalid-json", "The body cannot be read")
BAD_HEADER = Kind(400, "invalid-header", "A header cannot be read")
UNAUTHENTICATED = Kind(401, "unauthenticated", "Nobody knows who asks")
FORBIDDEN = Kind(403, "forbidden", "Not allowed")
NOT_FOUND = Kind(404, "not-found", "Not found")
NOT_ALLOWED = Kind(405, "method-not-allowed", "The method is not allowed here")
TOO_SLOW = Kind(408, "request-timeout", "The request took too long to arrive")
CONFLICT = Kind(409, "conflict", "The present state does not allow it")
STALE_ATTEMPT = Kind(409, "stale-attempt", "Not in your hands any more")
STALE = Kind(412, "precondition-failed", "Someone else changed it")
NEEDED = Kind(428, "precondition-required", "The revision that is meant is not said")
TOO_LARGE = Kind(413, "payload-too-large", "Too large")
URI_TOO_LONG = Kind(414, "uri-too-long", "The address is too long")
UNSUPPORTED = Kind(415, "unsupported-media-type", "Only JSON is read")
MISDIRECTED = Kind(421, "misdirected-request", "Not the host that was asked for")
NOT_VALID = Kind(422, "validation-error", "Something is not valid")
ELSEWHERE = Kind(422, "destination-not-allowed", "Nothing may be sent there")
KEY_REUSED = Kind(422, "idempotency-key-reused", "The key names another request")
HEADERS_TOO_LARGE = Kind(431, "headers-too-large", "The headers are too large")
TOO_MANY = Kind(429, "rate-limited", "Too many at once")
TOO_MUCH = Kind(429, "quota-exceeded", "As much as is allowed")
INTERNAL = Kind(500, "internal-error", "Something went wrong here")
UNAVAILABLE = Kind(503, "store-unavailable", "The store does not answer")
NOT_READY = Kind(503, "not-ready", "Not ready")
CROWDED = Kind(503, "too-many-connections", "Too many clients at once")

CODES: Mapping[str, tuple[Kind, str]] = {
    "INVALID_REQUEST": (BAD_REQUEST, "What came is not HTTP that means one thing only."),
    "INVALID_JSON": (UNREADABLE, "The body is not JSON that means one thing only."),
    "INVALID_HEADER": (BAD_HEADER, "`If-Match`, `Idempotency-Key` or `Last-Event-ID` is not written as it should be."),
    "NOT_AUTHORISED": (UNAUTHENTICATED, "There is no credential, or it is not good."),
    "FORBIDDEN": (FORBIDDEN, "The credential does not allow this, or not in another's name."),
    "CROSS_SITE_REQUEST": (FORBIDDEN, "A browser sent this from another site."),
    "NOT_FOUND": (NOT_FOUND, "There is no such path."),
    "SCHEDULE_JOB_NOT_FOUND": (NOT_FOUND, "No schedule or run has that id or key."),
    "OPERATION_NOT_FOUND": (NOT_FOUND, "No operation has that id, or it is forgotten by now."),
    "KEY_NOT_FOUND": (NOT_FOUND, "No API key has that id."),
    "CALENDAR_NOT_FOUND": (NOT_FOUND, "No calendar has that name."),
    "WEBHOOK_NOT_FOUND": (NOT_FOUND, "No webhook has that id."),
    "METHOD_NOT_ALLOWED": (NOT_ALLOWED, "The path is there; `Allow` says what it takes."),
    "REQUEST_TIMEOUT": (TOO_SLOW, "Head or body of the request did not arrive in time."),
    "SCHEDULE_KEY_IN_USE": (CONFLICT, "Another schedule has the key; `existingId` is its id."),
    "SCHEDULE_CLIENT_REQUEST_ID_IN_USE": (CONFLICT, "It was created before; `existingId` is its id."),
    "SCHEDULE_JOB_NOT_CANCELLABLE": (CONFLICT, "It has fired already."),
    "SCHEDULE_RUN_ACTIVE": (CONFLICT, "A run has not ended, and the overlap policy allows no other."),
    "RUN_NOT_DEAD": (CONFLICT, "The run is not among the dead letters."),
    "IDEMPOTENCY_KEY_IN_USE": (CONFLICT, "The first request with this key is still under way."),
    "CALENDAR_IN_USE": (CONFLICT, "Schedules that have not ended name it; `schedules` says how many."),
    "SINGLETON_QUEUE_FULL": (CONFLICT, "As many runs wait for the singleton key as may; nothing was stored."),
    "UNIQUE_KEY_IN_USE": (CONFLICT, "Another run has the unique key; `existingId` is its id."),
    "LEASE_LOST": (
        STALE_ATTEMPT,
        "The session has ended, or the run is not in its hands or awaits no such answer any more; nothing was changed.",
    ),
    "DEFINITION_UNREADABLE": (CONFLICT, "The schedule was written by a newer version than the server's."),
    "CONFLICT": (CONFLICT, "The present state does not allow it."),
    "SCHEDULE_REVISION_STALE": (STALE, "It was changed since it was read; `revision` is the present one."),
    "PAYLOAD_TOO_LARGE": (TOO_LARGE, "The payload is over 256 KiB, or the body over 1 MiB."),
    "URI_TOO_LONG": (URI_TOO_LONG, "Path and query are over 8 KiB."),
    "UNSUPPORTED_MEDIA_TYPE": (UNSUPPORTED, "The body is not `application/json`, or it is compressed."),
    "HOST_NOT_ALLOWED": (MISDIRECTED, "The server does not answer to that name."),
    "VALIDATION_FAILED": (NOT_VALID, "A value is not allowed; `errors` names each."),
    "IDEMPOTENCY_KEY_REUSED": (KEY_REUSED, "The key came with another request before."),
    "WORKFLOW_UNKNOWN": (NOT_VALID, "Neither the server nor a live worker knows the workflow, or not in that version."),
    "DESTINATION_NOT_ALLOWED": (ELSEWHERE, "The URL of a webhook is not that of a public host."),
    "CALENDAR_UNKNOWN": (NOT_VALID, "The schedule names a calendar that is not there."),
    "SCHEDULE_CRON_INVALID": (NOT_VALID, "The cron expression says nothing, or never fires."),
    "SCHEDULE_TIMEZONE_INVALID": (NOT_VALID, "The time zone is not `UTC` or an IANA name."),
    "SCHEDULE_INTERVAL_TOO_SHORT": (NOT_VALID, "The interval is below the minimum."),
    "SCHEDULE_MOMENT_IN_PAST": (NOT_VALID, "The instant has gone by."),
    "SCHEDULE_TOPIC_INVALID": (NOT_VALID, "The topic is not one to three lower-case words."),
    "SCHEDULE_RETRY_POLICY_INVALID": (NOT_VALID, "Attempts or waits are out of bounds."),
    "PRECONDITION_REQUIRED": (NEEDED, "The server asks for `If-Match` on what is there already."),
    "HEADERS_TOO_LARGE": (HEADERS_TOO_LARGE, "The headers are over 16 KiB."),
    "TOO_MANY_STREAMS": (TOO_MANY, "The server, or the key, has as many streams open as it may."),
    "QUOTA_EXCEEDED": (TOO_MUCH, "The owner has, or asks for, as much as they may."),
    "INTERNAL_ERROR": (INTERNAL, "Nobody foresaw it; the log has it under the request id."),
    "PAYLOAD_UNREADABLE": (INTERNAL, "A stored value is encrypted with a key that the server does not have."),
    "TOO_MANY_CONNECTIONS": (CROWDED, "The server has all the clients it can take; try again."),
    "NOT_READY": (NOT_READY, "The server is starting; nothing was done."),
    "STORE_UNAVAILABLE": (UNAVAILABLE, "The store could not be reached; nothing was done."),
    "OUTCOME_UNKNOWN": (UNAVAILABLE, "The store did not answer; it may have been done."),
    "STORE_ERROR": (UNAVAILABLE, "The store did not answer as hoped."),
    "SCHEDULE_ENQUEUE_FAILURE": (
        UNAVAILABLE,
        "The run may not have been stored. A repeat with `id` in its body is safe.",
    ),
}
"""Every code that the API answers: the problem it is, and what it says."""

# The first that fits.
_KINDS: tuple[tuple[type[DulyError], Kind], ...] = (
    (BodyUnreadable, UNREADABLE),
    (errors.PayloadTooLarge, TOO_LARGE),
    (errors.QuotaExceeded, TOO_MUCH),
    (errors.Forbidden, FORBIDDEN),
    (errors.NotAuthorised, UNAUTHENTICATED),
    (errors.DestinationNotAllowed, ELSEWHERE),
    (errors.Invalid, NOT_VALID),
    (errors.NotFound, NOT_FOUND),
    (errors.RevisionStale, STALE),
    (errors.RevisionRequired, NEEDED),
    (errors.Conflict, CONFLICT),
    (errors.LeaseLost, STALE_ATTEMPT),
    (errors.StoreError, UNAVAILABLE),
)
_STORE_WORDS = {
    errors.StoreUnavailable.code: "the store could not be reached, and nothing was done; try again",
    errors.OutcomeUnknown.code: "the store did not answer in time: it may have been done or not; look, or try again",
    errors.EnqueueFailure.code: "the run may not have been stored; trying again is safe",
}
_EXTENSIONS = {
    "existing_id": "existingId",
    "revision": "revision",
    "run_id": "runId",
    "id": "id",
    "schedules": "schedules",
}


def problem_of(error: DulyError) -> tuple[int, dict[str, Any]]:
    """The status and the problem document of an error.

    A failure of the store or of ours is told in words of our own: the error's may hold what is nobody's business.
    """
    kind = next((kind for base, kind in _KINDS if isinstance(error, base)), INTERNAL)
    if isinstance(error, errors.PayloadUnreadable):
        return kind.status, problem(INTERNAL, error.code, "a stored value is encrypted with a key that is not here")
    if kind is INTERNAL:
        return kind.status, internal()
    detail = (
        _STORE_WORDS.get(error.code, "the store did not answer; try again")
        if kind is UNAVAILABLE
        else in_json_words(error.message)
    )
    extra: dict[str, Any] = {
        name: error.details[word] for word, name in _EXTENSIONS.items() if error.details.get(word) is not None
    }
    if isinstance(error, Invalid) and (found := field_errors(error)):
        extra["errors"] = found
    if kind is UNAVAILABLE:
        extra["retryAfterSeconds"] = RETRY_AFTER
    if isinstance(error, errors.QuotaExceeded) and error.retry_after is not None:
        extra["retryAfterSeconds"] = max(1, math.ceil(error.retry_after))
    return kind.status, problem(kind, error.code, detail, **extra)


def problem(kind: Kind, code: str, detail: str, **extra: Any) -> dict[str, Any]:
    """A problem document; ``code`` is stable, ``detail`` is for people."""
    return {
        "type": kind.type, "title": kind.title, "status": kind.status, "code": code, "detail": detail, **extra
    }  # fmt: skip


def occurred(document: dict[str, Any], request_id: str | None) -> dict[str, Any]:
    """The problem of one request: it names the request, so that the log can be asked about it."""
    return {**document, "instance": f"urn:duly:request:{request_id}", "requestId": request_id}


def given_id(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The request id that the client chose, where it is one."""
    for name, value in headers:
        if name == b"x-request-id":
            return value.decode() if _REQUEST_ID.fullmatch(value) else None
    return None


def internal() -> dict[str, Any]:
    """The problem of an error that nobody foresaw; the log knows more, under the request's id."""
    return problem(
        INTERNAL, "INTERNAL_ERROR", "an unexpected error; the log of the server has it under this request id"
    )
