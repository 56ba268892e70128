"""Instants for people: in the zone that matters, and from now."""

from __future__ import annotations

from datetime import timedelta

from .tables import Cell

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))
_FAR, _VERY_FAR = 60 * 86_400_000, 2 * 365 * 86_400_000


def relative(at_ms: int, now_ms: int) -> str:
    """How far an instant is from now: "in 3 h", "5 min ago", "now"."""
    away = abs(at_ms - now_ms)
    if away < 1000:
        return "now"
    length = in_words(away)
    return f"in {length}" if at_ms > now_ms else f"{length} ago"


def in_words(length_ms: int) -> str:
    """A length of time in its two greatest units while the greater is small: "1 h 5 min", "3 d", "250 ms"."""
    if length_ms < 1000:
        return f"{length_ms} ms"
    if length_ms >= _VERY_FAR:
        return f"{length_ms // (365 * 86_400_000)} years"
    if length_ms >= _FAR:
        return f"{length_ms // 86_400_000} d"
    for place, (unit_ms, unit) in enumerate(_UNITS):
        if length_ms >= unit_ms:
            whole, rest = divmod(length_ms, unit_ms)
            if whole < 3 and place + 1 < len(_UNITS):
                smaller_ms, smaller = _UNITS[place + 1]
                if rest >= smaller_ms:
                    return f"{whole} {unit} {rest // smaller_ms} {smaller}"
            return f"{whole} {unit}"
    return "0 s"


def instant_ms(text: str) -> int:
    """Epoch milliseconds of RFC 3339 text with an offset, as the API answers it."""
    from duly.core.timing.epoch import parse_datetime, to_ms

    return to_ms(parse_datetime(text))


def local(at_ms: int, zone: str, *, offset: bool = True) -> str:
    """What the clocks of a zone show at an instant, with their offset from UTC."""
    from duly.core.instants import to_datetime
    from duly.core.timing.zone import zone_named

    ahead = zone_named(zone).offset_at(at_ms // 1000)
    shown = to_datetime((at_ms // 1000 + ahead) * 1000)
    text = shown.strftime("%Y-%m-%d %H:%M:%S" if shown.second else "%Y-%m-%d %H:%M")
    return f"{text} {offset_text(ahead)}" if offset else text


def moment(text: str, zone: str, now_ms: int) -> str:
    """An instant as the clocks of a zone show it, with their offset, and how far it is from now."""
    at = instant_ms(text)
    return f"{local(at, zone)} ({relative(at, now_ms)})"


def moment_cell(text: str, zone: str, now_ms: int) -> Cell:
    """An instant for a table that says elsewhere in which zone it is; in brief, how far it is from now."""
    at = instant_ms(text)
    away = relative(at, now_ms)
    return Cell(f"{local(at, zone, offset=False)} ({away})", away)


def rfc3339(at_ms: int, zone: str | None = None) -> str:
    """An instant as the API writes it: in UTC, or as the clocks of a zone show it."""
    from datetime import timezone

    from duly.core.instants import to_datetime
    from duly.core.timing.zone import zone_named

    if zone is None:
        return to_datetime(at_ms).isoformat().replace("+00:00", "Z")
    ahead = zone_named(zone).offset_at(at_ms // 1000)
    shown = to_datetime(at_ms + ahead * 1000)
    return shown.replace(tzinfo=timezone(timedelta(seconds=ahead))).isoformat()


def system_now() -> int:
    """This machine's clock, epoch ms."""
    from duly.runtime.clock import SystemClock

    return SystemClock().now()


def offset_text(seconds: int) -> str:
    """An offset from UTC: "UTC", "+05:30"."""
    if seconds == 0:
        return "UTC"
    hours, rest = divmod(abs(seconds), 3600)
    minutes, odd = divmod(rest, 60)
    sign = "+" if seconds > 0 else "-"
    return f"{sign}{hours:02}:{minutes:02}" + (f":{odd:02}" if odd else "")
