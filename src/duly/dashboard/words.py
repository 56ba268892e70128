"""How values are put for people: instants, durations, counts. The reader's own zone is for ``static/time.js``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from markupsafe import Markup, escape

from duly.core.instants import to_datetime
from duly.runtime.clock import Clock

_UNITS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_BY_THE_SERVER: Final = frozenset({"relative", "since", "zoned"})
NOTHING = "–"


class Instants:
    """Instants as elements. What needs no more than a clock and a schedule's zone is in words from the beginning.

    A page is laid out once then, and a script need not touch it before it is seen.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def when(self, value: str | datetime | None, shown: str = "relative", zone: str = "") -> Markup | str:
        """An instant: ``relative``, ``since``, ``zoned`` in the schedule's own zone, else as the reader's clock has it.

        Of the last the browser makes ``clock`` or ``full``; without a script they are in UTC.
        """
        if value is None:
            return NOTHING
        text = value if isinstance(value, str) else value.isoformat().replace("+00:00", "Z")
        plain = text.replace("T", " ").partition(".")[0].removesuffix("Z") + " UTC"
        seen = self._words(value, shown, zone) or plain
        # Escaped by hand: a list has a hundred of these, and ``Markup.format`` is slow.
        at, title = escape(text), escape(plain)
        return Markup(
            f'<time datetime="{at}" data-shown="{escape(shown)}" data-zone="{escape(zone)}" title="{title}">'
            f"{escape(seen)}</time>"
        )

    def _words(self, value: str | datetime, shown: str, zone: str) -> str | None:
        if shown not in _BY_THE_SERVER:
            return None
        at = datetime.fromisoformat(value) if isinstance(value, str) else value
        now = self._clock.now()
        if shown == "zoned":
            try:
                return nearby(at, to_datetime(now), zone or "UTC")
            except (ZoneInfoNotFoundError, OverflowError):
                return None  # a zone that this machine has not, or the last day there is
        words = distance((at.timestamp() * 1000 - now) / 1000)
        return words.removesuffix(" ago") if shown == "since" else words


def distance(seconds: float) -> str:
    """How far off something is, in its two largest units; seconds only by themselves. ``time.js`` says the same."""
    left = int(abs(seconds))
    if not left:
        return "now"
    parts: list[str] = []
    for ms, unit in _UNITS:
        many, left = divmod(left, ms // 1000)
        if many and (not parts or (len(parts) == 1 and unit != "s")):
            parts.append(f"{many} {unit}")
    words = " ".join(parts)
    return f"in {words}" if seconds > 0 else f"{words} ago"


def nearby(at: datetime, now: datetime, zone: str) -> str:
    """An instant on the clocks of a zone: no more of the date than it takes to know the day."""
    there, today = (one.astimezone(ZoneInfo(zone)) for one in (at, now))
    if there.date() == today.date():
        return f"{there:%H:%M:%S}"
    day = f"{_DAYS[there.weekday()]} {there.day} {MONTHS[there.month - 1]}"
    return f"{day}, {there:%H:%M}" if there.year == today.year else f"{day} {there.year}, {there:%H:%M}"


def duration(ms: float | None) -> str:
    """A length of time, in its two largest units."""
    if ms is None:
        return NOTHING
    left = round(abs(ms))
    if left < 1000:
        return f"{left} ms"
    if left < 10_000 and left % 1000:
        return f"{left / 1000:.1f} s"
    parts: list[str] = []
    for size, unit in _UNITS:
        if left >= size and len(parts) < 2:
            parts.append(f"{left // size} {unit}")
        elif parts:
            break
        left %= size
    return " ".join(parts)


def count(value: int | None, most: int | None = None) -> str:
    """A number with thin spaces; one that counting stopped at has a plus."""
    if value is None:
        return NOTHING
    return f"{value:,}".replace(",", "\u202f") + ("+" if most is not None and value >= most else "")


def pretty(value: Any) -> str:
    """A JSON value as people read it."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def plural(many: int, one: str, more: str | None = None) -> str:
    return one if many == 1 else more or f"{one}s"


def filters(clock: Clock) -> Mapping[str, Callable[..., Any]]:
    """What templates put values into words with."""
    return {"when": Instants(clock).when, "duration": duration, "count": count, "pretty": pretty, "plural": plural}
