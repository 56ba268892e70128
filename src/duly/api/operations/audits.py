"""An audit, asked for in text."""

from __future__ import annotations

from collections.abc import Mapping

from duly.api import queries
from duly.api.answers import at
from duly.api.audit_shapes import AuditAnswer
from duly.api.queries import read_query
from duly.app import Duly
from duly.core.audit import Audit


async def audit(app: Duly, query: Mapping[str, str]) -> AuditAnswer:
    """One page of schedules, in the order of their ids."""
    return audit_answer(await app.audits.page(**read_query(query, queries.AUDIT)))


def audit_answer(done: Audit) -> AuditAnswer:
    return {
        "since": at(done.since),
        "until": at(done.until),
        "schedules": done.schedules,
        "windows": done.windows,
        "rows": done.rows,
        "clean": done.clean,
        "findings": [
            {
                "fault": found.fault.value,
                "scheduleId": found.schedule_id,
                "key": found.key,
                "tenantId": found.tenant or None,
                "since": at(found.since),
                "windowAt": at(found.window_at),
                "windowCount": found.windows,
                "windowKey": found.window_key,
                "runId": found.run_id,
                "detail": found.detail,
            }
            for found in done.findings
        ],
        "notJudged": [{"scheduleId": one.schedule_id, "key": one.key, "why": one.why} for one in done.not_judged],
        "nextCursor": done.next_cursor,
    }
