"""``GET /audit``: whether every window was dealt with, once and in time."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope

from . import queries
from .audit_shapes import AuditAnswer
from .http import Call
from .operations.audits import audit
from .replies import Reply
from .route import Route


async def _audit(app: Duly, call: Call) -> Reply:
    return Reply(await audit(app, call.query))


AUDIT = Route(
    method="GET",
    path="/audit",
    name="audit",
    summary="Recompute the windows of a period, and compare them with what was stored",
    said="It only reads, and answers a page of schedules at a time.",
    run=_audit,
    scope=Scope.ADMIN,
    query=queries.AUDIT,
    answer=AuditAnswer,
    codes=("SCHEDULE_JOB_NOT_FOUND",),
)
