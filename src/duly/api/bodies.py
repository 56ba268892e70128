"""What may stand in a request's body: the fields, their types and what they mean.

The structs are strict: no unknown field, no conversion ("5" is not 5). An absent field is ``UNSET``, which is not null.
Bounds whose refusal has a code of its own (cron, zone, interval, retry, ...) are checked by ``duly.core``; the schema
only tells of them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from duly.app.sets import SET_EXPECTED
from duly.core.ids import KEY_EXPECTED

WORDS = "words"
"""Under this name a type says what it expects, where its bounds would not tell a person."""

_ONE_LINE = r"^[^\x00-\x1f\x7f-\x9f]*(?!\n)$"
_VISIBLE = r"^(?=.*\S)[^\x00-\x1f\x7f-\x9f]*(?!\n)$"
_INSTANT = {"format": "date-time"}


def told(description: str, **schema: Any) -> Meta:
    """A field's description, and what its schema says beyond its type without being checked here."""
    examples = schema.pop("examples", None)
    return Meta(description=description, examples=examples, extra_json_schema=schema or None)


Line = Annotated[str, Meta(max_length=200, pattern=_ONE_LINE)]
Word = Annotated[str, Meta(min_length=1, max_length=100, pattern=_ONE_LINE)]
RunKey = Annotated[str, Meta(min_length=1, max_length=200, pattern=_ONE_LINE)]
OWN_ID = "An id of your own. A repeat with the same id returns the run that exists."
Id = Annotated[str, Meta(max_length=128, pattern=_ONE_LINE)]
Hour = Annotated[int, Meta(ge=0, le=23)]
Minute = Annotated[int, Meta(ge=0, le=59)]
Count = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Instant = Annotated[
    str,
    Meta(
        max_length=40,
        extra_json_schema=_INSTANT,
        extra={WORDS: "RFC 3339 text with an offset such as '2027-03-15T14:00:00Z'"},
    ),
]


class Base(Struct, forbid_unknown_fields=True, rename="camel"):
    """Strict, in camelCase."""


class DailyTime(Base):
    """A wall-clock time of every day."""

    hour: Hour
    minute: Minute


class WeeklyTime(Base):
    """A wall-clock time of one day of every week; 0 and 7 are Sunday."""

    day_of_week: Annotated[int, Meta(ge=0, le=7, extra={WORDS: "a whole number from 0 to 7; 0 and 7 are Sunday"})]
    hour: Hour
    minute: Minute


class MonthlyTime(Base):
    """A wall-clock time of one day of every month; months without that day are left out."""

    day: Annotated[int, Meta(ge=1, le=31)]
    hour: Hour
    minute: Minute


class Dst(Base):
    """What happens where clocks change."""

    gap: Annotated[
        Literal["fire_after", "skip"] | UnsetType, told("A local time that does not exist: fire right after, or not.")
    ] = UNSET
    fold: Annotated[Literal["first", "second", "both"] | UnsetType, told("A local time that comes twice.")] = UNSET


class RetryPolicy(Base):
    """How long a run waits between attempts; bounds are refused as SCHEDULE_RETRY_POLICY_INVALID."""

    backoff: Literal["exponential", "fixed"] | UnsetType = UNSET
    delay_seconds: Annotated[float | UnsetType, told("The first wait.", minimum=0, maximum=86_400)] = UNSET
    max_delay_seconds: Annotated[float | UnsetType, told("The longest wait.", minimum=0, maximum=86_400)] = UNSET
    jitter: Annotated[float | UnsetType, told("The part of a wait that is left to chance.", minimum=0, maximum=1)] = (
        UNSET
    )


class CatchUpBody(Base):
    """What becomes of windows that were missed during an outage."""

    policy: Literal["latest", "skip", "all"] | UnsetType = UNSET
    max_lateness_seconds: Annotated[float, Meta(ge=0, le=315360000)] | UnsetType | None = UNSET
    max_runs: Annotated[int, Meta(ge=1, le=10_000)] | UnsetType = UNSET


class JitterBody(Base):
    """A delay of every fire, drawn from key and window: the same on every instance."""

    max_ms: Annotated[int, Meta(ge=0, le=86_400_000)] | UnsetType = UNSET
    min_ms: Annotated[int, Meta(ge=0, le=86_400_000)] | UnsetType = UNSET


class Metadata(Base):
    """Whose it is and what it belongs to; ``clientRequestId`` makes a create safe to repeat."""

    owner_id: Id | UnsetType | None = UNSET
    tenant_id: Id | UnsetType | None = UNSET
    correlation_id: Id | UnsetType | None = UNSET
    client_request_id: Id | UnsetType | None = UNSET


class TimingBody(Base):
    """When: exactly one of the seven ways, and the options that go with it."""

    cron_expression: Annotated[
        str | UnsetType | None,
        told("Five fields, or six with seconds first.", maxLength=256, examples=["0 2 * * *"]),
    ] = UNSET
    every_ms: Annotated[int | UnsetType | None, told("An interval; at least 1000.", minimum=1)] = UNSET
    interval_minutes: Annotated[int | UnsetType | None, told("An interval in whole minutes.", minimum=1)] = UNSET
    daily_time: DailyTime | UnsetType | None = UNSET
    weekly_time: WeeklyTime | UnsetType | None = UNSET
    monthly_time: MonthlyTime | UnsetType | None = UNSET
    once_at: Annotated[
        Annotated[str, Meta(extra={WORDS: "RFC 3339 text such as '2027-03-15T14:00:00Z'"})] | UnsetType | None,
        told("An instant with an offset, or a local time of `timezone`.", maxLength=40),
    ] = UNSET
    timezone: Annotated[
        str | UnsetType | None, told("`UTC` or an IANA name.", maxLength=50, examples=["America/Sao_Paulo"])
    ] = UNSET
    dst: Annotated[Dst | UnsetType | None, told("Goes with cron, daily, weekly and monthly times.")] = UNSET
    strict_fields: Annotated[Literal[5] | UnsetType | None, told("5 refuses a cron expression with seconds.")] = UNSET
    on_past: Annotated[
        Literal["reject", "fire"] | UnsetType | None, told("What to do with a `onceAt` that has gone by.")
    ] = UNSET
    anchor: Annotated[
        str | UnsetType | None, told("What an interval counts from: `epoch`, `start` or an instant.", maxLength=40)
    ] = UNSET
    after_completion: Annotated[bool | UnsetType | None, told("Count an interval from the end of the run.")] = UNSET


Date = Annotated[
    str, Meta(max_length=10, extra_json_schema={"format": "date"}, extra={WORDS: "a date such as 2026-12-25"})
]
Dates = Annotated[list[Date], Meta(max_length=5000)]
MonthDay = Annotated[str, Meta(max_length=5, extra={WORDS: "a month and a day, such as 12-25"})]
CalendarName = Annotated[str, Meta(max_length=200, extra={WORDS: f"the name of a calendar: {KEY_EXPECTED}"})]
CalendarNames = Annotated[list[CalendarName], Meta(max_length=20)]


class PatchBody(TimingBody):
    """What is to change. What is absent stays as it is; null puts back the default. A payload is replaced whole."""

    name: Annotated[str, Meta(min_length=1, max_length=200, pattern=_VISIBLE)] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=10000)] | UnsetType | None = UNSET
    job_type: Annotated[Word | UnsetType | None, told("The name of a job.", examples=["nightly-report"])] = UNSET
    workflow: Annotated[Word | UnsetType | None, told("The name of a workflow.")] = UNSET
    topic: Annotated[
        str | UnsetType | None, told("One to three lower-case words joined by dots.", examples=["billing.invoice"])
    ] = UNSET
    target: Annotated[
        dict[str, Any] | UnsetType | None,
        told('`{"kind": "queue", "name": …}` or `{"kind": "webhook", "url": …}`.'),
    ] = UNSET
    job_payload: Annotated[Any, told("Any JSON value, up to 256 KiB; `{}` if absent.")] = UNSET
    max_attempts: Annotated[
        int | UnsetType | None, told("How often a run may be tried, the first included.", minimum=1, maximum=100)
    ] = UNSET
    max_retries: Annotated[
        int | UnsetType | None, told("The same, the first not included; not both.", minimum=0, maximum=99)
    ] = UNSET
    retry_policy: RetryPolicy | UnsetType | None = UNSET
    timeout_seconds: Annotated[
        Annotated[float, Meta(gt=0, le=31536000)] | UnsetType | None,
        told("How long one attempt may take; null for no limit, 3600 if absent."),
    ] = UNSET
    overlap_policy: Annotated[
        Literal["skip", "queue", "cancel_previous", "allow"] | UnsetType | None,
        told("What to do with a window while an earlier run has not ended."),
    ] = UNSET
    max_queued: Annotated[int, Meta(ge=0, le=10000)] | UnsetType | None = UNSET
    max_concurrent: Count | UnsetType | None = UNSET
    catch_up: CatchUpBody | UnsetType | None = UNSET
    jitter: JitterBody | UnsetType | None = UNSET
    fire_current_window: Annotated[
        bool | UnsetType, told("Fire the window in whose time the schedule is created, instead of waiting.")
    ] = UNSET
    calendars: Annotated[
        CalendarNames | UnsetType | None, told("Names of calendars; nothing fires on their dates.")
    ] = UNSET
    exclude_dates: Annotated[
        Dates | UnsetType | None, told("Dates of its own, in `timezone`, on which nothing fires.")
    ] = UNSET
    start_at: Instant | UnsetType | None = UNSET
    end_at: Instant | UnsetType | None = UNSET
    max_runs: Count | UnsetType | None = UNSET
    pause_after_failures: Count | UnsetType | None = UNSET
    queue: Annotated[str, Meta(min_length=1, max_length=200, pattern=_ONE_LINE)] | UnsetType | None = UNSET
    priority: Annotated[int, Meta(ge=-32768, le=32767)] | UnsetType | None = UNSET
    fairness_key: Annotated[Line | UnsetType | None, told("Whose share of a fair queue it is; the tenant's.")] = UNSET
    enabled: Annotated[bool | UnsetType, told("false is paused.")] = UNSET
    tags: Annotated[list[Word], Meta(max_length=50)] | UnsetType | None = UNSET
    metadata: Metadata | UnsetType | None = UNSET


class ScheduleBody(PatchBody):
    """A schedule. The smallest is a name, one timing and one target."""

    key: Annotated[
        Annotated[str, Meta(max_length=200, extra={WORDS: KEY_EXPECTED})] | UnsetType | None,
        told(
            "Unique in its tenant; the id if absent. The name may be left out if there is a key.",
            pattern="^[A-Za-z0-9][A-Za-z0-9._:@-]{0,199}$",
        ),
    ] = UNSET


class ApplyBody(Base):
    """Schedules that are to be exactly so, each with a key; and the set that they belong to."""

    schedules: Annotated[
        list[dict[str, Any]],
        told("As in a create, each with a `key`.", items={"$ref": "#/components/schemas/ScheduleBody"}),
    ]
    set: Annotated[
        Annotated[str, Meta(max_length=100, extra={WORDS: SET_EXPECTED})] | UnsetType | None,
        told("The name of what is applied together.", pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"),
    ] = UNSET
    prune: Annotated[
        Literal["pause", "delete"] | UnsetType | None,
        told("What becomes of schedules of the set that are not here; absent: nothing."),
    ] = UNSET
    keep: Annotated[list[str] | UnsetType, told("Ids or keys of schedules that are not to be pruned either.")] = UNSET
    dry_run: Annotated[bool, told("Only tell what would be done.")] = False


class PreviewBody(TimingBody):
    """A timing to look ahead with; nothing is stored."""

    after: Annotated[Instant | UnsetType | None, told("Where to begin; now if absent.")] = UNSET
    count: Annotated[int, Meta(ge=1, le=100, description="How many windows.")] = 10
    key: Annotated[str | UnsetType | None, told("The key that jitter is drawn from.", maxLength=200)] = UNSET
    jitter: JitterBody | UnsetType | None = UNSET
    calendars: Annotated[CalendarNames | UnsetType | None, told("Names of calendars to look at.")] = UNSET
    exclude_dates: Dates | UnsetType | None = UNSET
    tenant_id: Annotated[Id | UnsetType | None, told("Whose calendars.")] = UNSET


class DateRangeBody(Base):
    """All dates from one to another, both counted."""

    from_: Date = field(name="from")
    to: Date


class CalendarBody(Base):
    """The dates on which nothing fires. What is absent is empty."""

    dates: Annotated[Dates | UnsetType | None, told("Single dates.", examples=[["2026-11-20"]])] = UNSET
    ranges: Annotated[list[DateRangeBody], Meta(max_length=1000)] | UnsetType | None = UNSET
    yearly: Annotated[
        Annotated[list[MonthDay], Meta(max_length=366)] | UnsetType | None,
        told("Dates of every year, as month and day.", examples=[["12-25"]]),
    ] = UNSET
    description: Annotated[str, Meta(max_length=10000)] | UnsetType | None = UNSET


class RescheduleBody(TimingBody):
    """When instead: a timing, whole or as far as it differs from the present one."""


class PauseBody(Base):
    """Why, and until when."""

    reason: Annotated[str, Meta(max_length=1000)] | UnsetType | None = UNSET
    until: Annotated[Instant | UnsetType | None, told("An instant with an offset; until resumed if absent.")] = UNSET


class ResumeBody(Base):
    """Whether windows that passed while paused count as missed."""

    catch_up: bool = False


class TriggerBody(Base):
    """Another payload than the schedule's; ``force`` ignores the overlap policy."""

    payload: Annotated[Any, told("Any JSON value; the schedule's own if absent.")] = UNSET
    force: bool = False
    id: Annotated[RunKey | UnsetType | None, told(OWN_ID)] = UNSET


class RunBody(Base):
    """One run of a job, now or at ``runAt``."""

    job_type: Annotated[Word, told("The name of a job.", examples=["send-reminder"])]
    id: Annotated[RunKey | UnsetType | None, told(OWN_ID)] = UNSET
    payload: Annotated[Any, told("Any JSON value, up to 256 KiB; `{}` if absent.")] = UNSET
    run_at: Annotated[Instant | UnsetType | None, told("An instant with an offset; now if absent.")] = UNSET
    queue: Annotated[str, Meta(min_length=1, max_length=200, pattern=_ONE_LINE)] | UnsetType | None = UNSET
    priority: Annotated[int, Meta(ge=-32768, le=32767)] | UnsetType | None = UNSET
    max_attempts: Annotated[
        int | UnsetType | None, told("How often it may be tried, the first included.", minimum=1, maximum=100)
    ] = UNSET
    fairness_key: Annotated[Line | UnsetType | None, told("Whose share of a fair queue it is; the tenant's.")] = UNSET
    singleton: Annotated[
        RunKey | UnsetType | None, told("Of all runs with this key only so many go at once; not beside `runAt`.")
    ] = UNSET
    max_running: Annotated[Annotated[int, Meta(ge=1, le=10_000)] | UnsetType | None, told("How many; 1 if absent.")] = (
        UNSET
    )
    max_queued: Annotated[
        Annotated[int, Meta(ge=0, le=10_000)] | UnsetType | None, told("How many may wait; no bound if absent.")
    ] = UNSET
    unique: Annotated[RunKey | UnsetType | None, told("While a run with this key is open, there is no second one.")] = (
        UNSET
    )
    unique_for: Annotated[
        float | Annotated[str, Meta(max_length=64, extra={WORDS: "a duration such as '5m'"})] | UnsetType | None,
        told("Also not within this time of its enqueue: seconds, or a duration.", examples=["5m"]),
    ] = UNSET
    on_conflict: Annotated[
        Literal["return", "refuse"] | UnsetType | None, told("Answer the run that has the unique key, or refuse.")
    ] = UNSET


class RateLimit(Base):
    """At most ``limit`` runs start in each window of ``periodMs``."""

    limit: Count
    period_ms: Annotated[int, Meta(ge=1, le=31_622_400_000)] = 1000


class QueueBody(Base):
    """What limits a queue, and in which order it goes. With PUT an absent field is no limit, with PATCH no change."""

    max_running: Annotated[Count | UnsetType | None, told("How many of its runs may be running, in the fleet.")] = UNSET
    rate_limit: Annotated[RateLimit | UnsetType | None, told("How many of its runs may start.")] = UNSET
    fair: Annotated[bool | UnsetType, told("Serve the keys of its runs, or their tenants, in turn.")] = UNSET
    newest_first: Annotated[bool | UnsetType, told("What came last goes first.")] = UNSET


class QueuePauseBody(Base):
    """Why."""

    reason: Annotated[str, Meta(max_length=1000)] | UnsetType | None = UNSET


class RedriveBody(Base):
    """Another payload makes a new run; ``force`` lets it run beside others of its schedule."""

    payload: Annotated[Any, told("Any JSON value; the same run again if absent.")] = UNSET
    force: bool = False


class DeadFilterBody(Base):
    """Which dead letters; an empty one fits all."""

    schedule_id: Annotated[Line | UnsetType, told("Of this schedule, by id or key.")] = UNSET
    job_type: Annotated[Line | UnsetType, told("Of this job.")] = UNSET
    queue: Line | UnsetType = UNSET
    tenant: Id | UnsetType = UNSET
    error: Annotated[
        Annotated[str, Meta(min_length=1, max_length=4096)] | UnsetType, told("A part of the error's text.")
    ] = UNSET
    error_type: Annotated[Line | UnsetType, told("What was raised, as a group has it.")] = UNSET
    error_location: Annotated[
        Annotated[str, Meta(min_length=1, max_length=300)] | UnsetType,
        told("The line that raised it."),
    ] = UNSET


class AcknowledgeManyBody(Base):
    """Dead letters, by ``ids`` or by ``filter``."""

    ids: Annotated[
        Annotated[list[Annotated[str, Meta(max_length=36, extra={WORDS: "the id of a run"})]], Meta(max_length=1000)]
        | UnsetType,
        told("These runs, at most 1,000."),
    ] = UNSET
    filter: DeadFilterBody | UnsetType = UNSET
    limit: Annotated[
        int, Meta(ge=1, le=10_000, description="With a filter, how many at most; `more` says whether some are left.")
    ] = 10_000


class RedriveManyBody(AcknowledgeManyBody):
    """Dead letters that go again, oldest first; ``force`` lets runs of one schedule run side by side."""

    force: bool = False


class NoBody(Base):
    """Nothing, or an empty object."""
