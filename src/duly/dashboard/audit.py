"""The audit: every window of a span, computed again and held against what was recorded."""

from __future__ import annotations

from duly.api import queries
from duly.api.operations import audits
from duly.core.credential import Scope

from .asking import asked
from .page import Page, Part, Values, View

SHOWN = 100
"""Findings that are listed; ``duly audit`` tells all."""

SPANS = ("1h", "24h", "7d", "30d")


async def _result(view: View) -> Values:
    query = {"since": "24h", **asked(view, queries.AUDIT)}
    found = await audits.audit(view.app, query)
    return {"audit": found, "listed": found["findings"][:SHOWN], "spans": SPANS, "since": query["since"]}


PAGE = Page(
    path="/audit",
    label="Audit",
    title="Audit",
    template="audit.html",
    parts=(Part(name="result", load=_result),),
    scope=Scope.ADMIN,
)
