"""The keys that a run may be enqueued with: what their words mean, and which of them go together."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from enum import StrEnum

from duly.core.errors import Invalid, ValidationFailed
from duly.core.lane import Singleton, Unique
from duly.core.policy import choose
from duly.core.timing import parse_duration

from .checking import check_number, check_text

MOST = 10_000
_LONGEST_S = 366 * 86_400
_FOR = "seconds above 0 and up to 366 days, or a duration such as '30s', '5m' or '1h30m'"


class OnConflict(StrEnum):
    """What becomes of a run whose unique key another one has."""

    RETURN = "return"
    REFUSE = "refuse"


def read_singleton(
    key: str | None, *, max_running: int | None, max_queued: int | None, run_at: datetime | None
) -> Singleton | None:
    """The terms of a singleton key, checked; its limits mean nothing without it."""
    if key is None:
        for field, value in (("max_running", max_running), ("max_queued", max_queued)):
            if value is not None:
                raise ValidationFailed(
                    f"{field} is {value!r} without a singleton; expected it beside singleton='a key'",
                    field=field,
                    got=value,
                    expected="a singleton key",
                )
        return None
    if run_at is not None:
        raise ValidationFailed(
            f"run_at is given beside singleton {key!r}: its runs go in the order they are enqueued, and a later time"
            " would hold up all behind it; leave out one of them",
            field="run_at",
            got=run_at,
            expected="no run_at beside a singleton",
        )
    return Singleton(
        key=_check_key(key, "singleton"),
        max_running=1 if max_running is None else check_number(max_running, "max_running", 1, MOST),
        max_queued=None if max_queued is None else check_number(max_queued, "max_queued", 0, MOST),
    )


def read_unique(key: str | None, *, unique_for: float | str | None, on_conflict: str | None) -> Unique | None:
    """The terms of a unique key, checked."""
    if key is None:
        for field, value in (("unique_for", unique_for), ("on_conflict", on_conflict)):
            if value is not None:
                raise ValidationFailed(
                    f"{field} is {value!r} without a unique key; expected it beside unique='a key'",
                    field=field,
                    got=value,
                    expected="a unique key",
                )
        return None
    word = OnConflict.RETURN if on_conflict is None else choose(OnConflict, on_conflict, "on_conflict")
    return Unique(
        key=_check_key(key, "unique"),
        for_ms=0 if unique_for is None else _in_ms(unique_for),
        refuse=word is OnConflict.REFUSE,
    )


def _check_key(key: str, field: str) -> str:
    text = check_text(key, field, 200)
    if not text:
        raise ValidationFailed(
            f"{field} is {key!r}; expected a key of 1 to 200 characters", field=field, got=key, expected="a key"
        )
    return text


def _in_ms(unique_for: float | str) -> int:
    if isinstance(unique_for, str):
        with suppress(Invalid):
            ms = parse_duration(unique_for)
            if ms <= _LONGEST_S * 1000:
                return ms
    elif isinstance(unique_for, int | float) and not isinstance(unique_for, bool) and 0 < unique_for <= _LONGEST_S:
        return max(1, round(unique_for * 1000))
    raise ValidationFailed(
        f"unique_for is {unique_for!r}; expected {_FOR}", field="unique_for", got=unique_for, expected=_FOR
    )
