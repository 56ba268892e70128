"""Schedules declared in code: upserted at start by key, never deleted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from duly.core.errors import ConfigurationError, KeyInUse
from duly.core.rules.editing import Change
from duly.core.schedule import Schedule
from duly.store.sql import SqlStore
from duly.store.values import NewSchedule

from .building import Builder
from .editing import Replacement


class Declared:
    """The schedules that this app's code declares."""

    def __init__(self, store: SqlStore, builder: Builder, *, app: str | None) -> None:
        self._store = store
        self._builder = builder
        self._app = app
        self._arguments: dict[str, Mapping[str, Any]] = {}

    def add(self, arguments: Mapping[str, Any]) -> None:
        key = arguments["key"]
        if key in self._arguments:
            raise ConfigurationError(f"schedule {key!r} is declared twice; give one of them another key")
        self._arguments[key] = arguments

    async def sync(self) -> None:
        """Create what is new and update what changed; ten instances may do this at once."""
        new = [self._builder.schedule(**arguments, app=self._app) for arguments in self._arguments.values()]
        if not new:
            return
        for item, put in zip(new, await self._store.put_schedules(new), strict=True):
            if isinstance(put, Schedule):
                continue
            if not isinstance(put, KeyInUse):
                raise put
            await self._store.change_schedule(put.existing_id, partial(_update, wanted=item))


def _update(schedule: Schedule, now: int, *, wanted: NewSchedule) -> Change | None:
    """Bring a stored schedule up to what the code says; None when it already is, or when it has ended."""
    return None if schedule.status.ended else Replacement(wanted=wanted, by="code")(schedule, now)
