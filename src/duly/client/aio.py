"""``AsyncClient``: for code on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Any, Self, Unpack

from duly.runtime.chance import Chance
from duly.runtime.clock import Clock, SystemClock

from .calls import NOTHING, Answer, Call, Failure, Pause, Reply
from .control import Firing, Operations
from .following import Following
from .http import TIMEOUT, failure_of, load_httpx, reply_of, request_of, settings_of
from .nouns import Calendars, Keys, Queues, Server, Webhooks, event_query
from .runs import Runs, Steps
from .schedules import Schedules
from .talking import TRIES, keyed, read_server, talk
from .wording import RunOptions
from .workflows import Workflows
from .working import Worker


class AsyncClient:
    """Talks to a server; what ``Client`` answers is to be awaited here. Use it in ``async with``, or ``aclose`` it."""

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        timeout: float = TIMEOUT,
        tries: int = TRIES,
        patience: float | None = None,
        transport: Any = None,
        clock: Clock | None = None,
    ) -> None:
        self._httpx = load_httpx()
        root, self.place = read_server(url)
        self._http = self._httpx.AsyncClient(**settings_of(root, key, timeout, transport))
        self._tries = tries
        self._patience = float("inf") if patience is None else patience
        self._clock, self._chance = clock or SystemClock(), Chance()
        self.schedules: Schedules[Awaitable[Answer]] = Schedules(self._send, self.each)
        self.runs: Runs[Awaitable[Answer]] = Runs(self._send, self.each, self._follow)
        self.workflows: Workflows[Awaitable[Answer]] = Workflows(self._send)
        self.queues: Queues[Awaitable[Answer]] = Queues(self._send)
        self.calendars: Calendars[Awaitable[Answer]] = Calendars(self._send, self.each)
        self.operations: Operations[Awaitable[Answer]] = Operations(self._send, self._follow)
        self.firing: Firing[Awaitable[Answer]] = Firing(self._send)
        self.worker: Worker[Awaitable[Answer]] = Worker(self._send)
        self.keys: Keys[Awaitable[Answer]] = Keys(self._send)
        self.webhooks: Webhooks[Awaitable[Answer]] = Webhooks(self._send, self.each)
        self.server: Server[Awaitable[Answer]] = Server(self._send)

    async def each(
        self, page: Callable[..., Awaitable[Answer]], *arguments: Any, **query: Any
    ) -> AsyncIterator[Answer]:
        """All items of a list, page after page."""
        cursor = query.pop("cursor", None)
        while True:
            answer = await page(*arguments, **{"limit": 200, **query, "cursor": cursor})
            for item in answer["items"]:
                yield item
            cursor = answer["nextCursor"]
            if cursor is None:
                return

    async def events(
        self,
        *types: str,
        schedule: str | None = None,
        job: str | None = None,
        owner: str | None = None,
        tenant: str | None = None,
        after: str | int | None = None,
    ) -> AsyncIterator[Answer]:
        """What happens in the fleet, as it happens; see ``Client.events``."""
        query = event_query(types, schedule, job, owner, tenant)
        following = Following(query, after, self.place, self._tries)
        while True:
            try:
                async with self._http.stream(**request_of(following.call)) as response:
                    if response.status_code == 200:
                        async for line in response.aiter_lines():
                            event = following.take(line)
                            if event is not None:
                                yield event
                        wait = following.ended()
                    else:
                        await response.aread()
                        wait = following.failed(reply_of(response))
            except self._httpx.TransportError as error:
                wait = following.failed(failure_of(error, self._httpx))
            await self._clock.wait(asyncio.Event(), wait)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def enqueue(self, job: Any, payload: Any = NOTHING, **options: Unpack[RunOptions]) -> Answer:
        """Ask for one run of a job; see ``runs.enqueue``."""
        return await self.runs.enqueue(job, payload, **options)

    async def _follow(self, steps: Steps) -> Answer:
        step = next(steps)
        while True:
            try:
                if isinstance(step, Pause):
                    await self._clock.wait(asyncio.Event(), step.seconds)
                    step = next(steps)
                else:
                    step = steps.send(await self._send(step))
            except StopIteration as end:
                ended: Answer = end.value
                return ended

    async def _send(self, call: Call) -> Answer:
        until = self._clock.steady() + self._patience
        keyed_call = keyed(call, self._chance.id(self._clock))
        talking = talk(keyed_call, self.place, self._tries, is_over=lambda: self._clock.steady() >= until)
        step = next(talking)
        while True:
            try:
                step = talking.send(await self._do(step))
            except StopIteration as end:
                answer: Answer = end.value
                return answer

    async def _do(self, step: Call | Pause) -> Reply | Failure | None:
        if isinstance(step, Pause):
            await self._clock.wait(asyncio.Event(), step.seconds)
            return None
        try:
            return reply_of(await self._http.request(**request_of(step)))
        except self._httpx.TransportError as error:
            return failure_of(error, self._httpx)
