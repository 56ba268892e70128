"""``app.schedules.backfill``: the windows of a past range, run now."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal, overload

from duly.config import Settings
from duly.core.errors import ValidationFailed
from duly.core.instants import to_ms
from duly.core.operation import Operation
from duly.core.rules.backfilling import check_backfill, past_windows
from duly.core.schedule import Schedule
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.orders import BackfillOrder, NewOperation
from duly.store.sql import SqlStore

from .building import Builder
from .checking import check_id, check_text, check_truth, not_found
from .looking import exclusions_for
from .payload import encode_payload
from .upcoming import Windows, seen
from .words import UNSET

SLOWEST, FASTEST = 1 / 60, 1000


class Backfilling:
    """The part of ``app.schedules`` that goes back in time."""

    _store: SqlStore
    _settings: Settings
    _builder: Builder
    _clock: Clock
    _chance: Chance
    _on_runs: Callable[[], None]

    @overload
    async def backfill(
        self,
        ref: str,
        from_: datetime,
        to: datetime,
        *,
        payload: Any = ...,
        rate_per_second: float | None = ...,
        force: bool = ...,
        dry_run: Literal[False] = ...,
        by: str | None = ...,
        id: str | None = ...,
    ) -> Operation: ...

    @overload
    async def backfill(
        self,
        ref: str,
        from_: datetime,
        to: datetime,
        *,
        payload: Any = ...,
        rate_per_second: float | None = ...,
        force: bool = ...,
        dry_run: Literal[True],
        by: str | None = ...,
        id: str | None = ...,
    ) -> Windows: ...

    async def backfill(
        self,
        ref: str,
        from_: datetime,
        to: datetime,
        *,
        payload: Any = UNSET,
        rate_per_second: float | None = None,
        force: bool = False,
        dry_run: bool = False,
        by: str | None = None,
        id: str | None = None,
    ) -> Operation | Windows:
        """Make a run of every window from ``from_`` to ``to``, both counted, oldest first; the schedule stays put.

        At most 1,000 windows, and none to come. The runs obey the overlap policy: where runs must not overlap, they
        wait in line, and windows that fall due meanwhile go before them. ``force`` lets all of them go at once.
        ``rate_per_second`` (from one a minute) spaces them. With ``dry_run`` the windows are answered, and nothing is
        made. The operation tells how many have ended (``changed``) and failed (``refused``); asked for again with its
        ``id``, nothing is made twice. Excluded windows are left out.
        """
        order = BackfillOrder(
            since=to_ms(from_, "from"),
            until=to_ms(to, "to"),
            rate_per_second=_rate(rate_per_second),
            force=check_truth(force, "force"),
        )
        text = None if payload is UNSET else encode_payload(payload, self._settings.payload_limit)
        schedule = await self._found(ref)
        if text is not None:
            self._builder.check_payload(schedule.definition.target, text)
        if check_truth(dry_run, "dry_run"):
            check_backfill(schedule)
            now = await self._store.now()
            exclusions = await exclusions_for(self._store, schedule.definition, schedule.facts.tenant)
            windows = past_windows(schedule.definition, order.since, order.until, now, exclusions)
            return seen(schedule.definition, windows)
        id = self._chance.id(self._clock) if id is None else check_id(id)
        new = NewOperation(id=id, order=order, by=check_text(by, "by", 100))
        made = await self._store.backfill(schedule.id, new, payload=text, rules=self._settings.fire_rules)
        if made is None:
            raise not_found("schedule", ref)
        self._on_runs()
        return made

    async def _found(self, ref: str) -> Schedule:
        schedule = await self._store.get_schedule(ref)
        if schedule is None:
            raise not_found("schedule", ref)
        return schedule


def _rate(given: float | None) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not SLOWEST <= given <= FASTEST:
        raise ValidationFailed(
            f"rate_per_second is {given!r}; expected a number from 1/60 (one a minute) to {FASTEST}",
            field="rate_per_second",
            got=given,
            expected=f"1/60 to {FASTEST}",
        )
    return given
