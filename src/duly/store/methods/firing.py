"""The fire: due windows become runs, exactly once, in one transaction.

The cursors are locked, the open runs read, the pure planner asked, and everything it decided written. A crash before
the commit changes nothing; a crash after it changes nothing either. Three guards keep a window from firing twice: the
cursor under its lock, the run's id (a pure function of schedule and window) in ``runs``, and the same id in
``history``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from duly.core.calendar import Days
from duly.core.errors import DulyError
from duly.core.rules.firing import FireRules, Plan, plan
from duly.core.rules.overlap import heeds_open_runs
from duly.core.run import Hold, NewRun, OpenRun, Reason, SkippedWindows
from duly.core.schedule import Cursor, Definition
from duly.store.codec import CURSOR, UnreadableDefinition, cursor_columns, read_cursor
from duly.store.statements import Program, batch, columns, group, query
from duly.store.values import LEADER, Fired, Grab, SetAside, Term, Tried

from .calendars import Name, exclusions_of
from .definitions import Definitions, Known, read_revisions
from .ending import cancel_waiting_runs, request_cancels
from .grabbing import born_claimed, grab_runs
from .moving import by_schedule
from .schedules import end_schedules
from .skipping import insert_skips

NEW_RUN = (
    "id", "schedule_id", "revision", "kind", "window_at", "tenant", "job", "queue", "priority", "due_at", "slot",
    "hold", "lane", "max_attempts", "timeout_ms", "fired_at", "payload", "claimed_by", "attempt", "fence",
    "started_at", "deadline_at", "fair_key",
)  # fmt: skip
SET_ASIDE_FOR_MS = 60_000
LEFT_TO_OTHERS_FOR_MS = 1_000
"""How long an instance puts off what only a newer one can read: that one is to fire it before it counts as missed."""


def fire_due(
    now: int,
    limit: int,
    rules: FireRules,
    definitions: Definitions,
    tried: list[Tried],
    grab: Grab | None = None,
    expected: tuple[float, float] | None = None,
    term: Term | None = None,
) -> Program[Fired]:
    """Fire up to ``limit`` due windows; see ``Firing.fire_due``. Notes in ``tried`` what it has in hand."""
    if expected is not None and not expected[0] <= now <= expected[1]:
        return Fired(now=now, next_fire_at=now)
    due = yield from _take_due(now, limit, term)
    if due is None:
        return Fired(now=now, deposed=True)
    tried[:] = [Tried(cursor.schedule_id, cursor.fire_at) for cursor, _ in due if cursor.fire_at is not None]
    if not due:
        (next_rows,) = yield group(query("next_fire"), last=True)
        # Nothing to lock although something is due: another instance holds it. Look again soon.
        return Fired(now=now, next_fire_at=next_rows[0][0], more=False)
    known, missing = definitions.look_up((cursor.schedule_id, cursor.revision) for cursor, _ in due)
    heeding = [c.schedule_id for c, _ in due if _heeds(known.get((c.schedule_id, c.revision)))]
    calendars = definitions.calendars
    asked = calendars.ask(named_calendars(due, known) if calendars.used else ())
    answers = yield group(
        batch("open_runs", {"schedule_id": heeding}),
        read_revisions(missing),
        query("grab_session", session=grab.session if grab else None),
        query("governed_queues"),
        asked.step,
    )
    open_runs = by_schedule(answers[0])
    definitions.read(known, answers[1])
    tick = Tick(now, rules)
    if calendars.used:
        tick.calendars = calendars.read(asked, answers[4])
        if missing:  # what was only just read may name others
            tick.calendars |= yield from calendars.load(named_calendars(due, known) - tick.calendars.keys())
    for cursor, tenant in due:
        if tick.windows >= limit:
            break
        id = cursor.schedule_id
        tick.add(cursor, known.get((id, cursor.revision)), open_runs.get(id, ()), tenant, limit)
    tick.governed = {row[0] for row in answers[3]}
    full = len(due) >= limit or tick.windows >= limit
    fired = yield from write_tick(tick, grab if answers[2] else None, full=full, last=True)
    if not tick.grabbed:
        return fired
    return replace(fired, claims=[born_claimed(run, known) for run in tick.grabbed if run.id in tick.inserted])


def _take_due(now: int, limit: int, term: Term | None) -> Program[list[tuple[Cursor, str]] | None]:
    """Lock due cursors, and answer them with their tenants; None where the term is not the leader's present one."""
    due = query("due_cursors", now=now, limit=limit)
    if term is None:
        rows = yield due
    else:
        held = query("hold_term", role=LEADER, session=term.session, term=term.number)
        leads, rows = yield group(held, due)
        if not leads:
            return None
    return [(read_cursor(row), row[len(CURSOR)]) for row in rows]


def fire_held(now: int, cursor: Cursor, tenant: str, rules: FireRules, definitions: Definitions) -> Program[Fired]:
    """Fire what is due of one schedule whose cursor the caller has locked."""
    known = yield from definitions.load([(cursor.schedule_id, cursor.revision)])
    open_runs = by_schedule((yield batch("open_runs", {"schedule_id": [cursor.schedule_id]})))
    tick = Tick(now, rules)
    tick.calendars = yield from definitions.calendars.load(named_calendars([(cursor, tenant)], known))
    definition = known.get((cursor.schedule_id, cursor.revision))
    tick.add(cursor, definition, open_runs[cursor.schedule_id], tenant, rules.per_schedule)
    return (yield from write_tick(tick, None, full=False))


def _heeds(definition: Definition | DulyError | None) -> bool:
    """Whether to read the open runs of a schedule; of one that is only being read, nobody knows."""
    return not isinstance(definition, Definition) or heeds_open_runs(definition)


def set_aside(now: int, tried: Tried, error: str) -> Program[bool]:
    """Put off a schedule whose window the database itself refuses; see ``Firing.set_aside``."""
    rows = yield query(
        "set_aside", schedule_id=tried.schedule_id, fire_at=tried.fire_at, until=now + SET_ASIDE_FOR_MS, error=error
    )
    return bool(rows)


class Tick:
    """What one fire is going to write."""

    def __init__(self, now: int, rules: FireRules) -> None:
        self.now = now
        self.rules = rules
        self.windows = 0
        self.cursors: list[Cursor] = []
        self.runs: list[NewRun] = []
        self.skips: list[tuple[str, SkippedWindows]] = []
        self.cancel_running: list[str] = []
        self.cancel_waiting: dict[str, str] = {}
        self.release: dict[str, str] = {}
        self.ended: list[str] = []
        self.set_aside: list[SetAside] = []
        self.lateness_ms: list[int] = []
        self.grabbed: list[NewRun] = []
        self.inserted: set[str] = set()
        self.governed: Collection[str] = ()
        self.calendars: dict[Name, Days] = {}

    def add(
        self,
        cursor: Cursor,
        definition: Definition | DulyError | None,
        open_runs: Sequence[OpenRun],
        tenant: str,
        limit: int,
    ) -> None:
        """Plan one schedule; one that cannot be planned keeps its window and is set aside with the error."""
        try:
            if not isinstance(definition, Definition):
                raise definition or LookupError("its revision is not stored")
            exclusions = None
            if definition.calendars or definition.exclude_dates:
                exclusions = exclusions_of(definition, tenant, self.calendars)
            planned = plan(
                cursor,
                definition,
                open_runs,
                now=self.now,
                rules=self.rules,
                tenant=tenant,
                budget=limit - self.windows,
                exclusions=exclusions,
            )
        except Exception as error:  # noqa: BLE001 - around a planner: one broken schedule never stops another
            text = f"{type(error).__name__}: {error}"
            put_off = LEFT_TO_OTHERS_FOR_MS if isinstance(error, UnreadableDefinition) else SET_ASIDE_FOR_MS
            self.set_aside.append(SetAside(cursor.schedule_id, text))
            self.cursors.append(replace(cursor, fire_at=self.now + put_off, error=text))
            return
        self._take(planned, cursor, tenant)

    def _take(self, planned: Plan, before: Cursor, tenant: str) -> None:
        self.windows += len(planned.runs) or 1
        self.cursors.append(planned.cursor)
        self.runs += planned.runs
        if planned.skips:
            self.skips += [(tenant, skip) for skip in planned.skips]
        if planned.cancel_running:
            self.cancel_running += planned.cancel_running
        if planned.cancel_waiting:
            self.cancel_waiting |= dict.fromkeys(planned.cancel_waiting, before.schedule_id)
            self.release |= dict.fromkeys(planned.release, before.schedule_id)
        if planned.cursor.status.ended:
            self.ended.append(before.schedule_id)
        if planned.runs and before.fire_at is not None:
            self.lateness_ms.append(self.now - before.fire_at)


def named_calendars(due: Iterable[tuple[Cursor, str]], known: Known) -> set[Name]:
    """The calendars that the definitions of due schedules name."""
    names: set[Name] = set()
    for cursor, tenant in due:
        definition = known.get((cursor.schedule_id, cursor.revision))
        if isinstance(definition, Definition) and definition.calendars:
            names.update((tenant, name) for name in definition.calendars)
    return names


def write_tick(tick: Tick, grab: Grab | None, *, full: bool, last: bool = False) -> Program[Fired]:
    """Write what was planned; ``last`` where the transaction does nothing afterwards."""
    if tick.cancel_waiting:
        ended = yield from cancel_waiting_runs(tick.now, list(tick.cancel_waiting), Reason.SUPERSEDED)
        claimed_meanwhile = {tick.cancel_waiting[id] for id in tick.cancel_waiting.keys() - ended}
        _hold_behind(claimed_meanwhile, tick.runs)
        released = [id for id, schedule_id in tick.release.items() if schedule_id not in claimed_meanwhile]
        if released:
            yield query("release_lane", ids=sorted(released), now=tick.now)
    if tick.cancel_running:
        yield from request_cancels(tick.now, tick.cancel_running)
    if grab is not None:
        tick.grabbed = grab_runs(tick.now, tick.runs, grab, tick.governed)
    yield from end_schedules(tick.now, tick.ended)
    inserted, _, _, next_rows = yield group(
        batch("insert_runs", columns(NEW_RUN, map(new_run_row, tick.runs))),
        insert_skips(tick.skips),
        batch("move_cursors", cursor_columns(tick.cursors)),
        query("next_fire"),
        last=last,
    )
    tick.inserted = {row[0] for row in inserted}
    return Fired(
        now=tick.now,
        windows=tick.windows,
        runs=len(tick.inserted),
        skipped=sum(skip.windows for _, skip in tick.skips),
        skips=[skip for _, skip in tick.skips],
        duplicates=len(tick.runs) - len(tick.inserted),
        cancels=len(tick.cancel_running),
        lateness_ms=tick.lateness_ms,
        set_aside=tick.set_aside,
        next_fire_at=next_rows[0][0],
        more=full,
    )


def _hold_behind(schedule_ids: Collection[str], runs: Sequence[NewRun]) -> None:
    """Hold the new runs of schedules whose waiting run was claimed while we made it give way."""
    for run in runs:
        if run.schedule_id in schedule_ids:
            run.hold = Hold.LANE


def new_run_row(run: NewRun) -> tuple[Any, ...]:
    """The values of NEW_RUN, in order."""
    return (
        run.id, run.schedule_id, run.revision, run.kind.value, run.window_at, run.tenant, run.job, run.queue,
        run.priority, run.due_at, run.slot, int(run.hold), run.lane, run.max_attempts, run.timeout_ms, run.fired_at,
        run.payload, run.claimed_by, run.attempt, run.fence, run.started_at, run.deadline_at,
        run.fair_key,
    )  # fmt: skip
