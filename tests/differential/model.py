"""The store that the others are measured against: dictionaries, loops and the pure rules, nothing clever.

It keeps every promise of ``duly.store.protocol`` in the plainest way, one call after another, in memory. It shares
the rules of ``duly.core`` and the text of a definition with the SQL stores, and none of their statements or programs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import asdict, astuple, dataclass, fields, replace
from functools import cache
from operator import attrgetter
from typing import Any

from duly.core.calendar import Calendar
from duly.core.change import Action, ScheduleChange
from duly.core.credential import Key, Whose
from duly.core.dead import OnDead
from duly.core.errors import (
    ClientRequestIdInUse,
    Conflict,
    DulyError,
    KeyInUse,
    QuotaExceeded,
    RunActive,
    StoreUnavailable,
)
from duly.core.event import Event
from duly.core.ids import is_id, lane_id, uuid7
from duly.core.instants import to_datetime
from duly.core.lane import Singleton
from duly.core.on_event import EventHandler
from duly.core.outside import holds_any
from duly.core.policy import LEFT_RETRY, Retry
from duly.core.queue import Queue, QueueState
from duly.core.rules.backlog import all_missed, not_prompt, under
from duly.core.rules.editing import Change, end_pause, pause
from duly.core.rules.fairness import shares, shuffled
from duly.core.rules.firing import FireRules, plan
from duly.core.rules.flow import after_starts, allowance, is_full, opens_at
from duly.core.rules.forecasting import Stratum
from duly.core.rules.overlap import admit_manual, lane_release
from duly.core.rules.recording import record
from duly.core.rules.replacing import Succession
from duly.core.rules.settling import Again, after_run, limit_interruptions
from duly.core.rules.settling import settle as decide
from duly.core.rules.starting import first_cursor, started
from duly.core.rules.suspects import ONE, Room, Suspect, choose
from duly.core.run import (
    Cancelled,
    Claim,
    Completed,
    Continued,
    Dispatched,
    Failed,
    Hold,
    Interrupted,
    Lost,
    NewRun,
    OpenRun,
    Outcome,
    Reason,
    Released,
    Run,
    RunKind,
    RunStatus,
    SkippedWindows,
    Snoozed,
    Suspended,
)
from duly.core.schedule import UNREAD, Cursor, Definition, Facts, Schedule, TargetKind
from duly.core.steps import WORKFLOW, Step
from duly.core.switch import Backlog
from duly.core.timing import Cron, Every
from duly.core.topics import takes
from duly.core.webhook import Webhook
from duly.runtime.clock import Clock
from duly.store.codec import encode_body, encode_words
from duly.store.methods.changes import encode_fields
from duly.store.methods.overview import DAY_MS, read_place
from duly.store.orders import encode_order
from duly.store.seen import Minute, Outcomes
from duly.store.values import (
    LEADER,
    LONG_RESULT,
    NO_RETRIES,
    Ahead,
    Beat,
    Claimed,
    Fired,
    Grab,
    Held,
    Instance,
    Lease,
    LostInstance,
    Matching,
    NewRequest,
    NewSchedule,
    Page,
    Put,
    Recovered,
    Report,
    Request,
    RunFilter,
    ScheduleFilter,
    SetAside,
    Settled,
    Settlement,
    Term,
    Tried,
    Triggered,
)
from tests.contract.suite.tables import TABLES, Dump, sorted_rows
from tests.differential.auditing import AuditingModel
from tests.differential.calendars import CalendarModel
from tests.differential.dead import DeadModel, RedriveRow
from tests.differential.keys import KeysModel
from tests.differential.lanes import LaneRow, LanesModel, UniqueRow
from tests.differential.operating import OperatingModel, OperationRow
from tests.differential.positions import page_of_runs
from tests.differential.publishing import PublishingModel
from tests.differential.requesting import RequestsModel
from tests.differential.steps import NEVER, MessageRow, StepsModel
from tests.differential.watching import WatchingModel
from tests.differential.webhooks import WebhooksModel

SET_ASIDE_FOR_MS = 60_000
DEADLINE_GRACE_MS = 30_000
NO_LIMIT = 10**9


@cache
def _values_of(kind: type) -> attrgetter[Any]:
    return attrgetter(*(field.name for field in fields(kind)))


def _row_of(value: Any) -> Sequence[Any]:
    """The fields of a flat dataclass, as ``astuple`` gives them, without copying what cannot change."""
    kind: Any = type(value)
    values: Sequence[Any] = _values_of(kind)(value)
    return values


@dataclass(slots=True, kw_only=True)
class OpenRow:
    """A run that has not ended."""

    id: str
    schedule_id: str | None
    revision: int | None
    kind: str
    window_at: int | None
    tenant: str
    job: str
    queue: str
    priority: int
    due_at: int
    slot: int
    hold: int
    lane: str | None
    attempt: int = 0
    max_attempts: int
    fence: int = 0
    claimed_by: int | None = None
    deadline_at: int | None = None
    cancel_at: int | None = None
    fired_at: int
    started_at: int | None = None
    timeout_ms: int | None
    payload: str | None
    fair_key: str | None
    undo_at: int | None = None


@dataclass(slots=True, kw_only=True)
class EndedRow:
    """A run that has ended, or windows that were skipped."""

    id: str
    schedule_id: str | None
    revision: int | None
    kind: str
    window_at: int | None
    since: int | None = None
    windows: int | None = None
    tenant: str
    job: str
    queue: str
    priority: int = 0
    status: str
    reason: str | None
    attempt: int = 0
    max_attempts: int = 0
    fence: int = 0
    session: int | None = None
    due_at: int
    fired_at: int
    started_at: int | None = None
    finished_at: int
    error: str | None = None
    payload: str | None = None
    result: str | None = None
    acked_at: int | None = None
    timeout_ms: int | None = None
    lane: str | None = None


@dataclass(slots=True, kw_only=True)
class AttemptRow:
    run_id: str
    fence: int
    attempt: int
    outcome: str
    error: str | None
    started_at: int | None
    ended_at: int
    session: int | None
    error_type: str | None = None
    error_location: str | None = None
    stack: str | None = None
    stack_truncated: bool | None = None
    snoozes: int | None = None


@dataclass(slots=True, kw_only=True)
class RevisionRow:
    definition: Definition
    made_at: int
    made_by: str | None


class Model(
    StepsModel,
    KeysModel,
    LanesModel,
    DeadModel,
    CalendarModel,
    OperatingModel,
    RequestsModel,
    WebhooksModel,
    WatchingModel,
    AuditingModel,
    PublishingModel,
):
    """A ``Store`` in memory. Every method is one step: nothing runs beside it."""

    name = "model"
    fires_at_once = 1

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.tenants: dict[str, int] = {}
        self.facts: dict[str, Facts] = {}
        self.revisions: dict[tuple[str, int], RevisionRow] = {}
        self.changes: dict[str, list[ScheduleChange]] = {}
        self.operations: dict[str, OperationRow] = {}
        self.cursors: dict[str, Cursor] = {}
        self.runs: dict[str, OpenRow] = {}
        self.history: dict[str, EndedRow] = {}
        self.attempts: dict[tuple[str, int], AttemptRow] = {}
        self.instances: dict[int, Instance] = {}
        self.ended_instances: dict[int, tuple[Instance, int, bool]] = {}
        self.leases: dict[str, tuple[int, int, int]] = {}
        self.meta: dict[str, Any] = {
            "paused_at": None, "by": None, "reason": None, "restored_at": None, "epoch": 1, "ticks": 0
        }  # fmt: skip
        self.redrives: dict[tuple[str, int], RedriveRow] = {}
        self.dead_handlers: dict[str, OnDead] = {}
        self.queues: dict[str, QueueState] = {}
        self.requests: dict[tuple[str, str], Request] = {}
        self.lanes: dict[str, LaneRow] = {}
        self.uniques: dict[tuple[str, str, str], UniqueRow] = {}
        self.calendars: dict[tuple[str, str], Calendar] = {}
        self.keys: dict[str, Key] = {}
        self.owners: dict[str, str] = {}
        self.traces: dict[str, str] = {}
        self.whose: Whose | None = None
        self.steps: dict[tuple[str, int], Step] = {}
        self.inbox: dict[tuple[str, int], MessageRow] = {}
        self.children: dict[str, tuple[str, int]] = {}
        self.published: dict[tuple[str, str], tuple[str, int]] = {}
        self.event_handlers: dict[tuple[str, str], EventHandler] = {}
        self.gatherings: dict[tuple[str, str, str, str], tuple[str | None, int, int]] = {}
        self.event_ids: dict[tuple[str, str, str], int] = {}
        self.webhooks: dict[str, Webhook] = {}
        self.owed: dict[str, int] = {}
        self.marks: dict[tuple[str, str], str] = {}
        self.events: list[Event] = []
        self.watch: dict[str, Any] = {"until": 0, "since": 0, "settled": True, "last": 0, "gone": 0, "busy": False}

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def purge_keys(self, *, limit: int) -> int:
        return await super().purge_keys(limit=limit) + self._purge_published(limit)

    async def now(self) -> int:
        return self._clock.now()

    def on_change(self, listener: Callable[[str], None]) -> None: ...

    def dump(self) -> Dump:
        """Everything there is, in the shape of ``tests.contract.suite.tables``."""
        rows: dict[str, Iterable[Sequence[Any]]] = {
            "tenants": self.tenants.items(),
            "schedules": [
                (*(encode_words(v) if n == "tags" else v for n, v in asdict(f).items()), *_derived(definition))
                for id, f in self.facts.items()
                for definition in [self._definition(id)]
            ],
            "revisions": [
                (id, number, encode_body(r.definition), r.definition.payload, r.made_at, r.made_by)
                for (id, number), r in self.revisions.items()
            ],
            "changes": [
                (id, c.number, round(c.at.timestamp() * 1000), c.by, c.action, c.revision, encode_fields(c.fields))
                for id, trail in self.changes.items()
                for c in trail
            ],
            "operations": [
                [encode_order(o.order) if n == "body" else getattr(o, n) for n in TABLES["operations"]]
                for o in self.operations.values()
            ],
            "cursors": [
                (*(str(v) if n == "status" else v for n, v in asdict(c).items()), self.facts[id].tenant)
                for id, c in self.cursors.items()
            ],
            "runs": map(_row_of, self.runs.values()),
            "history": map(_row_of, self.history.values()),
            "attempts": map(_row_of, self.attempts.values()),
            "instances": [
                [encode_words(v) if n in ("roles", "jobs") else v for n, v in asdict(i).items()]
                for i in self.instances.values()
            ],
            "ended_instances": [
                (
                    *(i.session, i.name, i.host, i.pid, encode_words(i.roles), i.version, encode_words(i.jobs)),
                    *(i.started_at, at, lost),
                )
                for i, at, lost in self.ended_instances.values()
            ],
            "leases": [(role, *lease) for role, lease in self.leases.items()],
            "redrives": map(_row_of, self.redrives.values()),
            "dead_handlers": map(_row_of, self.dead_handlers.values()),
            "calendars": self._calendar_rows(),
            "queues": [(*astuple(queue), queue.governed) for queue in self.queues.values()],
            "keys": self._key_rows(),
            "owners": self.owners.items(),
            "traces": self.traces.items(),
            "requests": [(r.tenant, r.key, r.hash, r.status, r.answer, r.expires_at) for r in self.requests.values()],
            "lanes": map(_row_of, self.lanes.values()),
            "uniques": map(_row_of, self.uniques.values()),
            **self._step_rows(),
            **self._published_rows(),
            **self._webhook_rows(),
        }
        return {table: sorted_rows(rows[table]) for table in TABLES}

    # Schedules

    async def put_schedules(self, new: Sequence[NewSchedule], *, whole: bool = False) -> list[Put]:
        now = self._clock.now()
        most = None if self.whose is None else self.whose.schedules
        before = {name: copy(rows) for name, rows in vars(self).items() if isinstance(rows, dict)} if whole else {}
        tried = [self._too_many(item.facts, most) or self._put(item, now) for item in new]
        # Why one was refused is judged when all the others have found their place.
        puts = [
            put
            if isinstance(put, Schedule)
            else self._earlier(item.facts) or put or KeyInUse(item.facts.key, self._key_holder(item.facts))
            for put, item in zip(tried, new, strict=True)
        ]
        for place, put in enumerate(puts if whole else ()):
            if isinstance(put, DulyError):
                vars(self).update(before)
                put.details["item"] = place
                raise put
        return puts

    def _put(self, item: NewSchedule, now: int) -> Put | None:
        facts = replace(item.facts, created_at=now, updated_at=now, paused_at=item.facts.paused_at and now)
        definition = started(item.definition, now)
        try:
            cursor = first_cursor(facts.id, definition, now=now, slot=0, paused=facts.paused_at is not None)
        except DulyError as error:
            return error
        unknown = self._unknown_calendar(facts, item.definition)
        if unknown is not None:
            return unknown
        if self._in_the_way(facts):
            return None
        cursor.slot = self.tenants[facts.tenant] = self.tenants.get(facts.tenant, 0) + 1
        self.facts[facts.id] = facts
        self.revisions[facts.id, facts.revision] = RevisionRow(
            definition=definition, made_at=now, made_by=facts.created_by
        )
        self.cursors[facts.id] = cursor
        if item.trace is not None:
            self.traces[facts.id] = item.trace
        return self._schedule(facts.id)

    def _too_many(self, facts: Facts, most: int | None) -> QuotaExceeded | None:
        if most is None:
            return None
        self.tenants.setdefault(facts.tenant, 0)
        whose = (facts.tenant, facts.owner)
        live = [f for f in self.facts.values() if f.ended_at is None and f.deleted_at is None]
        return QuotaExceeded("too many") if sum((f.tenant, f.owner) == whose for f in live) >= most else None

    def _in_the_way(self, facts: Facts) -> list[Facts]:
        """Schedules of the same id, the same key, or the same client request."""
        return [
            other
            for other in self.facts.values()
            if other.id == facts.id
            or ((other.tenant, other.key) == (facts.tenant, facts.key) and other.deleted_at is None)
            or (other.tenant == facts.tenant and other.client_request_id == facts.client_request_id is not None)
        ]

    def _earlier(self, facts: Facts) -> Put | None:
        others = self._in_the_way(facts)
        for other in others:
            if other.id == facts.id and other.deleted_at is None:
                return self._schedule(facts.id)
        for other in others:
            if facts.client_request_id is not None and other.client_request_id == facts.client_request_id:
                seen = other.id if self._sees(other.tenant, other.owner) else None
                return ClientRequestIdInUse(facts.client_request_id, seen)
        return None

    def _key_holder(self, facts: Facts) -> str | None:
        for other in self._in_the_way(facts):
            if other.key == facts.key and other.deleted_at is None:
                return self._id_if_seen(other)
        return None

    def _id_if_seen(self, facts: Facts) -> str | None:
        return facts.id if facts.deleted_at is None and self._sees(facts.tenant, facts.owner) else None

    async def change_schedule(
        self,
        ref: str,
        change: Callable[[Schedule, int], Change | None],
        *,
        tenant: str | None = None,
        rules: FireRules = FireRules(),  # noqa: B008 - a frozen value
        expected: tuple[float, float] | None = None,
    ) -> Schedule | None:
        now = self._clock.now()
        schedule = self._find(ref, tenant)
        if schedule is None:
            return None
        before = self._rows()
        try:
            return self._changed(schedule, change, now, rules, expected)
        except DulyError:
            self._restore(before)  # a change that is refused undoes what came before it
            raise

    def _changed(
        self,
        schedule: Schedule,
        change: Callable[[Schedule, int], Change | None],
        now: int,
        rules: FireRules,
        expected: tuple[float, float] | None,
    ) -> Schedule:
        schedule = self._end_pause(schedule, now)
        changed = change(schedule, now)
        if changed is not None and changed.definition is not None:
            if expected is not None and not expected[0] <= now <= expected[1]:
                raise StoreUnavailable("the clock has leapt")
            # What was due before a new revision belongs to the old one.
            while due := [cursor for cursor in self._due(now) if cursor.schedule_id == schedule.id]:
                self._fire(due, now, 1000, replace(rules, per_schedule=1000), None)
            schedule = self._schedule(schedule.id)
            changed = change(schedule, now)
            if changed is not None and changed.definition is not None:
                unknown = self._unknown_calendar(schedule.facts, changed.definition)
                if unknown is not None:
                    raise unknown
        if changed is not None:
            self._apply(changed, now)
        return self._schedule(schedule.id)

    def _end_pause(self, schedule: Schedule, now: int) -> Schedule:
        over = end_pause(schedule, now)
        if over is not None:
            self._apply(over, now)
        return self._schedule(schedule.id)

    def _rows(self) -> dict[str, dict[Any, Any]]:
        return {name: deepcopy(rows) for name, rows in vars(self).items() if isinstance(rows, dict)}

    def _restore(self, before: Mapping[str, dict[Any, Any]]) -> None:
        """Undo, in the very rows: one that sees only what is an owner's shares them with the whole model."""
        for name, rows in before.items():
            kept: dict[Any, Any] = getattr(self, name)
            kept.clear()
            kept.update(rows)

    def _apply(self, changed: Change, now: int) -> None:
        before = self._schedule(changed.facts.id)
        dated = replace(changed.facts, updated_at=now) if changed.alters(before) else changed.facts
        facts = self.facts[changed.facts.id] = dated
        self.cursors[facts.id] = changed.cursor
        for skip in self._parted(changed.skips, before.definition, facts.tenant):
            self._skip(skip, facts.tenant)
        if changed.definition is not None:
            self.revisions[facts.id, facts.revision] = RevisionRow(
                definition=changed.definition, made_at=now, made_by=changed.by
            )
        recorded = record(before, self._schedule(facts.id))
        if recorded is not None:
            trail = self.changes.setdefault(facts.id, [])
            trail.append(
                ScheduleChange(
                    schedule_id=facts.id,
                    number=len(trail) + 1,
                    at=to_datetime(now),
                    by=changed.by,
                    action=recorded.action,
                    revision=facts.revision,
                    fields=recorded.fields,
                )
            )
        for run in self._open_rows(facts.id):
            if run.claimed_by is None and changed.cancel_waiting:
                self._end(run, now, RunStatus.CANCELLED, changed.reason)
            if run.claimed_by is not None and changed.cancel_running:
                run.cancel_at = run.cancel_at or now
            if run.claimed_by is not None and changed.last_attempt:
                run.max_attempts = run.attempt
        if changed.release_lane:
            self._release_lane(facts.id)

    async def replace_schedule(
        self,
        ref: str,
        new_id: str,
        succession: Callable[[Schedule, int], Succession],
        *,
        tenant: str | None = None,
    ) -> Schedule | None:
        schedule = self._find(ref, tenant)
        if schedule is None or schedule.id == new_id:
            return schedule
        if schedule.facts.replaced_by == new_id:
            return self._find(new_id, tenant)
        now, before = self._clock.now(), self._rows()
        try:
            planned = succession(self._end_pause(schedule, now), now)
        except DulyError:
            self._restore(before)
            raise
        self._apply(planned.change, now)
        (put,) = await self.put_schedules([NewSchedule(facts=planned.facts, definition=planned.definition)])
        assert isinstance(put, Schedule)
        return put

    async def get_schedule(self, ref: str, *, tenant: str | None = None) -> Schedule | None:
        return self._find(ref, tenant)

    async def read_schedules(self, ids: Sequence[str]) -> list[Schedule]:
        found = [self.facts[id] for id in sorted(ids) if id in self.facts]
        return [self._schedule(f.id) for f in found if f.deleted_at is None and self._sees(f.tenant, f.owner)]

    async def declared_schedules(self, app: str) -> list[Schedule]:
        declared = [self._schedule(id) for id in sorted(self.facts)]
        return [s for s in declared if s.facts.app == app and s.facts.deleted_at is None]

    async def list_schedules(self, where: ScheduleFilter, *, limit: int, after: str | None = None) -> Page[Schedule]:
        def wanted(schedule: Schedule) -> bool:
            facts = schedule.facts
            _, job, topic, _ = _derived(schedule.definition)
            return (
                facts.deleted_at is None
                and self._sees(facts.tenant, facts.owner)
                and where.tenant in (None, facts.tenant)
                and where.owner in (None, facts.owner)
                and where.job in (None, job)
                and where.topic in (None, topic)
                and where.app in (None, facts.app)
                and where.status in (None, schedule.status)
                and where.enabled in (None, schedule.enabled)
                and (where.tag is None or where.tag in facts.tags)
                and (
                    not where.q
                    or any(
                        where.q.lower() in text.lower()
                        for text in (facts.name, facts.key, facts.owner or "", *facts.tags)
                    )
                )
            )

        everything = [self._schedule(id) for id in sorted(self.facts) if after is None or id > after]
        found = [_without_payload(schedule) for schedule in everything if wanted(schedule)]
        return Page(found[:limit], found[limit - 1].id if len(found) > limit else None)

    async def list_upcoming(
        self, *, limit: int, after: str | None = None, tenant: str | None = None, owner: str | None = None
    ) -> Page[Schedule]:
        ahead = [self._schedule(id) for id, cursor in self.cursors.items() if cursor.fire_at is not None]
        place = lambda schedule: (schedule.cursor.fire_at or 0, schedule.cursor.slot, schedule.id)
        since = None if after is None else read_place(after)
        found = sorted(
            (
                _without_payload(schedule)
                for schedule in ahead
                if tenant in (None, schedule.facts.tenant)
                and owner in (None, schedule.facts.owner)
                and self._sees(schedule.facts.tenant, schedule.facts.owner)
                if since is None or place(schedule) > since
            ),
            key=place,
        )
        last = ".".join(map(str, place(found[limit - 1]))) if len(found) > limit else None
        return Page(found[:limit], last)

    async def look_ahead(
        self,
        *,
        steps: int,
        step_ms: int,
        limit: int,
        most: int,
        tenant: str | None = None,
        owner: str | None = None,
    ) -> Ahead:
        now = await self.now()
        now -= now % step_ms
        found = (await self.list_upcoming(limit=10**9, tenant=tenant, owner=owner)).items
        ahead = [one for one in found if (one.cursor.fire_at or 0) < now + steps * step_ms][:limit]
        counted = [0] * steps
        for one in ahead:
            counted[max(0, (one.cursor.fire_at or 0) - now) // step_ms] += 1
        strata = (Stratum(len(ahead), ahead),) if ahead else ()
        return Ahead(since=now, step_ms=step_ms, counted=tuple(counted), strata=strata, whole=len(ahead) < limit)

    async def count_schedules(self, where: ScheduleFilter, *, limit: int) -> Matching:
        keys = [schedule.key for schedule in (await self.list_schedules(where, limit=limit + 1)).items]
        return Matching(min(len(keys), limit), len(keys) > limit, tuple(keys[:5]))

    async def list_changes(
        self, ref: str, *, limit: int, after: int | None = None, tenant: str | None = None
    ) -> Page[ScheduleChange] | None:
        facts = [f for f in self.facts.values() if tenant in (None, f.tenant) and self._sees(f.tenant, f.owner)]
        found = self._find(ref, tenant)
        ids = [found.id] if found else [f.id for f in facts if f.id == ref]
        if not ids and not is_id(ref):
            gone = sorted((f for f in facts if f.key == ref), key=lambda f: -(f.deleted_at or 0))
            ids = [f.id for f in gone]
        if not ids:
            return None
        made = self.facts[ids[0]]
        at, by = to_datetime(made.created_at), made.created_by
        first = ScheduleChange(schedule_id=made.id, number=0, at=at, by=by, action=Action.CREATE, revision=1)
        trail = [c for c in (first, *self.changes.get(made.id, ())) if after is None or c.number < after][::-1]
        return Page(trail[:limit], str(trail[limit - 1].number) if len(trail) > limit else None)

    def _schedule(self, id: str) -> Schedule:
        return Schedule(self.facts[id], self._definition(id), self.cursors[id])

    def _definition(self, id: str) -> Definition:
        return self.revisions[id, self.facts[id].revision].definition

    def _find(self, ref: str, tenant: str | None) -> Schedule | None:
        live = [f for f in self.facts.values() if f.deleted_at is None and tenant in (None, f.tenant)]
        live = [f for f in live if self._sees(f.tenant, f.owner)]
        by_id = [f.id for f in live if is_id(ref) and f.id == ref]
        by_key = [f.id for f in live if f.key == ref]
        if not by_id and len(by_key) > 1:
            raise Conflict("several tenants hold the key", ids=sorted(by_key)[:2])
        found = by_id or by_key
        return self._schedule(found[0]) if found else None

    # Firing

    async def fire_due(
        self,
        *,
        limit: int,
        rules: FireRules,
        grab: Grab | None = None,
        expected: tuple[float, float] | None = None,
        term: Term | None = None,
        due: int | None = None,
    ) -> Fired:
        now = self._clock.now()
        if term is not None and self.leases.get(LEADER, (0, 0, 0))[:2] != term:
            return Fired(now=now, deposed=True)
        if expected is not None and not expected[0] <= now <= expected[1]:
            return Fired(now=now, next_fire_at=now)
        return self._fire(self._due(now)[:limit], now, limit, rules, grab)

    def _fire_under(self, backlog: Backlog, due: Sequence[Cursor], as_of: int, rules: FireRules) -> int:
        runs = 0
        for cursor in due:
            definition = self.revisions[cursor.schedule_id, cursor.revision].definition
            chosen = lambda definition: under(backlog, definition)
            fired = self._fire([not_prompt(cursor, definition)], as_of, NO_LIMIT, all_missed(rules), None, chosen)
            runs += fired.runs
        return runs

    def _fire(
        self,
        due: Sequence[Cursor],
        now: int,
        limit: int,
        rules: FireRules,
        grab: Grab | None,
        chosen: Callable[[Definition], Definition] = lambda definition: definition,
    ) -> Fired:
        windows = runs = duplicates = cancels = 0
        lateness: list[int] = []
        set_aside: list[SetAside] = []
        claims: list[Claim] = []
        skips: list[SkippedWindows] = []
        for cursor in due:
            if windows >= limit:
                break
            tenant = self.facts[cursor.schedule_id].tenant
            open_runs = self._open_runs(cursor.schedule_id)
            definition = chosen(self.revisions[cursor.schedule_id, cursor.revision].definition)
            try:
                planned = plan(
                    cursor,
                    definition,
                    open_runs,
                    now=now,
                    rules=rules,
                    tenant=tenant,
                    budget=limit - windows,
                    exclusions=self._exclusions(definition, tenant),
                )
            except Exception as error:  # noqa: BLE001  # a broken schedule is set aside, whatever broke it
                text = f"{type(error).__name__}: {error}"
                self.cursors[cursor.schedule_id] = replace(cursor, fire_at=now + SET_ASIDE_FOR_MS, error=text)
                set_aside.append(SetAside(cursor.schedule_id, text))
                continue
            windows += len(planned.runs) or 1
            for id in planned.cancel_waiting:
                self._end(self.runs[id], now, RunStatus.CANCELLED, Reason.SUPERSEDED)
            for id in planned.cancel_running:
                self.runs[id].cancel_at = self.runs[id].cancel_at or now
            for id in planned.release:
                self.runs[id].hold = 0
            cancels += len(planned.cancel_running)
            inserted = [run for run in planned.runs if self._insert(run)]
            for run in inserted:
                if grab and len(claims) < grab.places and self._grabs(run, grab):
                    self._give(self.runs[run.id], grab.session, now)
                    claims.append(self._claim(self.runs[run.id]))
            runs += len(inserted)
            duplicates += len(planned.runs) - len(inserted)
            for skip in planned.skips:
                skips.append(skip)
                self._skip(skip, tenant)
            self._move(planned.cursor, now)
            if planned.runs and cursor.fire_at is not None:
                lateness.append(now - cursor.fire_at)
        return Fired(
            now=now,
            windows=windows,
            runs=runs,
            skipped=sum(skip.windows for skip in skips),
            duplicates=duplicates,
            cancels=cancels,
            claims=claims,
            lateness_ms=lateness,
            skips=skips,
            set_aside=set_aside,
            next_fire_at=min((c.fire_at or 0 for c in self._armed()), default=None),
            more=bool(due) and (len(due) >= limit or windows >= limit),
        )

    def _skip(self, skip: SkippedWindows, tenant: str) -> None:
        if skip.id not in self.runs and skip.id not in self.history:
            row = asdict(skip) | {"reason": skip.reason.value}
            row["error"] = row.pop("detail")
            at = skip.fired_at
            self.history[skip.id] = EndedRow(
                **row, kind="window", tenant=tenant, status="skipped", due_at=at, finished_at=at
            )

    async def set_aside(self, tried: Tried, error: str) -> bool:
        cursor = self.cursors[tried.schedule_id]
        if cursor.fire_at != tried.fire_at:
            return False
        until = self._clock.now() + SET_ASIDE_FOR_MS
        self.cursors[tried.schedule_id] = replace(cursor, fire_at=until, error=error)
        return True

    def _grabs(self, run: NewRun, grab: Grab) -> bool:
        governed = run.queue in self.queues and self.queues[run.queue].governed
        return grab.session in self.instances and takes(grab.jobs, run.job) and run.hold == Hold.NONE and not governed

    def _due(self, now: int) -> list[Cursor]:
        due = [c for c in self._armed() if c.fire_at is not None and c.fire_at <= now]
        return sorted(due, key=lambda c: (c.fire_at, c.slot))

    def _armed(self) -> list[Cursor]:
        return [c for c in self.cursors.values() if c.fire_at is not None and self.meta["paused_at"] is None]

    def _insert(self, run: NewRun) -> bool:
        if run.id in self.runs or run.id in self.history:
            return False
        fair = run.queue in self.queues and self.queues[run.queue].fair
        key = run.tenant if fair and run.fair_key is None else run.fair_key
        row = asdict(run) | {"kind": run.kind.value, "hold": int(run.hold), "fair_key": key}
        self.runs[run.id] = OpenRow(**row)
        return True

    # Runs

    async def enqueue(self, requests: Sequence[NewRequest]) -> list[Run]:
        before = {name: deepcopy(rows) for name, rows in vars(self).items() if isinstance(rows, dict)}
        try:
            terms = {(*r.realm, r.singleton.key): r.singleton for r in requests if r.singleton is not None}
            for (tenant, owner, _), singleton in terms.items():
                self._use_lane(tenant, owner, singleton)
            return [self._enqueue(request, terms) for request in requests]
        except DulyError:
            self._restore(before)
            raise

    def _enqueue(self, request: NewRequest, terms: Mapping[tuple[str, str, str], Singleton]) -> Run:
        now = self._clock.now()
        other = self._has_the_key(request)
        if other is not None:
            return self._run(other)
        asked = asdict(replace(request, singleton=None, unique=None))
        del asked["singleton"], asked["unique"], asked["run_at"], asked["left_to_job"], asked["given_id"]
        due_at = now if request.run_at is None else request.run_at
        new = NewRun(
            **{name: value for name, value in asked.items() if name not in ("fairness_key", "owner", "marks", "trace")},
            kind=RunKind.DIRECT,
            revision=request.left_to_job or None,
            due_at=due_at,
            window_at=due_at,
            fired_at=now,
            fair_key=request.fairness_key,
        )
        if request.id not in self.runs and request.id not in self.history:
            if request.singleton is not None:
                new.lane = lane_id(*request.realm, request.singleton.key)
                new.hold, new.slot = self._enter(new.lane, terms[*request.realm, request.singleton.key])
            self._keep_key(request)
            self._insert(new)
            if request.owner:
                self.owners[request.id] = request.owner
            self._mark(request.id, request.marks)
            if request.trace is not None:
                self.traces[request.id] = request.trace
        if not self._sees_run(request.id):
            raise Conflict(f"run id {request.id} is in use; choose another")
        return self._run(request.id)

    async def trigger(
        self,
        ref: str,
        *,
        run_id: str,
        payload: str | None,
        force: bool,
        rules: FireRules,
        tenant: str | None = None,
        check: Callable[[Schedule], None] | None = None,
    ) -> Triggered | None:
        now = self._clock.now()
        schedule = self._find(ref, tenant)
        if schedule is None:
            return None
        if run_id in self.runs or run_id in self.history:
            return Triggered(self._run(run_id), created=False)
        if check is not None:
            check(schedule)
        definition = schedule.definition
        admission = admit_manual(definition, self._open_runs(schedule.id), rules.grace_ms, force)
        if admission.refused:
            raise RunActive("a run has not ended", schedule_id=schedule.id)
        for id in admission.cancel_waiting:
            self._end(self.runs[id], now, RunStatus.CANCELLED, Reason.SUPERSEDED)
        for id in admission.cancel_running:
            self.runs[id].cancel_at = self.runs[id].cancel_at or now
        for id in admission.release:
            self.runs[id].hold = 0
        self._insert(
            NewRun(
                id=run_id,
                job=definition.target.handler,
                kind=RunKind.MANUAL,
                due_at=now,
                window_at=now,
                fired_at=now,
                schedule_id=schedule.id,
                revision=schedule.revision,
                tenant=schedule.facts.tenant,
                queue=definition.queue,
                priority=definition.priority,
                slot=schedule.cursor.slot,
                hold=admission.hold,
                lane=schedule.id if (definition.uses_lane or admission.hold) and not force else None,
                max_attempts=definition.retry.max_attempts if definition.retry else rules.default_max_attempts,
                timeout_ms=definition.timeout_ms,
                payload=payload,
                fair_key=definition.fairness_key,
            )
        )
        return Triggered(self._run(run_id), created=True)

    async def request_cancel(self, run_id: str) -> Run | None:
        now = self._clock.now()
        if not self._sees_run(run_id):
            return None
        run = self.runs.get(run_id)
        if run is not None and run.claimed_by is not None:
            run.cancel_at = run.cancel_at or now
        if run is not None and run.job.startswith(WORKFLOW):
            for below in [self.runs[id] for id in self._descendants(run.id) if id in self.runs]:
                if below.claimed_by is not None:
                    below.cancel_at = below.cancel_at or now
                else:
                    self._end(below, now, RunStatus.CANCELLED, Reason.CANCEL_REQUESTED)
        if run is not None and run.claimed_by is None:
            self._end(run, now, RunStatus.CANCELLED, Reason.CANCEL_REQUESTED)
            self._tell_parents([run.id])
            self._after_runs([(run, RunStatus.CANCELLED)], now)
            if run.schedule_id in self.cursors:
                self._release_lane(run.schedule_id or "")
        return self._run(run_id) if run_id in self.runs or run_id in self.history else None

    async def get_run(self, run_id: str) -> Run | None:
        return self._run(run_id) if self._sees_run(run_id) else None

    async def list_runs(self, where: RunFilter, *, limit: int, after: str | None = None) -> Page[Run]:
        everything = [self._run(id) for id in [*self.runs, *self.history] if self._sees_run(id)]
        found = [
            replace(run, payload_json=None, result_json=_short(run.result_json))
            for run in everything
            if where.tenant in (None, run.tenant)
            and where.owner in (None, self._owner_of(run.id))
            and where.schedule_id in (None, run.schedule_id)
            and where.job in (None, run.job)
            and where.status in (None, run.status)
            and where.workflow in (None, run.job, run.job.partition("@")[0])
            and all(wanted.fits(self._marks_of(run.id)) for wanted in where.marks)
        ]
        return page_of_runs(found, limit, after)

    async def recent_outcomes(self, schedule_ids: Sequence[str], *, each: int) -> dict[str, Outcomes]:
        found = [self.facts[id] for id in schedule_ids if id in self.facts]
        return {
            facts.id: Outcomes(
                tuple(
                    self.history[id].status
                    for id in sorted(self.history, reverse=True)
                    if self.history[id].schedule_id == facts.id
                )[:each],
                min(each, sum(run.schedule_id == facts.id for run in self.runs.values())),
            )
            for facts in found
            if self._sees(facts.tenant, facts.owner)
        }

    async def count_minutes(self, *, since: int, until: int, limit: int) -> list[Minute]:
        def count(ids: Iterable[str], at: int) -> int:
            return min(limit, sum(at <= int(id.replace("-", "")[:12], 16) < at + 60_000 for id in ids))

        dead = [id for id, row in self.history.items() if row.status == "failed" and row.acked_at is None]
        return [
            Minute(at, count(self.history, at), count(self.runs, at), count(dead, at))
            for at in range(since, until, 60_000)
        ]

    async def recent_lags(self, *, limit: int) -> list[int]:
        # A caller may choose an id of any instant: rows that lie more than a day ahead are not among the newest.
        ahead = uuid7(self._clock.now() + DAY_MS, bytes(10))[:13]
        newest = [self.history[id] for id in sorted(self.history, reverse=True) if id < ahead][:limit]
        return [
            max(0, row.fired_at - row.due_at)
            for row in newest
            if row.kind == "window" and row.status != "skipped" and row.attempt <= 1
        ]

    def _last_error(self, id: str) -> str | None:
        failed = max((a.fence for a in self._of(id) if a.error is not None), default=None)
        return None if failed is None else self.attempts[id, failed].error

    def _known_instance(self, session: int | None) -> Instance | None:
        """The instance of a session, also of one that has ended."""
        if session is None:
            return None
        ended = self.ended_instances.get(session)
        return self.instances.get(session) or (None if ended is None else ended[0])

    async def purge_instances(self, *, ended_before: int, limit: int) -> int:
        old = [(at, id) for id, (_, at, _) in self.ended_instances.items() if at < ended_before]
        named = {row.session for row in self.history.values()} | {row.session for row in self.attempts.values()}
        gone = [session for _, session in sorted(old)[:limit] if session not in named]
        for session in gone:
            del self.ended_instances[session]
        return len(gone)

    def _run(self, id: str) -> Run:
        """A run as people see it."""
        row: Any = self.runs.get(id) or self.history[id]
        is_open = id in self.runs
        waits = {Hold.SIGNAL: RunStatus.SUSPENDED, Hold.OUTSIDE: RunStatus.DISPATCHED}
        asleep = waits.get(Hold(row.hold), RunStatus.PENDING) if is_open else RunStatus.PENDING
        waiting = RunStatus.RUNNING if is_open and row.claimed_by is not None else asleep
        waiting = RunStatus.CANCELLING if is_open and row.undo_at is not None else waiting
        session = row.claimed_by if is_open else row.session
        instance = self._known_instance(session)
        facts = self.facts.get(row.schedule_id)
        revision = self.revisions.get((row.schedule_id, row.revision))
        payload = row.payload if row.payload is not None or revision is None else revision.definition.payload
        return Run(
            id=id,
            status=waiting if is_open else RunStatus(row.status),
            kind=RunKind(row.kind),
            job=row.job,
            queue=row.queue,
            attempt=row.attempt,
            max_attempts=row.max_attempts,
            fence=row.fence,
            fired_at=to_datetime(row.fired_at),
            scheduled_at=to_datetime(row.due_at if row.window_at is None else row.window_at),
            schedule_id=row.schedule_id,
            schedule_key=facts.key if facts else None,
            revision=None if row.schedule_id is None else row.revision,
            window_at=to_datetime(row.window_at),
            since=None if is_open else to_datetime(row.since),
            window_count=None if is_open else row.windows,
            tenant=row.tenant,
            priority=row.priority,
            due_at=to_datetime(row.due_at),
            started_at=to_datetime(row.started_at),
            completed_at=None if is_open else to_datetime(row.finished_at),
            cancel_requested=is_open and row.cancel_at is not None,
            hold=row.hold if is_open else 0,
            reason=None if is_open else row.reason,
            reason_detail=row.error if not is_open and row.status == "skipped" else None,
            error_message=self._last_error(id) if is_open else None if row.status == "skipped" else row.error,
            instance=instance.name if instance else None,
            payload_json=payload,
            result_json=None if is_open else row.result,
            acknowledged_at=None if is_open else to_datetime(row.acked_at),
            redrive_of=next((redrive.run_id for redrive in self.redrives.values() if redrive.made_run == id), None),
            redriven_as=redrive.made_run if not is_open and (redrive := self.redrives.get((id, row.fence))) else None,
        )

    # Claiming and settling

    async def claim_runs(
        self,
        session: int,
        *,
        jobs: Sequence[str],
        limit: int,
        suspects: Room = ONE,
        queues: Collection[str] | None = None,
    ) -> Claimed:
        now = self._clock.now()
        workflows = any(job.startswith(WORKFLOW) for job in jobs)
        if workflows:
            self._wake_sleepers(now)
        if session not in self.instances:
            return Claimed(now, [], alive=False)
        waiting = [run for run in self.runs.values() if run.claimed_by is None and run.hold in (0, 5)]
        asked = [run for run in waiting if holds_any(run.queue, jobs) and (queues is None or run.queue in queues)]
        asked = [run for run in asked if not (run.queue in self.queues and self.queues[run.queue].paused)]
        ready = [run for run in asked if takes(jobs, run.job) and (run.due_at <= now or run.hold == 5)]
        claims: list[Claim] = []
        for priority in sorted({run.priority for run in asked}, reverse=True):
            line = [run for run in ready if run.priority == priority]
            for queue in sorted({run.queue for run in line if run.hold == 5}):
                taken, suspects = self._take_suspects(line, queue, session, limit - len(claims), suspects, now)
                claims += taken
            # Whoever is due has a share, also a queue that holds no job that is known here.
            due = {run.queue for run in asked if (run.priority, run.hold) == (priority, 0) and run.due_at <= now}
            for queue, share in shares(shuffled(due, f"{now}/{session}"), limit, claims):
                claims += self._take_share(line, queue, session, share, now)
        later = [run.due_at for run in waiting if run.due_at > now and run.hold == 0]
        later += [run.due_at for run in self._sleepers()] if workflows else []
        limited = [self.queues[name] for name in {run.queue for run in asked} & self.queues.keys()]
        later += [at for at in (opens_at(queue, now) for queue in limited) if at is not None]
        return Claimed(
            now,
            claims,
            next_due_at=min(later, default=None) if len(claims) < limit else None,
            held_back=frozenset(queue.name for queue in limited if is_full(queue, self._running(queue.name))),
        )

    def _take_suspects(
        self, line: list[OpenRow], queue: str, session: int, limit: int, suspects: Room, now: int
    ) -> tuple[list[Claim], Room]:
        waiting = [run for run in line if (run.queue, run.hold) == (queue, 5)]
        waiting.sort(key=lambda run: (run.due_at, run.slot, run.id))
        waiting = waiting[: self._room(queue, limit, now)]
        chosen, suspects = choose([Suspect(r.id, r.attempt, r.max_attempts) for r in waiting], suspects)
        taken = self._in_order([run for run in waiting if run.id in chosen], limit, None)
        return [replace(claim, suspect=True) for claim in self._give_all(taken, session, now)], suspects

    def _take_share(self, line: list[OpenRow], queue: str, session: int, share: int, now: int) -> list[Claim]:
        waiting = [run for run in line if (run.queue, run.hold, run.claimed_by) == (queue, 0, None)]
        waiting.sort(key=lambda run: (run.due_at, run.slot, run.id))
        taken = self._in_order(waiting, self._room(queue, share, now), self.queues.get(queue))
        return self._give_all(taken, session, now)

    def _give_all(self, runs: list[OpenRow], session: int, now: int) -> list[Claim]:
        for run in runs:
            self._give(run, session, now)
        return [self._claim(run) for run in runs]

    def _in_order(self, line: list[OpenRow], room: int, queue: QueueState | None) -> list[OpenRow]:
        """The runs of a line that go first, in the order that its queue was set to."""
        if queue is not None and queue.newest_first:
            line = line[::-1]
        if queue is None or not queue.fair:
            backwards = queue is not None and queue.newest_first
            return sorted(line[:room], key=lambda run: (run.due_at, run.id), reverse=backwards)
        taken: list[OpenRow] = []
        lines = {key: [run for run in line if run.fair_key == key] for key in {run.fair_key for run in line}}
        unkeyed = lines.pop(None, [])
        keys = sorted(key for key in lines if key is not None)
        served = queue.served
        turns = [key for key in keys if served is None or key > served]
        turns += [key for key in keys if served is not None and key <= served]
        while len(taken) < room and any(lines.values()):
            for key in turns:
                if lines[key] and len(taken) < room:
                    taken.append(lines[key].pop(0))
                    self.queues[queue.name] = replace(queue, served=key)
        left = replace(queue, fair=False)
        return taken + self._in_order(unkeyed[::-1] if queue.newest_first else unkeyed, room - len(taken), left)

    def _room(self, name: str, wanted: int, now: int) -> int:
        """How many runs of a queue may be started."""
        queue = self.queues.get(name)
        most = None if queue is None else allowance(queue, self._running(name), now)
        return wanted if most is None else min(most, wanted)

    def _running(self, queue: str) -> int:
        return sum(run.queue == queue and run.claimed_by in self.instances for run in self.runs.values())

    def _give(self, run: OpenRow, session: int, now: int) -> None:
        """Put a run into the hands of a session."""
        if run.queue in self.queues:
            self.queues[run.queue] = after_starts(self.queues[run.queue], 1, now)
        run.claimed_by = session
        run.fence += 1
        run.attempt += 1
        run.started_at = now
        run.deadline_at = None if run.timeout_ms is None else now + run.timeout_ms + DEADLINE_GRACE_MS

    def _claim(self, run: OpenRow) -> Claim:
        revision = self.revisions.get((run.schedule_id or "", run.revision or 0))
        definition = revision.definition if revision else None
        payload = run.payload if run.payload is not None or definition is None else definition.payload
        return Claim(
            id=run.id,
            job=run.job,
            kind=run.kind,
            queue=run.queue,
            attempt=run.attempt,
            max_attempts=run.max_attempts,
            fence=run.fence,
            payload=payload or "",  # never empty: a direct run has its own
            schedule_id=run.schedule_id,
            revision=run.revision,
            window_at=run.window_at,
            due_at=run.due_at,
            fired_at=run.fired_at,
            lane=run.lane,
            timeout_ms=run.timeout_ms,
            tenant=run.tenant,
            definition=definition,
            capped=run.queue in self.queues and self.queues[run.queue].max_running is not None,
        )

    async def settle(self, settlements: Sequence[Settlement]) -> Settled:
        return self._settle(settlements, self._clock.now())

    async def settle_reported(
        self, session: int, reports: Sequence[Report], *, rules: FireRules, retries: Mapping[str, Retry] = NO_RETRIES
    ) -> Settled:
        settlements: list[Settlement] = []
        for report in reports:
            run = self.runs.get(report.run_id)
            held = run is not None and (run.fence, run.claimed_by) == (report.fence, session)
            claim = self._claim(run) if run is not None and held else _unknown(report)
            own = retries.get(claim.job)
            if report.retry is not None:
                own = replace(report.retry, max_attempts=report.max_attempts or claim.max_attempts or 1)
            settlements.append(Settlement(claim, session, report.outcome, _policy(claim, own, rules)))
        return self._settle(settlements, self._clock.now())

    def _settle(self, settlements: Sequence[Settlement], now: int) -> Settled:
        ended: dict[str, RunStatus] = {}
        lost: list[str] = []
        told = 0
        self._interruptions: dict[str, int] = {}
        touched: list[tuple[OpenRow, RunStatus | None]] = []
        for settlement in settlements:
            run = self.runs.get(settlement.claim.id)
            held = run is not None and (run.claimed_by is not None or run.hold == 3)
            if run is None or not held or (run.fence, run.claimed_by) != (settlement.claim.fence, settlement.session):
                if not self._settled_already(settlement):
                    lost.append(settlement.claim.id)
                continue
            status = self._settle_one(run, settlement, now)
            if status is not None:
                ended[run.id] = status
            if status is RunStatus.FAILED:
                dead = self.history[run.id]
                told += self._tell_of_death(settlement.claim, dead, now, settlement.outcome)
            goes_on = status is RunStatus.COMPLETED and isinstance(settlement.outcome, Continued)
            told += goes_on
            touched.append((run, None if goes_on else status))
        released = self._after_runs(touched, now)
        released += self._tell_parents([id for id in ended if self.history[id].kind == "child"])
        return Settled(now, ended, lost, released + told, self._interruptions)

    def _settle_one(self, run: OpenRow, settlement: Settlement, now: int) -> RunStatus | None:
        stored = copy(run)
        if settlement.claim.granted == run.max_attempts and type(settlement.outcome) is not Completed:
            run.max_attempts = settlement.claim.max_attempts
        verdict = decide(
            settlement.outcome,
            run_id=run.id,
            attempt=run.attempt,
            max_attempts=run.max_attempts,
            retry=settlement.retry,
            cancel_requested=run.cancel_at is not None,
        )
        if isinstance(verdict, Again) and verdict.is_interruption:
            redriven = max((fence for id, fence in self.redrives if id == run.id), default=0)
            before = sum(a.outcome in ("released", "interrupted") and a.fence > redriven for a in self._of(run.id))
            self._interruptions[run.id] = before + 1
            verdict = limit_interruptions(verdict, before, settlement.max_interruptions)
        if verdict.recorded:
            snoozes = None
            if isinstance(settlement.outcome, Snoozed):
                snoozes = 1 + max((a.snoozes or 0 for a in self._of(run.id)), default=0)
            self.attempts[run.id, run.fence] = AttemptRow(
                run_id=run.id,
                fence=run.fence,
                attempt=run.attempt,
                outcome=verdict.outcome,
                error=verdict.error,
                started_at=run.started_at,
                ended_at=now,
                session=settlement.session,
                **_reported(settlement.outcome),
                snoozes=snoozes,
            )
            for old in self._of(run.id) if snoozes is not None else ():
                if old.snoozes is not None and snoozes is not None and old.snoozes <= snoozes - 20:
                    del self.attempts[run.id, old.fence]
        if isinstance(verdict, Again):
            run.claimed_by = run.deadline_at = None
            run.due_at = now + verdict.after_ms
            run.attempt -= not verdict.spends_attempt
            if verdict.suspect is not None:
                run.hold = 5 if verdict.suspect else 0
            if isinstance(settlement.outcome, Suspended):
                self._suspend(run, settlement.outcome)
            if isinstance(settlement.outcome, Dispatched):
                run.hold, run.due_at = 3, NEVER if run.timeout_ms is None else now + run.timeout_ms
            return None
        if isinstance(settlement.outcome, Continued) and verdict.status is RunStatus.COMPLETED:
            self._inherit(stored, settlement.outcome, now)
        self._end(run, now, verdict.status, verdict.reason, verdict.error, verdict.result)
        return verdict.status

    def _settled_already(self, settlement: Settlement) -> bool:
        """Whether this very settlement was written before, so that it was merely repeated."""
        claim, outcome = settlement.claim, settlement.outcome
        ended, attempt = self.history.get(claim.id), self.attempts.get((claim.id, claim.fence))
        run = self.runs.get(claim.id)
        own_row = attempt if attempt is not None and attempt.session == settlement.session else None
        if own_row is not None and isinstance(outcome, Interrupted) and own_row.outcome == "lost":
            own_row.outcome, own_row.error = "interrupted", None
        if ended is not None and (ended.fence, ended.session) == (claim.fence, settlement.session):
            return _says_the_same(outcome, ended.status, ended.reason)
        if attempt is not None and attempt.session == settlement.session:
            if isinstance(outcome, Failed):
                # A fatal failure ends its run: what an attempt before another one left is not its mark.
                return not outcome.fatal and attempt.outcome == ("timed_out" if outcome.timed_out else "failed")
            return _says_the_same(outcome, attempt.outcome, None)
        given_back = run is not None and run.fence == claim.fence and run.claimed_by is None
        return given_back and isinstance(outcome, Released | Snoozed | Cancelled | Suspended | Dispatched)

    async def settle_answer(
        self, run_id: str, fence: int, outcome: Outcome, *, rules: FireRules, retries: Mapping[str, Retry] = NO_RETRIES
    ) -> Settled:
        run = self._answerable(run_id, fence)
        if run is not None:
            claim = self._claim(run)
            retry = _policy(claim, retries.get(claim.job), rules)
            return self._settle([Settlement(claim, run.claimed_by, outcome, retry)], self._clock.now())
        ended, attempt = self.history.get(run_id), self.attempts.get((run_id, fence))
        kept = ended is not None and ended.fence == fence and _says_the_same(outcome, ended.status, ended.reason)
        if attempt is not None and isinstance(outcome, Failed):
            kept |= not outcome.fatal and attempt.outcome == ("timed_out" if outcome.timed_out else "failed")
        elif attempt is not None:
            kept |= _says_the_same(outcome, attempt.outcome, None)
        return Settled(self._clock.now(), {}, [] if kept else [run_id], 0)

    async def begin_answer(self, run_id: str, fence: int) -> bool:
        run = self._answerable(run_id, fence)
        if run is None:
            return False
        now = run.started_at = self._clock.now()
        if run.hold == 3:
            run.due_at = NEVER if run.timeout_ms is None else now + run.timeout_ms
        return True

    def _answerable(self, run_id: str, fence: int) -> OpenRow | None:
        run = self.runs.get(run_id)
        if run is None or run.fence != fence or (run.claimed_by is None and run.hold != 3):
            return None
        definition = self._claim(run).definition
        return run if definition is not None and definition.target.expects_answer else None

    def _end(
        self,
        run: OpenRow,
        now: int,
        status: RunStatus,
        reason: Reason | None,
        error: str | None = None,
        result: str | None = None,
    ) -> None:
        del self.runs[run.id]
        kept = {name: value for name, value in asdict(run).items() if name in EndedRow.__slots__}
        kept["timeout_ms"] = run.timeout_ms if status is RunStatus.FAILED else None
        kept["lane"] = run.lane if status is RunStatus.FAILED and run.schedule_id is None else None
        self.history[run.id] = EndedRow(
            **kept,
            status=status.value,
            reason=reason and reason.value,
            session=run.claimed_by,
            finished_at=now,
            error=error,
            result=result,
        )

    def _after_runs(self, touched: Sequence[tuple[OpenRow, RunStatus | None]], now: int) -> int:
        """Let ended runs move their schedules, and release the runs that waited for them."""
        schedules = {run.schedule_id for run, _ in touched if run.schedule_id in self.cursors and self._moves(run)}
        pauses: dict[str, str] = {}
        for run, status in sorted(touched, key=lambda end: end[0].kind != "window"):
            id = run.schedule_id
            if status is None or id is None or id not in schedules:
                continue
            definition, paused = self._definition(id), self.facts[id].paused_at is not None
            still_open = len(self._open_rows(id))
            cursor, asked = after_run(
                self.cursors[id],
                definition,
                status=status,
                kind=RunKind(run.kind),
                still_open=still_open,
                now=now,
                paused=paused,
            )
            self._move(cursor, now)
            if asked is not None and self.facts[id].deleted_at is None:
                pauses[id] = asked.reason
        for id, reason in pauses.items():
            found = self._schedule(id)
            schedule = self._end_pause(found, now)
            schedule = replace(schedule, cursor=replace(schedule.cursor, failures=found.cursor.failures))
            self._apply(pause(schedule, now, reason=reason, until=None, by="duly"), now)
        released = sum(self._release_line(lane) for lane in {run.lane for run, _ in touched if run.schedule_id is None})
        return released + sum(self._release_lane(id) for id in schedules if id is not None)

    def _moves(self, run: OpenRow) -> bool:
        """Whether the end of a run can move its schedule: not where it was fired under a plain definition."""
        if run.lane is not None:
            return True
        fired_under = self.revisions.get((run.schedule_id or "", run.revision or 0))
        return fired_under is not None and fired_under.definition.end_of_run_moves_cursor

    def _move(self, cursor: Cursor, now: int) -> None:
        """Write a cursor that a fire or the end of a run has moved, and the end of its schedule if it is one."""
        facts, before = self.facts[cursor.schedule_id], self.cursors[cursor.schedule_id]
        if cursor.status.ended and not before.status.ended and facts.deleted_at is None:
            self.facts[facts.id] = replace(facts, ended_at=now)
        self.cursors[facts.id] = cursor

    def _release_lane(self, schedule_id: str) -> int:
        released = lane_release(self._definition(schedule_id), self._open_runs(schedule_id))
        for id in released:
            self.runs[id].hold = 0
        return len(released)

    def _open_rows(self, schedule_id: str | None) -> list[OpenRow]:
        return [run for _, run in sorted(self.runs.items()) if run.schedule_id == schedule_id]

    def _open_runs(self, schedule_id: str) -> list[OpenRun]:
        return [
            OpenRun(
                run.id,
                run.hold,
                run.claimed_by is not None,
                run.cancel_at is not None,
                run.kind,
                run.fired_at if run.window_at is None else run.window_at,
                run.due_at,
                run.fired_at,
            )
            for run in self._open_rows(schedule_id)
        ]

    # Queues

    async def change_queue(self, name: str, change: Callable[[QueueState, int], QueueState]) -> Queue:
        now = self._clock.now()
        before = self.queues.setdefault(name, QueueState(name=name, updated_at=now))
        after = change(before, now)
        if after != before:
            self.queues[name] = replace(after, updated_at=now)
        (queue,) = await self.list_queues(name)
        return queue

    async def list_queues(self, name: str | None = None) -> list[Queue]:
        now = self._clock.now()
        names = self.queues.keys() | {run.queue for run in self.runs.values()}
        return [
            self._queue(found, [run for run in self.runs.values() if run.queue == found], now)
            for found in sorted(names)
            if name in (None, found)
        ]

    async def adopt_fair_keys(self, *, limit: int) -> int:
        lately = self._clock.now() - 60_000
        fair = {queue.name for queue in self.queues.values() if queue.fair and queue.updated_at >= lately}
        waiting = [run for run in self.runs.values() if run.claimed_by is None and run.hold == 0]
        adopted = [run for run in waiting if run.queue in fair and run.fair_key is None][:limit]
        for run in adopted:
            run.fair_key = run.tenant
        return len(adopted)

    def _queue(self, name: str, runs: Sequence[OpenRow], now: int) -> Queue:
        running = sum(run.claimed_by is not None for run in runs)
        waiting = sum(run.claimed_by is None and run.due_at <= now for run in runs)
        state = self.queues.get(name) or QueueState(name=name)
        return Queue(state, running, waiting, len(runs) - running - waiting)

    # Sessions

    async def open_session(self, instance: Instance, *, lease_ms: int, remote: bool = False) -> int:
        now = self._clock.now()
        if instance.session not in self.instances:
            self.instances[instance.session] = replace(instance, started_at=now, expires_at=now + lease_ms)
        for run in self.runs.values():
            if run.hold == 2 and takes(instance.jobs, run.job):
                run.hold = 0
        return now

    async def beat(self, session: int, *, lease_ms: int, skew_ms: int | None = None) -> Beat:
        now = self._clock.now()
        if session not in self.instances:
            return Beat(now, alive=False)
        known = self.instances[session]
        skew_ms = known.skew_ms if skew_ms is None else skew_ms
        self.instances[session] = replace(known, expires_at=now + lease_ms, skew_ms=skew_ms)
        held = [run for run in self.runs.values() if run.claimed_by == session]
        return Beat(now, True, [Held(run.id, run.fence, run.cancel_at is not None) for run in held])

    async def close_session(self, session: int, *, started: Collection[str] = ()) -> int:
        held = [run for run in self.runs.values() if run.claimed_by == session]
        given_back = [Settlement(self._claim(run), session, Released(run.id in started), Retry()) for run in held]
        self._settle(given_back, self._clock.now())
        if (ended := self.instances.pop(session, None)) is not None:
            self.ended_instances.setdefault(session, (ended, self._clock.now(), False))
        return len(held)

    async def take_lost(
        self,
        *,
        limit: int,
        rules: FireRules,
        retries: Mapping[str, Retry] = NO_RETRIES,
        expected: tuple[float, float] | None = None,
    ) -> Recovered:
        now = self._clock.now()
        if expected is not None and not expected[0] <= now <= expected[1]:
            return Recovered(now, leapt=True)
        dead = [session for session, instance in self.instances.items() if instance.expires_at < now]
        lost = [LostInstance(i.session, i.name, i.host, i.pid) for i in map(self.instances.__getitem__, dead)]
        for session in dead:
            self.ended_instances.setdefault(session, (self.instances.pop(session), now, True))
        settlements: list[Settlement] = []
        for run in self.runs.values():
            outcome = self._why_lost(run, now, rules)
            if outcome is not None and run.claimed_by is not None and len(settlements) < limit:
                claim = self._claim(run)
                retry = _policy(claim, retries.get(claim.job), rules)
                settlements.append(Settlement(claim, run.claimed_by, outcome, retry))
        settled = self._settle(settlements, now)
        taken = [settlement.claim.id for settlement in settlements]
        ended, more = settled.ended, len(taken) >= limit
        silent = sorted((run for run in self.runs.values() if run.hold == 3 and run.due_at <= now), key=_when_due)
        settlements = []
        for run in silent[:limit]:
            claim = self._claim(run)
            retry = _policy(claim, retries.get(claim.job), rules)
            late = Failed("it was delivered, and its receiver did not answer within the timeout", timed_out=True)
            settlements.append(Settlement(claim, None, late, retry))
        ended |= self._settle(settlements, now).ended
        taken += [settlement.claim.id for settlement in settlements]
        return Recovered(now, lost, taken, ended, more=more)

    def _why_lost(self, run: OpenRow, now: int, rules: FireRules) -> Outcome | None:
        if run.claimed_by is None:
            return None
        if run.claimed_by not in self.instances:
            return Lost("the worker stopped sending heartbeats")
        if run.deadline_at is not None and run.deadline_at < now:
            return Failed("the attempt passed its timeout and its worker did not report", timed_out=True)
        if run.cancel_at is not None and run.cancel_at < now - rules.cancel_grace_ms:
            return Cancelled()
        return None

    async def list_instances(self) -> list[Instance]:
        now = self._clock.now()
        return [instance for instance in self.instances.values() if instance.expires_at >= now]

    async def read_lease(self, role: str) -> Lease | None:
        return Lease(*self.leases[role]) if role in self.leases else None

    async def release_lease(self, role: str, session: int) -> None:
        holder, term, expires_at = self.leases.get(role, (None, 0, 0))
        if holder == session and expires_at >= self._clock.now():
            self.leases[role] = (session, term, self._clock.now() - 1)

    async def take_lease(self, role: str, session: int, *, lease_ms: int, seize: bool = False) -> int | None:
        now = self._clock.now()
        holder, term, expires_at = self.leases.get(role, (session, 1, 0))
        if holder != session and expires_at >= now and not seize:
            return None
        term += holder != session
        self.leases[role] = (session, term, now + lease_ms)
        self.meta["ticks"] += 1
        return term

    # Keeping

    async def hold_unknown_jobs(self) -> Sequence[tuple[str, int]]:
        now = self._clock.now()
        live = [instance for instance in self.instances.values() if instance.expires_at >= now]
        known = {job for instance in live for job in instance.jobs}
        for run in self.runs.values():
            due = run.claimed_by is None and run.hold == 0 and run.due_at <= now
            if due and not takes(known, run.job) and any("worker" in instance.roles for instance in live):
                run.hold = 2
            elif run.hold == 2 and takes(known, run.job):
                run.hold = 0
        suspects = [run for run in self.runs.values() if run.hold == 5 and run.claimed_by is None]
        held = [run.job for run in self.runs.values() if run.hold == 2]
        if any("worker" in instance.roles for instance in live):
            held += [run.job for run in suspects if not takes(known, run.job)]
        return [(job, held.count(job)) for job in sorted(set(held))]

    async def end_unheard_topics(self, *, patience_ms: int, limit: int) -> Sequence[tuple[str, str]]:
        now = self._clock.now()
        live = [instance for instance in self.instances.values() if instance.expires_at >= now]
        if not any("worker" in instance.roles for instance in live):
            return []
        known = {job for instance in live for job in instance.jobs}
        held = sorted((run.job, run.id) for run in self.runs.values() if run.hold == 2)
        unheard = [
            self.runs[id]
            for job, id in held
            if job.startswith("topic:") and not takes(known, job) and self.runs[id].due_at <= now - patience_ms
        ][:limit]
        for run in unheard:
            self._end(run, now, RunStatus.COMPLETED, Reason.NO_LISTENER)
        self._after_runs([(run, RunStatus.COMPLETED) for run in unheard], now)
        return [(run.id, run.job.removeprefix("topic:")) for run in unheard]

    async def purge_history(
        self, *, finished_before: int, limit: int, statuses: Sequence[RunStatus] | None = None
    ) -> int:
        past = {id: run.status for id, run in self.history.items() if run.finished_at < finished_before}
        old = sorted(id for id, status in past.items() if statuses is None or status in statuses)[:limit]
        self._forget_runs(old)
        if old:
            self.meta["purged_before"] = max(finished_before, self.meta.get("purged_before") or 0)
        return len(old)

    async def read_traces(self, ids: Sequence[str]) -> dict[str, str]:
        return {id: trace for id, trace in self.traces.items() if id in ids}

    async def purge_surplus(self, status: RunStatus, *, keep: int, limit: int) -> int:
        newest = sorted((id for id, run in self.history.items() if run.status == status), reverse=True)
        surplus = newest[keep : keep + limit]
        if surplus:
            noted = 1 + max(self.history[id].finished_at for id in surplus)
            self.meta["purged_before"] = max(noted, self.meta.get("purged_before") or 0)
        self._forget_runs(surplus)
        return len(surplus)

    def _forget_runs(self, ids: Sequence[str]) -> None:
        for id in ids:
            del self.history[id]
            self.owners.pop(id, None)
            self.traces.pop(id, None)
        self._forget_steps(ids)
        for rows in (self.attempts, self.redrives):
            for key in [key for key in rows if key[0] in ids]:
                del rows[key]

    async def purge_schedules(self, *, ended_before: int, limit: int) -> int:
        old = [id for id in sorted(self.facts) if self._purgeable(id, ended_before)][:limit]
        for id in old:
            self._forget_schedule(id)
        return len(old)

    def _forget_schedule(self, id: str) -> None:
        self.facts.pop(id, None)
        self.cursors.pop(id, None)
        self.changes.pop(id, None)
        self.traces.pop(id, None)
        for key in [key for key in self.revisions if key[0] == id]:
            del self.revisions[key]

    def _purgeable(self, id: str, ended_before: int) -> bool:
        facts = self.facts[id]
        once = _derived(self._definition(id))[0] == "once"
        deleted = facts.deleted_at is not None and facts.deleted_at < ended_before
        ended = once and facts.ended_at is not None and facts.ended_at < ended_before
        return (deleted or ended) and not self._open_rows(id)

    async def release_stuck_lanes(self, *, limit: int) -> int:
        held = sorted({run.schedule_id for run in self.runs.values() if run.hold == Hold.LANE and run.schedule_id})
        return sum(self._release_lane(id) for id in held[:limit])

    async def resume_expired_pauses(self, *, limit: int) -> int:
        now = self._clock.now()
        resumed = 0
        for id, facts in sorted(self.facts.items()):
            over = facts.paused_until is not None and facts.paused_until <= now and facts.deleted_at is None
            if not over or resumed >= limit:
                continue
            ended = end_pause(self._schedule(id), now)
            assert ended is not None
            self._apply(ended, now)
            resumed += 1
        return resumed

    async def any_open(self) -> bool:
        return bool(self.runs)

    async def next_pause_end(self) -> int | None:
        now = self._clock.now()
        ends = (facts.paused_until for facts in self.facts.values() if facts.deleted_at is None)
        return min((end - now for end in ends if end is not None and end > now), default=None)


def _derived(definition: Definition) -> tuple[str, str, str | None, str | None]:
    """Kind, job, topic and calendars: what is looked for in the definitions."""
    timing, target = definition.timing, definition.target
    kind = "cron" if isinstance(timing, Cron) else "interval" if isinstance(timing, Every) else "once"
    topic = target.name if target.kind is TargetKind.TOPIC else target.topic
    return kind, target.handler, topic, encode_words(definition.calendars) if definition.calendars else None


def _short(result: str | None) -> str | None:
    return None if result is None or len(result.encode()) > LONG_RESULT else result


def _without_payload(schedule: Schedule) -> Schedule:
    return replace(schedule, definition=replace(schedule.definition, payload=UNREAD))


def _reported(outcome: Outcome) -> dict[str, Any]:
    report = outcome.report if isinstance(outcome, Failed) else None
    if report is None:
        return {}
    kept: dict[str, Any] = {"error_type": report.type, "error_location": report.location, "stack": report.stack}
    return kept | {"stack_truncated": report.truncated if report.stack is not None else None}


def _says_the_same(outcome: Outcome, recorded: str, reason: str | None) -> bool:
    """Whether a recorded end is what this outcome would have left, rather than what somebody else wrote."""
    if recorded == RunStatus.CANCELLED:
        return True
    match outcome:
        case Completed() | Continued():
            return recorded == RunStatus.COMPLETED
        case Failed(timed_out=timed_out):
            if recorded == RunStatus.FAILED:
                return reason not in (Reason.LOST, Reason.INTERRUPTED) and (reason != Reason.TIMEOUT or timed_out)
            return recorded == ("timed_out" if timed_out else "failed")
        case Dispatched():
            return True
        case Lost():
            return recorded == "lost" or (recorded == RunStatus.FAILED and reason == Reason.LOST)
        case Released() | Cancelled() if recorded == "released":
            return True
        case Snoozed():
            return recorded == "snoozed"
        case Released(started=True):
            return reason == Reason.INTERRUPTED
        case Interrupted():
            return recorded == "interrupted" or reason in (Reason.INTERRUPTED, Reason.LOST)
        case _:
            return False


def _policy(claim: Claim, own: Retry | None, rules: FireRules) -> Retry:
    """What was chosen for the run's schedule, else its job's own, which then says how often it may be tried."""
    chosen = None if claim.definition is None else claim.definition.retry
    if own is None:
        return chosen or Retry(rules.default_max_attempts)
    if claim.definition is not None and chosen is not None and not claim.definition.left_to_job & LEFT_RETRY:
        return chosen
    claim.allow(own.max_attempts)
    return own


def _unknown(report: Report) -> Claim:
    return Claim(
        id=report.run_id, job="", kind="", queue="", attempt=0, max_attempts=0, fence=report.fence, payload=None,
        schedule_id=None, revision=None, window_at=None, due_at=0, fired_at=0, lane=None, timeout_ms=None, tenant="",
    )  # fmt: skip


def _when_due(run: OpenRow) -> int:
    return run.due_at
