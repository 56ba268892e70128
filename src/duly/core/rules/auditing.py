"""The judgement of an audit: the windows a schedule must have had, against the rows that are there."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

from duly.core.audit import Fault, Finding, Ledger, Life, NotJudged, Stop, WindowRow
from duly.core.errors import DulyError
from duly.core.ids import window_run_id
from duly.core.instants import to_datetime
from duly.core.rules.living import Reign, explains, pauses_of, reigns_of, windows_of
from duly.core.schedule import ScheduleStatus
from duly.core.timing import Every, zone_named

MOST_WINDOWS = 100_000
"""Windows of one schedule that one audit looks at."""

_EPOCH_DAY = 719_163
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is looked at: windows from ``since`` to ``until``; what fires later than ``late_ms`` is late."""

    since: int
    until: int
    late_ms: int
    most: int = MOST_WINDOWS


@dataclass(slots=True)
class Judgement:
    """What came of one schedule."""

    windows: int = 0
    rows: int = 0
    findings: list[Finding] = field(default_factory=list)
    not_judged: list[NotJudged] = field(default_factory=list)


def judge(life: Life, ledger: Ledger, bounds: Bounds) -> Judgement:
    """Compare one schedule's windows with its rows."""
    if life.schedule_id in ledger.going:
        return Judgement(not_judged=[_not(life, "it is being removed with all that it left")])
    unreadable = next((one for one in life.revisions if isinstance(one.definition, DulyError)), None)
    if unreadable is not None or not life.revisions:
        number = "its revision" if unreadable is None else f"revision {unreadable.number}"
        return Judgement(not_judged=[_not(life, f"{number} cannot be read by this version")])
    return _Case(life, ledger, bounds).decide()


def _not(life: Life, why: str) -> NotJudged:
    return NotJudged(why, life.schedule_id, life.key)


class _Case:
    """One schedule before the judge."""

    def __init__(self, life: Life, ledger: Ledger, bounds: Bounds) -> None:
        self._life = life
        self._ledger = ledger
        self._bounds = bounds
        self._reigns = reigns_of(life)
        self._by_number = {reign.number: reign for reign in self._reigns}
        self._held = [*ledger.stops, *(Stop(pause.since, pause.until) for pause in pauses_of(life))]
        self._result = Judgement()

    def decide(self) -> Judgement:
        life, bounds, result = self._life, self._bounds, self._result
        asked = windows_of(life, self._reigns, bounds.since, min(bounds.until, self._ledger.now))
        due = dict(islice(asked, bounds.most + 1))
        if len(due) > bounds.most:
            why = f"it has more than {bounds.most} windows in the period; ask about a shorter one"
            result.not_judged.append(_not(life, why))
            return result
        windows = sorted(due)
        rows = [row for row in life.rows if row.window_at >= bounds.since and row.oldest <= bounds.until]
        result.windows, result.rows = len(windows), len(rows)
        covered = self._cover(due, rows)
        self._missing(windows, [(window, due[window]) for window in windows if window not in covered])
        for row in rows:
            self._look_at(row, due, alone=len(covered.get(row.window_at, ())) < 2)
        self._chain(rows)
        return result

    def _cover(self, due: dict[int, Reign], rows: Iterable[WindowRow]) -> dict[int, list[WindowRow]]:
        """Which rows speak of which window; more than one is a finding."""
        windows = sorted(due)
        covered: dict[int, list[WindowRow]] = {}
        for row in rows:
            spoken = {row.window_at}
            if row.since is not None:
                between = windows[bisect_left(windows, row.oldest) : bisect_right(windows, row.window_at)]
                spoken.update(window for window in between if self._is_of(row, window, due[window]))
            for window in spoken:
                covered.setdefault(window, []).append(row)
        for window, told in sorted(covered.items()):
            if len(told) > 1:
                words = " and ".join(sorted(row.status or "open" for row in told))
                self._find(Fault.DOUBLED, window, f"{len(told)} rows: {words}", run_id=told[0].id)
        return covered

    def _is_of(self, row: WindowRow, window: int, reign: Reign) -> bool:
        """Whether a range speaks of a window: of its ends, and of what its own timing has between them."""
        if window in (row.oldest, row.window_at) or reign.number == row.revision:
            return True
        own = self._by_number.get(row.revision)
        return own is not None and own.definition.timing == reign.definition.timing

    def _missing(self, windows: Sequence[int], rowless: Sequence[tuple[int, Reign]]) -> None:
        """Windows without a row: to come yet, late, or missed."""
        life, ledger, found = self._life, self._ledger, self._result.findings
        purged = ledger.purged_before or 0
        missed: list[int] = []
        owed: dict[int, int] = {}
        for window, reign in rowless:
            fire_at = max(fire_instant(reign, window), reign.made_at)
            passed = life.window_at is not None and window <= life.window_at
            if window < purged or (fire_at + self._bounds.late_ms > ledger.now and not passed):
                continue
            if not self._is_to_come(window):
                if not self._is_spent(window):
                    missed.append(window)
            elif (waited := self._waited(fire_at, ledger.now)) > self._bounds.late_ms:
                owed[window] = waited
        for since, until, count in _neighbours(missed, windows):
            detail = "no row says what became of it" if count == 1 else f"no row says what became of these {count}"
            found.append(self._finding(Fault.MISSED, until, detail, since=since, windows=count))
        for since, until, count in _neighbours([*owed], windows):
            detail = f"has not fired yet, {owed[since] // 1000} s after its time"
            detail += f": {life.error}" if life.error else ""
            found.append(self._finding(Fault.LATE, until, detail, since=since, windows=count))

    def _is_to_come(self, window: int) -> bool:
        """Whether the cursor has still to deal with it, and will."""
        life = self._life
        if life.status.ended or life.next_window_at is None or life.next_window_at > window:
            return False
        if life.window_at is not None and window <= life.window_at:
            return False
        return life.fire_at is not None or life.paused_at is not None

    def _is_spent(self, window: int) -> bool:
        """Whether the schedule had fired as often as it may before this window."""
        life = self._life
        most = self._reigns[-1].definition.max_runs
        spent = life.status is ScheduleStatus.COMPLETED and most is not None and life.fired >= most
        return spent and (life.window_at is None or window > life.window_at)

    def _waited(self, since: int, until: int) -> int:
        """How long a fire took, without the time in which nothing was to fire."""
        waited, counted = until - since, since
        for stop in sorted(self._held, key=lambda stop: stop.since):
            low, high = max(stop.since, counted), until if stop.until is None else min(stop.until, until)
            if low < high:
                waited, counted = waited - (high - low), high
        return waited

    def _look_at(self, row: WindowRow, due: dict[int, Reign], *, alone: bool) -> None:
        life, bounds = self._life, self._bounds
        window = row.window_at
        if not bounds.since <= window <= bounds.until:
            return
        reign = self._by_number.get(row.revision)
        if reign is None:
            self._find(Fault.UNEXPLAINED, window, f"of revision {row.revision}, which is not there", run_id=row.id)
            return
        if window not in due and not explains(life, self._reigns, window):
            self._find(Fault.UNEXPLAINED, window, "the schedule has no such window", run_id=row.id)
            return
        if alone and row.id != window_run_id(life.schedule_id, window):
            self._find(Fault.UNEXPLAINED, window, "the row's id is that of another window", run_id=row.id)
        if row.skipped:
            self._check_range(row, reign, due)
            return
        if _excluded(reign, window):
            self._find(Fault.UNEXPLAINED, window, "it fired on a date that its schedule excludes", run_id=row.id)
        if row.fired_at < window:
            self._find(Fault.EARLY, window, f"it fired {window - row.fired_at} ms before its time", run_id=row.id)
        late = self._waited(max(fire_instant(reign, window), reign.made_at), row.fired_at)
        if late > bounds.late_ms:
            self._find(Fault.LATE, window, f"it fired {late // 1000} s after its time", run_id=row.id)

    def _check_range(self, row: WindowRow, reign: Reign, due: dict[int, Reign]) -> None:
        """A range must begin at a window and count as many as it covers; the first may be an older revision's."""
        oldest, bounds = row.oldest, self._bounds
        if reign.definition.counts_from_completion or row.windows is None or row.windows > bounds.most:
            return
        if oldest >= bounds.since and oldest not in due and not explains(self._life, self._reigns, oldest):
            self._find(Fault.UNEXPLAINED, oldest, "a skipped row begins here, at no window", run_id=row.id)
            return
        count = 1 + reign.definition.timing.count_between_ms(oldest, row.window_at)
        if count != row.windows:
            detail = f"a skipped row that covers {count} windows and counts {row.windows}"
            self._find(Fault.UNEXPLAINED, row.window_at, detail, run_id=row.id)

    def _chain(self, rows: Sequence[WindowRow]) -> None:
        """An interval that counts from the end of a run has no windows but these: one interval apart, and going on."""
        last = self._reigns[-1]
        life, timing = self._life, last.definition.timing
        if not (isinstance(timing, Every) and timing.after_completion):
            return
        ordered = sorted((row for row in rows if row.revision == last.number), key=lambda row: row.window_at)
        for before, row in pairwise(ordered):
            if before.window_at < row.window_at < before.window_at + timing.every_ms:
                self._find(Fault.UNEXPLAINED, row.window_at, "less than an interval after the one before", row.id)
        now, late_ms = self._ledger.now, self._bounds.late_ms
        if life.status.ended or life.paused_at is not None or life.busy or any(row.status is None for row in life.rows):
            return
        ended = max((row.finished_at for row in life.rows if row.finished_at is not None), default=None)
        if life.fire_at is not None:
            waited = self._waited(life.fire_at, now)
            if waited > late_ms and life.next_window_at is not None:
                self._find(Fault.LATE, life.next_window_at, f"has not fired yet, {waited // 1000} s after its time")
        elif ended is not None and ended + late_ms <= now:
            self._find(Fault.MISSED, ended, "its run has ended, and no next window was set")

    def _find(self, fault: Fault, window: int, detail: str, run_id: str | None = None) -> None:
        self._result.findings.append(self._finding(fault, window, detail, run_id=run_id))

    def _finding(
        self,
        fault: Fault,
        window: int,
        detail: str,
        *,
        since: int | None = None,
        windows: int = 1,
        run_id: str | None = None,
    ) -> Finding:
        life = self._life
        return Finding(
            fault=fault,
            schedule_id=life.schedule_id,
            key=life.key,
            tenant=life.tenant,
            at=window,
            since_ms=window if since is None else since,
            windows=windows,
            detail=detail,
            run_id=run_id,
        )


def fire_instant(reign: Reign, window: int) -> int:
    """When a window was to fire: at its own time, or later by its jitter."""
    jitter, timing = reign.definition.jitter, reign.definition.timing
    if jitter is None:
        return window
    following = timing.next_after_ms(window)
    return jitter.fire_at_ms(reign.definition.key, window, following)


def purged_note(ledger: Ledger, since: int) -> list[NotJudged]:
    """What holds for all schedules: whether some windows of the period may have lost their rows to retention."""
    if ledger.purged_before is None or ledger.purged_before <= since:
        return []
    before = to_datetime(ledger.purged_before).isoformat().replace("+00:00", "Z")
    return [NotJudged(f"whether windows before {before} were missed: retention has deleted rows up to then")]


def _excluded(reign: Reign, window: int) -> bool:
    dates = reign.definition.exclude_dates
    if not dates:
        return False
    second = window // 1000
    day = (second + zone_named(reign.definition.timing.timezone).offset_at(second)) // _DAY + _EPOCH_DAY
    return any(one.toordinal() == day for one in dates)


def _neighbours(some: Sequence[int], of: Sequence[int]) -> list[tuple[int, int, int]]:
    """Neighbours among ``of`` that are all in ``some``: first, last and how many."""
    wanted, found = set(some), list[list[int]]()
    last_in = False
    for window in of:
        if window in wanted:
            found[-1].append(window) if last_in else found.append([window])
        last_in = window in wanted
    return [(part[0], part[-1], len(part)) for part in found]
