"""``app.schedules.pause_many`` and its like: one verb, applied to all schedules that match a filter."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict, Unpack

from duly.core.errors import ValidationFailed
from duly.core.instants import to_ms
from duly.core.operation import Operation
from duly.core.policy import choose
from duly.core.schedule import ScheduleStatus
from duly.store.orders import BulkOrder, CancelOrder, DeleteOrder, PauseOrder, ResumeOrder
from duly.store.values import ScheduleFilter

from .checking import check_text, check_words
from .operations import Operations, Progress


class Filters(TypedDict, total=False):
    """Which schedules: those that match all that is given. ``everything`` must be said where nothing is given."""

    owner: str | None
    tenant: str | None
    job: str | None
    topic: str | None
    tag: str | None
    status: str | None
    enabled: bool | None
    q: str | None
    everything: bool


FILTERS = frozenset(Filters.__annotations__)


class Bulk:
    """The part of ``app.schedules`` that works on many at once.

    Each verb answers the finished operation: how many were matched, changed and refused. It works in small batches, so
    that firing goes on, on the schedules that exist when it begins. Asked for again with the same ``id`` it does
    nothing twice; if this process dies, another instance goes on with it.
    """

    operations: Operations

    async def pause_many(
        self,
        *,
        reason: str | None = None,
        until: datetime | None = None,
        by: str | None = None,
        id: str | None = None,
        on_progress: Progress | None = None,
        **filters: Unpack[Filters],
    ) -> Operation:
        """Pause all that match; those that are paused already keep their reason and their end."""
        return await self._drive(pause_order(filters, reason, until), by, id, on_progress)

    async def resume_many(
        self,
        *,
        reason: str | None = None,
        catch_up: bool = False,
        by: str | None = None,
        id: str | None = None,
        on_progress: Progress | None = None,
        **filters: Unpack[Filters],
    ) -> Operation:
        """Resume all that match; with ``reason`` only those that were paused for exactly this one."""
        return await self._drive(resume_order(filters, reason, catch_up), by, id, on_progress)

    async def cancel_many(
        self,
        *,
        by: str | None = None,
        id: str | None = None,
        on_progress: Progress | None = None,
        **filters: Unpack[Filters],
    ) -> Operation:
        """Cancel all that match and have not ended."""
        return await self._drive(CancelOrder(where=read_filters(filters)), by, id, on_progress)

    async def delete_many(
        self,
        *,
        cancel_running: bool = False,
        by: str | None = None,
        id: str | None = None,
        on_progress: Progress | None = None,
        **filters: Unpack[Filters],
    ) -> Operation:
        """Delete all that match; their runs stay in the history."""
        order = DeleteOrder(where=read_filters(filters), cancel_running=cancel_running)
        return await self._drive(order, by, id, on_progress)

    async def _drive(self, order: BulkOrder, by: str | None, id: str | None, on_progress: Progress | None) -> Operation:
        begun = await self.operations.begin(order, by=by, id=id)
        return begun if begun.finished else await self.operations.drive(begun.id, on_progress)


def pause_order(filters: Filters, reason: str | None, until: datetime | None) -> PauseOrder:
    end = None if until is None else to_ms(until, "until")
    return PauseOrder(where=read_filters(filters), reason=check_text(reason, "reason", 1000), until=end)


def resume_order(filters: Filters, reason: str | None, catch_up: bool) -> ResumeOrder:
    return ResumeOrder(where=read_filters(filters), reason=check_text(reason, "reason", 1000), catch_up=catch_up)


def read_filters(filters: Filters) -> ScheduleFilter:
    """The filter; one that would match everything is refused unless that is said."""
    check_words("a filter", filters, FILTERS)
    given = {name: value for name, value in filters.items() if value is not None and name != "everything"}
    if "status" in given:
        choose(ScheduleStatus, given["status"], "status")
    if not given and not filters.get("everything"):
        raise ValidationFailed(
            "no filter was given; expected one of " + ", ".join(sorted(FILTERS)) + ", or everything=True for all",
            field="filter",
            expected="at least one filter",
        )
    return ScheduleFilter(**given)  # type: ignore[arg-type]  # the words are those of the filter
