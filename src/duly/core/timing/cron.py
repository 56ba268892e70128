"""``Cron``: a calendar rule in a time zone."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Final, Literal, final

from duly.core.errors import CronInvalid, ValidationFailed
from duly.core.timing.base import TimingBase
from duly.core.timing.counting import count_fires
from duly.core.timing.epoch import FIRST_SECOND, LAST_SECOND, from_second, to_second
from duly.core.timing.fires import EachPass, Fires, FirstPass, SecondPass, Unshifted
from duly.core.timing.pattern import Pattern, pattern_of, split_fields
from duly.core.timing.refusal import refused, refused_as, shortened
from duly.core.timing.wall import day_of_month, day_of_week, time_of_day
from duly.core.timing.zone import Zone, zone_named

DstGap = Literal["fire_after", "skip"]
DstFold = Literal["first", "second", "both"]

_GAPS: Final = ("fire_after", "skip")
_FOLDS: Final = ("first", "second", "both")


@final
class Cron(TimingBase):
    """A cron expression in a time zone: ``Cron("0 2 * * *", "America/Sao_Paulo")``.

    Five fields (minute, hour, day of month, month, day of week), or six with seconds first. Every named local time
    fires once: in the spring gap at the first instant after it (``dst_gap="skip"``: not at all), in the autumn fold
    at the first pass (``dst_fold="second"`` or ``"both"``). An expression that names all 24 hours follows real time
    and ignores both knobs. ``strict_fields=5`` refuses the form with seconds.

    A value: frozen, equal by definition, and shared, so that building the same one twice is cheap.
    """

    __slots__ = ("_definition", "_fires", "dst_fold", "dst_gap", "expr", "strict_fields", "timezone")

    expr: str
    timezone: str
    dst_gap: DstGap
    dst_fold: DstFold
    strict_fields: int | None
    _definition: tuple[str, str, str, str, int | None]
    _fires: Fires

    def __new__(
        cls,
        expr: str,
        timezone: str = "UTC",
        *,
        dst_gap: DstGap = "fire_after",
        dst_fold: DstFold = "first",
        strict_fields: Literal[5] | None = None,
    ) -> Cron:
        try:
            return _built(expr, timezone, dst_gap, dst_fold, strict_fields)
        except TypeError:  # something that cannot be hashed was given
            return _build(expr, timezone, dst_gap, dst_fold, strict_fields)

    @classmethod
    def daily(
        cls, time: str, timezone: str = "UTC", *, dst_gap: DstGap = "fire_after", dst_fold: DstFold = "first"
    ) -> Cron:
        """Every day at a wall-clock time such as ``"14:00"``."""
        return cls(f"{time_of_day(time)} * * *", timezone, dst_gap=dst_gap, dst_fold=dst_fold)

    @classmethod
    def weekly(
        cls,
        day: str | int,
        time: str,
        timezone: str = "UTC",
        *,
        dst_gap: DstGap = "fire_after",
        dst_fold: DstFold = "first",
    ) -> Cron:
        """Every week on a day, ``"MON"`` or 1 (0 and 7 are Sunday), at a wall-clock time."""
        return cls(f"{time_of_day(time)} * * {day_of_week(day)}", timezone, dst_gap=dst_gap, dst_fold=dst_fold)

    @classmethod
    def monthly(
        cls,
        day: str | int,
        time: str,
        timezone: str = "UTC",
        *,
        dst_gap: DstGap = "fire_after",
        dst_fold: DstFold = "first",
    ) -> Cron:
        """Every month on a day from 1 to 31 (months without it are left out) or ``"L"`` for the last, at a time."""
        return cls(f"{time_of_day(time)} {day_of_month(day)} * *", timezone, dst_gap=dst_gap, dst_fold=dst_fold)

    @property
    def pattern(self) -> Pattern:
        """The expression as masks."""
        return self._fires.pattern

    @property
    def zone(self) -> Zone:
        """The zone with its offsets."""
        return self._fires.zone

    def next_after_ms(self, t_ms: int) -> int | None:
        second = t_ms // 1000
        if FIRST_SECOND <= second <= LAST_SECOND:
            fire = self._fires.next_after(second)
            if fire is not None and fire <= LAST_SECOND:
                return fire * 1000
        return None

    def latest_at_ms(self, t_ms: int) -> int | None:
        second = t_ms // 1000
        if FIRST_SECOND <= second <= LAST_SECOND:
            fire = self._fires.latest_at(second)
            if fire is not None and fire >= FIRST_SECOND:
                return fire * 1000
        return None

    def count_between_ms(self, after_ms: int, until_ms: int) -> int:
        after, until = max(after_ms // 1000, FIRST_SECOND), min(until_ms // 1000, LAST_SECOND)
        return count_fires(self._fires, after, until)

    # Fires are whole seconds, so the datetimes need not go by way of milliseconds.

    def next_after(self, instant: datetime) -> datetime | None:
        second = to_second(instant)
        fire = self._fires.next_after(second) if FIRST_SECOND <= second <= LAST_SECOND else None
        return None if fire is None or fire > LAST_SECOND else from_second(fire)

    def latest_at(self, instant: datetime) -> datetime | None:
        second = to_second(instant)
        fire = self._fires.latest_at(second) if FIRST_SECOND <= second <= LAST_SECOND else None
        return None if fire is None or fire < FIRST_SECOND else from_second(fire)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Cron) and self._definition == other._definition)

    def __hash__(self) -> int:
        return hash(self._definition)

    def __repr__(self) -> str:
        knobs = "".join(
            f", {name}={value!r}"
            for name, value, usual in (
                ("dst_gap", self.dst_gap, "fire_after"),
                ("dst_fold", self.dst_fold, "first"),
                ("strict_fields", self.strict_fields, None),
            )
            if value != usual
        )
        return f"Cron({self.expr!r}, {self.timezone!r}{knobs})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Cron is frozen; build a new one to change {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Cron is frozen; {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[object, tuple[str, str, str, str, int | None]]:
        return _build, self._definition


def _build(expr: str, timezone: str, dst_gap: str, dst_fold: str, strict_fields: int | None) -> Cron:
    fields = _fields(expr, strict_fields)
    if dst_gap not in _GAPS:
        raise _bad_knob("dst_gap", dst_gap, _GAPS)
    if dst_fold not in _FOLDS:
        raise _bad_knob("dst_fold", dst_fold, _FOLDS)
    zone, pattern = zone_named(timezone), pattern_of(fields)
    cron = object.__new__(Cron)
    definition = (" ".join(fields), zone.name, str(dst_gap), str(dst_fold), strict_fields)
    for name, value in zip(("expr", "timezone", "dst_gap", "dst_fold", "strict_fields"), definition, strict=True):
        object.__setattr__(cron, name, value)
    object.__setattr__(cron, "_definition", definition)
    object.__setattr__(cron, "_fires", _fires(pattern, zone, dst_gap, dst_fold))
    return cron


_built = lru_cache(maxsize=16_384)(_build)


def _fields(expr: object, strict_fields: object) -> tuple[str, ...]:
    if not isinstance(expr, str):
        raise refused_as(CronInvalid, f"cron expression is {shortened(expr)}", "cron", expr, "text such as '0 2 * * *'")
    if strict_fields is not None and (type(strict_fields) is not int or strict_fields != 5):
        raise _bad_knob("strict_fields", strict_fields, (5, None))
    fields = split_fields(expr)
    if strict_fields == 5 and len(fields) != 5:
        expected = "5 (minute hour day month weekday), since strict_fields is 5"
        given = f"cron expression {shortened(expr)} has {len(fields)} fields"
        raise refused_as(CronInvalid, given, "cron", expr, expected)
    return fields


def _fires(pattern: Pattern, zone: Zone, dst_gap: str, dst_fold: str) -> Fires:
    if zone.is_utc:
        return Unshifted(pattern, zone, skip_gap=False)
    if pattern.open_hour:
        return EachPass(pattern, zone, skip_gap=True)
    skip_gap = dst_gap == "skip"
    if dst_fold == "both":
        return EachPass(pattern, zone, skip_gap)
    return SecondPass(pattern, zone, skip_gap) if dst_fold == "second" else FirstPass(pattern, zone, skip_gap)


def _bad_knob(name: str, got: object, allowed: tuple[object, ...]) -> ValidationFailed:
    return refused(name, got, " or ".join(repr(value) for value in allowed))
