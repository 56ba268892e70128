"""What an audit answers, as types."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from .shapes import Instant


class FindingAnswer(TypedDict):
    """Neighbouring windows of a schedule with the same fault, from `since` to `windowAt`."""

    fault: Literal["missed", "doubled", "unexplained", "late", "early"]
    scheduleId: str
    key: str
    tenantId: str | None
    since: Instant
    windowAt: Instant
    windowCount: int
    windowKey: str
    runId: Annotated[str | None, Meta(description="the row that is wrong, where one is")]
    detail: str


class NotJudgedAnswer(TypedDict):
    """What could not be judged, and why; without a schedule it is about all of them."""

    scheduleId: str | None
    key: str | None
    why: str


class AuditAnswer(TypedDict):
    """The audit of one page of schedules; send `since`, `until` and `nextCursor` for the next one."""

    since: Instant
    until: Instant
    schedules: int
    windows: Annotated[int, Meta(description="how many windows there should be in the period")]
    rows: int
    clean: Annotated[bool, Meta(description="nothing was found on this page")]
    findings: list[FindingAnswer]
    notJudged: list[NotJudgedAnswer]
    nextCursor: str | None
