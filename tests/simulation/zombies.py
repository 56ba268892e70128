"""A life in which those that were believed dead come back with a record in their hands."""

from __future__ import annotations

import asyncio
from functools import partial

from tests.simulation.life import Life


class Zombies(Life):
    """Workflows alone; one instance after the other sleeps through its lease when it is about to record something.

    It wakes when another one has begun to do the same step again, or has done it.
    """

    def __init__(self, seed: int, span: float) -> None:
        super().__init__(seed, span)
        self.calm = False
        self.ledger.pauses = (1, 3, 4, 6)  # long enough to be overtaken in

    async def _create(self) -> None:
        """No schedules: what is looked at here are records."""

    async def _trouble(self) -> None:
        for _ in range(3):
            for _ in range(3):
                await self._start_flow()
            await asyncio.sleep(self.fate.choice([0.2, 0.5, 3]))
            node = self.fate.choice([node for node in self.nodes if not node.dead])
            how_long = self.fate.choice([10.5, 11, 12, 13, 14, 20])
            node.lie_in_wait("before record_steps", partial(self._freeze, node, how_long, "before record_steps"))
            await asyncio.sleep(how_long + 2)
