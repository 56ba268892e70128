"""The attributes of a schedule under the names that REST has for them, in snake_case."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from .instants import to_datetime
from .policy import Overlap, Retry
from .timing import Cron, Every, Once

if TYPE_CHECKING:
    from .schedule import Cursor, Definition, Facts, Seen

_RETRY = Retry()
ON_TIME_MS = 2000
"""A fire is late when it is overdue by more than two polls."""

GRACE_MS = 10_000


Health = Literal["on_time", "late", "overdue"]


def health_at(fire_at: int | None, now: int | None, grace_ms: float = GRACE_MS) -> Health:
    """How overdue a fire is at an instant."""
    if fire_at is None or now is None or now - fire_at <= ON_TIME_MS:
        return "on_time"
    return "late" if now - fire_at <= grace_ms else "overdue"


class RestNames:
    """What the parts of a schedule say, by the names of its answer over REST."""

    __slots__ = ()

    if TYPE_CHECKING:
        facts: Facts
        definition: Definition
        cursor: Cursor
        seen: Seen

    interval_minutes = daily_time = weekly_time = monthly_time = None
    """Ways to ask for a timing; what came of it is ``cron_expression`` or ``every_ms``."""

    @property
    def schedule_type(self) -> str:
        """cron, interval or once."""
        timing = self.definition.timing
        return "cron" if isinstance(timing, Cron) else "interval" if isinstance(timing, Every) else "once"

    @property
    def cron_expression(self) -> str | None:
        timing = self.definition.timing
        return timing.expr if isinstance(timing, Cron) else None

    @property
    def every_ms(self) -> int | None:
        timing = self.definition.timing
        return timing.every_ms if isinstance(timing, Every) else None

    @property
    def once_at(self) -> datetime | None:
        timing = self.definition.timing
        return timing.at if isinstance(timing, Once) else None

    @property
    def timezone(self) -> str:
        return self.definition.timing.timezone

    @property
    def dst(self) -> dict[str, str] | None:
        """What happens where clocks change, under ``gap`` and ``fold``; None unless it is a cron."""
        timing = self.definition.timing
        return {"gap": timing.dst_gap, "fold": timing.dst_fold} if isinstance(timing, Cron) else None

    @property
    def strict_fields(self) -> int | None:
        timing = self.definition.timing
        return timing.strict_fields if isinstance(timing, Cron) else None

    @property
    def on_past(self) -> str | None:
        timing = self.definition.timing
        return timing.on_past if isinstance(timing, Once) else None

    @property
    def anchor(self) -> str | datetime | None:
        """What an interval counts from: ``epoch``, ``start`` or an instant."""
        timing = self.definition.timing
        return timing.anchor if isinstance(timing, Every) else None

    @property
    def after_completion(self) -> bool | None:
        timing = self.definition.timing
        return timing.after_completion if isinstance(timing, Every) else None

    @property
    def max_attempts(self) -> int:
        """Its own, or the default of a server that was not given another one."""
        return (self.definition.retry or _RETRY).max_attempts

    @property
    def max_retries(self) -> int:
        return self.max_attempts - 1

    @property
    def retry_policy(self) -> Retry | None:
        return self.definition.retry

    @property
    def timeout_seconds(self) -> float | None:
        return None if self.definition.timeout_ms is None else self.definition.timeout_ms / 1000

    @property
    def overlap_policy(self) -> Overlap:
        return self.definition.overlap

    @property
    def max_queued(self) -> int:
        return self.definition.max_queued

    @property
    def max_concurrent(self) -> int | None:
        return self.definition.max_concurrent

    @property
    def start_at(self) -> datetime | None:
        return to_datetime(self.definition.start_at)

    @property
    def end_at(self) -> datetime | None:
        return to_datetime(self.definition.end_at)

    @property
    def max_runs(self) -> int | None:
        return self.definition.max_runs

    @property
    def pause_after_failures(self) -> int | None:
        return self.definition.pause_after_failures

    @property
    def fire_current_window(self) -> bool:
        return self.definition.fire_current_window

    @property
    def fairness_key(self) -> str | None:
        return self.definition.fairness_key

    @property
    def target(self) -> dict[str, Any] | None:
        """Where outside its runs go, without the secret that signs deliveries; None for a job, workflow or topic."""
        spec = self.definition.target.spec
        if spec is None:
            return None
        told: dict[str, Any] = json.loads(spec)
        told.pop("secret", None)
        return told

    @property
    def health(self) -> Health:
        """Whether the next fire was overdue when the schedule was looked at; overdue means that it counts as missed."""
        return health_at(self.cursor.fire_at, self.seen.at)

    @property
    def attempts(self) -> int | None:
        """Attempts at the newest window, as of when the schedule was looked at; None in lists."""
        if self.cursor.last_fired_at is None:
            return 0
        last = self.seen.last
        return None if not self.seen.whole else 0 if last is None else last.attempt

    @property
    def fired_at(self) -> datetime | None:
        return to_datetime(self.cursor.last_fired_at)
