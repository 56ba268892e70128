"""The processes of the fleet: what each does, what it knows, and how far its clock is off."""

from __future__ import annotations

from collections import Counter

from duly.api.operations import instances
from duly.core.credential import Scope

from .page import Page, Part, Values, View

SKEW_MS = 1000
"""A clock that is further off than this is told."""


async def _rows(view: View) -> Values:
    found = (await instances.list_instances(view.app))["items"]
    return {
        "instances": found,
        "versions": Counter(one["version"] for one in found),
        "tz_versions": Counter(one["tzVersion"] for one in found),
        "skewed": [one for one in found if abs(one["clockOffsetMs"] or 0) > SKEW_MS],
        "skew_ms": SKEW_MS,
    }


PAGE = Page(
    path="/instances",
    label="Instances",
    title="Instances",
    template="instances.html",
    parts=(Part(name="rows", load=_rows, every=5),),
    scope=Scope.ADMIN,
)
