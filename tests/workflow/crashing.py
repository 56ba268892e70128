"""A program with a saga that kills itself at a place: ``crashing.py URL DIARY PLACE``. It ends when the run has."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import duly
from duly import Duly, Settings, WorkflowContext
from tests.app.conftest import PATIENCE, until

url, diary, place = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
app = Duly(url, settings=Settings(lease=300, heartbeat=0.2, poll=0.05, shutdown_timeout=2))


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


@app.workflow("trip")
async def trip(ctx: WorkflowContext) -> None:
    for name in "ABC":
        await ctx.step(name, act, name, compensate=undo)
    await ctx.wait_for_signal("never")


def pay(connection: Any, amount: int) -> int:
    connection.execute("CREATE TABLE IF NOT EXISTS paid (amount integer)")
    connection.execute(f"INSERT INTO paid VALUES ({amount})")
    die_at("inside pay")
    return amount


@app.workflow("payment")
async def payment(ctx: WorkflowContext) -> int:
    paid = await ctx.transaction("pay", pay, 5)
    die_at("after pay")  # committed, and the body's own record of it is not
    return int(await ctx.step("more", lambda: paid + 1))


async def waits(run_id: str) -> bool:
    return len(await app.workflows.steps(run_id)) >= 5


async def main() -> None:
    async with app:
        run = await app.workflows.start(sys.argv[4], id="the-one")
        if sys.argv[4] == "trip":
            await until(lambda: waits(run.id))
            await app.workflows.cancel(run.id, compensate=True)
        end = await app.runs.wait(run.id, timeout=PATIENCE)
        sys.stdout.write(f"{run.id} {end.status} {end.error_message or end.result}\n")


asyncio.run(main())
