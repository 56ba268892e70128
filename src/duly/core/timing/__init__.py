"""Timings: the pure rules of when a schedule fires.

``Cron``, ``Every`` and ``Once`` are frozen values that answer three questions and know nothing else: the next window
after an instant, the newest window at or before one, the windows between two. No clock is read and nothing is
remembered but the results of parsing, so every instance gives the same answers.

How a cron expression becomes an answer:

    text --fields.py--> masks --days.py, pattern.py--> local times --fires.py, zone.py--> instants

``pattern`` finds the nearest local time by table and by mask, one step for any distance. ``fires`` alone knows what
happens where clocks change, in terms of ``zone``'s stretches of constant offset. Everything is an integer: seconds
there, milliseconds at the face that the engine uses, datetimes only at the one for people (``base.py``).
"""

from duly.core.timing.codec import describe, from_description
from duly.core.timing.cron import Cron, DstFold, DstGap
from duly.core.timing.dst import dst_note, moved_note
from duly.core.timing.duration import parse_duration
from duly.core.timing.every import Every
from duly.core.timing.explain import explain
from duly.core.timing.friendly import timing_from
from duly.core.timing.jitter import Jitter
from duly.core.timing.once import Once
from duly.core.timing.union import Timing
from duly.core.timing.zone import Zone, check_zone, tz_version, zone_named

__all__ = [
    "Cron",
    "DstFold",
    "DstGap",
    "Every",
    "Jitter",
    "Once",
    "Timing",
    "Zone",
    "check_zone",
    "describe",
    "dst_note",
    "explain",
    "from_description",
    "moved_note",
    "parse_duration",
    "timing_from",
    "tz_version",
    "zone_named",
]
