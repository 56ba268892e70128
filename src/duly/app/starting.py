"""Which events start the jobs and workflows of an app (``on_event``), and whom their deaths are told (``on_dead``)."""

from __future__ import annotations

from collections.abc import Sequence

from duly.config import Settings
from duly.core.on_event import EventHandler, OnEvent
from duly.core.schedule import DEFAULT_TIMEOUT_MS
from duly.core.steps import handler_name
from duly.engine.registry import Handler, Registry
from duly.store.sql import SqlStore
from duly.workflow.definition import Workflow, Workflows

from .declaring import Declaration
from .dying import whom_to_tell


class Started:
    """What the code declares; of a workflow, what its newest version does."""

    def __init__(self) -> None:
        self._events: dict[str, Sequence[OnEvent]] = {}

    def add(self, declared: Declaration, workflows: Workflows) -> None:
        handler = declared.handler
        if isinstance(handler, Handler):
            self._events[handler.name] = declared.on_event
        elif isinstance(handler, Workflow) and workflows.get(handler.name) is handler:
            self._events[handler_name(handler.name)] = declared.on_event

    async def keep(self, store: SqlStore, registry: Registry, settings: Settings, of_app: str | None) -> None:
        """Write down what events and what deaths start of this code, and that they start nothing else of it."""
        if registry.names:
            told = whom_to_tell(registry, of_app, settings)
            await store.put_on_dead(sorted(registry.names), told)
            await store.put_on_event(sorted(self._events), self._handlers(registry, settings))

    def _handlers(self, registry: Registry, settings: Settings) -> list[EventHandler]:
        handlers: list[EventHandler] = []
        for job, events in self._events.items():
            known = registry.get(job)
            attempts = known.retry.max_attempts if known and known.retry else settings.default_max_attempts
            timeout = known.timeout_ms if known and known.has_timeout else DEFAULT_TIMEOUT_MS
            handlers += [event.handled_by(job, max_attempts=attempts, timeout_ms=timeout) for event in events]
        return handlers
