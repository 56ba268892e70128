"""The real API behind a real socket, served by a thread of the test's process."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from duly import Duly
from duly.api.application import application

READY_WITHIN = 60.0


@contextmanager
def served(database_url: str) -> Iterator[str]:
    """The URL of a server on a database; it neither fires nor works."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = Server(database_url, listener)
        server.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.stop()


class Server(threading.Thread):
    def __init__(self, database_url: str, listener: socket.socket) -> None:
        super().__init__(name="served", daemon=True)
        self._database_url = database_url
        self._listener = listener
        self._ready = threading.Event()
        self._uvicorn: uvicorn.Server | None = None

    def start(self) -> None:
        super().start()
        # The listener is bound already: a request that comes before the server is up waits in line.
        assert self._ready.wait(READY_WITHIN), "the server did not start"

    def stop(self) -> None:
        assert self._uvicorn is not None
        self._uvicorn.should_exit = True
        self.join(READY_WITHIN)

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        app = Duly(self._database_url)
        await app.open()
        config = uvicorn.Config(application(app), log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
        self._uvicorn = uvicorn.Server(config)
        self._ready.set()
        try:
            await self._uvicorn.serve([self._listener])
        finally:
            await app.close()
