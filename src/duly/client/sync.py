"""``Client``: for code without an event loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event
from types import TracebackType
from typing import Any, Self, Unpack

from duly.runtime.chance import Chance
from duly.runtime.clock import SystemClock

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


class Client:
    """Talks to a server. Safe to share between threads; close it, or use it in ``with``.

    ``timeout`` is in seconds, for each step of a request; ``tries`` counts the first one, and after
    ``patience`` seconds in all none is begun. ``transport`` is httpx2's.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        timeout: float = TIMEOUT,
        tries: int = TRIES,
        patience: float | None = None,
        transport: Any = None,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        self._httpx = load_httpx()
        root, self.place = read_server(url)
        self._http = self._httpx.Client(**settings_of(root, key, timeout, transport))
        self._tries = tries
        self._patience = float("inf") if patience is None else patience
        self._clock, self._chance = SystemClock(), Chance()
        self._pause = pause or (lambda seconds: Event().wait(seconds))
        self.schedules: Schedules[Answer] = Schedules(self._send, self.each)
        self.runs: Runs[Answer] = Runs(self._send, self.each, self._follow)
        self.workflows: Workflows[Answer] = Workflows(self._send)
        self.queues: Queues[Answer] = Queues(self._send)
        self.calendars: Calendars[Answer] = Calendars(self._send, self.each)
        self.operations: Operations[Answer] = Operations(self._send, self._follow)
        self.firing: Firing[Answer] = Firing(self._send)
        self.worker: Worker[Answer] = Worker(self._send)
        self.keys: Keys[Answer] = Keys(self._send)
        self.webhooks: Webhooks[Answer] = Webhooks(self._send, self.each)
        self.server: Server[Answer] = Server(self._send)

    def each(self, page: Callable[..., Answer], *arguments: Any, **query: Any) -> Iterator[Answer]:
        """All items of a list, page after page: ``client.each(client.runs.list, status="failed")``."""
        cursor = query.pop("cursor", None)
        while True:
            answer = page(*arguments, **{"limit": 200, **query, "cursor": cursor})
            yield from answer["items"]
            cursor = answer["nextCursor"]
            if cursor is None:
                return

    def events(
        self,
        *types: str,
        schedule: str | None = None,
        job: str | None = None,
        owner: str | None = None,
        tenant: str | None = None,
        after: str | int | None = None,
    ) -> Iterator[Answer]:
        """What happens in the fleet, as it happens, until you stop: of these types, or of all.

        A connection that breaks is made again, and nothing is missed or doubled. ``after`` is the ``id`` of the last
        event you had. A ``stream.reset`` says that something was not told: read again what you show.
        """
        query = event_query(types, schedule, job, owner, tenant)
        following = Following(query, after, self.place, self._tries)
        while True:
            try:
                with self._http.stream(**request_of(following.call)) as response:
                    if response.status_code == 200:
                        for line in response.iter_lines():
                            event = following.take(line)
                            if event is not None:
                                yield event
                        wait = following.ended()
                    else:
                        response.read()
                        wait = following.failed(reply_of(response))
            except self._httpx.TransportError as error:
                wait = following.failed(failure_of(error, self._httpx))
            self._pause(wait)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def enqueue(self, job: Any, payload: Any = NOTHING, **options: Unpack[RunOptions]) -> Answer:
        """Ask for one run of a job; see ``runs.enqueue``."""
        return self.runs.enqueue(job, payload, **options)

    def _follow(self, steps: Steps) -> Answer:
        step = next(steps)
        while True:
            try:
                step = steps.send(self._pause(step.seconds) if isinstance(step, Pause) else self._send(step))
            except StopIteration as end:
                answer: Answer = end.value
                return answer

    def _send(self, call: Call) -> Answer:
        until = self._clock.steady() + self._patience
        keyed_call = keyed(call, self._chance.id(self._clock))
        talking = talk(keyed_call, self.place, self._tries, is_over=lambda: self._clock.steady() >= until)
        step = next(talking)
        while True:
            try:
                step = talking.send(self._do(step))
            except StopIteration as end:
                answer: Answer = end.value
                return answer

    def _do(self, step: Call | Pause) -> Reply | Failure | None:
        if isinstance(step, Pause):
            self._pause(step.seconds)
            return None
        try:
            return reply_of(self._http.request(**request_of(step)))
        except self._httpx.TransportError as error:
            return failure_of(error, self._httpx)
