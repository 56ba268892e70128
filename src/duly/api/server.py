"""The HTTP server of one process: health at once, the API as soon as it is loaded, and an end that never hangs.

uvicorn runs inside our own event loop, beside the engine, and leaves the signals to us. When it stops, every request
that only waits (a stream) is told that its client has gone, so a client that stays cannot hold the process.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from .connection import ServerConfig
from .health import Health, Reply
from .last_words import starting
from .limits import Limits

if TYPE_CHECKING:
    from .http import Message, Receive, Scope, Send

    Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

REQUESTS_END_WITHIN = 3.0
"""Seconds that requests in flight have when the server stops; what still runs then is cut off."""


class Server:
    """Serves on a socket that the caller has bound, until it is stopped.

    ``guarded`` are paths of health that the application answers instead, to those who may know.
    """

    def __init__(
        self,
        listener: socket.socket,
        health: Health,
        application: Callable[[], Asgi],
        limits: Limits | None = None,
        *,
        guarded: Collection[str] = (),
    ) -> None:
        self._listener = listener
        self._stopping = asyncio.Event()
        self._make = application
        self._front = _Front(health, self._stopping, guarded)
        config = ServerConfig(
            self._front,
            limits or Limits(),
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=round(REQUESTS_END_WITHIN),
        )
        self._uvicorn = _Unsignalled(config)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to answer: about health at once, about the rest when ``load`` is done."""
        self._task = asyncio.create_task(self._uvicorn.serve([self._listener]), name="duly-http")

    async def load(self) -> None:
        """Make the application in a thread: its framework takes long to import, and the engine has work to do."""
        self._front.loaded.set_result(await asyncio.to_thread(self._make))

    async def ended(self) -> None:
        """Return when the server has ended, or raise what ended it."""
        assert self._task is not None, "start first"
        await asyncio.shield(self._task)

    async def stop(self) -> None:
        """Accept nothing more, end streams, let requests finish for a moment, and be gone."""
        if self._task is None:
            self._listener.close()
            return
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # that we cut clients off is no error
        self._stopping.set()
        self._uvicorn.should_exit = True
        await self._task


class _Unsignalled(uvicorn.Server):
    """A uvicorn that leaves the signals alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Front:
    """Answers about health itself and hands everything else to the application."""

    def __init__(self, health: Health, stopping: asyncio.Event, guarded: Collection[str]) -> None:
        self._health = health
        self._answers = {path: answer for path, answer in health.answers.items() if path not in guarded}
        self._stopping = stopping
        self.loaded: asyncio.Future[Asgi] = asyncio.get_running_loop().create_future()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._answers.get(scope["path"]) if scope["type"] == "http" else None
        if answer is not None and scope["method"] in ("GET", "HEAD"):
            accept = next((value for name, value in scope["headers"] if name == b"accept"), b"")
            reply = await answer(scope["query_string"].decode("latin-1"), accept.decode("latin-1"))
            await _respond(reply, send)
            return
        if self._health.phase == "starting":
            await starting(scope, receive, send)
            return
        application = self.loaded.result() if self.loaded.done() else await asyncio.shield(self.loaded)
        await application(scope, _ending(receive, self._stopping), send)


async def _respond(reply: Reply, send: Send) -> None:
    headers = [
        (b"content-type", reply.media_type.encode()),
        (b"content-length", str(len(reply.body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


def _ending(receive: Receive, stopping: asyncio.Event) -> Receive:
    """Once the body is read, whoever waits for the client to leave also hears of it when the server stops."""
    body_read = False

    async def either() -> Message:
        nonlocal body_read
        if not body_read:
            message = await receive()
            body_read = not message.get("more_body", False)
            return message
        waits = [asyncio.ensure_future(receive()), asyncio.ensure_future(stopping.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            return waits[0].result() if waits[0].done() else {"type": "http.disconnect"}  # type: ignore[return-value]
        finally:
            for wait in waits:
                wait.cancel()

    return either
