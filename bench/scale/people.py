"""Who schedules what: kinds of schedules with their shares, drawn the way people choose times.

The shares are assumptions, written down to be argued with: most schedules are somebody's reminder or report at a round
local hour, few are frequent, and the frequent ones make most of the fires.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from duly import Cron, Every
from duly.core.timing import Timing

ZONES = {
    "Asia/Kolkata": 18, "Asia/Shanghai": 17, "America/New_York": 14, "Europe/Berlin": 12, "America/Los_Angeles": 8,
    "America/Sao_Paulo": 7, "Europe/London": 6, "Asia/Tokyo": 6, "America/Chicago": 6, "Africa/Lagos": 4, "UTC": 2,
}  # fmt: skip
"""Where people live, in percent."""
HOURS = (1, 1, 2, 1, 1, 2, 5, 9, 12, 16, 8, 5, 6, 5, 4, 3, 3, 4, 4, 3, 2, 2, 1, 1)
"""Which local hour people choose: breakfast, nine o'clock, noon, and two in the night for machines."""
MINUTES = {0: 60, 30: 17, 15: 6, 45: 5}
"""Which minute they choose, in percent; the others share the rest."""


@dataclass(frozen=True)
class Kind:
    """One kind of schedule: how many of a hundred it is, how long a run takes in seconds, and how a timing is drawn."""

    name: str
    share: float
    seconds: float
    draw: Callable[[Random], Timing]


def _zone(luck: Random) -> str:
    return luck.choices(list(ZONES), list(ZONES.values()))[0]


def _minute(luck: Random) -> int:
    chosen = luck.choices([*MINUTES, None], [*MINUTES.values(), 100 - sum(MINUTES.values())])[0]
    return luck.randrange(60) if chosen is None else chosen


def _hour(luck: Random) -> int:
    return luck.choices(range(24), HOURS)[0]


def _daily(luck: Random) -> Timing:
    return Cron(f"{_minute(luck)} {_hour(luck)} * * *", timezone=_zone(luck))


def _weekdays(luck: Random) -> Timing:
    return Cron(f"{_minute(luck)} {_hour(luck)} * * MON-FRI", timezone=_zone(luck))


def _weekly(luck: Random) -> Timing:
    return Cron(f"{_minute(luck)} {_hour(luck)} * * {luck.choice('1112345560')}", timezone=_zone(luck))


def _monthly(luck: Random) -> Timing:
    return Cron(f"{_minute(luck)} {_hour(luck)} {luck.choice((1, 1, 1, 15, 28))} * *", timezone=_zone(luck))


def _hourly(luck: Random) -> Timing:
    return Cron(f"{_minute(luck)} * * * *")


def _quarters(luck: Random) -> Timing:
    return Cron(luck.choice(("*/5 * * * *", "*/10 * * * *", "*/15 * * * *", "*/15 * * * *")))


def _intervals(luck: Random) -> Timing:
    return Every(minutes=luck.choice((30, 60, 90, 240)), anchor="epoch")


KINDS = (
    Kind("daily", 48, 0.2, _daily),
    Kind("weekdays", 18, 0.5, _weekdays),
    Kind("weekly", 17, 1.0, _weekly),
    Kind("monthly", 10, 2.0, _monthly),
    Kind("hourly", 4, 0.5, _hourly),
    Kind("quarters", 1, 0.5, _quarters),
    Kind("intervals", 2, 0.5, _intervals),
)
