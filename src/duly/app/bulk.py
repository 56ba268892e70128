"""``app.schedules.pause_many`` and its like: one verb, applied to all schedules that match a filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict, Unpack

from duly.core.errors import ValidationFailed
from duly.core.ids import is_id
from duly.core.instants import to_ms
from duly.core.operation import Operation
from duly.store.orders import BulkOrder, CancelOrder, DeleteOrder, PauseOrder, ResumeOrder, TriggerOrder
from duly.store.sql import SqlStore
from duly.store.values import Matching, ScheduleFilter

from .checking import check_list, check_number, check_text, check_truth, check_words
from .filtering import check_filters, schedule_filter
from .operations import Operations, Progress


class Filters(TypedDict, total=False):
    """Which schedules: those that match all that is given. ``everything`` must be said where nothing is given.

    ``ids`` names them instead, by id or key, and the operation then tells what became of each.
    """

    owner: str | None
    tenant: str | None
    job: str | None
    topic: str | None
    tag: str | None
    status: str | None
    enabled: bool | None
    q: str | None
    ids: Sequence[str] | None
    everything: bool


FILTERS = frozenset(Filters.__annotations__)
MOST_IDS = 1000
MOST_COUNTED = 10_000


class Bulk:
    """The part of ``app.schedules`` that works on many at once.

    Each verb answers the finished operation: how many were matched, changed and refused. It works in small batches, so
    that firing goes on, on the schedules that exist when it begins. Asked for again with the same ``id`` it does
    nothing twice; if this process dies, another instance goes on with it.
    """

    _store: SqlStore
    operations: Operations

    async def count(self, **filters: Unpack[Filters]) -> Matching:
        """How many schedules match, counted up to 10,000, and the keys of the first five."""
        which = await self._which(filters)
        if which.ids is not None:
            named = (ref for ref in filters["ids"] or () if ref not in which.missing)
            return Matching(len(which.ids), keys=tuple(named)[:5])
        return await self._store.count_schedules(which.where, limit=MOST_COUNTED)

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
        plan = await self.plan("pause", reason=reason, until=until, **filters)
        return await self._drive(plan, by, id, on_progress)

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
        plan = await self.plan("resume", reason=reason, catch_up=catch_up, **filters)
        return await self._drive(plan, by, id, on_progress)

    async def cancel_many(
        self,
        *,
        by: str | None = None,
        id: str | None = None,
        on_progress: Progress | None = None,
        **filters: Unpack[Filters],
    ) -> Operation:
        """Cancel all that match and have not ended."""
        return await self._drive(await self.plan("cancel", **filters), by, id, on_progress)

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
        plan = await self.plan("delete", cancel_running=cancel_running, **filters)
        return await self._drive(plan, by, id, on_progress)

    async def trigger_many(
        self,
        *,
        force: bool = False,
        by: str | None = None,
        id: str | None = None,
        on_progress: Progress | None = None,
        **filters: Unpack[Filters],
    ) -> Operation:
        """Make a run of each that matches, now; where the overlap policy allows none it is refused, unless forced."""
        return await self._drive(await self.plan("trigger", force=force, **filters), by, id, on_progress)

    async def plan(
        self,
        action: str,
        *,
        reason: str | None = None,
        until: datetime | None = None,
        catch_up: bool = False,
        cancel_running: bool = False,
        force: bool = False,
        **filters: Unpack[Filters],
    ) -> Plan:
        """What one of these verbs would begin: ``app.operations.begin(plan.order, missing=plan.missing)`` leaves it."""
        which = await self._which(filters)
        where, ids = which.where, which.ids
        reason = check_text(reason, "reason", 1000)
        order: BulkOrder
        match action:
            case "pause":
                end = None if until is None else to_ms(until, "until")
                order = PauseOrder(where=where, ids=ids, reason=reason, until=end)
            case "resume":
                order = ResumeOrder(where=where, ids=ids, reason=reason, catch_up=check_truth(catch_up, "catch_up"))
            case "cancel":
                order = CancelOrder(where=where, ids=ids)
            case "delete":
                cancel_running = check_truth(cancel_running, "cancel_running")
                order = DeleteOrder(where=where, ids=ids, cancel_running=cancel_running)
            case "trigger":
                order = TriggerOrder(where=where, ids=ids, force=check_truth(force, "force"))
            case _:
                raise ValidationFailed(
                    f"action is {action!r}; expected pause, resume, cancel, delete or trigger", field="action"
                )
        return Plan(order, which.missing)

    async def _drive(self, plan: Plan, by: str | None, id: str | None, on_progress: Progress | None) -> Operation:
        begun = await self.operations.begin(plan.order, missing=plan.missing, by=by, id=id)
        return begun if begun.finished else await self.operations.drive(begun.id, on_progress)

    async def _which(self, filters: Filters) -> Which:
        given = filters.get("ids")
        if given is None:
            return Which(read_filters(filters))
        others = sorted(name for name, value in filters.items() if name != "ids" and value not in (None, False))
        if others:
            raise ValidationFailed(f"ids and {others[0]} were given; expected one way to say which", field=others[0])
        given = check_list("ids", given, "ids and keys")
        if not all(isinstance(ref, str) for ref in given):
            raise ValidationFailed(f"ids is {given!r}; expected a list of ids and keys", field="ids", got=given)
        check_number(len(given), "ids", 0, MOST_IDS)
        check_filters(**{f"ids.{place}": ref for place, ref in enumerate(given)})
        found: dict[str, str | None] = {}
        for ref in given:
            schedule = None if is_id(ref) else await self._store.get_schedule(ref)
            found[ref] = ref if is_id(ref) else None if schedule is None else schedule.id
        ids = dict.fromkeys(id for id in found.values() if id is not None)
        return Which(ScheduleFilter(), tuple(ids), tuple(ref for ref, id in found.items() if id is None))


@dataclass(frozen=True, slots=True)
class Which:
    """A filter; or the ids that are meant, and what was named and is nobody's."""

    where: ScheduleFilter
    ids: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """An order that can be begun; ``missing`` was named and is nobody's."""

    order: BulkOrder
    missing: tuple[str, ...] = ()


def read_filters(filters: Filters) -> ScheduleFilter:
    """The filter; one that would match everything is refused unless that is said."""
    check_words("a filter", filters, FILTERS)
    given = {name: value for name, value in filters.items() if value is not None and name not in ("everything", "ids")}
    if not given and not check_truth(filters.get("everything", False), "everything"):
        raise ValidationFailed(
            "no filter was given; expected one of " + ", ".join(sorted(FILTERS)) + ", or everything=True for all",
            field="filter",
            expected="at least one filter",
        )
    return schedule_filter(**given)  # type: ignore[arg-type]  # the words are those of the filter
