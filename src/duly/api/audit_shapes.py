"""What an audit answers, as types."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from .shapes import Instant


def _told(words: str, *examples: str | int | bool) -> Meta:
    return Meta(description=words, extra_json_schema={"examples": list(examples)} if examples else None)


class FindingAnswer(TypedDict):
    """Neighbouring windows of a schedule with the same fault, from `since` to `windowAt`."""

    fault: Annotated[
        Literal["missed", "doubled", "unexplained", "late", "early"],
        _told(
            "`missed`: no row says what became of it; `doubled`: more than one does; `unexplained`: a row for a window"
            " that the schedule did not have; `late` and `early`: it fired, or has still to, at the wrong time."
        ),
    ]
    scheduleId: str
    key: str
    tenantId: str | None
    since: Annotated[Instant, _told("The oldest of the windows.")]
    windowAt: Annotated[Instant, _told("The newest of the windows.")]
    windowCount: Annotated[int, _told("How many they are.", 1)]
    windowKey: Annotated[str, _told("The newest window, as `GET /runs/{ref}` takes it.", "sched:hourly:1794794400000")]
    runId: Annotated[str | None, _told("The row that is wrong, where one is.")]
    detail: Annotated[str, _told("What is wrong, in words.", "no row says what became of it")]


class NotJudgedAnswer(TypedDict):
    """What could not be judged, and why; without a schedule it is about all of them."""

    scheduleId: str | None
    key: Annotated[str | None, _told("The schedule's key.", "hourly-report")]
    why: Annotated[str, _told("Why it cannot be judged.", "revision 3 cannot be read by this version")]


class AuditAnswer(TypedDict):
    """The audit of one page of schedules; send `since`, `until` and `nextCursor` for the next one."""

    since: Annotated[Instant, _told("Where the period begins.")]
    until: Annotated[Instant, _told("Where the period ends.")]
    schedules: Annotated[int, _told("How many schedules were looked at.", 1)]
    windows: Annotated[int, _told("How many windows there should be in the period.", 24)]
    rows: Annotated[int, _told("How many rows there are.", 23)]
    clean: Annotated[bool, _told("Nothing was found on this page.", False)]
    findings: Annotated[list[FindingAnswer], _told("What is wrong.")]
    notJudged: Annotated[list[NotJudgedAnswer], _told("What could not be judged.")]
    nextCursor: str | None
