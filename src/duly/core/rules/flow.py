"""Flow control: how many runs of a queue may be started now, and when more may be.

The rate is a fixed window: it begins with a start, and the next one begins with the first start after its end. The
window and what was used of it are kept with the queue, so that no restart forgets them.
"""

from __future__ import annotations

from dataclasses import replace

from duly.core.queue import QueueState


def allowance(queue: QueueState, running: int, now: int) -> int | None:
    """How many more runs may be started; None if nothing limits them."""
    if queue.paused:
        return 0
    limits = []
    if queue.max_running is not None:
        limits.append(queue.max_running - running)
    if queue.rate is not None:
        limits.append(queue.rate - _window(queue, now)[1])
    return max(0, min(limits)) if limits else None


def is_full(queue: QueueState, running: int) -> bool:
    """Whether one more run can start only after another has ended."""
    return queue.max_running is not None and running >= queue.max_running


def opens_at(queue: QueueState, now: int) -> int | None:
    """When the rate lets the next run start; None if it holds none back."""
    if queue.rate is None or queue.per_ms is None:
        return None
    window_at, used = _window(queue, now)
    return window_at + queue.per_ms if used >= queue.rate else None


def after_starts(queue: QueueState, started: int, now: int) -> QueueState:
    """The queue after so many runs were started; the same one if it does not count them."""
    if queue.rate is None or started == 0:
        return queue
    window_at, used = _window(queue, now)
    return replace(queue, window_at=window_at, used=used + started)


def _window(queue: QueueState, now: int) -> tuple[int, int]:
    """The window that holds now, and what was used of it."""
    begun, per = queue.window_at, queue.per_ms
    # A clock that was set back a little stays in its window; one that leapt must not close the queue for hours.
    if begun is None or per is None or not -per <= now - begun < per:
        return now, 0
    return begun, queue.used
