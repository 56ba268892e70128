"""Logs of a service: one event per line on stderr, as JSON or for people. A library never calls this."""

from __future__ import annotations

import logging
import re
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, Final, TextIO

import msgspec

from duly.runtime.tracing import current_claim

FIELDS: Final = (
    "schedule_id", "schedule_key", "run_id", "attempt", "worker_id", "trace_id", "span_id", "duration_ms", "address",
    "store", "roles",
)  # fmt: skip
"""What a record may carry besides its words; payloads are not among them."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_COLOURS: Final = {"debug": "2", "info": "32", "warning": "33", "error": "31", "critical": "31;1"}


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
    """Whether ``auto`` means JSON here: yes, unless a person looks on."""
    return format == "json" or (format == "auto" and not stream.isatty())


def escaped(text: str) -> str:
    """The text on one line, control characters made visible: nothing in a log may move a terminal's cursor."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def at_work() -> dict[str, Any]:
    """What the code that logs works for: its run, and its span where it is traced."""
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


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as broken:  # noqa: BLE001 - around a handler's own code: no log line may end the process
        return f"(its text cannot be read: {type(broken).__name__})"


class JsonFormatter(logging.Formatter):
    """One JSON object per line. What a record says of itself counts more than what the code works for."""

    def __init__(self, worker_id: str | None = None) -> None:
        super().__init__()
        self._worker_id = worker_id

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        event: dict[str, Any] = {
            "ts": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        known = {"worker_id": self._worker_id, **at_work()}
        event |= {name: value for name in FIELDS if (value := getattr(record, name, known.get(name))) is not None}
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            event["error.type"] = type(error).__qualname__
            event["error.message"] = _text_of(error)
            event["error.stack"] = "".join(traceback.format_exception(error))
        line = msgspec.json.encode(event, enc_hook=str).decode()
        return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


class ConsoleFormatter(logging.Formatter):
    """Time, level, words: what a person reads; a stack is indented below its line."""

    def __init__(self, *, colour: bool) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).astimezone()
        level = record.levelname.lower()
        shown = f"\x1b[{_COLOURS.get(level, '0')}m{level:<7}\x1b[0m" if self._colour else f"{level:<7}"
        line = f"{at:%H:%M:%S}.{at.microsecond // 1000:03} {shown} {escaped(record.getMessage())}"
        if record.exc_info and record.exc_info[1] is not None:
            stack = "".join(traceback.format_exception(record.exc_info[1])).rstrip()
            line += "\n" + "\n".join(f"    {escaped(row)}" for row in stack.splitlines())
        return line
