"""What a target is given, what it promises, and what it may answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, assert_never


@dataclass(slots=True, kw_only=True)
class Message:
    """One run on its way out. The same run has the same ``id`` on every attempt; who receives it dedups by that.

    ``body`` is sent as it is, under ``content_type``. ``headers`` go beside it where the target has a place for them:
    the ids of the run, then what the schedule asks for. ``attributes`` are those of CloudEvents in binary form (without
    any prefix, e.g. ``id``, ``windowkey``), which a target writes in the manner of its protocol; empty in other forms.
    ``key`` is the schedule's: messages of one key are kept in order. ``options`` are the words of the schedule's target
    that only the target understands, e.g. the ``url`` and the ``secret`` of a webhook. ``payload`` is the JSON as
    stored, for a target that does not send a body. Whoever is to answer (``expects_answer``) must be told the fence.
    """

    id: str
    type: str
    source: str
    time: datetime
    body: bytes
    content_type: str
    payload: str
    topic: str | None = None
    key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    attempt: int = 1
    fence: int = 1
    expects_answer: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dedup_id(self) -> str:
        """What a broker may know a repeat by: where an answer is expected each attempt is a question of its own."""
        return f"{self.id}:{self.fence}" if self.expects_answer else self.id


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The other side has it, and said so."""


@dataclass(frozen=True, slots=True)
class Refused:
    """It will never be taken as it is: no route, too large, not allowed. The run fails and is not tried again."""

    reason: str


@dataclass(frozen=True, slots=True)
class TryAgain:
    """It may not have arrived. The run goes again by its retry policy, not before ``retry_after`` seconds.

    ``away``: the whole target could not be reached, so it is no use to send it others meanwhile.
    """

    reason: str
    retry_after: float | None = None
    away: bool = False


@dataclass(frozen=True, slots=True)
class Stopped:
    """The other side wants nothing more from this schedule (410). The run fails and the schedule is paused."""

    reason: str


Verdict = Confirmed | Refused | TryAgain | Stopped


def result_of(verdict: Verdict) -> str:
    """The word under which a verdict is counted, one of ``SEND_RESULTS``."""
    match verdict:
        case Confirmed():
            return "confirmed"
        case TryAgain():
            return "unreached" if verdict.away else "failed"
        case Refused():
            return "refused"
        case Stopped():
            return "stopped"
        case unknown:
            assert_never(unknown)


class Target(Protocol):
    """A place outside that takes messages. One object serves one event loop, and may be sent several batches at once.

    ``open`` prepares; it may leave the connecting to the first ``send``, and a server that is down must not make it
    fail: only a configuration that can never work does. ``send`` answers one verdict per message, in order, and
    ``Confirmed`` only for what the other side has acknowledged. It does not raise for a bad message or an absent
    server: that is ``TryAgain``, soon (within ``SEND_WITHIN`` seconds), and it connects again by itself at the next
    call. No reason that it gives may show a password. ``close`` may be called twice, and at any time.
    """

    async def open(self) -> None: ...

    async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]: ...

    async def close(self) -> None: ...


SEND_WITHIN = 10.0
"""Seconds in which a target is to answer for a batch; well under a lease."""


class TargetFactory(Protocol):
    """Makes a target of a URL; ``name`` is what the configuration calls it, and the default for a queue's name."""

    def __call__(self, name: str, url: str) -> Target: ...
