"""The workflow whose recorded runs are kept: it asks for everything that a body can ask for.

It must never change: what an old release recorded of it has to replay on every later one. A new feature gets a new
workflow beside it, and a history of its own. ``python -m tests.workflow.kept NAME`` writes ``histories/NAME.json``.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import duly
from duly import Duly, Retry, WorkflowContext
from duly.testing import history_of

HISTORIES = Path(__file__).with_name("histories")
jobs = duly.Jobs()


@jobs.workflow("child")
async def child(ctx: WorkflowContext, input: int) -> int:
    if input > 2:
        raise ValueError(f"{input} is too much")
    return input * 2


@jobs.workflow("everything")
async def everything(ctx: WorkflowContext, input: dict[str, Any]) -> list[Any]:
    said: list[Any] = [ctx.random(), ctx.uuid(), ctx.now().isoformat(), ctx.side_effect(_one)]

    async def branch(name: str) -> str:
        first = await ctx.step(f"{name}1", str.upper, name)
        return str(await ctx.step(f"{name}2", str.lower, first))

    said += await asyncio.gather(branch("a"), branch("b"))
    await ctx.sleep(seconds=0.05)
    said.append(await ctx.step("flaky", _flaky, retry=Retry(max_attempts=3, delay=0.01, jitter=0)))
    try:
        await ctx.wait_for_signal("never", timeout=0.05)
    except duly.SignalTimeout:
        said.append("gave up")
    said.append(await ctx.wait_for_signal("go"))
    if ctx.patched("later"):
        said.append(await ctx.child("child", 2))
    try:
        await ctx.all("child", [1, 3])
    except duly.GatherFailed as error:
        said.append(len(error.failures))
    said.append(ctx.start_child("child", 1))
    done, _ = await asyncio.wait(
        [asyncio.ensure_future(_plain(ctx, name)) for name in "xy"], return_when=asyncio.FIRST_COMPLETED
    )
    said.append(len(done))
    ctx.publish("said", said)
    return said


async def _plain(ctx: WorkflowContext, name: str) -> Any:
    return await ctx.step(name, str.upper, name, compensate=print)


def _one() -> int:
    return 1


def _flaky() -> int:
    step = duly.current_step()
    if step is not None and step.attempt == 1:
        raise ValueError("not yet")
    return 7


async def keep(name: str, url: str) -> None:
    app = Duly(url)
    app.include(jobs)
    async with app:
        run = await app.workflows.start("everything", {"n": 1})
        await app.workflows.signal(run.id, "go", {"by": "ann"})
        end = await app.runs.wait(run.id, timeout=20)
        assert end.status == "completed", end.error_message
        history = history_of(run.id, {"n": 1}, await app.workflows.steps(run.id))
    (HISTORIES / f"{name}.json").write_text(json.dumps({**history, "result": end.result}, indent=1) + "\n")


if __name__ == "__main__":
    asyncio.run(keep(sys.argv[1], sys.argv[2]))
