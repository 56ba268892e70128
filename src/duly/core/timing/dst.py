"""Notes on single windows: what a change of the clocks did to them, in words."""

from __future__ import annotations

from datetime import timedelta

from duly.core.timing.cron import Cron
from duly.core.timing.epoch import EPOCH
from duly.core.timing.zone import Stretch


def dst_note(cron: Cron, window_ms: int) -> str | None:
    """Why a window of this cron lies where it does, or None for an ordinary one.

    "02:30 does not exist that day (clocks go forward); fires at 03:00", or for a time that comes twice, which of the
    two it is.
    """
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
    if missing // 86_400 == closes // 86_400:
        told = f"{_clock(missing)} does not exist that day (clocks go forward); fires at {_clock(closes)}"
    else:
        told = f"{_date(missing)} does not exist (clocks go forward); fires at {_date(closes)}"
    if cron.pattern.first_from(closes) == closes:
        return f"{told}, together with the fire of that time"
    return told


def _fold_note(cron: Cron, at: int, stretch: Stretch) -> str | None:
    local = at + stretch.offset
    is_first, is_second = local >= stretch.end + stretch.after, local < stretch.start + stretch.before
    if not is_first and not is_second:
        return None
    which = "first" if is_first else "second"
    told = f"{_clock(local)} comes twice that day (clocks go back)"
    if cron.pattern.open_hour or cron.dst_fold == "both":
        return f"{told}; this is the {which} time"
    return f"{told}; fires at the {which} only"


def _clock(local: int) -> str:
    shown = EPOCH + timedelta(0, local)
    return shown.strftime("%H:%M:%S" if shown.second else "%H:%M")


def _date(local: int) -> str:
    return f"{_clock(local)} on {EPOCH + timedelta(0, local):%Y-%m-%d}"
