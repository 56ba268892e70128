"""How often somebody may ask: a bucket for each, in this process, that fills again with time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from duly.core.errors import QuotaExceeded

MOST = 10_000
"""Buckets that are kept; who was quiet longest is forgotten, and begins again with a full one."""


class Rates:
    """Lets each name ask so often a minute, and as often at once."""

    def __init__(self, steady: Callable[[], float], what: str) -> None:
        self._steady = steady
        self._what = what
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, per_minute: int) -> None:
        """Take one from somebody's bucket, or say when there is one again."""
        now = self._steady()
        left, at = self._buckets.pop(name, (float(per_minute), now))
        left = min(float(per_minute), left + (now - at) * per_minute / 60)
        allowed = left >= 1
        self._buckets[name] = (left - 1 if allowed else left, now)
        if len(self._buckets) > MOST:
            self._buckets.popitem(last=False)
        if not allowed:
            raise QuotaExceeded(
                f"{self._what} sent more than {per_minute} requests a minute; ask again when Retry-After is over",
                retry_after=(1 - left) * 60 / per_minute,
                limit=per_minute,
            )
