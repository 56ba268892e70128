"""The load to come: fires by minute over the next hours, the herd among them, and the jitter that would spread it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from duly.api import queries
from duly.api.findings import Findings
from duly.app.overview import Forecast
from duly.core.errors import ValidationFailed
from duly.core.rules.forecasting import herd

from .page import Page, Part, Values, View

SPANS = {"1": 60, "6": 60, "24": 300, "48": 600}
"""Hours that can be looked at, and the seconds of one bar."""

HEIGHT = 180
_ZERO_ID = "00000000-0000-0000-0000-000000000000"
_BUSIEST = 8


@dataclass(frozen=True, slots=True)
class Column:
    """One bar of the chart, in percent of its width and pixels of its height."""

    left: float
    width: float
    top: float
    height: float
    at: datetime
    fires: int
    cursor: str


async def _load(view: View) -> Values:
    hours = _hours(view)
    forecast = await view.app.schedules.forecast(hours=int(hours), step=SPANS[hours])
    columns = chart(forecast)
    found = herd(forecast.fires)
    return {
        "forecast": forecast,
        "columns": columns,
        "most": max(forecast.fires),
        "total": sum(forecast.fires),
        "marks": _marks(forecast),
        "herd": None if found is None else _advice(forecast, found.place, found.fires, found.jitter, found.then),
        "busiest": sorted((one for one in columns if one.fires), key=lambda one: -one.fires)[:_BUSIEST],
        "spans": list(SPANS),
        "hours": hours,
        "height": HEIGHT,
    }


def _hours(view: View) -> str:
    try:
        return str(queries.word(*SPANS)(view.query.get("hours", "6")))
    except ValidationFailed as error:
        findings = Findings()
        findings.add(error.message.replace("it is", "query parameter hours is", 1), parameter="hours")
        findings.check()
        raise


def chart(forecast: Forecast) -> list[Column]:
    """The bars of a forecast; one without a fire has no height, and one with a single fire is still seen."""
    most = max(1, *forecast.fires)
    width = 100 / len(forecast.fires)
    columns = []
    for place, fires in enumerate(forecast.fires):
        at = forecast.since + place * timedelta(seconds=forecast.step)
        height = max(2.0, round(fires / most * HEIGHT, 1)) if fires else 0.0
        cursor = f"{int(at.timestamp() * 1000)}.0.{_ZERO_ID}"
        columns.append(
            Column(round(place * width, 3), round(width * 0.86, 3), HEIGHT - height, height, at, fires, cursor)
        )
    return columns


def _marks(forecast: Forecast) -> Sequence[tuple[float, datetime]]:
    """Full hours of the axis, no more of them than can be read."""
    span = forecast.step * len(forecast.fires)
    every = max(1, span // 3600 // 6) * 3600 if span > 3600 else 600
    first = forecast.since.replace(minute=0, second=0, microsecond=0)
    marks = []
    for number in range(span // every + 2):
        at = first + timedelta(seconds=every * number)
        left = (at - forecast.since) / timedelta(seconds=span) * 100
        if 0 <= left <= 97:
            marks.append((round(left, 2), at))
    return marks


def _advice(forecast: Forecast, place: int, fires: int, jitter: int | None, then: int) -> dict[str, Any]:
    mean = sum(forecast.fires) / len(forecast.fires)
    return {
        "at": forecast.since + place * timedelta(seconds=forecast.step),
        "fires": fires,
        "times": round(fires / mean) if mean else None,
        "jitter_ms": None if jitter is None else jitter * forecast.step * 1000,
        "then": then,
    }


PAGE = Page(
    path="/forecast",
    label="Forecast",
    title="Load forecast",
    template="forecast.html",
    parts=(Part(name="load", load=_load, every=60),),
)
