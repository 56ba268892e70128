"""The policies of a schedule in words: what happens when it is late, fails, overlaps, or meets a change of clocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .words import duration

Said = tuple[str, str]

_OVERLAP = {
    "skip": "a window that is due while a run has not ended is skipped, and recorded",
    "queue": "a window that is due while a run has not ended waits its turn",
    "cancel_previous": "a new window cancels the run before it",
    "allow": "runs may overlap",
}
_CATCH_UP = {
    "latest": "after an outage the newest missed window fires",
    "skip": "windows missed in an outage are skipped, and recorded",
    "all": "after an outage the missed windows fire one after another",
}
_GAP = {"fire_after": "fires right after the gap", "skip": "is left out"}
_FOLD = {"first": "fires at the first", "second": "fires at the second", "both": "fires at both"}


def policies(schedule: Mapping[str, Any]) -> list[Said]:
    """A name and a sentence for each."""
    return list(_policies(schedule))


def _policies(schedule: Mapping[str, Any]) -> Iterator[Said]:
    yield "Overlap", _overlap(schedule)
    catch_up = schedule["catchUp"]
    yield "Missed windows", _missed(catch_up)
    yield "Attempts", _attempts(schedule)
    timeout = schedule["timeoutSeconds"]
    yield "Timeout", "none" if timeout is None else f"{duration(timeout * 1000)} for each attempt"
    if schedule["jitter"] is not None:
        least, most_ms = schedule["jitter"]["minMs"], schedule["jitter"]["maxMs"]
        yield "Jitter", f"each fire is delayed by {duration(least)} to {duration(most_ms)}"
    if schedule["dst"] is not None and schedule["timezone"] != "UTC":
        dst = schedule["dst"]
        yield (
            "Clock changes",
            f"a time that does not exist {_GAP[dst['gap']]}; one that comes twice {_FOLD[dst['fold']]}",
        )
    if schedule["pauseAfterFailures"] is not None:
        yield "Failures", f"paused after {schedule['pauseAfterFailures']} failed runs in a row"
    if schedule["maxRuns"] is not None:
        yield "End", f"after {schedule['maxRuns']} windows"


def _missed(catch_up: Mapping[str, Any]) -> str:
    policy, limit = catch_up["policy"], catch_up["maxLatenessSeconds"]
    text = _CATCH_UP[policy]
    if policy == "all":
        text += f", {catch_up['maxRuns']} at most"
    if policy != "skip":
        text += ", however late" if limit is None else f", unless it is more than {duration(limit * 1000)} late"
    return text


def _overlap(schedule: Mapping[str, Any]) -> str:
    told = _OVERLAP[schedule["overlapPolicy"]]
    if schedule["overlapPolicy"] == "queue":
        return f"{told}, {schedule['maxQueued']} at most"
    if schedule["overlapPolicy"] == "allow" and schedule["maxConcurrent"] is not None:
        return f"{told}, {schedule['maxConcurrent']} at most"
    return told


def _attempts(schedule: Mapping[str, Any]) -> str:
    retry = schedule["retryPolicy"]
    attempts = schedule["maxAttempts"]
    if attempts == 1:
        return "one, no retry"
    if retry is None:
        return f"{attempts} at most"
    first = duration(retry["delaySeconds"] * 1000)
    if retry["backoff"] == "fixed":
        return f"{attempts} at most, {first} apart"
    return f"{attempts} at most, first {first} apart, then twice as long each time"
