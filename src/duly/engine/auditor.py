"""Audits while everything runs: whether a fire is owed, and whether the windows of late have left their rows.

A look at what is due finds a schedule that does not fire, at once and at the same cost however many are stored. What
only a recomputation finds, a window that was passed over or a row too many, is looked for in turns: a few schedules at
a time, over the last minutes.
"""

from __future__ import annotations

from collections.abc import Callable

from duly.config import Settings
from duly.core.audit import Finding
from duly.core.rules.auditing import Bounds, judge
from duly.runtime.clock import Clock, turn
from duly.runtime.events import Observer
from duly.store.protocol import Store

from .jumps import JumpGuard

ROLE = "auditor"
OWED = 1000
SLICE = 50
SPAN_MS = 600_000
MOST_WINDOWS = 600
ROUND = 60.0
"""Seconds from the beginning of one round through all schedules to that of the next, at least."""


class Auditor:
    """Runs on one instance at a time, under a lease."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        observer: Observer,
        guard: JumpGuard,
        session: Callable[[], int | None],
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._observer = observer
        self._guard = guard
        self._session = session
        self._holds = False
        self._telling = True  # another instance may have told of some that are owed no more
        self._after: str | None = None
        self._next_round = 0.0
        self._began = 0.0
        self._known: dict[tuple[str, str, int], None] = {}
        self._seen: dict[tuple[str, str, int], None] = {}

    async def run_once(self) -> float:
        """Look at what is owed, and at the next few schedules; answer the seconds to the next look."""
        rest, session = self._settings.heartbeat, self._session()
        if session is None or self._guard.held_for() > 0:
            return max(rest, self._guard.held_for())
        if await self._store.take_lease(ROLE, session, lease_ms=self._settings.lease_ms) is None:
            self._let_go()
            return rest
        self._holds = True
        owed = await self._store.overdue(late_ms=self._late_ms, limit=OWED)
        self._observer.schedules_owed(len(owed), owed[:5])
        if owed or self._telling:  # also when the last of them is owed no more
            self._telling = await self._store.tell_overdue(late_ms=self._late_ms, limit=OWED) > 0
        if self._clock.steady() >= self._next_round:
            await self._audit_some()
        return rest

    @property
    def _late_ms(self) -> int:
        return round(self._settings.audit_late * 1000)

    def _let_go(self) -> None:
        """Another instance audits: what was owed is for that one to say."""
        if self._holds:
            self._holds, self._after, self._telling = False, None, True
            self._observer.schedules_owed(0, ())

    async def _audit_some(self) -> None:
        now = await self._store.now()
        bounds = Bounds(now - SPAN_MS, now, self._late_ms, most=MOST_WINDOWS)
        ledger = await self._store.read_ledger(since=bounds.since, until=now, limit=SLICE, after=self._after)
        assert ledger is not None
        if self._after is None:
            # What lasts is told once, when it is found first: a finding stays for as long as the span.
            self._known, self._seen = self._seen, {}
            self._began = self._clock.steady()
        fresh: list[Finding] = []
        for life in ledger.lives:
            for found in judge(life, ledger, bounds).findings:
                name = (found.schedule_id, found.fault.value, found.since_ms)
                if name not in self._known and name not in self._seen:
                    fresh.append(found)
                self._seen[name] = None
            await turn()
        if fresh:
            self._observer.audit_found(fresh)
        self._after = ledger.next
        if ledger.next is None:
            self._next_round = self._began + ROUND
