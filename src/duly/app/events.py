"""``app.events``: what happens in the whole fleet, as it happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from duly.core.credential import Whose
from duly.core.errors import ConfigurationError, StoreError, ValidationFailed
from duly.core.event import NAMES, RESET, Event
from duly.core.instants import to_datetime
from duly.core.timing.refusal import shortened
from duly.runtime.clock import Clock
from duly.store.sql import SqlStore

from .feed import POLL, Feed


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events somebody wants, and of whom they may hear; a ``stream.reset`` is for everybody."""

    whose: Whose | None = None
    names: frozenset[str] = frozenset()
    schedule: str | None = None
    job: str | None = None
    owner: str | None = None
    tenant: str | None = None

    def __post_init__(self) -> None:
        unknown = sorted(name for name in self.names if name not in NAMES)
        if unknown:
            raise ValidationFailed(f"it is {shortened(unknown[0])}; expected some of {', '.join(NAMES)}")

    def wants(self, event: Event) -> bool:
        return event.name == RESET or (
            (self.whose is None or (event.tenant, event.owner) == (self.whose.tenant, self.whose.owner))
            and (not self.names or event.name in self.names)
            and (self.schedule is None or self.schedule in (event.schedule_id, event.schedule_key))
            and (self.job is None or event.job == self.job)
            and (self.owner is None or event.owner == self.owner)
            and (self.tenant is None or event.tenant == self.tenant)
        )


class Reader:
    """One reader's place in the stream."""

    def __init__(self, feed: Feed, clock: Clock, where: EventFilter, position: int | None) -> None:
        self._feed = feed
        self.clock = clock
        self._where = where
        self._given = position
        self.position = 0

    async def begin(self) -> None:
        """From now on nothing is missed."""
        head = await self._feed.begin()
        self.position = head if self._given is None else self._given

    async def next(self, patience: float) -> list[Event]:
        """The events that are wanted, or none when ``patience`` seconds have passed without one."""
        deadline = self.clock.steady() + patience
        while True:
            woken = self._feed.woken
            news = await self._feed.after(self.position)
            if news.lost is not None:
                self.position = news.position
                now = to_datetime(self.clock.now())
                return [Event(name=RESET, at=now, number=news.position, reason=news.lost)]
            moved, self.position = news.position > self.position, news.position
            wanted = [event for event in news.events if self._where.wants(event)]
            left = deadline - self.clock.steady()
            if wanted or left <= 0:
                return wanted
            if not moved:
                await self.clock.wait(woken, min(POLL, left))


class Events:
    """The events of every process on this store, from now on or from where somebody was."""

    def __init__(self, store: SqlStore, clock: Clock, is_open: Callable[[], bool]) -> None:
        self._clock = clock
        self._is_open = is_open
        self._feed = Feed(store, clock)

    def reader(self, where: EventFilter, after: int | None = None) -> Reader:
        """A place in the stream: at its end, or after the event of a number."""
        return Reader(self._feed, self._clock, where, after)

    async def subscribe(
        self,
        *names: str,
        schedule: str | None = None,
        job: str | None = None,
        owner: str | None = None,
        tenant: str | None = None,
        after: int | None = None,
    ) -> AsyncIterator[Event]:
        """Events of these names, or all, as they happen, until you stop listening or the app ends.

        ``schedule`` is an id or a key. ``after`` is the ``number`` of the last event you had: nothing since then is
        missed or doubled. Where something is missing, a ``stream.reset`` says so: look again at what you show.
        """
        where = EventFilter(names=frozenset(names), schedule=schedule, job=job, owner=owner, tenant=tenant)
        reader = self.reader(where, after)
        await reader.begin()
        while True:
            try:
                events = await reader.next(POLL)
            except StoreError:  # it was there before, and our place is kept until it is back
                await self._clock.wait(asyncio.Event(), POLL)
                continue
            except ConfigurationError:
                if self._is_open():
                    raise
                return
            for event in events:
                yield event
