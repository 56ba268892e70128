"""Celery: a run becomes a task with the run's id, which any worker of that broker executes; duly takes beat's place.

``celery+redis://host:6379/0?task=reports.nightly`` sends that task. Without ``task`` the header ``task`` of the
schedule's target names it, or else its topic does. An object is the task's keyword arguments, a list its arguments,
and anything else its only argument. ``queue`` is the one that the workers read, if it is not Celery's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
from celery import Celery
from kombu.exceptions import OperationalError

from .address import read_address
from .line import CONFIRM_WITHIN, CONNECT_WITHIN
from .target import Confirmed, Message, Refused, TryAgain, Verdict

WORDS = frozenset({"task", "queue"})
TASK_HEADER = "task"

_PREFIX = "celery+"


class CeleryTarget:
    """Sends tasks through one broker of Celery."""

    def __init__(self, name: str, url: str) -> None:
        self._address = read_address(name, url, WORDS)
        self._task = self._address.word("task")
        self._queue = self._address.word("queue") or None
        self._app: Celery | None = None

    async def open(self) -> None:
        """Make the app; it connects with the first message."""
        broker = self._address.server.removeprefix(_PREFIX)
        self._app = Celery("duly", broker=broker, set_as_current=False)
        self._app.conf.update(
            broker_connection_timeout=CONNECT_WITHIN,
            broker_transport_options=_patience(broker),
            task_publish_retry=False,  # what is not sent now is sent by the run's own policy
        )

    async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
        """Send the tasks of a batch one after another, in a thread: Celery's way of speaking blocks."""
        if not messages:
            return []
        if self._app is None:
            await self.open()
        assert self._app is not None
        return await asyncio.to_thread(self._send, self._app, messages)

    async def close(self) -> None:
        """Close the connections."""
        app, self._app = self._app, None
        if app is not None:
            await asyncio.to_thread(app.close)

    def _send(self, app: Celery, messages: Sequence[Message]) -> list[Verdict]:
        verdicts: list[Verdict] = []
        try:
            with app.connection_for_write() as connection, app.amqp.Producer(connection) as producer:
                gone = (OperationalError, OSError, *connection.connection_errors, *connection.channel_errors)
                try:
                    # One by one into the list: what was sent before an error stays confirmed.
                    verdicts.extend(self._send_one(app, producer, message) for message in messages)
                except gone as error:
                    return self._rest(verdicts, messages, f"the broker went away: {self._address.tell(error)}")
        except (OperationalError, OSError) as error:
            return self._rest(verdicts, messages, f"the broker cannot be reached: {self._address.tell(error)}")
        return verdicts

    def _send_one(self, app: Celery, producer: Any, message: Message) -> Verdict:
        task = message.headers.get(TASK_HEADER) or self._task or message.topic
        if not task:
            return Refused('no task is named: give the target the header "task", or the url ?task=, or a topic')
        arguments, words = _call(message.payload)
        app.send_task(
            task,
            arguments,
            words,
            task_id=message.id,
            queue=self._queue,
            headers=dict(message.headers),
            producer=producer,
            retry=False,
        )
        return Confirmed()

    def _rest(self, verdicts: list[Verdict], messages: Sequence[Message], reason: str) -> list[Verdict]:
        return [*verdicts, *[TryAgain(reason, away=True)] * (len(messages) - len(verdicts))]


def _call(payload: str) -> tuple[list[Any], dict[str, Any]]:
    value = msgspec.json.decode(payload)
    match value:
        case dict():
            return [], value
        case list():
            return value, {}
        case None:
            return [], {}
        case _:
            return [value], {}


def _patience(broker: str) -> dict[str, Any]:
    """How long a broker may take; and RabbitMQ is to confirm, which it does only when asked."""
    if broker.startswith("amqp"):
        return {"confirm_publish": True, "read_timeout": CONFIRM_WITHIN, "write_timeout": CONFIRM_WITHIN}
    return {"socket_timeout": CONFIRM_WITHIN, "socket_connect_timeout": CONNECT_WITHIN}
