"""What a handler returned or raised, as one of the outcomes a settle understands."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import math
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from duly.core.errors import Fatal, ValidationFailed
from duly.core.run import Cancelled, Completed, Continued, Dispatched, Failed, Outcome, Snoozed, Suspended
from duly.runtime import answering

from .containing import uncontained
from .error_reports import Redact, redact_text, redacted, report_of

ERROR_LIMIT = 4096
_PLACES = (__file__, answering.__file__, asyncio.__file__, concurrent.futures.__file__)
_ON_THE_WAY = tuple(str(Path(file).parent) for file in _PLACES)
_encode = msgspec.json.Encoder().encode
_DONE = Completed()


@dataclass(frozen=True, slots=True, init=False)
class Snooze:
    """Returned by a handler: call me again later, and do not count this as an attempt."""

    delay: timedelta

    def __init__(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        given = {"seconds": seconds, "minutes": minutes, "hours": hours, "days": days}
        try:
            delay = timedelta(**given)
        except (TypeError, ValueError, OverflowError):
            delay = timedelta(0)
        if not timedelta(0) < delay <= timedelta(days=3660):
            said = ", ".join(f"{name}={value!r}" for name, value in given.items() if value != 0)
            raise ValidationFailed(
                f"Snooze is Snooze({said}); expected more than nothing and at most ten years, e.g. Snooze(minutes=5)"
            )
        object.__setattr__(self, "delay", delay)


def outcome_of(value: Any, result_limit: int) -> Outcome:
    """Read a handler's return value."""
    if value is None:
        return _DONE
    if isinstance(value, Suspended | Failed | Cancelled | Dispatched | Continued):
        return value  # of a workflow, whose body is run for us, or of a delivery
    if isinstance(value, Snooze):
        return Snoozed(value.delay // timedelta(milliseconds=1))
    if inspect.iscoroutine(value):
        value.close()
        return Failed("the handler's result is a coroutine that nobody awaited; write `return await ...`", fatal=True)
    try:
        result = as_json(value)
    except ValueError as error:
        return Failed(f"the handler's result is not JSON: {error}; return plain values or None", fatal=True)
    if len(result) > result_limit:
        return Failed(
            f"the handler's result has {len(result)} bytes; at most {result_limit} are kept: store it elsewhere and"
            " return a reference",
            fatal=True,
        )
    return Completed(result.decode())


def as_json(value: Any) -> bytes:
    """A value as JSON; ValueError says why it cannot be."""
    try:
        text = _encode(value)
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if b"null" in text and not _is_finite(msgspec.to_builtins(value, str_keys=True)):
        raise ValueError("it holds NaN or infinity")
    return text


def _is_finite(value: Any) -> bool:
    """Whether every number in plain data is one that JSON has; others would be written as null."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return not isinstance(value, list | tuple | set | frozenset) or all(map(_is_finite, value))


def _words(error: BaseException) -> str:
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, BaseExceptionGroup):  # its own text only counts them
        said += f": {'; '.join(_words(one) for one in error.exceptions)}"
    return said


def failure_of(error: BaseException, redact: Redact | None = None) -> Failed:
    """Read what a handler raised; its stack then begins where the handler does."""
    raised = uncontained(error)
    raised.__traceback__ = _from_the_handler_on(raised.__traceback__)
    text, report = describe(raised), getattr(raised, "duly_report", None)
    if report is None:
        report = report_of(raised, redact)
    else:  # it was raised in another process, and described there
        text, report = text if isinstance(raised, Fatal) else str(raised), redacted(report, redact)
    text = redact_text(text, redact)[:ERROR_LIMIT]
    return Failed(text, fatal=isinstance(raised, Fatal), cause=raised, report=report)


def _from_the_handler_on(stack: TracebackType | None) -> TracebackType | None:
    """The stack without the frames that lead to the handler and tell nobody anything; whole, if it has no others."""
    rest = stack
    while rest is not None and rest.tb_frame.f_code.co_filename.startswith(_ON_THE_WAY):
        rest = rest.tb_next
    return rest or stack


def describe(error: BaseException) -> str:
    """An error in one line that a store can keep."""
    error = uncontained(error)
    try:
        text = _words(error)
    except BaseException as broken:  # noqa: BLE001 - around a handler's own code: an error may fail to say what it is
        text = f"{type(error).__name__}: (its text cannot be read: {type(broken).__name__})"
    # Lone surrogates come with the names of files; no store takes them, nor NUL.
    text = text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= ERROR_LIMIT else text[: ERROR_LIMIT - 3] + "..."
