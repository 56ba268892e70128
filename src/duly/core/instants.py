"""Instants: integer epoch milliseconds inside, aware UTC datetimes where people look."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload

from .errors import ValidationFailed

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


@overload
def to_datetime(at: int) -> datetime: ...
@overload
def to_datetime(at: None) -> None: ...
@overload
def to_datetime(at: int | None) -> datetime | None: ...
def to_datetime(at: int | None) -> datetime | None:
    """Show an instant as an aware UTC datetime."""
    return None if at is None else _EPOCH + timedelta(milliseconds=at)


def to_ms(instant: datetime, field: str = "instant") -> int:
    """Turn an aware datetime into epoch milliseconds, rounded down; refuse a naive one."""
    if not isinstance(instant, datetime) or instant.tzinfo is None:
        raise ValidationFailed(
            f"{field} is {instant!r}; expected a datetime with a time zone, e.g. datetime(2027, 3, 15, 14, tzinfo=UTC)",
            field=field,
            got=instant,
            expected="an aware datetime",
        )
    return (instant - _EPOCH) // _MS
