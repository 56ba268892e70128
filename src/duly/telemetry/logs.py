"""Log output of a service: one event per line on stderr, as JSON or for a terminal. A library never calls this."""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, TextIO

import msgspec

from duly.runtime.tracing import current_claim

FIELDS: Final = (
    "schedule_id", "schedule_key", "run_id", "attempt", "worker_id", "trace_id", "span_id", "duration_ms", "address",
    "store", "roles",
)  # fmt: skip
"""The fields that duly sets itself. Fields passed as ``extra`` follow them."""

OMITTED: Final = frozenset({"payload"})
"""Fields that are never written, even when a log call passes them: a payload may hold personal data."""

_CONSOLE_CONTEXT: Final = ("schedule_key", "run_id", "attempt")
"""What a terminal shows of the current run; the other fields are for machines."""

_RECORD_ATTRIBUTES: Final = frozenset(
    {*vars(logging.LogRecord("", 0, "", 0, "", None, None)), "message", "asctime", "taskName"}
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_BARE: Final = re.compile(r"[^\s\"'=\\]+")
_COLOURS: Final = {"debug": "2", "info": "32", "warning": "33", "error": "31", "critical": "31;1"}
_DIM: Final = "2"
_ERROR: Final = "31;1"


def configure(
    level: str, format: str, *, colour: bool, stream: TextIO | None = None, worker_id: str | None = None
) -> None:
    """Send everything that is logged in this process to ``stream``, stderr if None.

    ``worker_id`` is the name of the instance, for lines that machines read.
    """
    out = stream or sys.stderr
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonFormatter(worker_id) if is_json(format, out) else ConsoleFormatter(colour=colour))
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    set_level(level)
    logging.captureWarnings(True)
    # The HTTP server says little that a person needs; its errors are ours to tell.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    # The HTTP client has a line for every request, and a worker for a server asks several times a second.
    logging.getLogger("httpx2").setLevel(logging.WARNING)


def set_level(level: str) -> None:
    """Log what is of this level or above."""
    logging.getLogger().setLevel(level.upper())


def is_json(format: str, stream: TextIO) -> bool:
    """Whether to write JSON to this stream; ``auto`` is JSON everywhere but on a terminal."""
    return format == "json" or (format == "auto" and not stream.isatty())


def escaped(text: str) -> str:
    """Return the text with control characters escaped, so that it stays on one line and cannot control a terminal."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def current_context() -> dict[str, Any]:
    """Return the fields of the current run, and of the current span if tracing is on."""
    found: dict[str, Any] = {}
    claim = current_claim.get()
    if claim is not None:
        found = {"schedule_id": claim.schedule_id, "schedule_key": claim.key, "run_id": claim.id}
        found["attempt"] = claim.attempt
    tracing = sys.modules.get("opentelemetry.trace")
    if tracing is not None:
        span = tracing.get_current_span().get_span_context()
        if span.is_valid:
            found |= {"trace_id": f"{span.trace_id:032x}", "span_id": f"{span.span_id:016x}"}
    return found


def _text_of(value: object) -> str:
    try:
        text = str(value)
    except BaseException as broken:  # noqa: BLE001 - around a handler's own code: no log line may end the process
        return f"(its text cannot be read: {type(broken).__name__})"
    return text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate cannot be written


def _encode(value: object) -> bytes:
    try:
        return msgspec.json.encode(value, enc_hook=_text_of)
    except Exception:  # noqa: BLE001 - around a value from a handler: anything that JSON cannot hold becomes text
        return msgspec.json.encode(_text_of(value))


def _user_fields(record: logging.LogRecord) -> Iterator[tuple[str, Any]]:
    """Yield what a log call passed as ``extra``, in that order, without duly's own fields."""
    for name, value in vars(record).items():
        if name not in _RECORD_ATTRIBUTES and name not in FIELDS and name not in OMITTED:
            yield name, value


class JsonFormatter(logging.Formatter):
    """One JSON object per line. A field of the record takes precedence over the current context."""

    def __init__(self, worker_id: str | None = None) -> None:
        super().__init__()
        self._worker_id = worker_id

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        event: dict[str, Any] = {
            "ts": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": _text_of(record.getMessage()),
        }
        context = {"worker_id": self._worker_id, **current_context()}
        event |= {name: value for name in FIELDS if (value := getattr(record, name, context.get(name))) is not None}
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            event["error.type"] = type(error).__qualname__
            event["error.message"] = _text_of(error)
            event["error.stack"] = _text_of("".join(traceback.format_exception(error)))
        for name, value in _user_fields(record):
            event.setdefault(_text_of(name), msgspec.Raw(_encode(value)))
        line = _encode(event).decode()
        return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


class ConsoleFormatter(logging.Formatter):
    """Local time, level, logger, message and ``key=value`` fields for a person; a traceback is indented below."""

    def __init__(self, *, colour: bool) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).astimezone()
        level = record.levelname.lower()
        message = escaped(record.getMessage())
        line = f"{at:%H:%M:%S}.{at.microsecond // 1000:03} {self._paint(f'{level:<7}', _COLOURS.get(level, '0'))}"
        line += f" {self._paint(escaped(record.name), _DIM)}: {message}"
        for name, value in self._fields(record, message):
            line += " " + self._paint(f"{escaped(name)}=", _DIM) + _console_value(value)
        if record.exc_info and record.exc_info[1] is not None:
            *stack, last = "".join(traceback.format_exception(record.exc_info[1])).rstrip().splitlines()
            line += "".join("\n" + f"    {escaped(row)}".rstrip() for row in stack)
            line += "\n    " + self._paint(escaped(last), _ERROR)
        return line

    def _paint(self, text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colour else text

    @staticmethod
    def _fields(record: logging.LogRecord, message: str) -> Iterator[tuple[str, Any]]:
        yield from _user_fields(record)
        context = current_context()
        for name in _CONSOLE_CONTEXT:
            value = getattr(record, name, context.get(name))
            if value is not None and not (isinstance(value, str) and value in message):  # no id twice in one line
                yield name, value


def _console_value(value: object) -> str:
    """Return the value as JSON, without quotes around text that needs none."""
    shown = escaped(_encode(value).decode())
    return shown[1:-1] if shown[:1] == '"' and _BARE.fullmatch(shown[1:-1]) else shown
