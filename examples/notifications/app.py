"""The notifications API, its scheduler and its consumer in one process; the README says how to start it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

import duly

from .consumer import Consumer, Message, make_consumer
from .desk import FOUR_SENDS, QUEUE, desk
from .people import People


def make(
    scheduler: duly.Duly, people: People, consumer: Consumer | None = None, *, retry: duly.Retry = FOUR_SENDS
) -> FastAPI:
    """Put it together. While the web app runs, the scheduler fires and the consumer takes what is due."""
    consumer = consumer or make_consumer()

    @scheduler.job(QUEUE)
    async def deliver(payload: Message) -> None:
        await consumer.take(payload)

    @asynccontextmanager
    async def lifespan(web: FastAPI) -> AsyncIterator[None]:
        async with scheduler:
            yield

    web = FastAPI(title="Notifications", lifespan=lifespan)
    web.include_router(desk(scheduler, people, job=QUEUE, retry=retry))

    @web.exception_handler(duly.DulyError)
    async def refused(request: Request, error: duly.DulyError) -> JSONResponse:
        """What duly refuses, such as a zone that is not there, in its own words."""
        unreachable = error.code in ("STORE_UNAVAILABLE", "OUTCOME_UNKNOWN")
        return JSONResponse({"code": error.code, "detail": error.message}, 503 if unreachable else 422)

    return web


web = make(duly.Duly(), People.from_environment())
