"""What may be asked for, and the timing that it becomes."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

import duly

Hour = Annotated[int, Field(ge=0, le=23)]
Minute = Annotated[int, Field(ge=0, le=59)]
Timing = duly.Cron | duly.Every | duly.Once
WAYS = ("daily_time", "weekly_time", "monthly_time", "interval_minutes", "once_at")
CHOICES = ", ".join(map(to_camel, WAYS))


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)


class DailyTime(Strict):
    hour: Hour
    minute: Minute


class WeeklyTime(DailyTime):
    day_of_week: Annotated[int, Field(ge=0, le=6, description="0 is Sunday")]


class MonthlyTime(DailyTime):
    day: Annotated[int, Field(ge=1, le=31)]


class Changes(Strict):
    """What is to be different; what is absent stays."""

    type: Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,49}$")] | None = None
    timezone: str | None = None
    daily_time: DailyTime | None = None
    weekly_time: WeeklyTime | None = None
    monthly_time: MonthlyTime | None = None
    interval_minutes: Annotated[int, Field(ge=1, le=525_600)] | None = None
    once_at: str | None = None
    is_active: bool | None = None

    @property
    def ways(self) -> list[str]:
        return [way for way in WAYS if getattr(self, way) is not None]

    @model_validator(mode="after")
    def at_most_one(self) -> Self:
        if len(self.ways) > 1:
            raise ValueError(f"{' and '.join(map(to_camel, self.ways))} were given; choose one of {CHOICES}")
        return self

    def timing(self, before: Timing | None = None) -> Timing:
        """The timing that is asked for; ``before`` is the one there is, if only its zone is to change."""
        zone = self.timezone or (before.timezone if before is not None else "UTC")
        if self.daily_time is not None:
            return duly.Cron.daily(_clock(self.daily_time), zone)
        if self.weekly_time is not None:
            return duly.Cron.weekly(self.weekly_time.day_of_week, _clock(self.weekly_time), zone)
        if self.monthly_time is not None:
            return duly.Cron.monthly(self.monthly_time.day, _clock(self.monthly_time), zone)
        if self.interval_minutes is not None:
            return duly.Every(minutes=self.interval_minutes, timezone=zone)
        if self.once_at is not None:
            return _once(self.once_at, zone)
        assert before is not None, "a new one has a timing"
        return duly.Cron(before.expr, zone) if isinstance(before, duly.Cron) else before


class NewSchedule(Changes):
    type: Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,49}$")]
    timezone: str

    @model_validator(mode="after")
    def exactly_one(self) -> Self:
        if not self.ways:
            raise ValueError(f"no timing was given; choose one of {CHOICES}")
        return self


def _clock(time: DailyTime) -> str:
    return f"{time.hour:02}:{time.minute:02}"


def _once(text: str, zone: str) -> duly.Once:
    """An instant that has gone by is sent at once."""
    try:
        local = datetime.fromisoformat(text).tzinfo is None
    except ValueError:
        local = False
    return duly.Once.local(text, zone, on_past="fire") if local else duly.Once(text, timezone=zone, on_past="fire")
