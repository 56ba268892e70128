"""What many look at is made once: a value is kept for a few seconds, for those who see the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

MOST = 1000
Value = TypeVar("Value")


class Memory:
    """Values by what they are and for whom; the oldest go when there are too many."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()

    async def get(self, key: Hashable, now: float, seconds: float, make: Callable[[], Awaitable[Value]]) -> Value:
        at, value = self._values.get(key, (float("-inf"), None))
        if now - at < seconds:
            return value  # type: ignore[no-any-return]  # it is what the same maker made
        made = await make()
        self._values.pop(key, None)
        self._values[key] = (now, made)
        if len(self._values) > MOST:
            self._values.popitem(last=False)
        return made
