"""Turns an exception into the report that is kept of it: bounded, without local variables, redacted by the app."""

from __future__ import annotations

import site
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import TracebackType

from duly.core.failure import MAX_LOCATION, MAX_STACK, MAX_TYPE, ErrorReport

Redact = Callable[[str], str]
"""Removes what must not be kept from the text of an error."""

NOT_REDACTED = "(left out: the app's redact_errors function failed)"
MAX_CHAIN = 50
"""Exceptions of one chain, or group, that are looked at."""

_LEAST_FRAMES = 4
_PATHS = {*map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")), *site.getsitepackages()}
_LIBRARIES = tuple(str(Path(path)) for path in _PATHS if path)
_DULY = str(Path(__file__).parent.parent)


def report_of(error: BaseException, redact: Redact | None = None) -> ErrorReport:
    """Describe an exception with its causes; it never raises."""
    try:
        stack, truncated = _stack(error)
        report = ErrorReport(
            type=_clean(_qualified(type(error)))[:MAX_TYPE],
            location=_location(error),
            stack=_clean(stack),
            truncated=truncated,
        )
    except Exception:  # noqa: BLE001 - around the app's own exceptions: one may fail to be described
        return ErrorReport(type=type(error).__name__[:MAX_TYPE])
    return redacted(report, redact)


def redacted(report: ErrorReport, redact: Redact | None) -> ErrorReport:
    """The report as the app wants it kept."""
    if redact is None or report.stack is None:
        return report
    stack, truncated = _cut(redact_text(report.stack, redact))
    return replace(report, stack=stack, truncated=report.truncated or truncated)


def redact_text(text: str, redact: Redact | None) -> str:
    """A text as the app wants it kept; nothing of it if the app's function fails."""
    if redact is None:
        return text
    try:
        return str(redact(text))
    except Exception:  # noqa: BLE001 - the app's own function
        return NOT_REDACTED


def _qualified(kind: type[BaseException]) -> str:
    return (
        kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    )


def _stack(error: BaseException) -> tuple[str, bool]:
    told = traceback.TracebackException.from_exception(error, capture_locals=False, compact=True)
    for part in _parts(told):
        # Without columns: to mark them, each line of each frame would be parsed.
        part.stack = traceback.StackSummary.from_list([(f.filename, f.lineno or 0, f.name, f.line) for f in part.stack])
    text = "".join(told.format())
    if len(text.encode("utf-8", "replace")) <= MAX_STACK:
        return text, False
    parts = list(_parts(told))
    for part in parts:
        part.stack = _without_libraries(part.stack)
    frames = max(len(part.stack) for part in parts)
    while len((text := "".join(told.format())).encode("utf-8", "replace")) > MAX_STACK and frames > _LEAST_FRAMES:
        frames //= 2
        for part in parts:
            part.stack = _middle_left_out(part.stack, frames)
    return _cut(text)[0], True


def _parts(told: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    """The exceptions of a chain and of its groups."""
    waiting, seen = [told], 0
    while waiting and seen < MAX_CHAIN:
        part = waiting.pop()
        seen += 1
        yield part
        waiting += [one for one in (part.__cause__, part.__context__, *(part.exceptions or ())) if one is not None]


@lru_cache(maxsize=4096)
def _is_library(filename: str) -> bool:
    return filename.startswith((*_LIBRARIES, _DULY, "<frozen"))


def _without_libraries(stack: traceback.StackSummary) -> traceback.StackSummary:
    """The frames of the app, and the last one: it raised the exception."""
    last = len(stack) - 1
    kept = [frame for place, frame in enumerate(stack) if place == last or not _is_library(frame.filename)]
    return _noted(kept, len(stack) - len(kept), "frames of libraries", 0)


def _middle_left_out(stack: traceback.StackSummary, most: int) -> traceback.StackSummary:
    if len(stack) <= most:
        return stack
    half = max(1, most // 2)
    return _noted([*stack[:half], *stack[-half:]], len(stack) - 2 * half, "frames", half)


def _noted(frames: list[traceback.FrameSummary], missing: int, what: str, place: int) -> traceback.StackSummary:
    if missing:
        note = traceback.FrameSummary(f"{missing} {what} left out", 0, "...", lookup_line=False, line="")
        frames = [*frames[:place], note, *frames[place:]]
    return traceback.StackSummary.from_list(frames)


def _cut(text: str) -> tuple[str, bool]:
    """At most ``MAX_STACK`` bytes of a text: its beginning, and more of its end."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_STACK:
        return text, False
    note = b"\n  ... (cut) ...\n"
    head = MAX_STACK // 4
    kept = data[:head] + note + data[len(data) - (MAX_STACK - head - len(note)) :]
    return kept.decode("utf-8", "ignore"), True


def _location(error: BaseException) -> str | None:
    """The innermost line of the app that the exception passed, else the innermost line of all."""
    found: TracebackType | None = None
    step = error.__traceback__
    while step is not None:
        if (
            found is None
            or not _is_library(step.tb_frame.f_code.co_filename)
            or _is_library(found.tb_frame.f_code.co_filename)
        ):
            found = step
        step = step.tb_next
    if found is None:
        return None
    code = found.tb_frame.f_code
    return _clean(f"{_short(code.co_filename)}:{found.tb_lineno} in {code.co_qualname}")[-MAX_LOCATION:]


@lru_cache(maxsize=4096)
def _short(filename: str) -> str:
    """A file by its path below the directory that it was imported from: the same on every machine."""
    for root in sorted((path for path in sys.path if path), key=len, reverse=True):
        if filename.startswith(root.rstrip("/") + "/"):
            return filename[len(root.rstrip("/")) + 1 :]
    return "/".join(Path(filename).parts[-2:])


def _clean(text: str) -> str:
    """Without what no store takes: lone surrogates, and NUL."""
    return text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode()
