"""Pictures made of numbers: paths for SVG, so small that a page can hold many of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from duly.store.seen import Outcomes

SPARK: Final = 20
_STEP, _BAR, _HIGH = 5, 4, 16
_LOOKS: Final[Mapping[str, tuple[str, int]]] = {
    "completed": ("ok", _HIGH),
    "failed": ("bad", _HIGH),
    "cancelled": ("idle", 10),
    "skipped": ("idle", 5),
}
"""The class of each outcome, and how high its bar is: what failed is told by more than its colour."""


@dataclass(frozen=True, slots=True)
class Spark:
    """The newest outcomes of a schedule, the newest on the right; ``words`` for who does not see them."""

    paths: Mapping[str, str]
    words: str


def spark(outcomes: Outcomes | None) -> Spark:
    if outcomes is None or not outcomes.ended:
        return Spark({}, "no run has ended yet")
    paths: dict[str, str] = {}
    for place, status in enumerate(outcomes.ended[:SPARK]):
        look, height = _LOOKS.get(status, ("idle", 5))
        x = (SPARK - 1 - place) * _STEP
        paths[look] = paths.get(look, "") + f"M{x} {_HIGH}v-{height}h{_BAR}v{height}z"
    told = Counter(outcomes.ended[:SPARK])
    words = ", ".join(f"{told[status]} {status}" for status in _LOOKS if told[status])
    return Spark(paths, f"last {min(SPARK, len(outcomes.ended))}: {words}")


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars of one width beside each other, in a box of ``width`` times ``height``, up to ``top``."""

    width: int
    height: int
    top: int
    paths: Mapping[str, str]


def bars(layers: Mapping[str, Sequence[int]], *, width: int, height: int) -> Bars:
    """Layers over each other, each from the ground up; the largest number decides the scale."""
    top = rounded_up(max((value for values in layers.values() for value in values), default=0))
    many = max((len(values) for values in layers.values()), default=0) or 1
    wide = width / many
    gap = wide / 5 if wide > 4 else 0  # thin bars with gaps would shimmer
    paths = {
        name: "".join(
            f"M{place * wide:.4g} {height}v-{max(value / top * height, 1):.3g}h{wide - gap:.3g}V{height}z"
            for place, value in enumerate(values)
            if value
        )
        for name, values in layers.items()
    }
    return Bars(width, height, top, paths)


def rounded_up(value: int) -> int:
    """The next of 4, 10, 20, 40, 100, ...: numbers whose half and quarter are easily read."""
    if value <= 4:
        return 4
    size = 1
    while True:
        for step in (1, 2, 4):
            if value <= step * size:
                return step * size
        size *= 10
