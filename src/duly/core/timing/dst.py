"""Notes on single windows: what a change of the clocks did to them, in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from duly.core.timing.cron import Cron
from duly.core.timing.epoch import EPOCH, to_second
from duly.core.timing.once import Once
from duly.core.timing.zone import Stretch, zone_named


def moved_note(once: Once, asked: datetime) -> str | None:
    """That the local time which was asked for does not exist, and when the one-shot fires instead; else None."""
    local = once.at_ms // 1000 + zone_named(once.timezone).offset_at(once.at_ms // 1000)
    missing = to_second(asked.replace(tzinfo=UTC))
    return None if missing == local else _moved(missing, local)


def dst_note(timing: Cron | Once, window_ms: int) -> str | None:
    """Why a window of this timing lies where it does, or None for an ordinary one.

    "02:30 does not exist that day (clocks go forward); fires at 03:00", or for a time that comes twice, which of the
    two it is. A one-shot does not know which local time was asked for: ``moved_note`` is told.
    """
    if isinstance(timing, Once):
        at, zone = window_ms // 1000, zone_named(timing.timezone)
        which, told = _pass(at, zone.stretch_at(at))
        return f"{told}; this is the {which} time" if which else None
    cron = timing
    if cron.zone.is_utc:
        return None
    at = window_ms // 1000
    stretch = cron.zone.stretch_at(at)
    return _gap_note(cron, at, stretch) or _fold_note(cron, at, stretch)


def _gap_note(cron: Cron, at: int, stretch: Stretch) -> str | None:
    opens, closes = stretch.start + stretch.before, stretch.start + stretch.offset
    if at != stretch.start or opens >= closes or cron.pattern.open_hour or cron.dst_gap == "skip":
        return None
    missing = cron.pattern.first_from(opens)
    if missing is None or missing >= closes:
        return None
    told = _moved(missing, closes)
    if cron.pattern.first_from(closes) == closes:
        return f"{told}, together with the fire of that time"
    return told


def _moved(missing: int, closes: int) -> str:
    if missing // 86_400 == closes // 86_400:
        return f"{_clock(missing)} does not exist that day (clocks go forward); fires at {_clock(closes)}"
    return f"{_date(missing)} does not exist (clocks go forward); fires at {_date(closes)}"


def _fold_note(cron: Cron, at: int, stretch: Stretch) -> str | None:
    which, told = _pass(at, stretch)
    if not which:
        return None
    if cron.pattern.open_hour or cron.dst_fold == "both":
        return f"{told}; this is the {which} time"
    return f"{told}; fires at the {which} only"


def _pass(at: int, stretch: Stretch) -> tuple[str, str]:
    """Which of two passes of its local time an instant is, "" if there is but one, and the words for that."""
    local = at + stretch.offset
    is_first, is_second = local >= stretch.end + stretch.after, local < stretch.start + stretch.before
    which = "first" if is_first else "second" if is_second else ""
    return which, f"{_clock(local)} comes twice that day (clocks go back)"


def _clock(local: int) -> str:
    shown = EPOCH + timedelta(0, local)
    return shown.strftime("%H:%M:%S" if shown.second else "%H:%M")


def _date(local: int) -> str:
    return f"{_clock(local)} on {EPOCH + timedelta(0, local):%Y-%m-%d}"
