"""Time zones: which names are allowed, where their data comes from, and the UTC offset at an instant.

The data always comes from the installed ``tzdata`` package, file by file, and never from the machine's own
``/usr/share/zoneinfo``: the lock file decides what time it is, not the image. Nothing in the process is changed for
that (no ``reset_tzpath``), so a host program keeps its own zoneinfo settings.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import tzdata  # type: ignore[import-untyped]  # it ships no types, and only its version is read here

from duly.core.errors import TimezoneInvalid
from duly.core.timing.epoch import FIRST_SECOND, LAST_SECOND
from duly.core.timing.refusal import refused_as, shortened

_REGIONS: Final = frozenset(
    "Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific "
    "Etc US Canada Brazil Chile Mexico".split()
)
_DAY: Final = 86_400

# No zone keeps an offset for less than 6.9 days in all of its history, so a probe every 4 days meets every change.
_PROBE_EVERY: Final = 4 * _DAY
_BLOCK_BITS: Final = 24  # a block is 2**24 seconds, a little over half a year
_CELL_BITS: Final = 21  # a cell is 24 days, and keeps the stretch that was last asked for in it
_MARGIN: Final = 5 * _DAY
_MAX_BLOCKS: Final = 512


class Stretch(NamedTuple):
    """A time of constant UTC offset: ``start <= t < end``, with the offsets just before and just after it.

    An end that is no change of offset (before or after equal to offset) is only where the search stopped; it is days
    away from every instant that this stretch was answered for.
    """

    start: int
    end: int
    offset: int
    before: int
    after: int


class Zone:
    """One zone and its offsets, found by probing and kept; all times are whole seconds."""

    __slots__ = ("_blocks", "_cells", "_tz", "name")

    def __init__(self, name: str, tz: ZoneInfo | None) -> None:
        self.name = name
        self._tz = tz
        self._blocks: dict[int, tuple[Stretch, ...]] = {}
        self._cells: dict[int, tuple[int, int, Stretch]] = {}

    def __repr__(self) -> str:
        return f"Zone({self.name!r})"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return zone_named, (self.name,)

    @property
    def is_utc(self) -> bool:
        """Whether local times are the instants themselves."""
        return self._tz is None

    def stretch_at(self, t: int) -> Stretch:
        """The stretch that holds the instant ``t``."""
        cell = self._cells.get(t >> _CELL_BITS)
        if cell is not None and cell[0] <= t < cell[1]:
            return cell[2]
        return self._look_up(t)

    def offset_at(self, t: int) -> int:
        """Seconds to add to the instant ``t`` to get what its wall clock shows."""
        return self.stretch_at(t).offset

    def _look_up(self, t: int) -> Stretch:
        index = t >> _BLOCK_BITS
        block = self._blocks.get(index)
        if block is None:
            if len(self._blocks) >= _MAX_BLOCKS:
                self._blocks.clear()
                self._cells.clear()
            block = self._blocks[index] = self._probe_block(index)
        stretch = next(stretch for stretch in block if t < stretch.end)
        # A block's stretches reach into its neighbours, but are known to be whole only for instants of the block.
        first = index << _BLOCK_BITS
        low, high = max(first, stretch.start), min(first + (1 << _BLOCK_BITS), stretch.end)
        self._cells[t >> _CELL_BITS] = (low, high, stretch)
        return stretch

    def _probe_block(self, index: int) -> tuple[Stretch, ...]:
        first = (index << _BLOCK_BITS) - _MARGIN
        last = first + (1 << _BLOCK_BITS) + 2 * _MARGIN
        start, before, offset = first, self._probe(first), self._probe(first)
        found: list[Stretch] = []
        for low in range(first, last, _PROBE_EVERY):
            high = min(low + _PROBE_EVERY, last)
            after = self._probe(high)
            if after != offset:
                change = self._change_between(low, high, offset)
                found.append(Stretch(start, change, offset, before, after))
                start, before, offset = change, offset, after
        found.append(Stretch(start, last + 1, offset, before, offset))
        return tuple(found)

    def _change_between(self, low: int, high: int, offset: int) -> int:
        while high - low > 1:
            middle = (low + high) // 2
            if self._probe(middle) == offset:
                low = middle
            else:
                high = middle
        return high

    def _probe(self, t: int) -> int:
        if self._tz is None:
            return 0
        # Two days off the ends of the calendar, so that the local date exists as well.
        within = min(max(t, FIRST_SECOND + 2 * _DAY), LAST_SECOND - 2 * _DAY)
        offset = datetime.fromtimestamp(within, self._tz).utcoffset()
        assert offset is not None
        return offset.days * _DAY + offset.seconds


def check_zone(name: object) -> str:
    """The name itself if it is allowed; otherwise ``TimezoneInvalid``, with an example of what is.

    Allowed are ``UTC`` and names with a ``/`` from the known regions, letter for letter as in the tz data. Nothing
    but that list is read for a name from outside.
    """
    if isinstance(name, str) and (name == "UTC" or name in _allowed_names()):
        return str(name)
    expected = "'UTC' or an IANA name such as 'America/New_York'" + _near_miss(name)
    raise refused_as(TimezoneInvalid, f"timezone is {shortened(name)}", "timezone", name, expected)


def zone_named(name: str) -> Zone:
    """The zone of an allowed name; the same object for the same name."""
    return _load(check_zone(name))


def zone_names() -> list[str]:
    """All names that are allowed, in order, ``UTC`` first."""
    return ["UTC", *sorted(_allowed_names())]


def tz_version() -> str:
    """The version of the tz data in use, such as ``2026f``."""
    return str(tzdata.IANA_VERSION)


@lru_cache(maxsize=1024)
def _load(name: str) -> Zone:
    if name == "UTC":
        return Zone(name, None)
    from importlib import resources  # here and below: UTC needs none of it, and it takes as long as all the rest

    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as data:
        return Zone(name, ZoneInfo.from_file(data, key=name))


@lru_cache(maxsize=1)
def _allowed_names() -> frozenset[str]:
    from importlib import resources

    names = resources.files("tzdata").joinpath("zones").read_text("utf-8").split()
    return frozenset(name for name in names if "/" in name and name.partition("/")[0] in _REGIONS)


def _near_miss(name: object) -> str:
    if not isinstance(name, str) or len(name) > 50:
        return ""
    wanted = name.strip().casefold()
    names = {known.casefold(): known for known in zone_names()}
    near = [wanted] if wanted in names else _close(wanted, names)
    return f"; did you mean {names[near[0]]!r}?" if near else ""


def _close(wanted: str, names: Collection[str]) -> list[str]:
    """The name nearest to a misspelt one, or to a city alone."""
    from difflib import get_close_matches

    cities = [name for name in names if name.rpartition("/")[2] == wanted.replace(" ", "_")]
    return cities or get_close_matches(wanted, names, 1, 0.8)
