"""A webhook: a message is POSTed to a URL and signed, and what comes back decides what becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from duly.core.endpoint import read_endpoint
from duly.core.errors import DestinationNotAllowed
from duly.core.outside import RESERVED_NAME
from duly.core.signing import signature_headers
from duly.core.version import VERSION
from duly.runtime.clock import Clock
from duly.runtime.events import Observer

from .envelope import prefixed
from .gates import AT_ONCE, Gates
from .posting import NotReached, Poster, Reply
from .target import Confirmed, Message, Refused, Stopped, TryAgain, Verdict, result_of

LONGEST_RETRY_AFTER = 3600.0
"""How long an answer may make us wait, whatever it says."""

UNHEARD = Observer()
AGENT = f"duly/{VERSION}"


@dataclass(frozen=True, slots=True)
class Busy:
    """As many are on their way to that host as may be; it was not sent, and is to come again in so many seconds."""

    wait: float


class Sender:
    """Sends signed messages to webhooks, a few at a time to each host."""

    def __init__(self, poster: Poster, clock: Clock, observer: Observer = UNHEARD) -> None:
        self._poster = poster
        self._observer = observer
        self._clock = clock
        self._gates = Gates(clock)

    async def send(self, url: str, secrets: Iterable[str], message: Message) -> Verdict | Busy:
        """Send one message, if there is room on the way to its host."""
        gate = self._gates.of(_host(url))
        wait = gate.enter()
        if wait is not None:
            return Busy(wait)
        began, reached = self._clock.steady(), False
        try:
            verdict = await self._post(url, secrets, message)
            reached = not (isinstance(verdict, TryAgain) and verdict.away)
            self._observer.messages_sent(RESERVED_NAME, {result_of(verdict): 1}, self._clock.steady() - began)
            return verdict
        finally:
            gate.leave(self._clock.steady() - began, reached=reached)

    async def close(self) -> None:
        await self._poster.close()

    async def _post(self, url: str, secrets: Iterable[str], message: Message) -> Verdict:
        seconds = self._clock.now() // 1000
        headers = {
            **message.headers,
            **prefixed(message.attributes, "ce-"),
            "content-type": message.content_type,
            "user-agent": AGENT,
            "idempotency-key": message.id,
            **signature_headers(secrets, id=message.id, seconds=seconds, body=message.body),
        }
        try:
            reply = await self._poster.post(url, headers, message.body)
        except DestinationNotAllowed as error:
            return Refused(error.message)
        except NotReached as error:
            return TryAgain(f"{_host(url)}: {error}", away=True)
        return verdict_of(reply, now_s=seconds)


def verdict_of(reply: Reply, *, now_s: int) -> Verdict:
    """What an answer means. Only 2xx is a yes and 410 is a no for good; all else may be mended, so it goes again.

    A redirect is not followed: it would lead to where nobody has looked.
    """
    if 200 <= reply.status < 300:
        return Confirmed()
    if reply.status == 410:
        return Stopped("it answered 410: it wants nothing more")
    told = "; redirects are not followed: give the URL that it leads to" if 300 <= reply.status < 400 else ""
    return TryAgain(f"it answered {reply.status}{told}", retry_after=_retry_after(reply.retry_after, now_s))


class WebhookTarget:
    """One URL as a target: messages of one key go one after another, those of several keys beside each other."""

    def __init__(self, url: str, secrets: Sequence[str], sender: Sender) -> None:
        self._url = url
        self._secrets = tuple(secrets)
        self._sender = sender

    async def open(self) -> None:
        """Nothing: the first message connects."""

    async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
        lines: dict[str | None, list[int]] = {}
        for place, message in enumerate(messages):
            lines.setdefault(message.key, []).append(place)
        verdicts: dict[int, Verdict] = {}
        room = asyncio.Semaphore(AT_ONCE)

        async def go_through(line: Sequence[int]) -> None:
            async with room:
                for at, place in enumerate(line):
                    verdict = verdicts[place] = await self._one(messages[place])
                    if isinstance(verdict, TryAgain) and verdict.away:  # nobody is there for the others either
                        verdicts.update(dict.fromkeys(line[at:], verdict))
                        return

        await asyncio.gather(*(go_through(line) for line in lines.values()))
        return [verdicts[place] for place in range(len(messages))]

    async def close(self) -> None:
        await self._sender.close()

    async def _one(self, message: Message) -> Verdict:
        verdict = await self._sender.send(self._url, self._secrets, message)
        return TryAgain("its host has enough to do", retry_after=verdict.wait) if isinstance(verdict, Busy) else verdict


def _retry_after(text: str | None, now_s: int) -> float | None:
    """Seconds, from a number of them or from a date; None where it is neither."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdecimal():
        seconds = float(text[:12])
    else:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - now_s
        except (ValueError, OverflowError):
            return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)


def _host(url: str) -> str:
    """The host of a URL, for counting and for words; a URL that is not allowed is refused when it is sent to."""
    try:
        return read_endpoint(url).authority
    except DestinationNotAllowed:
        return url.partition("://")[2].partition("/")[0].rpartition("@")[2][:100]
