"""``app.queues``: limit what runs at once, pause a line of runs, and look at what waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from duly.core.errors import ValidationFailed
from duly.core.queue import Queue, QueueState
from duly.store.protocol import Queues as Store

from .checking import check_count, check_queue, check_text, check_truth
from .words import UNSET

LONGEST_PERIOD_MS = 366 * 86_400_000
ADOPTED_AT_ONCE = 10_000


class Queues:
    """Queues need no set-up: any name is one. What is set here holds for the whole fleet, from the next claim on."""

    def __init__(self, store: Store, *, on_runs: Callable[[], None], hides: Callable[[str], bool]) -> None:
        self._store = store
        self._on_runs = on_runs
        self._hides = hides

    async def set(
        self,
        name: str,
        *,
        max_running: int | None = UNSET,
        rate: int | None = UNSET,
        per: float | timedelta = UNSET,
        fair: bool = UNSET,
        newest_first: bool = UNSET,
    ) -> Queue:
        """Limit a queue: at most ``max_running`` runs at once, and at most ``rate`` starts ``per`` seconds.

        What is not named stays as it is; None takes a limit away. ``per`` is one second if it was never given. A
        ``fair`` queue serves the keys of its runs in turn (a run's ``fairness_key``, else its tenant), so that nobody
        who fills it keeps the others waiting. ``newest_first`` lets what came last go first. Priority comes before
        either.
        """
        changes: dict[str, Any] = {}
        if max_running is not UNSET:
            changes["max_running"] = check_count(max_running, "max_running")
        if rate is not UNSET:
            changes["rate"] = check_count(rate, "rate")
        if per is not UNSET:
            changes["per_ms"] = period_in_ms(per)
        if fair is not UNSET:
            changes["fair"] = check_truth(fair, "fair")
        if newest_first is not UNSET:
            changes["newest_first"] = check_truth(newest_first, "newest_first")
        queue = await self._change(name, lambda queue, now: _limited(queue, changes))
        if changes.get("fair"):
            while await self._store.adopt_fair_keys(limit=ADOPTED_AT_ONCE) == ADOPTED_AT_ONCE:
                pass
        return queue

    async def pause(self, name: str, reason: str | None = None, *, by: str | None = None) -> Queue:
        """Let nothing of the queue start until it is resumed. Schedules go on firing, and their runs wait."""
        why, who = check_text(reason, "reason", 1000), check_text(by, "by", 100)
        return await self._change(
            name,
            lambda queue, now: replace(queue, paused_at=queue.paused_at or now, pause_reason=why, paused_by=who),
        )

    async def resume(self, name: str) -> Queue:
        """Let the runs of the queue start again, those that wait first."""
        return await self._change(name, _resumed)

    async def get(self, name: str) -> Queue:
        """The queue and what is in it; one that nobody set up and nothing is in has no limits and no runs."""
        found = await self._store.list_queues(check_queue(name))
        return found[0] if found and not self._hides(name) else Queue(QueueState(name=name))

    async def list(self) -> list[Queue]:
        """Every queue that was set up or has open runs, by name."""
        return [queue for queue in await self._store.list_queues() if not self._hides(queue.name)]

    async def _change(self, name: str, change: Callable[[QueueState, int], QueueState]) -> Queue:
        queue = await self._store.change_queue(check_queue(name), change)
        self._on_runs()
        return queue


def period_in_ms(per: float | timedelta) -> int:
    """The period of a rate, from seconds or a timedelta."""
    seconds = per.total_seconds() if isinstance(per, timedelta) else per
    if (
        isinstance(seconds, bool)
        or not isinstance(seconds, int | float)
        or not 1 <= seconds * 1000 <= LONGEST_PERIOD_MS
    ):
        raise ValidationFailed(
            f"per is {per!r}; expected seconds, or a timedelta, from a millisecond to a year",
            field="per",
            got=per,
            expected="seconds or a timedelta",
        )
    return round(seconds * 1000)


def _limited(queue: QueueState, changes: dict[str, Any]) -> QueueState:
    after = replace(queue, **changes)
    if after.rate is None:
        return replace(after, per_ms=None, window_at=None, used=0)
    return after if after.per_ms is not None else replace(after, per_ms=1000)


def _resumed(queue: QueueState, now: int) -> QueueState:
    return replace(queue, paused_at=None, paused_by=None, pause_reason=None)
