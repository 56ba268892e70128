"""What a row of the fault matrix is."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.judging import Figures
from tests.chaos.trial import Setting, Trial

BOTH = ("postgres", "sqlite")
POSTGRES = ("postgres",)
SQLITE = ("sqlite",)
TIERS = ("change", "short", "release")

Strike = Callable[[Trial], Awaitable[None]]
Alone = Callable[[random.Random, int], Coroutine[Any, Any, Figures]]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A fault, struck so often per tier; ``change`` names the stores of the tier that every change goes through.

    ``alone`` rows need no fleet and judge themselves. ``late`` is the most that a window may be late, in seconds, in
    tiers that run on a quiet machine. ``judge`` adds findings of the row's own at the end.
    """

    id: str
    fault: str
    strike: Strike | None = None
    alone: Alone | None = None
    stores: tuple[str, ...] = BOTH
    change: tuple[str, ...] = ()
    in_change: int = 1
    short: int = 1
    release: int = 20
    needs: tuple[str, ...] = ()
    setting: Setting = field(default_factory=Setting)
    judge: Strike | None = None
    late: float | None = None

    def repetitions(self, tier: str) -> int:
        return {"change": self.in_change if self.change else 0, "short": self.short, "release": self.release}[tier]

    def stores_in(self, tier: str) -> tuple[str, ...]:
        return self.change if tier == "change" else self.stores
