"""The record of workflows, bound to its programs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from duly.core.on_event import EventHandler, Published
from duly.core.run import Run
from duly.core.steps import Journal, Recorded, StepKind
from duly.store.journal import Record
from duly.store.methods import enqueueing, marking, publishing, stepping
from duly.store.publishing import NewEvent
from duly.store.statements import Program
from duly.store.values import NewRequest

from .base import Bound


class BoundStepping(Bound):
    """``protocol.Stepping`` on a driver."""

    async def record_steps(self, records: Sequence[Record]) -> list[Recorded | None]:
        recorded = await self._write(partial(stepping.record_steps, records=records), engine=True)
        if any(record.children for record in records):
            self.driver.hint("runs")
        return recorded

    def record_on(self, connection: Any, record: Record) -> Recorded | None:
        """Keep what has come of a run in a transaction that the caller commits; blocks the calling thread."""
        (recorded,) = self.driver.write_on_sync(connection, partial(stepping.record_steps, records=[record]))
        return recorded

    async def read_journal(self, run_id: str) -> Journal:
        return await self._read(partial(stepping.read_journal, run_id=run_id), engine=True)

    async def signal_run(self, run_id: str, name: str, body: str | None, *, connection: Any = None) -> bool:
        sent = [(run_id, StepKind.SIGNAL, name, body, None)]
        return bool(await self._write_and_hint("runs", partial(stepping.send, sent=sent), connection))

    async def signal_with_start(self, request: NewRequest, name: str, body: str | None) -> tuple[Run, bool]:
        def started(now: int) -> Program[tuple[Run, bool]]:
            return enqueueing.signal_with_start(now, request, name, body)

        return await self._write_and_hint("runs", started, None)

    async def cancel_softly(self, run_id: str) -> bool:
        return await self._write_and_hint("runs", partial(stepping.cancel_softly, run_id=run_id), None)

    async def publish_event(self, event: NewEvent, *, connection: Any = None) -> Published:
        return await self._write_and_hint("runs", partial(publishing.publish_event, event=event), connection)

    async def put_on_event(self, jobs: Sequence[str], handlers: Sequence[EventHandler]) -> None:
        await self._write(partial(publishing.put_on_event, jobs=jobs, handlers=handlers))

    async def list_on_event(self) -> list[EventHandler]:
        return await self._read(publishing.list_on_event)

    async def end_task(self, run_id: str, position: int, *, result: str | None, error: str | None) -> bool | None:
        def ended(now: int) -> Program[bool | None]:
            return stepping.end_task(now, run_id, position, result, error)

        return await self._write_and_hint("runs", ended, None)

    async def read_marks(self, run_id: str) -> dict[str, str]:
        return await self._read(partial(marking.read_marks, run_id=run_id))

    async def read_heir(self, run_id: str) -> str | None:
        return await self._read(partial(stepping.read_heir, run_id=run_id))

    async def read_secret(self, name: str) -> str:
        return await self._read(partial(stepping.read_secret, name=name))

    async def read_published(self, run_id: str, name: str) -> str | None:
        return await self._read(partial(stepping.read_published, run_id=run_id, name=name))
