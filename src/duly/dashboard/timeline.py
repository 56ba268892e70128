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


def timeline(run: Any, steps: Iterable[Any], now: datetime) -> Timeline | None:
    """The wait, the attempts and the steps of a run as the API answers them; None before it was fired."""
    spans = [span for span in (_waiting(run, now), *_attempts(run, now), *_steps(steps)) if span is not None]
    if not spans:
        return None
    since = min(span[2] for span in spans)
    until = max((span[3] or now) for span in spans)
    until = max(until, since + timedelta(milliseconds=1))
    bars = [_bar(span, since, until, now) for span in spans]
    return Timeline(bars, _marks(until - since), since, until)


Span = tuple[str, str, datetime, datetime | None, str | None, str]


def _waiting(run: Any, now: datetime) -> Span | None:
    due, begun = instant(run["firedAt"]), run["startedAt"]
    if run["status"] == "skipped":
        return None
    ended = begun or run["completedAt"]
    return ("waiting", "waiting", due, None if ended is None else max(due, instant(ended)), None, "wait")


def _attempts(run: Any, now: datetime) -> Iterable[Span]:
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
