"""How values are put for people: instants, durations, counts. The browser's own zone is added by ``static/time.js``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from markupsafe import Markup, escape

_UNITS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
NOTHING = "–"


def when(value: str | datetime | None, shown: str = "relative", zone: str = "") -> Markup | str:
    """An instant as an element that the browser puts into words: ``relative``, ``clock``, ``full`` or ``zoned``.

    ``zone`` is the schedule's own; the title names the instant there, here and in UTC. Without a script it is UTC.
    """
    if value is None:
        return NOTHING
    text = value if isinstance(value, str) else value.isoformat().replace("+00:00", "Z")
    plain = text.replace("T", " ").partition(".")[0].removesuffix("Z")
    # Escaped by hand: a list has a hundred of these, and ``Markup.format`` is slow.
    at, seen = escape(text), escape(plain)
    return Markup(
        f'<time datetime="{at}" data-shown="{escape(shown)}" data-zone="{escape(zone)}" title="{seen} UTC">'
        f"{seen} UTC</time>"
    )


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


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "when": when,
    "duration": duration,
    "count": count,
    "pretty": pretty,
    "plural": plural,
}
