"""``app.schedules.preview`` and ``upcoming``: windows to come, and those that a calendar takes out."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from duly.core.errors import CalendarUnknown
from duly.core.instants import to_ms
from duly.core.rules.excluding import Exclusions
from duly.core.schedule import Definition
from duly.core.timing import Jitter, Timing
from duly.runtime.clock import Clock
from duly.store.sql import SqlStore

from .building import Builder
from .checking import check_jitter, not_found
from .dates import DateLike, check_calendars, check_dates
from .owning import Owning
from .upcoming import Windows, check_count_of, preview, previewed, upcoming


class Looking:
    """The part of ``app.schedules`` that looks ahead."""

    _store: SqlStore
    _builder: Builder
    _clock: Clock
    _owning: Owning

    async def preview(
        self,
        timing: Timing,
        *,
        after: datetime | None = None,
        count: int = 10,
        key: str | None = None,
        jitter: Jitter | tuple[int, int] | None = None,
        calendars: Iterable[str] = (),
        exclude_dates: Iterable[DateLike] = (),
        tenant: str = "",
    ) -> Windows:
        """The next windows of a timing after an instant (now), without storing anything.

        Jitter depends on the key: give both to see the delays a schedule of that key would have. Windows that are
        excluded are among them, and say by what.
        """
        start = self._clock.now() if after is None else to_ms(after, "after")
        definition = previewed(
            self._builder.check_timing(timing),
            start,
            key,
            check_jitter(jitter),
            check_calendars(calendars),
            check_dates(exclude_dates, "exclude_dates"),
        )
        exclusions = await exclusions_for(self._store, definition, self._owning.tenant(tenant), strict=True)
        return preview(definition, start, check_count_of(count), exclusions)

    async def upcoming(self, ref: str, count: int = 10) -> Windows:
        """The next windows of a schedule as it is now: none while it is paused without an end, or has ended.

        Windows that are excluded are among them, and say by what.
        """
        count = check_count_of(count)
        schedule = await self._store.get_schedule(ref)
        if schedule is None:
            raise not_found("schedule", ref)
        exclusions = await exclusions_for(self._store, schedule.definition, schedule.facts.tenant)
        return upcoming(schedule, count, exclusions)


async def exclusions_for(
    store: SqlStore, definition: Definition, tenant: str, *, strict: bool = False
) -> Exclusions | None:
    """The dates on which a definition does not fire, as its calendars are now; None without any.

    One that is not there excludes nothing, or is refused where that is ``strict``.
    """
    if not definition.excludes:
        return None
    known = await store.read_days(definition.calendars, tenant=tenant) if definition.calendars else {}
    for name in definition.calendars:
        if strict and name not in known:
            raise CalendarUnknown.named(definition.key, name)
    return Exclusions(definition, [(name, known[name]) for name in definition.calendars if name in known])
