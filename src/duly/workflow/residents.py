"""Bodies that wait stay in memory, so that they go on without a replay if this process gets their run again."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .runner import Stint


class Residents:
    """The stints whose bodies wait, by run; at most so many, and the one that has waited longest makes room.

    Every claim of a run adds one to its fence, and only the claim writes its record. So if the next claim has the next
    fence, nobody was in between, and the body is where its record is; else it has to be replayed.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, tuple[int, Stint]] = OrderedDict()
        self.resumed = 0
        self.replayed = 0

    def keep(self, run_id: str, fence: int, stint: Stint) -> None:
        """Keep what was suspended under a fence."""
        self._kept[run_id] = (fence, stint)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def take(self, run_id: str, fence: int) -> Stint | None:
        """The body of a run that was claimed with a fence, if it is here and nobody was in between."""
        kept = self._kept.pop(run_id, None)
        found = None if kept is None or kept[0] + 1 != fence else kept[1]
        if found is not None:
            self.resumed += 1
        elif fence > 1:
            self.replayed += 1
        return found
