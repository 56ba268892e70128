"""A scheduler and worker process: runs until enough has ended, or nothing more does."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.inside.apps import Notes, make_app
from bench.machine import cpu_seconds, server_cpu_seconds

LOOK = 0.05


async def main(
    url: str,
    starts_to: str,
    settings: dict[str, Any] | None = None,
    roles: Sequence[str] = ("scheduler", "worker"),
    enough: int | None = None,
    from_at: float | None = None,
    until: float | None = None,
    quiet: float = 3.0,
    give_up: float = 120.0,
    server_pid: int | None = None,
) -> dict[str, float]:
    """Serve; the clock of the answer starts at ``from_at`` (epoch seconds), else just before the app starts.

    Ends after ``enough`` ends, or at ``until``, or once nothing ended for ``quiet`` seconds after ``from_at``.
    """
    notes = Notes(enough)
    app = make_app(url, settings=settings, roles=roles, notes=notes)
    began = time.time()
    async with app:
        ready = time.time() - began
        start = began if from_at is None else from_at
        if from_at is not None:
            await asyncio.sleep(max(0.0, from_at - 0.1 - time.time()))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        before = cpu_seconds(os.getpid()), server_cpu_seconds(server_pid)
        late = time.time() > start and from_at is not None
        await _enough(notes, start, until, quiet, give_up)
        after = cpu_seconds(os.getpid()), server_cpu_seconds(server_pid)
    Path(starts_to).write_text(json.dumps(notes.starts))  # noqa: ASYNC240 - the measurement is over
    return {
        "ended": notes.ended,
        "last_at": notes.last_at,
        "from_at": start,
        "ready_s": ready,
        "late": float(late),
        "cpu_s": after[0] - before[0],
        "server_cpu_s": after[1] - before[1],
        "grown_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - memory,
    }


async def _enough(notes: Notes, start: float, until: float | None, quiet: float, give_up: float) -> None:
    while True:
        try:
            async with asyncio.timeout(LOOK):
                await notes.enough.wait()
            return
        except TimeoutError:
            now = time.time()
        if until is not None:
            if now >= until:
                return
        elif now - max(start, notes.last_at) > (quiet if notes.ended else max(quiet, 15.0)) or now - start > give_up:
            return
