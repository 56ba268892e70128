"""Jobs for processes of their own, declared where they are defined."""

import os

from duly import Jobs, Retry, RunContext

jobs = Jobs()


@jobs.job("add", process=True)
def add(run: RunContext, a: int, b: int = 1) -> dict:
    return {"sum": a + b, "pid": os.getpid(), "id": run.id}


@jobs.job("state", process=True, retry=Retry(max_attempts=1))
def state(run: RunContext) -> object:
    return run.state


def plain() -> str:
    return "plain"
