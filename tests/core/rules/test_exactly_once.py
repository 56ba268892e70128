"""Each window is dealt with exactly once, whatever the policies and whenever somebody looks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from duly.core.policy import CatchUp, Missed, Overlap
from duly.core.rules.excluding import Exclusions
from duly.core.rules.firing import FireRules, Plan, plan
from duly.core.rules.overlap import in_lane, lane_release
from duly.core.run import Hold, OpenRun, Reason
from duly.core.schedule import Cursor, Definition
from duly.core.timing import Cron, Every, Jitter
from tests.core.rules.making import HOUR, MINUTE, SECOND, T0, created, define
from tests.properties import examples

timings = st.sampled_from(
    [
        Every("1s"),
        Every("7s"),
        Every("90s", anchor="start").anchored_at(T0 + 13),
        Cron("* * * * *"),
        Cron("*/5 * * * * *"),
        Cron("3,4,50 * * * * *"),
        Cron("*/10 6-8 * * *", "America/New_York"),
    ]
)
jitters = st.none() | st.builds(lambda low, more: Jitter(low, low + more), st.integers(0, 9000), st.integers(0, 90_000))
definitions = st.builds(
    define,
    timings,
    jitter=jitters,
    overlap=st.sampled_from(Overlap),
    max_queued=st.integers(1, 3),
    max_concurrent=st.none() | st.integers(1, 3),
    catch_up=st.builds(
        CatchUp, st.sampled_from(Missed), max_lateness=st.sampled_from([0, 30, 600, 86_400]), max_runs=st.integers(1, 8)
    ),
    end_at=st.none() | st.just(T0 + 20 * MINUTE),
    fire_current_window=st.booleans(),
)
pauses = st.integers(0, 1500) | st.integers(0, 30 * SECOND) | st.integers(0, 10 * MINUTE) | st.just(HOUR)
steps = st.lists(st.tuples(pauses, st.integers(1, 60), st.integers(0, 3)), min_size=1, max_size=25)


@dataclass
class World:
    """A store in miniature: a cursor, the open runs, and what became of every window."""

    definition: Definition
    cursor: Cursor
    open_runs: dict[str, OpenRun] = field(default_factory=dict)
    fired: list[int] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    excluded: list[int] = field(default_factory=list)
    exclusions: Exclusions | None = None

    def fire(self, now: int, budget: int) -> Plan:
        made = plan(
            self.cursor,
            self.definition,
            list(self.open_runs.values()),
            now=now,
            rules=FireRules(),
            budget=budget,
            exclusions=self.exclusions,
        )
        assert len(made.runs) <= budget
        if self.definition.catch_up.policy is Missed.ALL:
            for run_id in (*made.cancel_waiting, *made.cancel_running):
                assert self.open_runs[run_id].fired_at - self.open_runs[run_id].due_at < FireRules().grace_ms
        for run_id in made.cancel_waiting:
            assert not self.open_runs.pop(run_id).claimed
        for run_id in made.cancel_running:
            assert self.open_runs[run_id].claimed
            self.open_runs[run_id] = replace(self.open_runs[run_id], cancel_requested=True)
        for run_id in made.release:
            assert self.open_runs[run_id].hold == Hold.LANE
            self.open_runs[run_id] = replace(self.open_runs[run_id], hold=Hold.NONE)
        for run in made.runs:
            assert run.window_at is not None
            assert run.window_at <= run.due_at <= now
            assert run.id not in self.open_runs
            self.open_runs[run.id] = run.opened()
            self.fired.append(run.window_at)
        for row in made.skips:
            covered = list(self.definition.timing.between_ms(row.since - 1, row.window_at))
            assert (len(covered), covered[0], covered[-1]) == (row.windows, row.since, row.window_at)
            self.skipped += covered
            if row.reason is Reason.EXCLUDED:
                self.excluded += covered
        self._move(made.cursor, now)
        self.check_overlap()
        return made

    def _move(self, cursor: Cursor, now: int) -> None:
        before = self.cursor.window_at
        assert before is None or (cursor.window_at is not None and cursor.window_at >= before)
        assert cursor.fired == len(self.fired)
        if cursor.next_window_at is not None:
            assert cursor.window_at is None or cursor.next_window_at > cursor.window_at
            assert cursor.fire_at is not None
        else:
            assert cursor.status.ended
        self.cursor = cursor

    def check_overlap(self) -> None:
        definition, open_runs = self.definition, list(self.open_runs.values())
        assert not open_runs or in_lane(open_runs), "a lane in which everybody waits is never freed"
        if definition.catch_up.policy is Missed.ALL:
            return
        if definition.overlap is Overlap.SKIP:
            assert len(open_runs) <= 1
        if definition.overlap is Overlap.QUEUE:
            assert len(open_runs) <= 1 + definition.max_queued
        if definition.overlap is Overlap.CANCEL_PREVIOUS:
            assert sum(not run.claimed for run in open_runs) <= 1
        if definition.overlap is not Overlap.ALLOW or definition.max_concurrent is not None:
            assert in_lane(open_runs) <= definition.lane_width

    def work(self, count: int) -> None:
        """Claim what may be claimed, and let ``count`` runs end."""
        for run in list(self.open_runs.values()):
            if run.hold == Hold.NONE:
                self.open_runs[run.id] = replace(run, claimed=True)
        for run_id in sorted(run.id for run in self.open_runs.values() if run.claimed)[:count]:
            del self.open_runs[run_id]
            for released in lane_release(self.definition, list(self.open_runs.values())):
                self.open_runs[released] = replace(self.open_runs[released], hold=Hold.NONE)


def expected_windows(definition: Definition, now: int) -> list[int]:
    """The same question, asked of the timing alone."""
    until = now if definition.end_at is None else min(now, definition.end_at)
    current = definition.timing.latest_at_ms(T0) if definition.fire_current_window else None
    found = list(definition.timing.between_ms(T0 if current is None else current - 1, until))
    following = [*found[1:], definition.timing.next_after_ms(found[-1])] if found else []
    return [window for window, then in zip(found, following, strict=True) if definition.fire_at(window, then) <= now]


@settings(max_examples=examples(400), deadline=None)
@given(definitions, steps)
def test_every_window_is_fired_or_skipped_exactly_once(definition, steps):
    world = World(definition, created(definition))
    now = T0
    for wait, budget, ends in steps:
        now += wait
        world.fire(now, budget)
        world.work(ends)
    while world.cursor.fire_at is not None and world.cursor.fire_at <= now:
        moved_from = world.cursor
        world.fire(now, 50)
        assert world.cursor != moved_from, "what is due has to be dealt with"
    assert sorted(world.fired + world.skipped) == expected_windows(definition, now)


@settings(max_examples=examples(150), deadline=None)
@given(definitions, steps, st.integers(1, 6))
def test_a_schedule_never_fires_more_often_than_it_may(definition, steps, max_runs):
    world = World(replace(definition, max_runs=max_runs), created(definition))
    now = T0
    for wait, budget, ends in steps:
        now += wait
        world.fire(now, budget)
        world.work(ends)
    assert len(world.fired) <= max_runs
    assert world.cursor.status.ended == (len(world.fired) == max_runs or world.cursor.next_window_at is None)
