"""The record of workflows, bound to its programs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from duly.core.steps import Journal, Recorded, StepKind
from duly.store.journal import Record
from duly.store.methods import marking, stepping
from duly.store.statements import Program

from .base import Bound


class BoundStepping(Bound):
    """``protocol.Stepping`` on a driver."""

    async def record_steps(self, records: Sequence[Record]) -> list[Recorded | None]:
        recorded = await self._write(partial(stepping.record_steps, records=records))
        if any(record.children for record in records):
            self.driver.hint("runs")
        return recorded

    def record_on(self, connection: Any, record: Record) -> Recorded | None:
        """Keep what has come of a run in a transaction that the caller commits; blocks the calling thread."""
        (recorded,) = self.driver.write_on_sync(connection, partial(stepping.record_steps, records=[record]))
        return recorded

    async def read_journal(self, run_id: str) -> Journal:
        return await self._read(partial(stepping.read_journal, run_id=run_id))

    async def signal_run(self, run_id: str, name: str, body: str | None, *, connection: Any = None) -> bool:
        sent = [(run_id, StepKind.SIGNAL, name, body, None)]
        return bool(await self._write_and_hint("runs", partial(stepping.send, sent=sent), connection))

    async def cancel_softly(self, run_id: str) -> bool:
        return await self._write_and_hint("runs", partial(stepping.cancel_softly, run_id=run_id), None)

    async def publish_event(self, name: str, body: str | None) -> int:
        return await self._write_and_hint("runs", partial(stepping.publish_event, name=name, body=body), None)

    async def end_task(self, run_id: str, position: int, *, result: str | None, error: str | None) -> bool | None:
        def ended(now: int) -> Program[bool | None]:
            return stepping.end_task(now, run_id, position, result, error)

        return await self._write_and_hint("runs", ended, None)

    async def read_marks(self, run_id: str) -> dict[str, str]:
        return await self._read(partial(marking.read_marks, run_id=run_id))

    async def read_secret(self, name: str) -> str:
        return await self._read(partial(stepping.read_secret, name=name))

    async def read_published(self, run_id: str, name: str) -> str | None:
        return await self._read(partial(stepping.read_published, run_id=run_id, name=name))
