"""What the frameworks share: how handlers are called inside them, and their command lines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from duly.app import Duly
from duly.app.stores import inspect_store, open_store
from duly.cli import main
from duly.cli.options import Choices
from duly.engine.context import RunContext
from duly.engine.middleware import CallNext
from duly.engine.registry import Mode
from duly.runtime.clock import SystemClock


def surround(
    app: Duly,
    *,
    in_thread: Callable[[Callable[[], Any]], Any],
    on_loop: Callable[[], AbstractAsyncContextManager[Any]],
    in_process: Callable[[], object] | None = None,
) -> None:
    """Call the app's handlers inside a framework: those in threads there, async ones inside ``on_loop``."""
    registry = app._registry
    registry.around.in_thread = in_thread
    registry.around.in_process = in_process

    @app.middleware
    async def inside(run: RunContext, call_next: CallNext) -> Any:
        handler = registry.get(run.job)
        if handler is None or handler.mode is not Mode.ASYNC:
            return await call_next(run)
        async with on_loop():
            return await call_next(run)


def run_command(own: Callable[[], Duly], arguments: Sequence[str], program: str) -> None:
    """Run a command line of duly on the framework's app; ends the process, as the command itself would."""
    main(list(arguments), prog_name=program, obj=Choices(own=own))


def set_up(url: str, keys: Sequence[str]) -> bool:
    """Make duly's tables, or upgrade older ones; answer whether anything was to be done.

    ``keys`` are the app's ``payload_keys``: a store that holds sealed values is not opened without them.
    """
    found = inspect_store(url)
    if found.exists and not found.pending and found.schema:
        return False

    async def upgrade() -> None:
        store = open_store(url, SystemClock(), migrate=True, keys=keys)
        try:
            await store.open()
        finally:
            await store.close()

    asyncio.run(upgrade())
    return True
