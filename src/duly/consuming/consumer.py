"""The loop of a consumer: take messages, hand each to the handler of its type, acknowledge what is finished."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from duly.runtime.clock import Clock, SystemClock

LOOK_AGAIN_AFTER = 1.0
"""Seconds between two looks at a broker that is away."""

EVERY_TYPE = "*"
FENCE, EXPECT = "duly-fence", "duly-expect"
"""Headers: what an answer must carry, and whether one is expected."""

_log = logging.getLogger("duly.consuming")


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message as it came in. ``receipt`` is what its source needs to acknowledge it.

    ``id`` is the run's, and empty for a message of somebody else's that has none.
    """

    id: str
    type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    receipt: Any = None

    @property
    def data(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def seen_as(self) -> str:
        """What it is remembered by, empty if it has no id: where an answer is expected each attempt asks anew."""
        asks = self.headers.get(EXPECT) and self.id
        return f"{self.id}:{self.headers.get(FENCE, '')}" if asks else self.id


Handler = Callable[[Delivery], Awaitable[object]]


class Source(Protocol):
    """Where messages come from. ``take`` waits a second or so; ``errors`` are what is raised when it is away."""

    errors: tuple[type[BaseException], ...]

    async def open(self) -> None: ...

    async def take(self) -> Sequence[Delivery]: ...

    async def finish(self, delivery: Delivery) -> None:
        """Acknowledge it: it is not delivered again."""

    async def give_back(self, delivery: Delivery) -> None:
        """Let it be delivered again, soon."""

    async def refuse(self, delivery: Delivery) -> None:
        """Put it where a person finds it: nobody here can handle it."""

    async def close(self) -> None: ...


class Seen(Protocol):
    """Remembers what was handled; write your own, on your database, to remember across restarts.

    ``id`` is the run's, with ``:<fence>`` behind it where the message expects an answer.
    """

    async def has(self, id: str) -> bool: ...

    async def add(self, id: str) -> None: ...


class Remembered:
    """The newest ids, in memory."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._ids: OrderedDict[str, None] = OrderedDict()

    async def has(self, id: str) -> bool:
        return id in self._ids

    async def add(self, id: str) -> None:
        self._ids[id] = None
        self._ids.move_to_end(id)
        if len(self._ids) > self._limit:
            self._ids.popitem(last=False)


def message_type(delivery: Delivery) -> str:
    """The type that the message says."""
    return delivery.type


def payload_type(delivery: Delivery) -> str:
    """The word ``type`` of the payload, for raw messages that carry one of their own."""
    try:
        return str(delivery.data["type"])
    except (ValueError, KeyError, TypeError):
        return ""


class Consumer:
    """Handlers by type, and the loop that calls them. One message is handled at a time, in order."""

    def __init__(
        self,
        source: Source,
        *,
        seen: Seen | None = None,
        type_of: Callable[[Delivery], str] = message_type,
        clock: Clock | None = None,
    ) -> None:
        self._source = source
        self._seen = seen or Remembered()
        self._type_of = type_of
        self._clock = clock or SystemClock()
        self._handlers: dict[str, Handler] = {}
        self._stopping = asyncio.Event()

    def on(self, type: str = EVERY_TYPE) -> Callable[[Handler], Handler]:
        """Declare the handler of a type; ``*`` takes what no other does."""

        def declare(handler: Handler) -> Handler:
            if type in self._handlers:
                raise ValueError(f"type {type!r} has a handler already: {self._handlers[type]!r}")
            self._handlers[type] = handler
            return handler

        return declare

    def stop(self) -> None:
        """Finish the message at hand and end; what was taken and not begun is delivered again."""
        self._stopping.set()

    async def run(self) -> None:
        """Consume until ``stop``; a broker that is away is waited for."""
        try:
            while not self._stopping.is_set():
                try:
                    await self._source.open()
                    while not self._stopping.is_set():
                        await self.run_once()
                except self._source.errors as error:
                    _log.warning("the broker is away: %s", type(error).__name__)
                    await self._source.close()
                    await self._clock.wait(self._stopping, LOOK_AGAIN_AFTER)
        finally:
            await self._source.close()

    async def run_once(self) -> int:
        """Take what is there and handle it; answer how many messages came."""
        deliveries = await self._source.take()
        for delivery in deliveries:
            if self._stopping.is_set():
                await self._source.give_back(delivery)
            else:
                await self._handle(delivery)
        return len(deliveries)

    async def _handle(self, delivery: Delivery) -> None:
        seen_as = delivery.seen_as
        if seen_as and await self._seen.has(seen_as):
            await self._source.finish(delivery)
            return
        type = self._type_of(delivery)
        handler = self._handlers.get(type) or self._handlers.get(EVERY_TYPE)
        if handler is None:
            _log.error("message %s has type %r, which has no handler; it is refused", delivery.id, type)
            await self._source.refuse(delivery)
            return
        try:
            await handler(delivery)
        except Exception:  # noqa: BLE001 - around a handler: whatever it raises, the message is delivered again
            _log.exception("message %s was not handled; it is given back", delivery.id)
            await self._source.give_back(delivery)
            return
        if seen_as:
            await self._seen.add(seen_as)
        await self._source.finish(delivery)
