"""Every error duly raises, in one tree.

    DulyError
    ├── Invalid                    a value was refused; nothing was changed
    │   ├── CronInvalid                SCHEDULE_CRON_INVALID
    │   ├── TimezoneInvalid            SCHEDULE_TIMEZONE_INVALID
    │   ├── IntervalTooShort           SCHEDULE_INTERVAL_TOO_SHORT
    │   ├── MomentInPast               SCHEDULE_MOMENT_IN_PAST
    │   ├── TopicInvalid               SCHEDULE_TOPIC_INVALID
    │   ├── RetryPolicyInvalid         SCHEDULE_RETRY_POLICY_INVALID
    │   ├── PayloadTooLarge            PAYLOAD_TOO_LARGE
    │   └── ValidationFailed           VALIDATION_FAILED
    │       ├── CalendarUnknown            CALENDAR_UNKNOWN: a schedule names one that is not there
    │       └── DestinationNotAllowed      DESTINATION_NOT_ALLOWED: a webhook leads where none may go
    ├── NotFound                   SCHEDULE_JOB_NOT_FOUND
    │   ├── OperationNotFound          OPERATION_NOT_FOUND
    │   ├── KeyNotFound                KEY_NOT_FOUND: no API key has that id
    │   ├── CalendarNotFound           CALENDAR_NOT_FOUND
    │   └── WebhookNotFound            WEBHOOK_NOT_FOUND
    ├── Conflict                   the request is well formed, the state does not allow it
    │   ├── KeyInUse                   SCHEDULE_KEY_IN_USE
    │   ├── ClientRequestIdInUse       SCHEDULE_CLIENT_REQUEST_ID_IN_USE
    │   ├── NotCancellable             SCHEDULE_JOB_NOT_CANCELLABLE
    │   ├── RunActive                  SCHEDULE_RUN_ACTIVE
    │   ├── NotDead                    RUN_NOT_DEAD: only a run that failed for good can be redriven
    │   ├── CalendarInUse              CALENDAR_IN_USE
    │   ├── SingletonQueueFull         SINGLETON_QUEUE_FULL: the line of a singleton key is full
    │   ├── UniqueKeyInUse             UNIQUE_KEY_IN_USE: another run has the key
    │   ├── RevisionRequired           PRECONDITION_REQUIRED: the server wants to know the revision that is meant
    │   └── RevisionStale              SCHEDULE_REVISION_STALE
    ├── WaitTimeout                WAIT_TIMEOUT
    ├── SignatureInvalid           SIGNATURE_INVALID: a webhook that came in is not from who has the secret
    ├── LeaseLost                  LEASE_LOST: the store gave the run to a newer attempt
    ├── ConfigurationError         CONFIGURATION_INVALID
    │   ├── SchemaMismatch             SCHEMA_MISMATCH
    │   ├── StoreMissing               STORE_MISSING
    │   └── PayloadUnreadable          PAYLOAD_UNREADABLE: a stored value is sealed with a key that is not here
    ├── NotAuthorised              NOT_AUTHORISED: no key, a wrong one, or one that may not do this
    │   └── Forbidden                  FORBIDDEN: not this caller, or not in another's name
    ├── QuotaExceeded              QUOTA_EXCEEDED: as much as the owner may have or ask for
    ├── ServerError                SERVER_ERROR: a server answered what no duly would answer
    │   └── ServerUnreachable          SERVER_UNREACHABLE: a server did not answer at all
    └── StoreError                 the store did not answer as hoped
        ├── StoreUnavailable           STORE_UNAVAILABLE: nothing was done
        ├── OutcomeUnknown             OUTCOME_UNKNOWN: it may have been done; repeating it is safe
        └── EnqueueFailure             SCHEDULE_ENQUEUE_FAILURE

    Fatal (raised by a handler)    this run must not be tried again

``SCHEDULE_JOB_ALREADY_CANCELLED`` is a code without an exception: cancelling twice is fine and only logged.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar, Self

from .lane import Singleton

ALREADY_CANCELLED = "SCHEDULE_JOB_ALREADY_CANCELLED"
HIDDEN = "***"
"""Stands where a secret value would."""


class DulyError(Exception):
    """The root of the tree; ``code`` is stable, ``details`` carries the ids and values involved.

    The message is for people and has three parts: what was given, what was expected, what to do. A new error also
    gives the parts as fields, so that REST, the command line and the dashboard can each render them in their own
    names instead of parsing the message::

        raise ValidationFailed(
            f"max_attempts is {value!r}; expected 1 to 100",
            path="retry.max_attempts", got=value, expected="1 to 100", hint="use a workflow for longer retries",
        )

    ``path`` is the place of the value: a field with dots (``"retry.max_attempts"``), a setting or a file. ``got`` is
    the value itself, ``expected`` says in a few words what is valid, and ``hint`` says what to do about it.

    ``secret=True`` means that ``got`` must never be shown: the error drops the value and keeps ``HIDDEN``, and
    replaces the value where the message repeats it. Do not put a secret into ``details``, and shorten none: only the
    whole value is recognised.
    """

    code: ClassVar[str] = "DULY_ERROR"

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        got: object = None,
        expected: object = None,
        hint: str | None = None,
        secret: bool = False,
        **details: Any,
    ) -> None:
        if secret and got is not None:
            message, got = _without(message, got), HIDDEN
        super().__init__(message)
        self.message = message
        self.path = path
        self.got = got
        self.expected = expected
        self.hint = hint
        self.secret = secret
        # Store errors have always named the database's path, and conflicts the expected revision, in their details.
        self.details = details | {
            name: value for name, value in (("path", path), ("expected", expected)) if value is not None
        }

    def __reduce__(self) -> tuple[Any, ...]:
        # Past the constructor, which may take other arguments than the message: errors come back from child processes.
        return _restore, (type(self), self.args), self.__dict__


class Invalid(DulyError):
    """A value was refused: the message says what was given, what was expected and what to do."""

    code = "VALIDATION_FAILED"

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        path: str | None = None,
        got: object = None,
        expected: str | None = None,
        hint: str | None = None,
        secret: bool = False,
        **details: Any,
    ) -> None:
        super().__init__(message, path=path, got=got, expected=expected, hint=hint, secret=secret)
        self.field = field
        self.details = details


class CronInvalid(Invalid):
    code = "SCHEDULE_CRON_INVALID"


class TimezoneInvalid(Invalid):
    code = "SCHEDULE_TIMEZONE_INVALID"


class IntervalTooShort(Invalid):
    code = "SCHEDULE_INTERVAL_TOO_SHORT"


class MomentInPast(Invalid):
    code = "SCHEDULE_MOMENT_IN_PAST"


class TopicInvalid(Invalid):
    code = "SCHEDULE_TOPIC_INVALID"


class RetryPolicyInvalid(Invalid):
    code = "SCHEDULE_RETRY_POLICY_INVALID"


class PayloadTooLarge(Invalid):
    code = "PAYLOAD_TOO_LARGE"


class ValidationFailed(Invalid):
    code = "VALIDATION_FAILED"


class CalendarUnknown(ValidationFailed):
    code = "CALENDAR_UNKNOWN"

    @classmethod
    def named(cls, key: str, name: str) -> Self:
        return cls(
            f"schedule {key!r}: there is no calendar {name!r}; put that one first, or leave it out",
            field="calendars",
            got=name,
            expected="names of calendars",
            key=key,
        )


class DestinationNotAllowed(ValidationFailed):
    """A webhook leads to where none may be sent, or its URL cannot be trusted to say where it leads."""

    code = "DESTINATION_NOT_ALLOWED"


class NotFound(DulyError):
    """No schedule or run has that id or key."""

    code = "SCHEDULE_JOB_NOT_FOUND"
    what: ClassVar[str] = "schedule or run"

    @classmethod
    def named(cls, ref: str) -> Self:
        return cls(f"there is no {cls.what} {ref[:200]!r}", ref=ref)


class OperationNotFound(NotFound):
    code = "OPERATION_NOT_FOUND"
    what = "operation with id"


class CalendarNotFound(NotFound):
    code = "CALENDAR_NOT_FOUND"
    what = "calendar"


class WebhookNotFound(NotFound):
    code = "WEBHOOK_NOT_FOUND"
    what = "webhook with id"


class KeyNotFound(NotFound):
    code = "KEY_NOT_FOUND"


class Conflict(DulyError):
    """The request is well formed, but the present state does not allow it."""

    code = "CONFLICT"


class KeyInUse(Conflict):
    code = "SCHEDULE_KEY_IN_USE"

    def __init__(self, key: str, existing_id: str | None) -> None:
        by = f"schedule {existing_id}; choose another key, or update that schedule"
        super().__init__(
            f"schedule key {key!r} is in use by {by if existing_id else 'somebody else; choose another key'}",
            key=key,
            existing_id=existing_id,
        )
        self.existing_id = existing_id


class ClientRequestIdInUse(Conflict):
    code = "SCHEDULE_CLIENT_REQUEST_ID_IN_USE"

    def __init__(self, client_request_id: str, existing_id: str | None) -> None:
        what = "by somebody else" if existing_id is None else f"for schedule {existing_id}"
        then = "give another" if existing_id is None else "take that schedule as made, or give another id for a new one"
        super().__init__(
            f"client request id {client_request_id!r} was already used {what}; {then}",
            client_request_id=client_request_id,
            existing_id=existing_id,
        )
        self.existing_id = existing_id


class NotCancellable(Conflict):
    code = "SCHEDULE_JOB_NOT_CANCELLABLE"


class RunActive(Conflict):
    code = "SCHEDULE_RUN_ACTIVE"


class NotDead(Conflict):
    code = "RUN_NOT_DEAD"


class CalendarInUse(Conflict):
    code = "CALENDAR_IN_USE"

    @classmethod
    def by(cls, name: str, schedules: int) -> Self:
        some = "1 schedule that has" if schedules == 1 else f"{schedules} schedules that have"
        return cls(
            f"calendar {name!r} is named by {some} not ended; take it from them first, or put it without dates",
            name=name,
            schedules=schedules,
        )


class RevisionStale(Conflict):
    code = "SCHEDULE_REVISION_STALE"


class RevisionRequired(Conflict):
    """The server changes nothing unless the request says which revision it is meant for."""

    code = "PRECONDITION_REQUIRED"


class SingletonQueueFull(Conflict):
    code = "SINGLETON_QUEUE_FULL"

    @classmethod
    def behind(cls, singleton: Singleton) -> Self:
        most, queued = singleton.max_running, singleton.max_queued
        return cls(
            f"singleton {singleton.key!r} has {most} run(s) that have not ended (max_running) and {queued} that wait"
            " (max_queued); nothing was stored: try again when one has ended, or allow more to wait",
            singleton=singleton.key,
            max_running=most,
            max_queued=queued,
        )


class UniqueKeyInUse(Conflict):
    code = "UNIQUE_KEY_IN_USE"

    def __init__(self, key: str, existing_id: str) -> None:
        super().__init__(
            f"unique key {key!r} is in use by run {existing_id}, which has not ended or was enqueued within unique_for;"
            " nothing was stored",
            unique=key,
            existing_id=existing_id,
        )
        self.existing_id = existing_id


class SignatureInvalid(DulyError):
    """A message is not signed by who has the secret, or not of late; do not act on it."""

    code = "SIGNATURE_INVALID"


class WaitTimeout(DulyError, TimeoutError):
    """The run had not finished when the wait ended; the run itself goes on."""

    code = "WAIT_TIMEOUT"


class LeaseLost(DulyError):
    """The store gave the run to a newer attempt; nothing this attempt writes is kept."""

    code = "LEASE_LOST"


class NonDeterminismError(DulyError):
    """The body of a workflow does not do what was recorded of it: its code changed under a run that is open."""

    code = "WORKFLOW_NOT_DETERMINISTIC"


class HistoryFull(DulyError):
    """Raised in the body of a workflow: its record is as long as it may be; it can go on as a new run."""

    code = "WORKFLOW_HISTORY_FULL"


class StepFailed(DulyError):
    """Raised in the body of a workflow: a step, a child or a task has failed for good. ``error`` says how."""

    code = "WORKFLOW_STEP_FAILED"

    def __init__(self, name: str, error: str) -> None:
        super().__init__(f"{name} failed: {error}", step=name, error=error)
        self.name = name
        self.error = error


class GatherFailed(DulyError):
    """Raised in the body of a workflow: some of many children failed. ``failures`` are (index, run id, error)."""

    code = "WORKFLOW_CHILDREN_FAILED"

    def __init__(self, failures: list[tuple[int, str, str]]) -> None:
        super().__init__(f"{len(failures)} children failed, the first with: {failures[0][2]}")
        self.failures = failures


class SignalTimeout(DulyError, TimeoutError):
    """Raised in the body of a workflow: what it waited for did not come in time."""

    code = "WORKFLOW_WAIT_TIMEOUT"


class WorkflowUnknown(Invalid):
    """No such workflow, or not in that version."""

    code = "WORKFLOW_UNKNOWN"


class ConfigurationError(DulyError):
    code = "CONFIGURATION_INVALID"


class SchemaMismatch(ConfigurationError):
    """The database holds tables that this version of duly must not touch."""

    code = "SCHEMA_MISMATCH"


class StoreMissing(ConfigurationError):
    """The file of a SQLite store that was used before is gone; an empty store would lose its schedules in silence."""

    code = "STORE_MISSING"


class PayloadUnreadable(ConfigurationError):
    """A stored value is sealed, and no key here opens it; ``details["key"]`` is the name of the one that would."""

    code = "PAYLOAD_UNREADABLE"


class NotAuthorised(DulyError):
    """The server wants a key, does not know this one, or does not let it do this."""

    code = "NOT_AUTHORISED"


class Forbidden(NotAuthorised):
    """Whoever asks may not do this, or not in the name of somebody else."""

    code = "FORBIDDEN"


class QuotaExceeded(DulyError):
    """The owner has, or asks for, as much as they may; ``retry_after`` seconds heal it, where time does."""

    code = "QUOTA_EXCEEDED"

    def __init__(self, message: str, *, retry_after: float | None = None, **details: Any) -> None:
        super().__init__(message, retry_after=retry_after, **details)
        self.retry_after = retry_after


class ServerError(DulyError):
    """The server answered, but not as duly answers."""

    code = "SERVER_ERROR"


class ServerUnreachable(ServerError):
    """The server did not answer; what was asked may or may not have been done, as the message says."""

    code = "SERVER_UNREACHABLE"


class StoreError(DulyError):
    code = "STORE_ERROR"


class StoreUnavailable(StoreError):
    """The store could not be reached or refused the work; nothing was done."""

    code = "STORE_UNAVAILABLE"


class OutcomeUnknown(StoreError):
    """The connection broke around the commit: it may have been done, and repeating it is safe."""

    code = "OUTCOME_UNKNOWN"


class EnqueueFailure(StoreError):
    """The write of a run was refused or lost; a retry with the same ids is safe."""

    code = "SCHEDULE_ENQUEUE_FAILURE"


class Fatal(Exception):
    """Raised by a handler: this run must not be tried again."""


def _restore(kind: type[DulyError], args: tuple[Any, ...]) -> DulyError:
    error = kind.__new__(kind, *args)
    error.args = args  # errors that are OSErrors too do not take them when made
    return error


def _without(message: str, value: object) -> str:
    """Return the message with the value hidden, as it is and as Python would write it."""
    forms = {repr(value), str(value), value.decode(errors="replace") if isinstance(value, bytes) else str(value)}
    for form in sorted(forms - {""}, key=len, reverse=True):
        pattern = re.escape(form)
        # A short value must not be found inside of other words.
        message = re.sub(pattern if len(form) > 3 else rf"(?<!\w){pattern}(?!\w)", HIDDEN, message)
    return message
