"""Operations that somebody began and did not wait for: this process carries them on beside its other work.

If it ends before they do, the janitor of an instance goes on with them: how far each has come is in the store.
"""

from __future__ import annotations

import asyncio
import logging

from duly.core.errors import DulyError

from .operations import Operations

log = logging.getLogger("duly.app")


class Driving:
    """Holds the tasks, one for each operation."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, id: str) -> None:
        """Carry an operation on in the background, unless that is done already."""
        if id not in self._tasks:
            self._tasks[id] = asyncio.create_task(self._carry_on(id))

    async def stop(self) -> None:
        """Leave what is not finished to others."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _carry_on(self, id: str) -> None:
        try:
            await self._operations.drive(id)
        except DulyError as error:
            log.warning("operation %s: %s; a janitor goes on with it", id, error.message)
        finally:
            del self._tasks[id]
