"""Keeps what was measured, and writes it as tables: median of the repetitions, least and most beside it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.machine import load_average

HEAD = "| cell | who | what | figures: median (least-most) | load |\n|---|---|---|---|---|"
RATIO_HEAD = "| bar | what | measured | wanted | | load |\n|---|---|---|---|---|---|"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: every figure has a value per repetition."""

    cell: str
    who: str
    what: str
    figures: Mapping[str, Sequence[float]]
    load: float
    note: str = ""

    def median(self, figure: str) -> float:
        return statistics.median(self.figures[figure])

    def text(self) -> str:
        figures = " · ".join(f"{_name(name)} {_spread(values)}" for name, values in self.figures.items())
        note = f" · {self.note}" if self.note else ""
        return f"| {self.cell} | {self.who} | {self.what} | {figures}{note} | {self.load:.1f} |"


@dataclass(frozen=True, slots=True)
class Ratio:
    """A bar and what was measured for it."""

    bar: str
    what: str
    value: float
    wanted: str
    reached: bool | None
    loads: Sequence[float]
    """How busy the machine was for each figure: a ratio of figures from a calm and a busy minute says little."""

    def text(self) -> str:
        reached = {True: "yes", False: "NO", None: ""}[self.reached]
        loads = " over ".join(f"{load:.1f}" for load in self.loads)
        return f"| {self.bar} | {self.what} | {_number(self.value)} | {self.wanted} | {reached} | {loads} |"


class Report:
    """All rows of one run of the benchmark; each is printed as soon as it is there."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.ratios: list[Ratio] = []

    def add(
        self, cell: str, who: str, what: str, answers: Sequence[Mapping[str, float]], *shown: str, note: str = ""
    ) -> Row:
        """Keep the figures named, from all repetitions."""
        figures = {name: [answer[name] for answer in answers] for name in shown if name in answers[0]}
        row = Row(cell, who, what, figures, load_average(), note)
        if not self.rows:
            print(HEAD)
        self.rows.append(row)
        print(row.text(), flush=True)
        return row

    def say(self, text: str) -> None:
        """A remark between the rows, on the terminal only."""
        print(f"<!-- {text} -->", flush=True)

    def find(self, cell: str, who: str, what: str, figure: str) -> Row | None:
        """The row that has a figure, if it was measured in this run."""
        for row in reversed(self.rows):
            if (row.cell, row.who, row.what) == (cell, who, what) and figure in row.figures:
                return row
        return None

    def text(self, title: str, lines: Sequence[str]) -> str:
        """The whole report as Markdown."""
        parts = [f"## {title}", "", *(f"- {line}" for line in lines), "", HEAD, *(row.text() for row in self.rows)]
        if self.ratios:
            parts += ["", RATIO_HEAD, *(ratio.text() for ratio in self.ratios)]
        return "\n".join(parts) + "\n"

    def append_to(self, path: Path, lines: Sequence[str]) -> None:
        title = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        with path.open("a") as file:
            file.write("\n" + self.text(title, lines))


def _name(figure: str) -> str:
    for suffix, unit in (("_per_s", "/s"), ("_ms", " ms"), ("_us", " µs"), ("_mb", " MB"), ("_percent", " %")):
        if figure.endswith(suffix):
            return figure.removesuffix(suffix).replace("_", " ") + unit
    return "per second" if figure == "per_s" else figure.replace("_", " ")


def _spread(values: Sequence[float]) -> str:
    middle = _number(statistics.median(values))
    if len(values) == 1 or min(values) == max(values):
        return f"**{middle}**"
    return f"**{middle}** ({_number(min(values))}-{_number(max(values))})"


def _number(given: float) -> str:
    value = float(given)
    if math.isnan(value):
        return "none"
    if value.is_integer() or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
