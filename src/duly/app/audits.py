"""``app.audit``: whether every window of a period was dealt with, once and in time."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from duly.core.audit import Audit, Finding, NotJudged
from duly.core.errors import ValidationFailed
from duly.core.instants import to_datetime, to_ms
from duly.core.rules.auditing import Bounds, judge, purged_note
from duly.store.sql import SqlStore

from .checking import check_cursor, check_limit, check_text, not_found

PAGE = 200
MOST_FINDINGS = 10_000
DAY = timedelta(days=1)
LATE = 60.0
Since = timedelta | datetime


class Audits:
    """Recomputes the windows of schedules by a way of its own, and compares them with what was stored."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    async def audit(
        self,
        *,
        since: Since = DAY,
        until: datetime | None = None,
        schedule: str | None = None,
        late: float = LATE,
        tenant: str | None = None,
    ) -> Audit:
        """Audit the windows since an instant, or of the last so long: of one schedule (id or key), or of all.

        ``late`` is how many seconds after its time a window may fire. It only reads. What cannot be judged is named
        in ``not_judged``; ``clean`` says that nothing was found. After 10,000 findings it stops, and ``next_cursor``
        says where.
        """
        whole: Audit | None = None
        cursor: str | None = None
        while True:
            page = await self.page(
                since=since if whole is None else whole.since,
                until=until if whole is None else whole.until,
                schedule=schedule,
                late=late,
                tenant=tenant,
                cursor=cursor,
            )
            whole = page if whole is None else _together(whole, page)
            cursor = page.next_cursor
            if cursor is None or len(whole.findings) >= MOST_FINDINGS:
                return whole

    async def page(
        self,
        *,
        since: Since = DAY,
        until: datetime | None = None,
        schedule: str | None = None,
        late: float = LATE,
        tenant: str | None = None,
        limit: int = PAGE,
        cursor: str | None = None,
    ) -> Audit:
        """Audit up to ``limit`` schedules, in the order of their ids; ``next_cursor`` says where the next page begins.

        Give the ``since`` and ``until`` of the first page to those after it.
        """
        late_ms = _late_ms(late)
        now = await self._store.now()
        until_ms = now if until is None else to_ms(until, "until")
        since_ms = max(0, until_ms - _span_ms(since)) if isinstance(since, timedelta) else to_ms(since, "since")
        if since_ms >= until_ms:
            given, end = to_datetime(since_ms).isoformat(), to_datetime(until_ms).isoformat()
            raise ValidationFailed(
                f"since is {given}, which is not before {end}; give an earlier one",
                field="since",
                expected="an instant before until",
            )
        ledger = await self._store.read_ledger(
            since=since_ms,
            until=until_ms,
            limit=check_limit(limit),
            after=check_cursor(cursor),
            ref=check_text(schedule, "schedule", 200),
            tenant=check_text(tenant, "tenant", 128),
        )
        if ledger is None:
            raise not_found("schedule", schedule or "")
        bounds = Bounds(since_ms, until_ms, late_ms)
        findings: list[Finding] = []
        not_judged: list[NotJudged] = [] if cursor else purged_note(ledger, since_ms)
        windows = rows = 0
        for life in ledger.lives:
            judged = judge(life, ledger, bounds)
            findings += judged.findings
            not_judged += judged.not_judged
            windows += judged.windows
            rows += judged.rows
        return Audit(
            since=to_datetime(since_ms),
            until=to_datetime(until_ms),
            schedules=len(ledger.lives),
            windows=windows,
            rows=rows,
            findings=findings,
            not_judged=not_judged,
            next_cursor=ledger.next,
        )


def _together(whole: Audit, page: Audit) -> Audit:
    return replace(
        whole,
        schedules=whole.schedules + page.schedules,
        windows=whole.windows + page.windows,
        rows=whole.rows + page.rows,
        findings=[*whole.findings, *page.findings],
        not_judged=[*whole.not_judged, *page.not_judged],
        next_cursor=page.next_cursor,
    )


def _span_ms(span: timedelta) -> int:
    if span <= timedelta(0):
        raise ValidationFailed(
            f"since is {span}; expected a length of time above 0, or an instant", field="since", got=str(span)
        )
    return span // timedelta(milliseconds=1)


def _late_ms(late: float) -> int:
    if isinstance(late, bool) or not isinstance(late, int | float) or not 0 < late <= 31_536_000:
        raise ValidationFailed(
            f"late is {late!r}; expected seconds above 0 and up to a year", field="late", got=late, expected="seconds"
        )
    return max(1, round(late * 1000))
