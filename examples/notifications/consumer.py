"""What is done with a message that is due: its ``type`` decides."""

from collections.abc import Awaitable, Callable
from typing import Any

import duly

Message = dict[str, Any]
Handler = Callable[[Message], Awaitable[None]]


class Consumer:
    """Handlers by type. One that raises is given the message again; a type that nobody handles is not tried twice."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}

    def handles(self, type: str) -> Callable[[Handler], Handler]:
        def keep(handler: Handler) -> Handler:
            self._handlers[type] = handler
            return handler

        return keep

    async def take(self, message: Message) -> None:
        handler = self._handlers.get(message["type"])
        if handler is None:
            raise duly.Fatal(f"nobody handles messages of type {message['type']!r}")
        await handler(message)


def make_consumer() -> Consumer:
    """A consumer that says what it would do."""
    consumer = Consumer()

    @consumer.handles("notification")
    async def notify(message: Message) -> None:
        print(f"mail to {message['userEmail']}: {message['title']}")  # noqa: T201

    @consumer.handles("report_generation")
    async def report(message: Message) -> None:
        print(f"report {message['reportType']} for {message['userId']}")  # noqa: T201

    @consumer.handles("data_sync")
    async def synchronise(message: Message) -> None:
        print(f"{message['entityType']} from {message['source']}")  # noqa: T201

    @consumer.handles("onboarding_reminder")
    async def remind(message: Message) -> None:
        print(f"welcome, {message['employeeId']}")  # noqa: T201

    return consumer
