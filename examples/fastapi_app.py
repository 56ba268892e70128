"""A FastAPI app with duly inside it: start as many web workers as you like, every window fires once.

    DULY_DATABASE_URL=sqlite:///shop.db uvicorn examples.fastapi_app:web --workers 8

Each worker fires and runs; the store sees to it that they never do the same thing twice. The REST API of duly is
mounted under /duly, and the dashboard under /schedules. Both need an API key; until the first one exists they serve
this machine only:

    duly key create --database-url sqlite:///shop.db --name admin --scopes admin
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

import duly
from duly.api.application import application
from duly.api.auth.guard import Guard
from duly.dashboard import dashboard

scheduler = duly.Duly()  # on DULY_DATABASE_URL, else on duly.db in this folder


@scheduler.every("1s", name="tick", overlap="allow")
async def tick(run: duly.RunContext) -> str:
    return f"the window of {run.scheduled_at:%H:%M:%S}"


@scheduler.job()
async def send_reminder(user: int) -> str:
    return f"reminded user {user}"


@asynccontextmanager
async def lifespan(web: FastAPI) -> AsyncIterator[None]:
    async with scheduler:
        yield


web = FastAPI(lifespan=lifespan)
guard = Guard(scheduler)
web.mount("/duly", application(scheduler, guard=guard))
web.mount("/schedules", dashboard(scheduler, guard=guard))


@web.post("/reminders/{user}")
async def remind(user: int) -> dict[str, str]:
    run = await scheduler.enqueue(send_reminder.bind(user=user))
    return {"run": run.id}
