"""A backfill: the windows of a past range become runs, oldest first, and the schedule itself stays where it is."""

from __future__ import annotations

from collections.abc import Sequence

from duly.core.errors import Conflict, ValidationFailed
from duly.core.ids import backfill_run_id
from duly.core.instants import to_datetime
from duly.core.rules.excluding import Exclusions
from duly.core.rules.overlap import admit_backfill
from duly.core.rules.plans import FireRules
from duly.core.run import NewRun, OpenRun, RunKind
from duly.core.schedule import Definition, Schedule, ScheduleStatus

MOST_WINDOWS = 1000
MOST_PAYLOAD = 16 * 2**20
"""Characters that the payloads of one backfill may have together: each run keeps its own."""


def check_backfill(schedule: Schedule) -> None:
    """Refuse to backfill a schedule that was ended for good: a cancel has ended its runs, and another ends none."""
    if schedule.status is ScheduleStatus.CANCELLED:
        raise Conflict(f"schedule {schedule.key!r} is cancelled and cannot be backfilled", id=schedule.id)


def past_windows(
    definition: Definition, since: int, until: int, now: int, exclusions: Exclusions | None = None
) -> list[int]:
    """The windows from ``since`` to ``until``, both counted, that the timing yields: also before the schedule began.

    Excluded ones are left out. Raise if the range is not in the past, if it has more than MOST_WINDOWS, or if the
    timing has none of its own.
    """
    key = definition.key
    if since > until:
        raise _refused(key, "to", until, "an instant that is not before 'from'")
    if until > now:
        raise _refused(key, "to", until, "an instant that has passed; a backfill makes runs of the past only")
    if definition.counts_from_completion:
        raise ValidationFailed(
            f"schedule {key!r} counts from the end of each run, so there are no windows of it in the past; trigger it",
            field="from",
            expected="a timing with windows of its own",
        )
    found: list[int] = []
    window = definition.timing.next_after_ms(since - 1)
    while window is not None and window <= until:
        if len(found) == MOST_WINDOWS:
            count = definition.timing.count_between_ms(since - 1, until)
            raise ValidationFailed(
                f"schedule {key!r} has {count} windows in that range; expected at most {MOST_WINDOWS}: "
                "backfill it in parts",
                field="to",
                got=count,
                expected=f"at most {MOST_WINDOWS} windows",
            )
        found.append(window)
        window = definition.timing.next_after_ms(window)
    return found if exclusions is None else [window for window in found if exclusions.excludes(window) is None]


def backfill_runs(
    schedule: Schedule,
    open_runs: Sequence[OpenRun],
    windows: Sequence[int],
    *,
    operation_id: str,
    payload: str | None,
    spacing_ms: float,
    force: bool,
    now: int,
    rules: FireRules,
) -> list[NewRun]:
    """The runs of these windows, each due ``spacing_ms`` after the one before it.

    They wait in the schedule's lane, one after another where its runs must not overlap, unless they are forced.
    """
    check_backfill(schedule)
    definition, facts = schedule.definition, schedule.facts
    if payload is not None and len(payload) * len(windows) > MOST_PAYLOAD:
        raise ValidationFailed(
            f"the payload has {len(payload)} characters and would be kept {len(windows)} times; expected at most "
            f"{MOST_PAYLOAD} in all: backfill in parts, or let the payload name what the job can look up",
            field="payload",
            expected=f"at most {MOST_PAYLOAD} characters in all",
        )
    holds = admit_backfill(definition, open_runs, len(windows), force)
    retry = definition.retry
    return [
        NewRun(
            id=backfill_run_id(operation_id, window),
            job=definition.target.handler,
            kind=RunKind.BACKFILL,
            due_at=now + round(place * spacing_ms),
            fired_at=now,
            schedule_id=facts.id,
            revision=facts.revision,
            window_at=window,
            tenant=facts.tenant,
            queue=definition.queue,
            priority=definition.priority,
            slot=schedule.cursor.slot,
            hold=hold,
            lane=facts.id if definition.has_width and not force else None,
            max_attempts=rules.default_max_attempts if retry is None else retry.max_attempts,
            timeout_ms=definition.timeout_ms,
            payload=payload,
        )
        for place, (window, hold) in enumerate(zip(windows, holds, strict=True))
    ]


def _refused(key: str, field: str, got: int, expected: str) -> ValidationFailed:
    shown = to_datetime(got).isoformat()
    return ValidationFailed(
        f"schedule {key!r}: {field!r} is {shown}; expected {expected}", field=field, got=shown, expected=expected
    )
