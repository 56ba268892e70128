"""A reader of ``/events`` in this process, without a network between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

PATIENCE = 60.0


class Listener:
    """Hears what is sent to it, part by part; ``pause`` makes it a client that does not read."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.over = False
        self.numbers: list[int] = []
        self._text = b""
        self._more = asyncio.Event()
        self._reads = asyncio.Event()
        self._reads.set()
        self._left = asyncio.Event()
        self._asked = False
        self.dropped = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b""}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        await self._reads.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self._text += message["body"]
            self.over = not message.get("more_body", False)
        self._more.set()

    def leave(self) -> None:
        self._left.set()

    def pause(self) -> None:
        self._reads.clear()

    def go_on(self) -> None:
        self._reads.set()

    async def until(self, text: bytes) -> bytes:
        """Everything up to a text, once it has come."""
        async with asyncio.timeout(PATIENCE):
            while text not in self._text:
                self._more.clear()
                await self._more.wait()
        found, _, self._text = self._text.partition(text)
        return found

    async def event(self) -> dict[str, Any]:
        """The data of the next event; that all processes tell by now is said whenever it is so, and left out."""
        while True:
            await self.until(b"data: ")
            found: dict[str, Any] = msgspec.json.decode(await self.until(b"\n\n"))
            self.numbers.append(int(found["id"]))
            if found["reason"] != "began":
                return found

    async def events(self, count: int) -> list[dict[str, Any]]:
        return [await self.event() for _ in range(count)]

    def unread(self) -> list[dict[str, Any]]:
        """The data of what has come by now and nobody has asked for."""
        found = [msgspec.json.decode(part.partition(b"\n\n")[0]) for part in self._text.split(b"data: ")[1:]]
        return [event for event in found if event["reason"] != "began"]

    async def body(self) -> Any:
        async with asyncio.timeout(PATIENCE):
            while not self.over:
                self._more.clear()
                await self._more.wait()
        return msgspec.json.decode(self._text)


@asynccontextmanager
async def listening(
    api: Any, query: str = "", *, last_event_id: str | None = None, method: str = "GET"
) -> AsyncIterator[Listener]:
    """A client of the stream; when this begins, it is subscribed."""
    listener = Listener()
    headers = [] if last_event_id is None else [(b"last-event-id", last_event_id.encode())]
    scope = {
        "type": "http",
        "method": method,
        "path": "/api/v1/events",
        "raw_path": b"/api/v1/events",
        "root_path": "",
        "query_string": query.encode(),
        "headers": headers,
        "scheme": "http",
        "http_version": "1.1",
        "server": ("duly", 80),
        "client": ("127.0.0.1", 1),
    }
    task = asyncio.create_task(api(scope, listener.receive, listener.send))
    task.add_done_callback(lambda _: listener.dropped.set())
    try:
        if method == "GET":
            await listener.until(b"\n\n")
        yield listener
    finally:
        listener.leave()
        listener.go_on()
        await asyncio.wait_for(task, PATIENCE)
