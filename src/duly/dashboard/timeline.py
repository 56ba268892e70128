"""Where the bars of a run lie: its attempts and the steps of its workflow on one axis of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from .strip import instant
from .words import duration

LEAST = 0.4
"""The narrowest bar, in percent of the axis: what took no time is still seen."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar; ``left`` and ``width`` are percent of the axis, ``open`` if it has not ended."""

    label: str
    state: str
    left: float
    width: float
    since: datetime
    until: datetime | None
    detail: str | None = None
    kind: str = ""

    @property
    def open(self) -> bool:
        return self.until is None

    @property
    def took(self) -> str | None:
        return None if self.until is None else duration(_ms(self.until - self.since))


@dataclass(frozen=True, slots=True)
class Timeline:
    """All bars, and the marks of the axis under them."""

    bars: Sequence[Bar]
    marks: Sequence[tuple[float, str]]
    since: datetime
    until: datetime

    @property
    def took(self) -> str:
        """All of it, from the fire to the end; ``durationMs`` is of the newest attempt alone."""
        return duration(_ms(self.until - self.since))


def timeline(run: Any, steps: Sequence[Any], now: datetime) -> Timeline | None:
    """The wait, the attempts and the steps of a run as the API answers them; None before it was fired."""
    spans = [span for span in (_waiting(run, steps), *_attempts(run), *_steps(steps)) if span is not None]
    if not spans:
        return None
    since = min(span[2] for span in spans)
    until = max((span[3] or now) for span in spans)
    until = max(until, since + timedelta(milliseconds=1))
    bars = [_bar(span, since, until, now) for span in spans]
    return Timeline(bars, _marks(until - since), since, until)


Span = tuple[str, str, datetime, datetime | None, str | None, str]


def _waiting(run: Any, steps: Iterable[Any]) -> Span | None:
    """The time from the fire to the first work; ``startedAt`` is of the newest attempt, so it is the last resort."""
    if run["status"] == "skipped":
        return None
    due = instant(run["firedAt"])
    begun = [one["startedAt"] for one in run["attempts"]] + [step["askedAt"] for step in steps]
    ended = [instant(text) for text in begun if text is not None]
    if not ended and (run["startedAt"] or run["completedAt"]) is not None:
        ended = [instant(run["startedAt"] or run["completedAt"])]
    return ("waiting", "waiting", due, max(due, min(ended)) if ended else None, None, "wait")


def _attempts(run: Any) -> Iterable[Span]:
    for attempt in run["attempts"]:
        if attempt["startedAt"] is None:
            continue
        begun = instant(attempt["startedAt"])
        ended = None if attempt["endedAt"] is None else max(begun, instant(attempt["endedAt"]))
        yield (
            f"attempt {attempt['attemptNumber']}", attempt["outcome"], begun, ended, attempt["errorMessage"], "attempt"
        )  # fmt: skip


def _steps(steps: Iterable[Any]) -> Iterable[Span]:
    for step in steps:
        asked = instant(step["askedAt"])
        done = None if step["doneAt"] is None else max(asked, instant(step["doneAt"]))
        state = {"asked": "running", "done": "completed", "failed": "failed"}[step["status"]]
        if step["kind"] in ("start", "value", "patch"):
            continue
        yield (step["name"], state, asked, done, step["error"], step["kind"])


def _bar(span: Span, since: datetime, until: datetime, now: datetime) -> Bar:
    label, state, begun, ended, detail, kind = span
    whole = _ms(until - since)
    left = _ms(begun - since) / whole * 100
    width = max(LEAST, _ms((ended or now) - begun) / whole * 100)
    left = min(left, 100 - LEAST)
    return Bar(label, state, round(left, 2), round(min(width, 100 - left), 2), begun, ended, detail, kind)


def _marks(whole: timedelta) -> list[tuple[float, str]]:
    return [(part, duration(_ms(whole * part / 100))) for part in (0, 25, 50, 75, 100)]


def _ms(time: timedelta) -> float:
    return time / timedelta(milliseconds=1)
