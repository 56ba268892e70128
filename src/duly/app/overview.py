"""``app.schedules.coming``, ``late`` and ``stats``: what fires next, what should have fired, and how it all fares."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from duly.core.calendar import Days
from duly.core.errors import ValidationFailed
from duly.core.ids import is_id
from duly.core.instants import to_datetime
from duly.core.naming import ON_TIME_MS
from duly.core.rules.excluding import Exclusions
from duly.core.rules.forecasting import reckoned
from duly.core.rules.windows import Windows
from duly.core.schedule import Schedule
from duly.runtime.clock import Clock
from duly.store.seen import Minute, Outcomes
from duly.store.sql import SqlStore
from duly.store.values import Page, Stats

from .checking import check_limit, check_number
from .filtering import check_filters
from .owning import Owning
from .upcoming import Upcoming, upcoming

MOST_COUNTED = 200_000
"""Entries of the index that a forecast walks: some tens of milliseconds."""

MOST_SAMPLED = 400
MOST_A_MINUTE = 5_000
MOST_LAGS = 1_000
MOST_HOURS, MOST_STEPS = 48, 1440
_PLACE = re.compile(r"(-?\d{1,16})\.(\d{1,18})\.(.{36})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Coming:
    """The next window of a schedule."""

    schedule: Schedule
    window: Upcoming


@dataclass(frozen=True, slots=True)
class Late:
    """A schedule that should have fired, with the oldest window that it owes.

    It is late by ``late_ms``, counted from the fire and not from the window, which jitter may have put off. By now it
    owes ``owed`` windows; its catch-up policy decides how many of them become runs.
    """

    schedule: Schedule
    window: Upcoming
    late_ms: int
    owed: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """Fires for each ``step`` of seconds from ``since`` on.

    Of the ``schedules`` that fire in this time, ``sampled`` were looked at more closely: they stand for all. ``whole``
    is False where there are more schedules than were counted; the last steps are then too low.
    """

    since: datetime
    step: int
    fires: tuple[int, ...]
    schedules: int
    sampled: int
    whole: bool

    @property
    def exact(self) -> bool:
        """Whether nothing of it is reckoned from a sample."""
        return self.whole and self.sampled == self.schedules


class Overview:
    """The part of ``app.schedules`` that looks over all of them."""

    _store: SqlStore
    _owning: Owning
    _clock: Clock
    _alone: bool

    async def coming(
        self, *, tenant: str | None = None, owner: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[Coming]:
        """One page of what fires next: each schedule once, with its next window, the earliest fire first.

        What is paused does not fire, and is not among them; what is overdue comes first.
        """
        check_filters(tenant=tenant, owner=owner)
        if self._owning.whose is not None and owner is None:
            tenant, owner = tenant or self._owning.whose.tenant, self._owning.whose.owner  # they have an index
        page = await self._store.list_upcoming(
            limit=check_limit(limit), after=check_place(cursor), tenant=tenant, owner=owner
        )
        days = await self._days(page.items)
        coming = (_coming(schedule, days[schedule.facts.tenant]) for schedule in page.items)
        return Page([one for one in coming if one is not None], page.next_cursor)

    async def late(
        self, *, tenant: str | None = None, owner: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[Late]:
        """One page of the schedules that should have fired and did not, the latest first.

        A fire is late when it is overdue by more than two seconds. What is paused owes nothing.
        """
        page = await self.coming(tenant=tenant, owner=owner, limit=limit, cursor=cursor)
        now = self._clock.now()
        found = [
            Late(one.schedule, one.window, now - fire_at, _owed(one.schedule, now))
            for one in page.items
            if (fire_at := one.schedule.cursor.fire_at) is not None and now - fire_at > ON_TIME_MS
        ]
        # They come by the time of their fire: after the first that is on time there is none that is late.
        return Page(found, page.next_cursor if len(found) == len(page.items) else None)

    async def forecast(self, *, hours: int = 6, step: int = 60, tenant: str | None = None) -> Forecast:
        """How many windows will fire in each step of time, given in seconds, over the next hours.

        The next fire of each schedule is counted, up to 200,000 of them; what fires again within that time is reckoned
        from a sample of a few hundred schedules, and told as such.
        """
        check_filters(tenant=tenant)
        check_number(hours, "hours", 1, MOST_HOURS)
        check_number(step, "step", 10, 3600)
        steps = hours * 3600 // step
        check_number(steps, "steps", 1, MOST_STEPS)
        whose = self._owning.whose
        ahead = await self._store.look_ahead(
            steps=steps,
            step_ms=step * 1000,
            limit=MOST_COUNTED,
            most=MOST_SAMPLED,
            tenant=tenant if whose is None else tenant or whose.tenant,
            owner=None if whose is None else whose.owner,
        )
        reckon = partial(reckoned, ahead.counted, ahead.strata, ahead.since, ahead.step_ms)
        # Beside the loop, if there is one: cron expressions that nobody shares take their time.
        fires = reckon() if self._alone else await asyncio.to_thread(reckon)
        sampled = sum(len(stratum.sample) for stratum in ahead.strata)
        return Forecast(to_datetime(ahead.since), step, tuple(fires), sum(ahead.counted), sampled, ahead.whole)

    async def outcomes(self, ids: Sequence[str], *, each: int = 20) -> dict[str, Outcomes]:
        """How the newest runs of some schedules ended, by id, all in one look; of those that are there."""
        return await self._store.recent_outcomes(ids, each=check_number(each, "each", 1, 100))

    async def minutes(self, *, since: int, until: int) -> list[Minute]:
        """What there is of each minute between two instants in epoch ms; of one minute up to 5,000 are counted."""
        return await self._store.count_minutes(since=since, until=until, limit=MOST_A_MINUTE)

    async def lags(self) -> list[int]:
        """How many ms late the newest windows fired, sorted; of 1,000 rows those that ended at their first try."""
        return sorted(await self._store.recent_lags(limit=MOST_LAGS))

    async def stats(self) -> Stats:
        """How the store fares: what is due, late, running, waiting and dead, and what was done in an hour and a day.

        Counts stop at 10,000, and no more runs than that are looked at, the newest: ``since`` says how far they reach.
        """
        return await self._store.stats(late_ms=ON_TIME_MS)

    async def _days(self, schedules: list[Schedule]) -> dict[str, dict[str, Days]]:
        """The dates of the calendars that they name, by tenant."""
        names: dict[str, set[str]] = defaultdict(set)
        for schedule in schedules:
            names[schedule.facts.tenant].update(schedule.definition.calendars)
        return {
            tenant: await self._store.read_days(named, tenant=tenant) if named else {}
            for tenant, named in names.items()
        }


def check_place(cursor: str | None) -> str | None:
    """Answer where a page ended, or refuse it."""
    found = _PLACE.fullmatch(cursor) if isinstance(cursor, str) else None
    if cursor is not None and (found is None or not is_id(found[3])):
        raise ValidationFailed(f"cursor is {cursor!r}; expected the next_cursor of the page before", field="cursor")
    return cursor


def _coming(schedule: Schedule, days: dict[str, Days]) -> Coming | None:
    definition = schedule.definition
    exclusions = None
    if definition.excludes:
        exclusions = Exclusions(definition, [(name, days[name]) for name in definition.calendars if name in days])
    found = upcoming(schedule, 1, exclusions)
    return Coming(schedule, found[0]) if found else None


def _owed(schedule: Schedule, now: int) -> int:
    """How many windows have come since the one that is to be fired, that one counted."""
    definition, cursor = schedule.definition, schedule.cursor
    if cursor.next_window_at is None:
        return 0
    windows = Windows(definition, cursor.next_window_at)
    newest = windows.newest_at(now)
    owed = 1 if newest is None else windows.count(windows.first, newest)
    return owed if definition.max_runs is None else min(owed, definition.max_runs - cursor.fired)
