"""A plan in the making: what one fire does with the windows of one schedule, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from duly.core.rules.missed import Dropped, joins_line
from duly.core.rules.overlap import Admission, admit
from duly.core.rules.plans import FireRules, Plan, moved, never_ran, new_run, skipped_row, unmoved
from duly.core.rules.windows import Windows, fire_instant, within_end
from duly.core.run import Hold, NewRun, OpenRun, Reason, RunKind
from duly.core.schedule import Cursor, Definition
from duly.core.timing import Every, Once


class Draft:
    """Deals with windows oldest first; ``close`` makes the plan."""

    def __init__(
        self,
        cursor: Cursor,
        definition: Definition,
        open_runs: Sequence[OpenRun],
        now: int,
        rules: FireRules,
        tenant: str,
    ) -> None:
        self.cursor = cursor
        self.definition = definition
        self._open = list(open_runs)
        self.now = now
        self.rules = rules
        self._tenant = tenant
        self._born: dict[str, NewRun] = {}
        self._dropped: list[Dropped] = []
        self._cancel_running: list[str] = []
        self._cancel_waiting: list[str] = []
        self._release: list[str] = []
        self._dealt: int | None = None

    @property
    def spent(self) -> bool:
        """Whether the schedule has fired as often as it may."""
        max_runs = self.definition.max_runs
        return max_runs is not None and self.cursor.fired + len(self._born) >= max_runs

    def drop(self, dropped: Dropped) -> None:
        """Pass over windows that are not to fire."""
        self._dropped.append(dropped)
        self._dealt = dropped.until

    def is_of_the_line(self, window: int) -> bool:
        """Whether a due window waits for the runs before it instead of being refused: it had come when they fired."""
        if not joins_line(self.definition):
            return False
        at = fire_instant(self.definition, window)
        return any(run.kind == RunKind.WINDOW and run.window_at < window and at <= run.fired_at for run in self._open)

    def fire_in_line(self, window: int) -> None:
        """Fire a window behind everything that is open, whatever the overlap policy."""
        self._dealt = window
        self._insert(window, fire_instant(self.definition, window), Hold.LANE if self._open else Hold.NONE)

    def offer(self, window: int, due_at: int) -> None:
        """Fire a window if the overlap policy lets it, else skip it."""
        self._dealt = window
        admission = admit(self.definition, self._open, self.rules.grace_ms)
        if admission.refused is not None:
            self._skip(window, admission.refused)
            return
        if admission.cancel_waiting or admission.cancel_running:
            self._cancel(admission)
        self._insert(window, due_at, admission.hold)

    def close(self, windows: Windows) -> Plan:
        """The plan; ``windows`` are those that the draft was made from."""
        next_window, ended = self._next(windows)
        fire_at = None if next_window is None else fire_instant(self.definition, next_window)
        if self._dealt is None and not ended:
            return unmoved(self.cursor, next_window, fire_at)
        return self._plan(next_window, fire_at, ended)

    def close_at_end(self) -> Plan:
        """The plan of a schedule that has no window left."""
        return self._plan(None, None, ended=True)

    def _plan(self, next_window: int | None, fire_at: int | None, ended: bool) -> Plan:
        cursor = self.cursor
        dealt = cursor.window_at if self._dealt is None else self._dealt
        after = moved(cursor, dealt, next_window, fire_at, len(self._born), self.now, ended)
        if ended and self._dropped and after.fired == 0 and isinstance(self.definition.timing, Once):
            after = never_ran(after, self._dropped[-1].reason, self._dropped[-1].detail)
        return Plan(
            after,
            list(self._born.values()),
            [skipped_row(cursor, self.definition, dropped, self.now) for dropped in self._dropped],
            self._cancel_running,
            self._cancel_waiting,
            tuple(self._release),
        )

    def _next(self, windows: Windows) -> tuple[int | None, bool]:
        """The next window, and whether this was the end of the schedule."""
        timing = self.definition.timing
        fired = bool(self._born)
        if isinstance(timing, Once) and self._dealt is not None:
            return None, not fired  # the end of its run ends a one-shot that has fired
        if self.spent:
            return None, True
        if self._dealt is None:
            return windows.first, False
        if isinstance(timing, Every) and timing.after_completion:
            if fired:
                return None, False  # the end of the run brings the next window
            blocked = self._dropped[-1].reason in (Reason.OVERLAP, Reason.QUEUE_FULL)  # else it was missed
            window = within_end(self.definition, timing.after_end_ms(self._dealt if blocked else self.now))
            return window, window is None
        window = windows.following(self._dealt)
        return window, window is None

    def _insert(self, window: int, due_at: int, hold: Hold) -> None:
        run = new_run(self.cursor, self.definition, window, due_at, hold, self.now, self.rules, self._tenant)
        self._born[run.id] = run
        self._open.append(run.opened())

    def _cancel(self, admission: Admission) -> None:
        """Make way: what is open and unclaimed ends, what is claimed is asked to, what is unborn stays so, and the
        missed windows that waited for what ends move up."""
        for run_id in admission.cancel_waiting:
            unborn = self._born.pop(run_id, None)
            if unborn is None:
                self._cancel_waiting.append(run_id)
            elif unborn.window_at is not None:
                self._skip(unborn.window_at, Reason.SUPERSEDED)
        self._cancel_running += admission.cancel_running
        for run_id in admission.release:
            if run_id in self._born:
                self._born[run_id].hold = Hold.NONE
            else:
                self._release.append(run_id)
        self._open = [
            replace(
                run,
                hold=Hold.NONE if run.id in admission.release else run.hold,
                cancel_requested=run.cancel_requested or run.id in admission.cancel_running,
            )
            for run in self._open
            if run.id not in admission.cancel_waiting
        ]

    def _skip(self, window: int, reason: Reason) -> None:
        """Record a window that does not fire; neighbours with the same reason share a row."""
        last = self._dropped[-1] if self._dropped else None
        if last is not None and last.reason is reason and self._neighbours(last.until, window):
            self._dropped[-1] = Dropped(reason, last.since, window, last.windows + 1)
        else:
            self._dropped.append(Dropped(reason, window, window, 1))

    def _neighbours(self, before: int, window: int) -> bool:
        return self.definition.timing.next_after_ms(before) == window
