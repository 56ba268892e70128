"""A program with a saga that kills itself at a place: ``crashing.py URL DIARY PLACE``. It ends when the run has."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import duly
from duly import Duly, Settings, WorkflowContext

url, diary, place = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
app = Duly(url, settings=Settings(lease=1, heartbeat=0.2, poll=0.05, shutdown_timeout=2))


def act(what: str) -> str:
    die_at(f"before {what}")
    step = duly.current_step()
    assert step is not None
    with diary.open("a") as file:
        file.write(f"{what} {step.id}\n")
    die_at(f"inside {what}")
    return what.lower()


def undo(output: str, name: str) -> None:
    act(f"undo-{name}-{output}")


def die_at(here: str) -> None:
    if here == place:
        os.kill(os.getpid(), signal.SIGKILL)


@app.workflow("saga")
async def saga(ctx: WorkflowContext) -> None:
    said = ctx.random()
    for name in "ABC":
        await ctx.step(name, act, name, compensate=undo)
    raise ValueError(f"it went wrong at {said}")


async def main() -> None:
    async with app:
        run = await app.workflows.start("saga", id="the-one")
        end = await app.runs.wait(run.id, timeout=60)
        sys.stdout.write(f"{run.id} {end.status} {end.error_message}\n")


asyncio.run(main())
