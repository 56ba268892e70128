"""``on_event``: which jobs and workflows an event starts, at once, when it has become quiet, or many at a time.

A handler that gathers has one run that still takes events in: it is made by the first, it waits for its instant like
any run that is due later, and whatever comes meanwhile changes what it will be told. So nobody has to look for quiet,
and a crash loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .errors import ConfigurationError, Invalid
from .ids import is_name
from .schedule import DEFAULT_QUEUE
from .steps import WORKFLOW
from .timing import parse_duration

MOST_GATHERED = 1_000
KEPT_MS = 7 * 86_400_000
"""For how long an event's id is remembered: within it, the same id is the same event."""
EVENT_NAME = "1 to 100 printable characters, e.g. 'order.paid'"


def is_event_name(name: object) -> bool:
    return isinstance(name, str) and len(name) <= 100 and is_name(name)


@dataclass(frozen=True, slots=True)
class OnEvent:
    """Start a run for events of a name: one for each, or gathered.

    ``debounce="10s"`` starts one when no further event has come for so long, with the newest payload; with
    ``within="5m"`` beside it, so long after the first at the latest, however many still come.
    ``batch=100, within="5s"`` starts one with the list of all payloads when there are so many, or so long after the
    first.
    """

    event: str
    debounce: str | None = None
    batch: int | None = None
    within: str | None = None
    queue: str = DEFAULT_QUEUE

    def __post_init__(self) -> None:
        if not is_event_name(self.event):
            raise ConfigurationError(f"on_event is {self.event!r}; expected {EVENT_NAME}")
        where = f"on_event {self.event!r}"
        if self.debounce is not None and self.batch is not None:
            raise ConfigurationError(f"{where} has both debounce and batch; give one of them")
        if (self.batch is not None and self.within is None) or (self.within is not None and not self._gathers):
            raise ConfigurationError(
                f"{where} has one of batch and within; give both (batch=100, within='5s'), or within beside debounce"
            )
        number = isinstance(self.batch, int) and not isinstance(self.batch, bool)
        if self.batch is not None and not (number and 2 <= self.batch <= MOST_GATHERED):
            raise ConfigurationError(f"{where}: batch is {self.batch!r}; expected 2 to {MOST_GATHERED}")
        for word, text in (("debounce", self.debounce), ("within", self.within)):
            try:
                _ms(text)
            except Invalid as error:
                raise ConfigurationError(f"{where}: {word}: {error}") from None
        if (
            self.debounce is not None
            and self.within is not None
            and (_ms(self.within) or 0) < (_ms(self.debounce) or 0)
        ):
            raise ConfigurationError(f"{where}: within is {self.within!r}; expected no less than debounce")

    @property
    def _gathers(self) -> bool:
        return self.debounce is not None or self.batch is not None

    def handled_by(self, job: str, *, max_attempts: int, timeout_ms: int | None) -> EventHandler:
        return EventHandler(
            event=self.event,
            job=job,
            queue=self.queue,
            max_attempts=max_attempts,
            timeout_ms=timeout_ms,
            quiet_ms=_ms(self.debounce),
            most=self.batch,
            within_ms=_ms(self.within),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EventHandler:
    """What is started for events of a name; ``job`` is the name that workers claim its runs under."""

    event: str
    job: str
    queue: str
    max_attempts: int
    timeout_ms: int | None = None
    quiet_ms: int | None = None
    most: int | None = None
    within_ms: int | None = None

    @property
    def gathers(self) -> bool:
        return self.quiet_ms is not None or self.most is not None

    @property
    def name(self) -> str:
        """The workflow's name, or the job's."""
        return self.job.removeprefix(WORKFLOW)

    def payload(self, body: str) -> str:
        """What a run that is started for one event is given; a job takes arguments, so none are no null."""
        return "{}" if body == "null" and not self.job.startswith(WORKFLOW) else body


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What became of an event: how many runs that waited were told, and which runs were started or took it in.

    ``repeated`` says that an event of this id was published before, and that nothing was done again.
    """

    told: int = 0
    runs: Sequence[str] = field(default_factory=list)
    repeated: bool = False


class Gathered(NamedTuple):
    """What a run that gathers has so far."""

    payload: str
    due_at: int
    n: int
    began_at: int


def event_run_name(event_id: str, handler: EventHandler) -> str:
    """The name of the run that one event can start of a handler; a job and a workflow may have the same name."""
    kind = "" if handler.job.startswith(WORKFLOW) else "job:"
    return f"evt:{event_id}:{kind}{handler.name}"


def begin_gathering(handler: EventHandler, body: str, now: int) -> Gathered:
    """What the run of the first event is."""
    if handler.quiet_ms is not None:
        return Gathered(handler.payload(body), now + handler.quiet_ms, 1, now)
    return Gathered(f"[{body}]", now + (handler.within_ms or 0), 1, now)


def add_event(handler: EventHandler, so_far: Gathered, body: str, now: int, limit: int) -> Gathered | None:
    """What a run becomes that takes in one more event; None if it has no room: then it goes, and a next one begins.

    It goes at once when it is full. Whoever waited for the one that filled it may have begun before, and so not see
    that it is due: it is the number that says so.
    """
    if handler.quiet_ms is not None:
        quiet_at = now + handler.quiet_ms
        last_at = quiet_at if handler.within_ms is None else so_far.began_at + handler.within_ms
        return so_far._replace(payload=handler.payload(body), due_at=min(quiet_at, last_at), n=so_far.n + 1)
    most, n = handler.most or 1, so_far.n + 1
    payload = f"{so_far.payload[:-1]},{body}]"
    if n > most or len(payload.encode()) > limit:
        return None
    return so_far._replace(payload=payload, due_at=now if n == most else so_far.due_at, n=n)


def _ms(text: str | None) -> int | None:
    return None if text is None else parse_duration(text)
