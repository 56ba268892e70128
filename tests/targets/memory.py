"""A target inside this process, whose other side can be looked at and broken: the smallest one there is."""

from __future__ import annotations

from collections.abc import Sequence

from duly.targets.target import Confirmed, Message, TryAgain, Verdict
from duly.testing.contract.target import Received


class Memory:
    """The other side: keeps what comes in while it is up."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.up = True

    def make(self) -> MemoryTarget:
        return MemoryTarget(self)

    async def received(self) -> list[Received]:
        return [Received(one.id, one.type, one.body) for one in self.messages]

    async def stop(self) -> None:
        self.up = False

    async def start(self) -> None:
        self.up = True


class MemoryTarget:
    """A ``Target`` that hands messages to a ``Memory``."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def open(self) -> None:
        return

    async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
        if not self._memory.up:
            return [TryAgain("the memory is down", away=True)] * len(messages)
        self._memory.messages.extend(messages)
        return [Confirmed()] * len(messages)

    async def close(self) -> None:
        return
