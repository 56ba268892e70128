"""How many windows fire when: counted from the next fire of each schedule, and reckoned from a sample for those after.

Times are cut into strata by the next fire. How many schedules a stratum holds is counted; a few of each are looked at,
and stand for all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from duly.core.schedule import Schedule
from duly.core.timing import Timing

MOST_WINDOWS: Final = 1500
"""Windows of one sampled schedule that are walked; one with more is taken to fire evenly."""

_STRATA: Final = 40
_SPREADS: Final = (1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120)
_PEAK: Final = 3.0
"""A herd is so many times the mean."""

_FEW: Final = 10


@dataclass(frozen=True, slots=True)
class Stratum:
    """So many schedules whose next fire lies within one time, and some of them."""

    count: int
    sample: Sequence[Schedule]


@dataclass(frozen=True, slots=True)
class Herd:
    """The place with the most fires, and a jitter, in places, that would spread them."""

    place: int
    fires: int
    jitter: int | None
    then: int


def cut(counted: Sequence[int], most: int) -> list[tuple[int, int, int]]:
    """Steps of time cut into strata: the first step, the one after the last, and how many schedules to look at.

    Each holds about as many schedules as any other, so that a herd is a stratum of its own.
    """
    whole = sum(counted)
    if whole <= most:
        return [(0, len(counted), most)] if whole else []
    share = whole / _STRATA
    found: list[tuple[int, int, int]] = []
    first, held = 0, 0
    for step, count in enumerate(counted):
        if held and (held + count > share or held >= share):
            found.append((first, step, most // _STRATA))
            first, held = step, 0
        held += count
    if held:
        found.append((first, len(counted), most // _STRATA))
    return found


def reckoned(counted: Sequence[int], strata: Sequence[Stratum], since: int, step_ms: int) -> list[int]:
    """Fires for each step of time from ``since`` on: the next ones, which were counted, and those after them."""
    fires = [float(count) for count in counted]
    until = since + len(fires) * step_ms
    known: dict[tuple[Timing, int], list[int] | None] = {}
    for stratum in strata:
        for schedule in stratum.sample:
            _add(fires, schedule, stratum.count / len(stratum.sample), since, until, step_ms, known)
    return [round(count) for count in fires]


def herd(fires: Sequence[int]) -> Herd | None:
    """The largest herd, and what would flatten it; None where there is none."""
    whole = sum(fires)
    if not fires or max(fires) < max(_FEW, _PEAK * whole / len(fires)):
        return None
    place = max(range(len(fires)), key=lambda at: fires[at])
    aim = max(1.0, 2 * whole / len(fires))
    best: tuple[int, int] | None = None
    for spread in _SPREADS:
        after = fires[place : place + spread]
        if len(after) < spread:
            break
        most = max([fires[place] / spread, *(count + fires[place] / spread for count in after[1:])])
        if best is None or most < best[1]:
            best = spread, round(most)
        if most <= aim:
            break
    if best is None or best[0] == 1:
        return Herd(place, fires[place], None, fires[place])
    return Herd(place, fires[place], best[0], best[1])


def _add(
    fires: list[float],
    schedule: Schedule,
    weight: float,
    since: int,
    until: int,
    step_ms: int,
    known: dict[tuple[Timing, int], list[int] | None],
) -> None:
    """Add what one schedule fires after its next window."""
    definition, cursor = schedule.definition, schedule.cursor
    first = cursor.next_window_at
    if first is None or definition.counts_from_completion:
        return
    asked = (definition.timing, first)
    if asked not in known:
        known[asked] = _windows(definition.timing, first, until)
    windows = known[asked]
    if windows is None:
        share = weight * definition.timing.count_between_ms(first, until) / len(fires)
        for place in range(len(fires)):
            fires[place] += share
        return
    end, runs = definition.end_at, definition.max_runs
    most = None if runs is None else max(0, runs - cursor.fired - 1)
    jitter = definition.jitter
    for window in windows[:most]:
        if end is not None and window > end:
            return
        begin = window + (0 if jitter is None else jitter.min_ms)
        _spread(fires, begin, window + (1 if jitter is None else max(1, jitter.max_ms)), weight, since, step_ms)


def _windows(timing: Timing, after: int, until: int) -> list[int] | None:
    """The windows after one and before an instant; None where there are too many to walk."""
    found = list(islice(timing.between_ms(after, until - 1), MOST_WINDOWS + 1))
    return None if len(found) > MOST_WINDOWS else found


def _spread(fires: list[float], begin: int, end: int, weight: float, since: int, step_ms: int) -> None:
    """Add a fire that lies somewhere from ``begin`` to before ``end``."""
    first, last = (begin - since) // step_ms, (end - 1 - since) // step_ms
    share = weight / (last - first + 1)
    for place in range(max(0, first), min(last, len(fires) - 1) + 1):
        fires[place] += share
