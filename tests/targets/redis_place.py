"""A real Redis as the other side of a target: one server for all tests of a process, emptied for each."""

from __future__ import annotations

from typing import Any

from redis.asyncio import Redis

from duly.targets.registering import make_target
from duly.targets.target import Target
from duly.testing.contract.target import Received
from tests.servers import Server
from tests.targets.limits import be_as_shipped, be_patient


class RedisPlace:
    """A stream, read from its beginning."""

    def __init__(self, server: Server, query: str = "stream=events") -> None:
        self.server = server
        self.url = f"{server.url}?{query}"

    def make(self) -> Target:
        return make_target("events", self.url)

    def client(self) -> Any:
        return Redis.from_url(self.server.url)

    async def empty(self) -> None:
        async with self.client() as redis:
            await redis.flushall()

    async def entries(self) -> list[dict[str, bytes]]:
        async with self.client() as redis:
            return [
                {name.decode(): value for name, value in fields.items()} for _, fields in await redis.xrange("events")
            ]

    async def received(self) -> list[Received]:
        return [
            Received(fields["id"].decode(), fields["type"].decode(), fields["data"]) for fields in await self.entries()
        ]

    async def stop(self) -> None:
        be_as_shipped()
        self.server.kill()

    async def start(self) -> None:
        self.server.start()
        be_patient()
