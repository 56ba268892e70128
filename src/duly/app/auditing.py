"""``app.schedules.changes``: who changed what of a schedule."""

from __future__ import annotations

from duly.core.change import ScheduleChange
from duly.core.errors import ValidationFailed
from duly.store.sql import SqlStore
from duly.store.values import Page

from .checking import check_limit, not_found


class Auditing:
    """The part of ``app.schedules`` that reads the audit trail."""

    _store: SqlStore

    async def changes(self, ref: str, *, limit: int = 50, cursor: str | None = None) -> Page[ScheduleChange]:
        """One page of the audit trail, newest first; its oldest entry is the creation.

        A schedule that was deleted is found too, by its id or by the key it had, as long as its history is kept.
        """
        page = await self._store.list_changes(ref, limit=check_limit(limit), after=_number(cursor))
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
