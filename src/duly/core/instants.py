"""Instants: integer epoch milliseconds inside, aware UTC datetimes where people look.

What people give lies in the years 1970 to 9998. The year that is left before the end of what a datetime can show is
room for offsets and jitter: whatever is computed from an instant can still be shown.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, overload

from .errors import ValidationFailed

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_LAST: Final = datetime.max.replace(microsecond=999_000, tzinfo=UTC)
LAST_GIVEN_MS: Final = (datetime(9999, 1, 1, tzinfo=UTC) - _EPOCH) // _MS - 1
_EXPECTED = "an instant from 1970-01-01T00:00:00Z to 9998-12-31T23:59:59Z"


@overload
def to_datetime(at: int) -> datetime: ...
@overload
def to_datetime(at: None) -> None: ...
@overload
def to_datetime(at: int | None) -> datetime | None: ...
def to_datetime(at: int | None) -> datetime | None:
    """Show an instant as an aware UTC datetime; one beyond the years 1 to 9999 as their first or last."""
    if at is None:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=at)
    except OverflowError:
        return _LAST if at > 0 else datetime.min.replace(tzinfo=UTC)


def to_ms(instant: datetime, field: str = "instant") -> int:
    """Turn an aware datetime into epoch milliseconds, rounded down; refuse a naive one, and one out of range."""
    if not isinstance(instant, datetime) or instant.tzinfo is None:
        raise ValidationFailed(
            f"{field} is {instant!r}; expected a datetime with a time zone, e.g. datetime(2027, 3, 15, 14, tzinfo=UTC)",
            field=field,
            got=instant,
            expected="an aware datetime",
        )
    return check_instant((instant - _EPOCH) // _MS, field, instant)


def check_instant(at: int, field: str, given: datetime | None = None) -> int:
    """Answer an instant that somebody gave, or refuse it when it is out of range."""
    if not 0 <= at <= LAST_GIVEN_MS:
        shown = (to_datetime(at) if given is None else given).isoformat()
        raise ValidationFailed(f"{field} is {shown}; expected {_EXPECTED}", field=field, got=shown, expected=_EXPECTED)
    return at
