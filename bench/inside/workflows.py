"""Workflows of two trivial steps: all are started first, then one process runs them to their ends."""

from __future__ import annotations

import asyncio
import os
import time

from bench.inside.apps import Notes
from bench.machine import cpu_seconds, server_cpu_seconds
from duly import Duly, Settings, WorkflowContext

NAME = "two-steps"
STARTERS = 100
GIVE_UP = 120.0


async def main(url: str, n: int, server_pid: int | None = None) -> dict[str, float]:
    """The clock runs from before the worker starts to the last end that the store confirmed."""
    notes = Notes(n)
    app = _app(url, notes)
    await app.open()
    async with asyncio.TaskGroup() as group:
        for first in range(STARTERS):
            group.create_task(_start(app, range(first, n, STARTERS)))
    await app.close()
    app = _app(url, notes)
    before = cpu_seconds(os.getpid()), server_cpu_seconds(server_pid)
    began = time.time()
    async with app:
        async with asyncio.timeout(GIVE_UP):
            await notes.enough.wait()
        after = cpu_seconds(os.getpid()), server_cpu_seconds(server_pid)
        some = range(0, n, max(1, n // 50))
        wrong = sum([(await app.runs.wait(f"w{number}")).result != number + 2 for number in some])
    passed = notes.last_at - began
    return {
        "per_s": n / passed,
        "steps_per_s": 2 * n / passed,
        "wrong": wrong,
        "cpu_us": 1e6 * (after[0] - before[0]) / n,
        "server_cpu_us": 1e6 * (after[1] - before[1]) / n,
    }


def _app(url: str, notes: Notes) -> Duly:
    app = Duly(url, settings=Settings(ramp_up=0), observers=[notes])

    @app.workflow(NAME)
    async def two_steps(ctx: WorkflowContext, input: int) -> int:
        return int(await ctx.step("second", _plus_one, await ctx.step("first", _plus_one, input)))

    return app


async def _start(app: Duly, numbers: range) -> None:
    for number in numbers:
        await app.workflows.start(NAME, number, id=f"w{number}")


async def _plus_one(number: int) -> int:
    return number + 1
