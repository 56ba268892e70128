"""Requests to an ASGI application in this process, without a client library and without a network."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

Message = MutableMapping[str, Any]
Application = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]


@dataclass(slots=True)
class Answer:
    """What came back."""

    status: int = 0
    body: bytes = b""

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def request(application: Application, method: str, target: str, body: object = None) -> Answer:
    """Send one request; ``body`` is sent as JSON."""
    path, _, query = target.partition("?")
    content = b"" if body is None else json.dumps(body).encode()
    headers = [(b"host", b"localhost"), (b"accept", b"application/json")]
    if content:
        headers += [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
        "state": {},
    }
    answer = Answer()

    async def receive() -> Message:
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
        else:
            answer.body += message.get("body", b"")

    await application(scope, receive, send)
    return answer
