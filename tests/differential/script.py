"""Random operations on a store, drawn from a seed and from what the model holds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from duly.core.calendar import DateRange, Days, MonthDay
from duly.core.credential import Scope, Whose
from duly.core.dead import OnDead
from duly.core.failure import ErrorReport
from duly.core.ids import named_run_id, uuid7
from duly.core.instants import to_datetime
from duly.core.lane import Singleton, Unique
from duly.core.marks import parse_attributes, wanted_tag
from duly.core.on_event import EventHandler
from duly.core.policy import Backoff, CatchUp, Missed, Overlap, Retry
from duly.core.positions import Position
from duly.core.queue import QueueState
from duly.core.quota import Quotas
from duly.core.rules import editing
from duly.core.rules.editing import Change
from duly.core.rules.firing import FireRules
from duly.core.rules.suspects import Room
from duly.core.run import (
    Cancelled,
    Claim,
    Completed,
    Continued,
    Dispatched,
    Failed,
    Interrupted,
    Outcome,
    Released,
    RunStatus,
    Snoozed,
    Suspended,
)
from duly.core.schedule import Definition, Facts, Schedule, Target, TargetKind
from duly.core.steps import Step, StepKind, StepStatus
from duly.core.switch import Backlog, FiringState
from duly.core.timing import Cron, Every, Jitter, Once, Timing
from duly.core.topics import ANY_TOPIC
from duly.core.webhook import EVENTS, Secret, Webhook, WebhookKind
from duly.store.dead import DeadFilter, DeadRef, Redrive
from duly.store.guarding import NewKey
from duly.store.journal import Child, Record
from duly.store.orders import (
    BackfillOrder,
    CancelOrder,
    DeleteOrder,
    NewOperation,
    Order,
    PauseAllOrder,
    PauseOrder,
    PurgeOrder,
    ResumeAllOrder,
    ResumeOrder,
    TriggerOrder,
)
from duly.store.protocol import Store
from duly.store.publishing import NewEvent
from duly.store.values import (
    LEADER,
    Claimed,
    Fired,
    Grab,
    Instance,
    NewCalendar,
    NewRequest,
    NewSchedule,
    Report,
    RunFilter,
    ScheduleFilter,
    Settlement,
    Tried,
)
from duly.testing import ManualClock
from tests.contract.suite.trial import deleted
from tests.differential.model import Model

MARKS: tuple[dict[str, str], ...] = ({}, {}, {"#t": "null"}, {"#t": "null", "n": "5"}, {"n": "7", "ü": '"ä"'})
WANTED = (wanted_tag("t"), *parse_attributes("n:5,n:gte:6,n:ne:5,n:lt:x"))
REPORT = ErrorReport(type="shop.Refused", location="shop.py:7 in charge", stack="Traceback: é", truncated=True)
JOBS = ("a", "b", "topic:t.one", "workflow:w")
OUT = Target(TargetKind.QUEUE, "out", '{"kind":"queue","name":"out","expect":"ack"}')
KNOWN = (*JOBS, ANY_TOPIC, OUT.handler)
TARGETS = (Target(TargetKind.JOB, "a"), Target(TargetKind.JOB, "b"), Target(TargetKind.TOPIC, "t.one"), OUT)
MANY = 1000
LEASE_MS = 15_000

Call = Callable[[Store], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One call, the same for every store, and how to tell it to a reader."""

    text: str
    call: Call
    writes: bool = True


class Script:
    """Draws the next operation; ``learn`` shows it what the model answered."""

    def __init__(self, seed: int, model: Model, clock: ManualClock) -> None:
        self._seed = seed
        self._played = 0
        self._draws: Counter[str] = Counter()
        self._model = model
        self._clock = clock
        self._rules = FireRules()
        self._tenants = ("", "acme") if seed % 3 == 0 else ("",)
        self._count = 0
        self._sessions: list[int] = []
        self._claims: list[tuple[Claim, int]] = []
        self._last: Operation | None = None

    def _draw(self, field: str) -> random.Random:
        """Return the generator of one field of this step, so that a new field does not change what others draw."""
        self._draws[field] += 1
        return random.Random(f"{self._seed}/{self._played}/{field}/{self._draws[field]}")

    def next(self) -> Operation:
        self._played += 1
        self._draws.clear()
        if not self._sessions:
            return self._kept(self.open_session())
        makers, weights = zip(*_WEIGHTS, strict=True)
        while True:
            maker = self._draw("maker").choices(makers, weights)[0]
            operation: Operation | None = maker(self)
            if operation is not None:
                return self._kept(
                    _as_ann(operation) if maker in _ASKED and self._draw("as_ann").random() < 0.2 else operation
                )

    def learn(self, answer: Any) -> None:
        if isinstance(answer, Claimed | Fired) and answer.claims:
            session = self._claiming
            self._claims += [(replace(claim), session) for claim in answer.claims]

    def _kept(self, operation: Operation) -> Operation:
        if operation.writes:
            self._last = operation
        return operation

    # Schedules

    def put(self) -> Operation:
        new = [self._new_schedule() for _ in range(self._draw("new").choice((1, 1, 3)))]
        text = ", ".join(f"{item.facts.key} {item.definition.timing!r} {item.definition.overlap}" for item in new)
        return Operation(f"put {text}", lambda store: store.put_schedules(new))

    def _new_schedule(self) -> NewSchedule:
        draw = self._draw
        key = f"k{draw('key').randrange(12)}"
        facts = Facts(
            id=self._id(),
            key=key,
            name=f"Name {key}",
            tenant=draw("tenant").choice(self._tenants),
            owner=draw("owner").choice((None, "ann")),
            tags=draw("tags").choice(((), ("x",), ("x", "y"))),
            client_request_id=draw("client_request_id").choice(
                (None, None, f"r{draw('client_request_id').randrange(9)}")
            ),
            paused_at=draw("paused_at").choice((None, None, None, 1)),
            created_by="ann",
        )
        return NewSchedule(
            facts=facts, definition=self._definition(key), trace=draw("trace").choice((None, None, "00-a-b-01"))
        )

    def _definition(self, key: str) -> Definition:
        draw = self._draw
        return Definition(
            key=key,
            timing=self._timing(),
            target=draw("target").choice(TARGETS),
            payload=draw("payload").choice(("{}", "null", '{"n":1}')),
            retry=draw("retry").choice((None, Retry(2, Backoff.FIXED, delay=3, jitter=0), Retry(max_attempts=1))),
            timeout_ms=draw("timeout_ms").choice((None, 1000, 60_000)),
            overlap=draw("overlap").choice(tuple(Overlap)),
            max_queued=draw("max_queued").choice((1, 2)),
            max_concurrent=draw("max_concurrent").choice((None, None, 2)),
            catch_up=CatchUp(
                draw("catch_up").choice(tuple(Missed)),
                timedelta(minutes=draw("minutes").choice((1, 60))),
                draw("catch_up").choice((2, 100)),
            ),
            jitter=draw("jitter").choice((None, None, Jitter(0, 20_000))),
            end_at=draw("end_at").choice((None, None, None, self._clock.now() + 120_000)),
            max_runs=draw("max_runs").choice((None, None, None, 2)),
            queue=draw("queue").choice(("q1", "q2")),
            priority=draw("priority").choice((0, 0, 5)),
            pause_after_failures=draw("pause_after_failures").choice((None, None, 1)),
            fire_current_window=draw("fire_current_window").random() < 0.1,
            calendars=draw("calendars").choice(((), (), (), ("c1",), ("c2", "c1"))),
            exclude_dates=draw("exclude_dates").choice(((), (), (), (self._today(),))),
            fairness_key=draw("fairness_key").choice((None, None, "x", "y")),
        )

    def _timing(self) -> Timing:
        draw = self._draw
        seconds = draw("seconds").choice((2, 7, 30, 60))
        return draw("timing").choice(
            (
                Every(seconds=seconds),
                Every(seconds=seconds),
                Every(seconds=seconds, after_completion=True),
                Cron("* * * * *"),
                Cron("*/10 * * * * *"),
                Once.at_instant(self._clock.now() + draw("once_in").randrange(1, 60_000)),
                Once.at_instant(self._clock.now() - 5000, draw("on_past").choice(("reject", "fire"))),
            )
        )

    def change(self) -> Operation | None:
        schedule = self._schedule()
        if schedule is None:
            return None
        draw = self._draw
        verb = draw("verb").choice(
            ("pause", "pause", "resume", "resume", "cancel", "delete", "edit", "edit", "edit", "nothing")
        )
        hard = draw("hard").random() < 0.5
        rules: dict[str, Callable[[Schedule, int], Change | None]] = {
            "pause": self._pause(),
            "resume": lambda found, now: editing.resume(found, now, by="ann", catch_up=hard),
            "cancel": lambda found, now: editing.cancel(found, now, by="ann"),
            "delete": lambda found, now: deleted(found, now, by="ann", cancel_running=hard),
            "edit": self._edit(schedule),
            "nothing": lambda found, now: None,
        }
        rule, ref = rules[verb], draw("ref").choice((schedule.id, schedule.key))
        tenant = schedule.facts.tenant
        return Operation(f"{verb} {schedule.key}", lambda store: store.change_schedule(ref, rule, tenant=tenant))

    def _pause(self) -> Callable[[Schedule, int], Change]:
        until = self._draw("until").choice((None, self._clock.now() + 10_000))
        return lambda found, now: editing.pause(found, now, reason="rest", until=until, by="ann")

    def _edit(self, schedule: Schedule) -> Callable[[Schedule, int], Change]:
        draw = self._draw
        other = self._definition(schedule.key)
        names = draw("names").sample(
            (
                "timing",
                "payload",
                "overlap",
                "max_queued",
                "catch_up",
                "jitter",
                "max_runs",
                "retry",
                "calendars",
                "exclude_dates",
            ),
            2,
        )
        definition = replace(schedule.definition, **{name: getattr(other, name) for name in names})
        expected = draw("expected").choice((None, schedule.revision, schedule.revision + 1))
        tags = draw("tags").choice((("x",), ("z",)))
        return lambda found, now: editing.edit(
            found, now, by="bob", definition=definition, facts_changes={"tags": tags}, expected_revision=expected
        )

    def look_at_schedules(self) -> Operation:
        draw = self._draw
        where = ScheduleFilter(
            tenant=draw("tenant").choice((None, "", "acme")),
            owner=draw("owner").choice((None, "ann")),
            job=draw("job").choice((None, "a")),
            tag=draw("tag").choice((None, "x", "z")),
            status=draw("status").choice((None, "active", "completed")),
            enabled=draw("enabled").choice((None, True, False)),
            q=draw("q").choice((None, "NAME K1", "k_")),
        )
        limit = draw("limit").choice((2, 50))
        after = draw("after").choice((None, *sorted(self._model.facts)))
        call = lambda store: store.list_schedules(where, limit=limit, after=after)
        return Operation(f"list schedules {where} after {after}", call, writes=False)

    def look_at_a_schedule(self) -> Operation:
        known = [(f.id, f.tenant) for f in self._model.facts.values()] + [(f"k{n}", "") for n in range(12)]
        ref, tenant = self._draw("ref_tenant").choice(known)
        if self._model.facts and self._draw("several").random() < 0.3:
            ids = sorted(self._model.facts)[: self._draw("ids").choice((1, 3, 50))]
            return Operation(f"read schedules {ids}", lambda store: store.read_schedules(ids), writes=False)
        return Operation(f"get schedule {ref}", lambda store: store.get_schedule(ref, tenant=tenant), writes=False)

    def put_operation(self) -> Operation:
        draw = self._draw
        where = ScheduleFilter(
            tenant=draw("tenant").choice((None, "")),
            tag=draw("tag").choice((None, "x")),
            enabled=draw("enabled").choice((None, True, False)),
        )
        order: Order = draw("order").choice(
            (
                PauseOrder(
                    where=where, reason="incident", until=draw("until").choice((None, self._clock.now() + 2000))
                ),
                PauseOrder(where=where, reason="incident"),
                ResumeOrder(
                    where=where,
                    reason=draw("reason").choice((None, "incident")),
                    catch_up=draw("catch_up").random() < 0.5,
                ),
                CancelOrder(where=ScheduleFilter(tenant="", tag="x", q="k1")),
                DeleteOrder(
                    where=ScheduleFilter(tenant="", q="k2"), cancel_running=draw("cancel_running").random() < 0.5
                ),
                PauseOrder(
                    where=ScheduleFilter(), ids=self._some_ids(), reason="named", until=draw("until").choice((None, 1))
                ),
                ResumeOrder(where=ScheduleFilter(), ids=self._some_ids()),
                TriggerOrder(where=ScheduleFilter(tenant="", q="k3"), force=True),
                TriggerOrder(where=ScheduleFilter(), ids=self._some_ids(), force=True),
            )
        )
        known = sorted(self._model.operations)
        id = draw("id").choice(known) if known and draw("id").random() < 0.2 else self._id()
        new = NewOperation(id=id, order=order, by="ann")
        return Operation(f"put operation {id} {order}", lambda store: store.put_operation(new))

    def _some_ids(self) -> tuple[str, ...]:
        known = sorted(self._model.facts)
        return tuple(self._draw("some_ids").sample(known, min(3, len(known))))

    def purge(self) -> Operation | None:
        schedule = self._schedule()
        if schedule is None or self._draw("purges").random() < 0.7:
            return None
        new = NewOperation(
            id=self._id(), order=PurgeOrder(cancel_running=self._draw("cancel_running").random() < 0.5), by="ann"
        )
        ref, rules, tenant = self._draw("ref").choice((schedule.id, schedule.key)), self._rules, schedule.facts.tenant
        return Operation(f"purge {ref}", lambda store: store.begin_purge(ref, new, rules=rules, tenant=tenant))

    def look_back(self) -> Operation:
        ids = [*self._draw("ids").sample(sorted(self._model.facts), min(2, len(self._model.facts))), self._id()]
        each, now = self._draw("each").choice((1, 3)), self._clock.now()
        calls: tuple[Call, ...] = (
            lambda store: store.recent_outcomes(ids, each=each),
            lambda store: store.count_minutes(since=now - 600_000, until=now, limit=each),
            lambda store: _sorted(store.recent_lags(limit=each)),
        )
        return Operation("look back", self._draw("calls").choice(calls), writes=False)

    def look_ahead(self) -> Operation:
        tenant, owner = self._draw("tenant").choice((None, *self._tenants)), self._draw("owner").choice((None, "ann"))
        call: Call = lambda store: store.list_upcoming(limit=3, tenant=tenant, owner=owner)
        if self._draw("forecast").random() < 0.5:
            call = lambda store: store.look_ahead(
                steps=10, step_ms=60_000, limit=1000, most=500, tenant=tenant, owner=owner
            )
        return Operation("look ahead", call, writes=False)

    def backfill(self) -> Operation | None:
        schedule = self._schedule()
        if schedule is None:
            return None
        draw, now = self._draw, self._clock.now()
        since = now - draw("since").choice((5_000, 60_000, 120_000, 10_000_000))
        order = BackfillOrder(
            since=since,
            until=draw("until").choice((now, now, now + 1000, since - 1, since + 30_000)),
            rate_per_second=draw("rate_per_second").choice((None, 0.5, 10)),
            force=draw("force").random() < 0.3,
        )
        known = sorted(self._model.operations)
        id = draw("id").choice(known) if known and draw("id").random() < 0.2 else self._id()
        new = NewOperation(id=id, order=order, by="ann")
        payload, rules, tenant = draw("payload").choice((None, "[2]")), self._rules, schedule.facts.tenant
        call = lambda store: store.backfill(schedule.key, new, payload=payload, rules=rules, tenant=tenant)
        return Operation(f"backfill {schedule.key} {order}", call)

    def switch(self) -> Operation:
        draw = self._draw
        known = sorted(self._model.operations)
        id = draw("id").choice(known) if known and draw("id").random() < 0.1 else self._id()
        if draw("restored").random() < 0.1:
            epoch = draw("epoch").choice((1, 2))
            call: Call = lambda store: _without_id(store.mark_restored(epoch=epoch, reason="r", by="ann"))
            return Operation(f"mark restored {epoch}", call)
        if self._model.meta["paused_at"] is None and draw("pauses").random() < 0.7:
            new = NewOperation(id=id, order=PauseAllOrder(reason=draw("reason").choice((None, "incident"))), by="ann")
            if isinstance(self._order_of(id), PauseAllOrder | None):
                return Operation(f"pause firing {new}", lambda store: _without_id(store.pause_firing(new)))
        new = NewOperation(id=id, order=ResumeAllOrder(backlog=draw("backlog").choice(list(Backlog))), by="bob")
        return Operation(f"resume firing {new}", lambda store: store.resume_firing(new))

    def _order_of(self, id: str) -> Order | None:
        known = self._model.operations.get(id)
        return None if known is None else known.order

    def look_at_the_switch(self) -> Operation:
        return Operation("look at the switch", lambda store: _without_id(store.firing_state()), writes=False)

    def step_operation(self) -> Operation | None:
        known = sorted(self._model.operations)
        if not known:
            return None
        id, limit, rules = self._draw("id").choice(known), self._draw("limit").choice((1, 3, MANY)), self._rules
        return Operation(f"step {id} {limit}", lambda store: store.step_operation(id, limit=limit, rules=rules))

    def look_at_operations(self) -> Operation:
        draw = self._draw
        known = sorted(self._model.operations, reverse=True)
        call: Call = draw("call").choice(
            (
                lambda store: store.list_operations(limit=2),
                lambda store: store.get_operation(known[0]) if known else store.now(),
                lambda store: store.waiting_operations(untouched_ms=1000, limit=MANY),
            )
        )
        return Operation("look at operations", call, writes=False)

    def purge_operations(self) -> Operation:
        before = self._clock.now() - 10_000
        return Operation("purge operations", lambda store: store.purge_operations(finished_before=before, limit=MANY))

    def look_at_changes(self) -> Operation:
        known = [(f.id, f.tenant) for f in self._model.facts.values()] + [(f"k{n}", "") for n in range(12)]
        ref, tenant = self._draw("ref_tenant").choice(known)
        limit, after = self._draw("limit").choice((1, 2, 50)), self._draw("after").choice((None, None, 0, 1, 2))
        call = lambda store: store.list_changes(ref, limit=limit, after=after, tenant=tenant)
        return Operation(f"list changes of {ref}, {limit} after {after}", call, writes=False)

    # Firing

    def fire(self) -> Operation:
        due = [(c.fire_at, c.slot) for c in self._model.cursors.values() if c.fire_at is not None]
        limit = self._draw("limit").choice((1, 3, MANY)) if len(due) == len(set(due)) else MANY
        rules, grab = self._rules, None
        if self._draw("has_grab").random() < 0.3:
            places = self._draw("places").choice((1, 3)) if len(due) == len(set(due)) else MANY
            grab = Grab(
                self._draw("grab").choice(self._sessions), frozenset(self._draw("grab").sample(KNOWN, 2)), places
            )
            self._claiming = grab.session
        return Operation(
            f"fire {limit} {grab or ''}", lambda store: store.fire_due(limit=limit, rules=rules, grab=grab)
        )

    def set_aside(self) -> Operation | None:
        armed = [Tried(c.schedule_id, c.fire_at) for c in self._model.cursors.values() if c.fire_at is not None]
        if not armed:
            return None
        tried = self._draw("tried").choice(armed)
        if self._draw("is_stale").random() < 0.2:
            tried = replace(tried, fire_at=tried.fire_at - 1)
        return Operation(f"set aside {tried}", lambda store: store.set_aside(tried, "no"))

    # Runs

    def enqueue(self) -> Operation:
        draw = self._draw
        now = self._clock.now()
        ids = (
            draw("ids").sample(sorted(self._model.runs), min(1, len(self._model.runs)))
            if draw("ids").random() < 0.2
            else []
        )
        requests = [
            NewRequest(
                id=id,
                job=draw("job").choice(JOBS),
                payload=draw("payload").choice(("0", "null", '{"x":[]}')),
                queue=draw("queue").choice(("q1", "q2")),
                max_attempts=draw("max_attempts").choice((1, 3)),
                priority=draw("priority").choice((0, 5)),
                timeout_ms=draw("timeout_ms").choice((None, 1000)),
                tenant=draw("tenant").choice(self._tenants),
                fairness_key=draw("fairness_key").choice((None, None, "", "x", "y", "zä")),
                owner=draw("owner").choice((None, None, "ann")),
                marks=draw("marks").choice(MARKS),
                trace=draw("trace").choice((None, None, "00-c-d-00")),
                left_to_job=draw("left_to_job").choice((0, 0, 1, 3)),
                **({"run_at": draw("run_at").choice((None, now + n - 20, now + 5000 + n))} | self._keys()),
            )
            for n, id in enumerate([*ids, self._any_id(), self._any_id()][: draw("requests").choice((1, 2, 3))])
        ]
        if draw("again").random() < 0.1:
            requests.append(replace(requests[0], payload='"again"'))
        return Operation(f"enqueue {[r.job for r in requests]}", lambda store: store.enqueue(requests))

    def _keys(self) -> dict[str, Any]:
        """Nothing, or the keys that a run of others decides about."""
        draw = self._draw
        if draw("has_keys").random() < 0.5:
            return {}
        key, most = draw("key").choice("uv"), draw("most").choice((None, None, 0, 2))
        return {
            "singleton": Singleton(key=key, max_running=draw("max_running").choice((1, 1, 2)), max_queued=most),
            "unique": draw("unique").choice(
                (None, None, Unique(key=key, for_ms=draw("for_ms").choice((0, 5000)), refuse=most == 0))
            ),
            "run_at": None,
        }

    def trigger(self) -> Operation | None:
        schedule = self._schedule()
        if schedule is None:
            return None
        draw = self._draw
        words = {
            "run_id": self._any_id(),
            "payload": draw("payload").choice((None, "null", "[1]")),
            "force": draw("force").random() < 0.3,
        }
        tenant, rules = schedule.facts.tenant, self._rules
        call = lambda store: store.trigger(schedule.key, rules=rules, tenant=tenant, **words)
        return Operation(f"trigger {schedule.key} {words}", call)

    def cancel_run(self) -> Operation | None:
        run_id = self._run_id()
        if run_id is None:
            return None
        return Operation(f"cancel run {run_id}", lambda store: store.request_cancel(run_id))

    def look_at_a_run(self) -> Operation | None:
        run_id = self._run_id()
        if run_id is None:
            return None
        return Operation(f"get run {run_id}", lambda store: store.get_run(run_id), writes=False)

    def look_at_runs(self) -> Operation:
        draw = self._draw
        where = RunFilter(
            tenant=draw("tenant").choice((None, "")),
            owner=draw("owner").choice((None, None, "ann")),
            schedule_id=draw("schedule_id").choice((None, *sorted(self._model.facts))),
            job=draw("job").choice((None, "a")),
            workflow=draw("workflow").choice((None, None, "workflow:w")),
            status=draw("status").choice(
                (None, RunStatus.PENDING, RunStatus.RUNNING, RunStatus.COMPLETED, RunStatus.SKIPPED)
            ),
            marks=draw("marks").choice(((), (), (wanted_tag("t"),), tuple(draw("marks").sample(WANTED, 2)))),
        )
        limit, after = draw("limit").choice((2, 50)), draw("after").choice((None, self._run_id(), self._cursor()))
        call = lambda store: store.list_runs(where, limit=limit, after=after)
        return Operation(f"list runs {where} after {after}", call, writes=False)

    # Claiming and settling

    def claim(self) -> Operation:
        draw = self._draw
        order = [(r.queue, r.priority, r.due_at, r.slot) for r in self._model.runs.values() if r.claimed_by is None]
        limit = draw("limit").choice((1, 4, MANY)) if len(order) == len(set(order)) else MANY
        session, jobs = (
            draw("session").choice(self._sessions),
            draw("jobs").sample(KNOWN, draw("jobs").choice((1, 2, 3))),
        )
        self._claiming = session
        room = draw("room").choice((Room(0, alone=False), Room(), Room(3, alone=False), Room(MANY)))
        queues = draw("queues").choice((None, None, None, ["q1"], ["q2", "none"]))
        call = lambda store: store.claim_runs(session, jobs=jobs, limit=limit, suspects=room, queues=queues)
        return Operation(f"claim {limit} of {jobs} for {session}, {room}, {queues}", call)

    def settle(self) -> Operation | None:
        held = [(c, s) for c, s in self._claims if self._holds(c, s)]
        if not held:
            return None
        chosen = self._draw("chosen").sample(held, min(len(held), self._draw("chosen").choice((1, 2, 5))))
        endings = [self._ending(claim, session) for claim, session in chosen]
        return self._settling(endings)

    def settle_late(self) -> Operation | None:
        """Settle what is held no more, alone or beside a run that is."""
        stale = [(c, s) for c, s in self._claims if not self._holds(c, s) and not self._lost_then_cancelled(c)]
        held = [(c, s) for c, s in self._claims if self._holds(c, s)]
        if not stale:
            return None
        draw = self._draw
        chosen = draw("chosen").sample(stale, 1) + draw("chosen").sample(
            held, min(len(held), draw("chosen").choice((0, 1)))
        )
        outcomes: list[Outcome] = [
            Completed('"late"'),
            Failed("late", fatal=True),
            Failed("late"),
            Failed("late", timed_out=True),
            Released(),
            Snoozed(1000),
        ]
        return self._settling(
            [replace(self._ending(c, s), outcome=draw("outcome").choice(outcomes)) for c, s in chosen]
        )

    def _settling(self, endings: list[Settlement]) -> Operation:
        text = ", ".join(f"{e.claim.id} fence {e.claim.fence} {e.outcome}" for e in endings)
        sessions = {e.session for e in endings}
        if len(sessions) == 1 and self._draw("reported").random() < 0.3:
            session, rules = sessions.pop(), self._rules
            reports = [Report(e.claim.id, e.claim.fence, e.outcome, e.retry) for e in endings]
            call = lambda store: store.settle_reported(session, reports, rules=rules)
            return Operation(f"report {text}", call)
        return Operation(f"settle {text}", lambda store: store.settle(endings))

    def _ending(self, claim: Claim, session: int) -> Settlement:
        outcomes: list[Outcome] = [
            Completed(self._draw("outcomes").choice((None, "null", '{"ok":true}'))),
            Completed("1"),
            Failed("no luck", report=self._draw("report").choice((None, REPORT, ErrorReport(type="OSError")))),
            Failed("hopeless", fatal=True, report=self._draw("report").choice((None, REPORT))),
            Failed("too slow", timed_out=True),
            Released(),
            Released(started=True),
            Released(started=True),
            Interrupted(),
            Snoozed(self._draw("outcomes").randrange(5000)),
            Cancelled(),
            self._suspension(claim),
            self._suspension(claim),
            Continued(self._id(), self._draw("outcomes").choice(JOBS), "2"),
        ]
        if claim.job == OUT.handler:
            outcomes += [Dispatched()] * 8
        retry = Retry(2, delay=self._draw("delay").choice((0, 2)))
        if self._draw("allows").random() < 0.3:
            claim.allow(self._draw("max_attempts").choice((1, 5)))
        most = self._draw("max_interruptions").choice((None, None, 0, 1))
        return Settlement(claim, session, self._draw("outcome").choice(outcomes), retry, most)

    def answer(self) -> Operation | None:
        """A receiver outside tells of a run, early, in time, late, twice, or with a fence that was never given."""
        draw = self._draw
        claims = [claim for claim, _ in self._claims if not self._lost_then_cancelled(claim)]
        sent = [claim for claim in claims if claim.job == OUT.handler] or claims
        if not sent:
            return None
        claim, rules = draw("claim").choice(sent[-6:]), self._rules
        id, fence = claim.id, draw("fence").choice((claim.fence, claim.fence, claim.fence, claim.fence + 1))
        if draw("begins").random() < 0.2:
            return Operation(f"begin {id} fence {fence}", lambda store: store.begin_answer(id, fence))
        outcome = draw("outcome").choice((Completed("1"), Failed("no luck"), Failed("hopeless", fatal=True)))
        call = lambda store: store.settle_answer(id, fence, outcome, rules=rules)
        return Operation(f"answer {id} fence {fence} {outcome}", call)

    def _lost_then_cancelled(self, claim: Claim) -> bool:
        """Taken by recovery, then cancelled: the SQL stores cannot tell by whom, and it makes no difference."""
        ended = self._model.history.get(claim.id)
        return ended is not None and ended.status == "cancelled" and (claim.id, claim.fence) in self._model.attempts

    def _holds(self, claim: Claim, session: int) -> bool:
        run = self._model.runs.get(claim.id)
        return run is not None and (run.fence, run.claimed_by) == (claim.fence, session)

    # Dead letters

    def redrive(self) -> Operation | None:
        draw = self._draw
        refs = self._dead_refs()
        if not refs:
            return None
        requests = [
            Redrive(
                dead=ref,
                payload=draw("payload").choice((None, None, "null", '{"right":1}')),
                force=draw("force").random() < 0.2,
                by=draw("by").choice((None, "ann")),
            )
            for ref in refs
        ]
        text = ", ".join(f"{r.dead} {r.payload} {r.force}" for r in requests)
        return Operation(f"redrive {text}", lambda store: store.redrive(requests))

    def acknowledge(self) -> Operation | None:
        refs = self._dead_refs()
        if not refs:
            return None
        return Operation(f"acknowledge {refs}", lambda store: store.acknowledge(refs))

    def _dead_refs(self) -> list[DeadRef]:
        """Mostly dead runs, now and then another one, none at all, or a death of the past."""
        draw, model = self._draw, self._model
        failed = [row for row in model.history.values() if row.status == "failed"]
        if not failed:
            return []
        refs = [
            DeadRef(row.id, draw("refs").choice((None, row.fence, row.fence, row.fence - 1)))
            for row in draw("refs").sample(failed, min(len(failed), draw("refs").choice((1, 2, 5))))
        ]
        if draw("other").random() < 0.3:
            refs.append(DeadRef(draw("other_ref").choice((self._run_id() or self._id(), self._id(), refs[0].run_id))))
        return refs

    def look_at_the_dead(self) -> Operation:
        draw = self._draw
        where = DeadFilter(
            tenant=draw("tenant").choice((None, "", "acme")),
            schedule_id=draw("schedule_id").choice((None, None, *sorted(self._model.facts))),
            job=draw("job").choice((None, None, "a")),
            queue=draw("queue").choice((None, None, "q1")),
            error=draw("error").choice((None, None, "luck", "o", "%")),
            error_type=draw("error_type").choice((None, None, None, REPORT.type, "OSError")),
            error_location=draw("error_location").choice((None, None, None, REPORT.location)),
        )
        limit, after = draw("limit").choice((1, 2, 50)), draw("after").choice((None, self._run_id()))
        cursor = draw("cursor").choice((after, self._cursor()))
        died_by = self._clock.now() - draw("died_by").choice((0, 10_000))
        looks: dict[str, Call] = {
            "list": lambda store: store.list_dead(where, limit=limit, after=cursor),
            "find": lambda store: store.find_dead(where, died_by=died_by, limit=limit, after=after),
            "group": lambda store: store.group_dead(where, limit=limit),
        }
        look = draw("look").choice(sorted(looks))
        return Operation(f"{look} dead {where} {limit} after {after}", looks[look], writes=False)

    def look_at_attempts(self) -> Operation | None:
        tried = sorted({id for id, _ in self._model.attempts})
        run_id = self._draw("run_id").choice(tried) if tried and self._draw("run_id").random() < 0.7 else self._run_id()
        if run_id is None:
            return None
        return Operation(f"attempts at {run_id}", lambda store: store.read_attempts(run_id), writes=False)

    def put_on_dead(self) -> Operation:
        draw = self._draw
        jobs = draw("jobs").sample(JOBS, 2)
        told = [
            OnDead(
                job=job,
                handler=draw("handler").choice(JOBS),
                queue="q1",
                max_attempts=draw("max_attempts").choice((1, 3)),
                timeout_ms=draw("timeout_ms").choice((None, 1000)),
            )
            for job in jobs[: draw("told").choice((0, 1, 2))]
        ]
        return Operation(f"put on dead {jobs} {told}", lambda store: store.put_on_dead(jobs, told))

    # Workflows

    def _suspension(self, claim: Claim) -> Suspended:
        wake_at = self._draw("wake_at").choice(
            (None, self._clock.now() + self._draw("wake_at").choice((0, 1000, 20_000)))
        )
        return Suspended(wake_at, self._draw("seen").choice((0, 1, 9)))

    def record(self) -> Operation | None:
        draw = self._draw
        if not self._claims:
            return None
        held = [(c, s) for c, s in self._claims if self._holds(c, s)]
        chosen = draw("chosen").sample(held, min(len(held), draw("chosen").choice((1, 2)))) + draw("chosen").sample(
            self._claims, draw("chosen").choice((0, 0, 1))
        )
        records = [self._record(claim, session) for claim, session in chosen]
        text = ", ".join(f"{r.run_id} fence {r.fence} {[s.position for s in r.steps]}" for r in records)
        return Operation(f"record {text}", lambda store: store.record_steps(records))

    def _record(self, claim: Claim, session: int) -> Record:
        draw, now = self._draw, self._clock.now()
        children = [
            Child(
                position=position,
                request=NewRequest(
                    id=self._id(),
                    job=draw("job").choice(JOBS),
                    payload="1",
                    queue="q1",
                    max_attempts=2,
                    tenant=claim.tenant,
                ),
                awaited=draw("awaited").random() < 0.7,
            )
            for position in draw("children").sample(range(1, 5), draw("children").choice((0, 0, 1, 2)))
        ]
        return Record(
            run_id=claim.id,
            fence=claim.fence,
            session=session,
            steps=[
                self._step(position, now)
                for position in draw("steps").sample(range(-2, 5), draw("steps").choice((0, 1, 3)))
            ],
            seen=draw("seen").choice((0, 1, 2)),
            taken=draw("taken").sample(range(1, 4), draw("taken").choice((0, 1))),
            published=draw("published").choice(({}, {"x": str(now)}, {"x": "1", "ü": '"ä"'})),
            children=children,
            marks=draw("marks").choice(MARKS),
            job=draw("job").choice((None, None, "workflow:w")),
            progress=draw("progress").random() < 0.3,
        )

    def _step(self, position: int, now: int) -> Step:
        draw = self._draw
        status = draw("status").choice((StepStatus.ASKED, StepStatus.ASKED, StepStatus.DONE, StepStatus.FAILED))
        ended = status is not StepStatus.ASKED
        return Step(
            position=position,
            kind=draw("kind").choice((StepKind.STEP, StepKind.EVENT, StepKind.TASK, StepKind.CHILD)),
            name=draw("name").choice(("e", "f")),
            status=status,
            seq=draw("seq").randrange(9) if ended else None,
            attempt=draw("attempt").choice((0, 1)),
            due_at=draw("due_at").choice((None, now + 1000)),
            result=draw("result").choice((None, "1")),
            error=draw("error").choice((None, "no")),
            log=draw("log").choice((None, "[]")),
            asked_at=now,
            done_at=now if ended else None,
        )

    def signal(self) -> Operation | None:
        draw, model = self._draw, self._model
        workflows = sorted(run.id for run in model.runs.values() if run.job.startswith("workflow:"))
        run_id = draw("run_id").choice(workflows) if workflows and draw("run_id").random() < 0.8 else self._run_id()
        if run_id is None:
            return None
        position = draw("position").randrange(5)
        event = NewEvent(name="e", body="null", id=f"{draw('id').randrange(9**9)}")
        sends: dict[str, Call] = {
            "signal": lambda store: store.signal_run(run_id, "go", "1"),
            "cancel softly": lambda store: store.cancel_softly(run_id),
            "publish e": lambda store: store.publish_event(event),
            "end task": lambda store: store.end_task(run_id, position, result="2", error=None),
        }
        send = draw("send").choice(sorted(sends))
        return Operation(f"{send} {run_id} {position}", sends[send])

    def look_at_steps(self) -> Operation | None:
        run_id = self._run_id()
        if run_id is None:
            return None
        looks: dict[str, Call] = {
            "journal": lambda store: store.read_journal(run_id),
            "marks": lambda store: store.read_marks(run_id),
            "published": lambda store: store.read_published(run_id, "x"),
        }
        look = self._draw("look").choice(sorted(looks))
        return Operation(f"{look} of {run_id}", looks[look], writes=False)

    def put_on_event(self) -> Operation:
        draw = self._draw
        jobs = draw("jobs").sample(JOBS, 2)
        ways: tuple[dict[str, int], ...] = (
            {},
            {"quiet_ms": 5000},
            {"quiet_ms": 5000, "within_ms": 8000},
            {"most": 3, "within_ms": 9000},
        )
        handlers = [
            EventHandler(
                event=draw("event").choice("ef"), job=job, queue="q1", max_attempts=2, **draw("ways").choice(ways)
            )
            for job in jobs[: draw("handlers").choice((1, 2))]
        ]
        return Operation(f"put on event {jobs} {handlers}", lambda store: store.put_on_event(jobs, handlers))

    def publish(self) -> Operation:
        draw = self._draw
        if draw("lists").random() < 0.1:
            return Operation("list on event", lambda store: store.list_on_event(), writes=False)
        owner = draw("owner").choice((None, "ann"))
        event = NewEvent(
            name=draw("name").choice("eef"),
            body=draw("body").choice(("null", "1", '{"a":"ä"}')),
            id=f"{draw('id').randrange(40)}",
            keep_ms=draw("keep_ms").choice((0, 30_000)),
            space=owner or "",
            owner=owner,
            limit=draw("limit").choice((9, 1000)),
        )
        return Operation(f"publish {event}", lambda store: store.publish_event(event))

    # Queues

    def change_queue(self) -> Operation:
        draw = self._draw
        name = draw("name").choice(("q1", "q2", "q3"))
        pause: dict[str, Any] = {"paused_at": self._clock.now(), "paused_by": "ann", "pause_reason": "flood"}
        rate: dict[str, Any] = {"rate": draw("rate").choice((1, 3)), "per_ms": draw("per_ms").choice((1000, 60_000))}
        order: dict[str, Any] = {
            "fair": draw("fair").random() < 0.7,
            "newest_first": draw("newest_first").random() < 0.4,
        }
        changes: dict[str, Any] = draw("changes").choice(
            (
                {"max_running": draw("max_running").choice((1, 2, 4))},
                {"max_running": draw("max_running").choice((1, 2, 4))},
                rate,
                rate | {"max_running": 3},
                order,
                order,
                order,
                pause,
                dict.fromkeys(pause),
                dict.fromkeys((*pause, *rate, "max_running")),
                dict.fromkeys((*pause, *rate, "max_running")),
            )
        )
        rule: Callable[[QueueState, int], QueueState] = lambda queue, now: replace(queue, **changes)
        return Operation(f"queue {name} {changes}", lambda store: store.change_queue(name, rule))

    def adopt_fair_keys(self) -> Operation:
        return Operation("adopt fair keys", lambda store: store.adopt_fair_keys(limit=MANY))

    def look_at_queues(self) -> Operation:
        name = self._draw("name").choice((None, "q1", "q3", "none"))
        return Operation(f"list queues {name}", lambda store: store.list_queues(name), writes=False)

    # Webhooks

    def put_webhook(self) -> Operation:
        draw = self._draw
        schedules = sorted(self._model.facts)
        tenant = draw("tenant").choice((None, *self._tenants))
        new = Webhook(
            id=uuid7(1, draw("id").randrange(6).to_bytes(10, "big")),
            url=draw("url").choice(("https://example.com/a", "https://example.com/ü")),
            kind=draw("kind").choice(tuple(WebhookKind)),
            events=tuple(sorted(draw("events").sample(EVENTS, draw("events").randrange(1, 5)))),
            tenant=tenant,
            owner=None if tenant is None else draw("owner").choice((None, "ann")),
            schedule_id=draw("schedule_id").choice((None, None, *schedules[:2])),
            tag=draw("tag").choice((None, None, "x")),
            job=draw("job").choice((None, None, "a")),
            secrets=(Secret("whsec_ü"),),
            created_by=draw("created_by").choice((None, "ann")),
        )
        return Operation(f"put {new}", lambda store: store.put_webhook(new))

    def change_webhook(self) -> Operation:
        draw = self._draw
        id = uuid7(1, draw("id").randrange(6).to_bytes(10, "big"))
        enabled, events = draw("enabled").choice((True, False)), tuple(sorted(draw("events").sample(EVENTS, 2)))
        secrets = (Secret("whsec_new"), Secret("whsec_old", self._clock.now()))
        ways: dict[str, Call] = {
            "enable": lambda store: store.change_webhook(id, lambda one, now: replace(one, enabled=enabled)),
            "want": lambda store: store.change_webhook(id, lambda one, now: replace(one, events=events)),
            "rotate": lambda store: store.change_webhook(id, lambda one, now: replace(one, secrets=secrets)),
            "delete": lambda store: store.delete_webhook(id),
        }
        way = draw("way").choice(sorted(ways))
        return Operation(f"{way} webhook {id} {enabled} {events}", ways[way])

    def look_at_webhooks(self) -> Operation:
        limit, after = (
            self._draw("limit").randrange(1, 4),
            uuid7(1, self._draw("after").randrange(6).to_bytes(10, "big")),
        )
        return Operation(
            f"list webhooks {limit} {after}", lambda store: store.list_webhooks(limit=limit, after=after), writes=False
        )

    def tell_overdue(self) -> Operation:
        late, limit = self._draw("late").choice((1, 60_000)), self._draw("limit").choice((1, MANY))
        return Operation(f"tell overdue {late} {limit}", lambda store: store.tell_overdue(late_ms=late, limit=limit))

    # Keys

    def put_key(self) -> Operation:
        draw = self._draw
        n = draw("n").randrange(6)
        key = NewKey(
            id=f"key{n:05}",
            digest=f"d{n}",
            name=draw("name").choice(("ci", "zä")),
            scopes=frozenset(draw("scopes").sample(tuple(Scope), 2)),
            owner=draw("owner").choice((None, "ann")),
            tenant=draw("tenant").choice(self._tenants),
            quotas=draw("quotas").choice((Quotas(), Quotas(schedules=2, payload_bytes=9))),
            queues=draw("queues").choice((None, frozenset({"mail", "gpu"}))),
            expires_at=draw("expires_at").choice((None, self._clock.now() + 5000)),
            by=draw("by").choice((None, "ann")),
        )
        return Operation(f"put {key}", lambda store: store.put_key(key))

    def end_key(self) -> Operation:
        draw = self._draw
        old, new = f"key{draw('old').randrange(6):05}", f"key{draw('new').randrange(6):05}"
        made = lambda key: NewKey(id=new, digest="d" + new[-1], name=key.name, scopes=key.scopes, replaces=key.id)
        ends: dict[str, Call] = {
            "revoke": lambda store: store.revoke_key(old),
            "rotate": lambda store: store.rotate_key(old, made, keep_ms=2000),
            "touch": lambda store: store.touch_key(old),
        }
        end = draw("end").choice(sorted(ends))
        return Operation(f"{end} {old} {new}", ends[end])

    def look_at_keys(self) -> Operation:
        return Operation("list keys", lambda store: store.list_keys(), writes=False)

    # Calendars

    def put_calendar(self) -> Operation:
        draw, today = self._draw, self._today()
        tomorrow = today + timedelta(days=1)
        days = draw("days").choice(
            (
                Days(),
                Days((today,)),
                Days((tomorrow,)),
                Days(ranges=(DateRange(tomorrow, tomorrow + timedelta(days=1)),)),
                Days(yearly=(MonthDay(today.month, today.day), MonthDay(2, 29))),
            )
        )
        new = NewCalendar(
            id=self._id(),
            name=draw("name").choice(("c1", "c1", "c2", "c3")),
            tenant=draw("tenant").choice(self._tenants),
            days=days,
            description=draw("description").choice((None, "holidays")),
            by=draw("by").choice((None, "ann")),
        )
        return Operation(f"put calendar {new}", lambda store: store.put_calendar(new))

    def delete_calendar(self) -> Operation:
        name, tenant = self._draw("name").choice(("c1", "c2", "c3", "none")), self._draw("tenant").choice(self._tenants)
        return Operation(f"delete calendar {name}", lambda store: store.delete_calendar(name, tenant=tenant))

    def look_at_calendars(self) -> Operation:
        draw = self._draw
        tenant, limit, after = (
            draw("tenant").choice((None, "", "acme")),
            draw("limit").choice((1, 50)),
            draw("after").choice((None, self._id())),
        )
        looks: dict[str, Call] = {
            "list": lambda store: store.list_calendars(tenant=tenant, limit=limit, after=after),
            "get": lambda store: store.get_calendar("c1", tenant=tenant or ""),
            "read": lambda store: store.read_days(["c1", "c2", "none"], tenant=tenant or ""),
        }
        look = draw("look").choice(sorted(looks))
        return Operation(f"{look} calendars of {tenant}, {limit} after {after}", looks[look], writes=False)

    def _today(self) -> date:
        return to_datetime(self._clock.now()).date()

    # Sessions and keeping

    def open_session(self) -> Operation:
        self._count += 1
        session = self._count
        self._sessions = [*self._sessions[-4:], session]
        instance = Instance(
            session=session,
            name=f"w{session % 2}",
            host="here",
            pid=1,
            roles=self._draw("roles").choice((("worker",), ("scheduler",), ("scheduler", "worker"))),
            version="0",
            tz_version="2026a",
            jobs=tuple(self._draw("jobs").sample(KNOWN, 2)),
        )
        return Operation(
            f"open session {session} {instance.jobs}", lambda store: store.open_session(instance, lease_ms=LEASE_MS)
        )

    def beat(self) -> Operation:
        session = self._draw("session").choice(self._sessions)
        return Operation(f"beat {session}", lambda store: store.beat(session, lease_ms=LEASE_MS))

    def close_session(self) -> Operation:
        session = self._draw("session").choice(self._sessions)
        return Operation(f"close session {session}", lambda store: store.close_session(session))

    def take_lost(self) -> Operation:
        rules = self._rules
        return Operation("take lost", lambda store: store.take_lost(limit=MANY, rules=rules))

    def take_lease(self) -> Operation:
        draw = self._draw
        role, session, seize = (
            draw("role").choice(("janitor", LEADER)),
            draw("session").choice((1, 2)),
            draw("seize").random() < 0.2,
        )
        call: Call = draw("call").choice(
            (
                lambda store: store.take_lease(role, session, lease_ms=5000, seize=seize),
                lambda store: store.take_lease(role, session, lease_ms=5000),
                lambda store: store.release_lease(role, session),
                lambda store: store.read_lease(role),
            )
        )
        return Operation(f"lease of {role} {session} {seize}", call)

    def list_instances(self) -> Operation:
        return Operation("list instances", lambda store: store.list_instances(), writes=False)

    def hold_unknown(self) -> Operation:
        return Operation("hold unknown jobs", lambda store: store.hold_unknown_jobs())

    def end_unheard(self) -> Operation:
        patience = self._draw("patience").choice((0, 5000))
        return Operation(
            f"end unheard topics {patience}",
            lambda store: store.end_unheard_topics(patience_ms=patience, limit=MANY),
        )

    def purge_instances(self) -> Operation:
        before, limit = (
            self._clock.now() - self._draw("before").choice((0, 60_000)),
            self._draw("limit").choice((1, MANY)),
        )
        call = lambda store: store.purge_instances(ended_before=before, limit=limit)
        return Operation(f"purge instances {before} {limit}", call)

    def purge_history(self) -> Operation:
        before = self._clock.now() - self._draw("before").choice((0, 30_000))
        limit = self._draw("limit").choice((2, MANY))
        statuses = self._draw("statuses").choice((None, (RunStatus.COMPLETED,), (RunStatus.FAILED, RunStatus.SKIPPED)))
        return Operation(
            f"purge history {limit} {statuses}",
            lambda store: store.purge_history(finished_before=before, limit=limit, statuses=statuses),
        )

    def purge_surplus(self) -> Operation:
        status = self._draw("status").choice((RunStatus.COMPLETED, RunStatus.SKIPPED))
        keep, limit = self._draw("keep").choice((0, 2, 5)), self._draw("limit").choice((2, MANY))
        return Operation(
            f"purge all but {keep} {status.value}, {limit}",
            lambda store: store.purge_surplus(status, keep=keep, limit=limit),
        )

    def purge_schedules(self) -> Operation:
        before = self._clock.now() - self._draw("before").choice((0, 30_000))
        return Operation("purge schedules", lambda store: store.purge_schedules(ended_before=before, limit=MANY))

    def purge_keys(self) -> Operation:
        return Operation("purge keys", lambda store: store.purge_keys(limit=MANY))

    def release_stuck(self) -> Operation:
        return Operation("release stuck lanes", lambda store: store.release_stuck_lanes(limit=MANY))

    def resume_expired(self) -> Operation:
        return Operation("resume expired pauses", lambda store: store.resume_expired_pauses(limit=MANY))

    def any_open(self) -> Operation:
        return Operation("any open run", lambda store: store.any_open(), writes=False)

    def next_pause_end(self) -> Operation:
        return Operation("next end of a pause", lambda store: store.next_pause_end(), writes=False)

    # Time, and doing it again

    def advance(self) -> Operation:
        ms = self._draw("ms").choice((1, 500, 2000, 2000, 10_000, 16_000, 60_000, 60_000, 400_000, 43_200_000))
        self._clock.move(milliseconds=ms)
        return Operation(f"advance {ms} ms", lambda store: store.now(), writes=False)

    def repeat(self) -> Operation | None:
        return self._last and replace(self._last, text=f"again: {self._last.text}")

    def _id(self) -> str:
        self._count += 1
        return uuid7(self._clock.now(), self._count.to_bytes(10, "big"))

    def _any_id(self) -> str:
        """An id as a caller may choose it: one that tells when, one that tells another time, or a name."""
        id, far = self._id(), self._draw("far").choice((-(10**9), 10**9, 10**12))
        tail = self._count.to_bytes(10, "big")
        others = (id, id, named_run_id("", id), uuid7(self._clock.now() + far, tail))
        return self._draw("any_id").choice(others)

    def _schedule(self) -> Schedule | None:
        live = [f for f in self._model.facts.values() if f.deleted_at is None]
        if not live:
            return None
        facts = self._draw("facts").choice(live)
        definition = self._model.revisions[facts.id, facts.revision].definition
        return Schedule(facts, definition, self._model.cursors[facts.id])

    def _run_id(self) -> str | None:
        ids = sorted([*self._model.runs, *self._model.history])
        return self._draw("run_id").choice(ids) if ids else None

    def _cursor(self) -> str | None:
        """What a list of runs may have given out to go on from."""
        id = self._run_id()
        return (
            None
            if id is None
            else Position(self._clock.now() - self._draw("cursor_age").choice((0, 1, 60_000)), id).cursor
        )


async def _sorted(numbers: Awaitable[list[int]]) -> list[int]:
    return sorted(await numbers)


async def _without_id(state: Awaitable[FiringState]) -> FiringState:
    """Each store has an id of its own."""
    return replace(await state, store_id="")


_WEIGHTS: list[tuple[Callable[[Script], Operation | None], int]] = [
    (Script.put, 10),
    (Script.change, 10),
    (Script.fire, 14),
    (Script.set_aside, 1),
    (Script.enqueue, 7),
    (Script.trigger, 5),
    (Script.cancel_run, 3),
    (Script.claim, 12),
    (Script.settle, 14),
    (Script.settle_late, 4),
    (Script.answer, 6),
    (Script.redrive, 5),
    (Script.acknowledge, 2),
    (Script.put_on_dead, 2),
    (Script.look_at_the_dead, 3),
    (Script.look_at_attempts, 2),
    (Script.record, 9),
    (Script.signal, 5),
    (Script.put_on_event, 2),
    (Script.publish, 7),
    (Script.look_at_steps, 2),
    (Script.change_queue, 4),
    (Script.look_at_queues, 2),
    (Script.put_webhook, 3),
    (Script.change_webhook, 2),
    (Script.look_at_webhooks, 1),
    (Script.tell_overdue, 3),
    (Script.put_key, 1),
    (Script.end_key, 1),
    (Script.look_at_keys, 1),
    (Script.put_calendar, 5),
    (Script.delete_calendar, 1),
    (Script.look_at_calendars, 2),
    (Script.adopt_fair_keys, 1),
    (Script.open_session, 3),
    (Script.beat, 6),
    (Script.close_session, 1),
    (Script.take_lost, 5),
    (Script.take_lease, 2),
    (Script.hold_unknown, 4),
    (Script.end_unheard, 3),
    (Script.purge_history, 2),
    (Script.purge_instances, 1),
    (Script.purge_surplus, 1),
    (Script.purge_schedules, 2),
    (Script.resume_expired, 3),
    (Script.next_pause_end, 2),
    (Script.any_open, 1),
    (Script.release_stuck, 2),
    (Script.purge_keys, 2),
    (Script.look_at_schedules, 2),
    (Script.look_at_a_schedule, 1),
    (Script.look_at_changes, 2),
    (Script.put_operation, 2),
    (Script.step_operation, 4),
    (Script.switch, 3),
    (Script.look_at_the_switch, 1),
    (Script.backfill, 2),
    (Script.purge, 2),
    (Script.look_ahead, 1),
    (Script.look_back, 2),
    (Script.look_at_operations, 1),
    (Script.purge_operations, 1),
    (Script.look_at_runs, 2),
    (Script.look_at_a_run, 2),
    (Script.list_instances, 1),
    (Script.advance, 16),
    (Script.repeat, 5),
]
_ASKED = (
    Script.look_at_schedules, Script.look_at_a_schedule, Script.look_at_changes, Script.look_at_runs,
    Script.look_at_a_run, Script.look_at_the_dead, Script.look_at_attempts, Script.look_at_operations, Script.change,
    Script.trigger, Script.cancel_run, Script.redrive, Script.acknowledge, Script.put_operation, Script.step_operation,
    Script.look_ahead, Script.put_webhook, Script.change_webhook, Script.look_at_webhooks,
)  # fmt: skip
"""What people ask for, and so what an owner may ask for too."""


def _as_ann(operation: Operation) -> Operation:
    """The same, asked for by an owner who sees only what is theirs."""
    call: Call = lambda store: operation.call(store.seen_by(Whose("", "ann")))
    return replace(operation, text=f"as ann: {operation.text}", call=call)
