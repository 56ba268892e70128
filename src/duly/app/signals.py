"""A process that is duly's own: how it ends. The first signal asks to stop, the second ends it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from duly.config.sources import debugging
from duly.core.errors import ConfigurationError, StoreUnavailable
from duly.store.rights import RightsMissing

UNREACHABLE, MISCONFIGURED = 69, 78
"""Exit codes of an app that is the whole program, as those of the command line."""


def run_alone(run: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run as the whole program: what keeps it from starting is one line and an exit code, not a stack."""
    try:
        asyncio.run(run())
    except (StoreUnavailable, ConfigurationError) as error:
        if debugging():
            raise
        sys.stderr.write(f"duly: {error.message}\n")
        settled = isinstance(error, RightsMissing | ConfigurationError)  # trying again does not mend it
        raise SystemExit(MISCONFIGURED if settled else UNREACHABLE) from None


@asynccontextmanager
async def until_signalled() -> AsyncIterator[asyncio.Event]:
    """Yield an event that SIGTERM or SIGINT sets."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: int) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    yield stop
