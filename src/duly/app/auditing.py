"""``app.schedules.changes``: who changed what of a schedule."""

from __future__ import annotations

from duly.core.change import ScheduleChange
from duly.core.errors import ValidationFailed
from duly.store.sql import SqlStore
from duly.store.values import Page

from .checking import check_limit, not_found
from .owning import Owning


class Auditing:
    """The part of ``app.schedules`` that reads the audit trail."""

    _store: SqlStore
    _owning: Owning

    async def changes(
        self, ref: str, *, limit: int = 50, cursor: str | None = None, tenant: str | None = None
    ) -> Page[ScheduleChange]:
        """One page of the audit trail, newest first; its oldest entry is the creation.

        A schedule that was deleted is found too, by its id or by the key it had, as long as its history is kept.
        ``tenant`` chooses where several hold the key.
        """
        where = self._owning.where(tenant)
        page = await self._store.list_changes(ref, limit=check_limit(limit), after=_number(cursor), tenant=where)
        if page is None:
            raise not_found("schedule", ref)
        return page


def _number(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not (isinstance(cursor, str) and cursor.isascii() and cursor.isdigit() and len(cursor) <= 9):
        raise ValidationFailed(
            f"cursor is {cursor!r}; expected the next_cursor of the page before", field="cursor", got=cursor
        )
    return int(cursor)
