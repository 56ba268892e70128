"""The fire: which windows of a schedule become runs now, and which are dropped and why.

``plan`` is called for each due cursor inside the fire's transaction, under the cursor's lock. It decides everything
and touches nothing: the same cursor, open runs and instant give the same rows with the same ids. Windows are dealt
with oldest first and the cursor never moves back, so a window is dealt with once, whoever asks.
"""

from __future__ import annotations

from collections.abc import Sequence

from duly.core.policy import Missed
from duly.core.rules.draft import Draft
from duly.core.rules.excluding import Exclusions, excluded_window, steps_excluding
from duly.core.rules.missed import Dropped, sort_out
from duly.core.rules.plans import FireRules, Plan, moved, new_run, unmoved
from duly.core.rules.windows import Windows, fire_instant, next_window, within_end
from duly.core.run import OpenRun
from duly.core.schedule import Cursor, Definition
from duly.core.timing import Every

__all__ = ["FireRules", "Plan", "plan"]


def plan(
    cursor: Cursor,
    definition: Definition,
    open_runs: Sequence[OpenRun],
    *,
    now: int,
    rules: FireRules,
    tenant: str = "",
    budget: int = 50,
    exclusions: Exclusions | None = None,
) -> Plan:
    """Deal with the windows whose instant has come, at most ``budget`` of them; the rest stays due.

    ``open_runs`` are all runs of the schedule that have not ended. A parked cursor (``fire_at`` is None) is left
    alone. When nothing is due, only ``fire_at`` may change. Windows on dates of ``exclusions`` are dropped.
    """
    window, fire_at = cursor.next_window_at, cursor.fire_at
    if window is None or fire_at is None:
        return unmoved(cursor, window, None)
    if budget <= 0:
        return unmoved(cursor, window, fire_at)
    if not open_runs and (exclusions is None or exclusions.excludes(window) is None):
        plain = _plan_plain(cursor, definition, window, now, rules, tenant)
        if plain is not None:
            return plain
    draft = Draft(cursor, definition, open_runs, now, rules, tenant)
    return _plan_backlog(draft, window, fire_at, min(budget, rules.per_schedule), exclusions)


def _plan_plain(
    cursor: Cursor, definition: Definition, window: int, now: int, rules: FireRules, tenant: str
) -> Plan | None:
    """The plan, if this window alone is due, no run is open and the schedule goes on; else None.

    Nearly every fire is such a one, and at tens of thousands a second it may cost little more than its rows.
    """
    timing = definition.timing
    if window > now or (type(timing) is Every and timing.after_completion):
        return None
    if cursor.window_at is not None and window <= cursor.window_at:
        return None
    following = timing.next_after_ms(window)
    if following is None or following <= now or _may_end(cursor, definition, following):
        return None
    due_at, fire_at = window, following
    if definition.jitter is not None:
        due_at = definition.jitter.fire_at_ms(definition.key, window, following)
        fire_at = fire_instant(definition, following)
    if not now - rules.grace_ms < due_at <= now:
        return None
    run = new_run(cursor, definition, window, due_at, 0, now, rules, tenant)
    return Plan(moved(cursor, window, following, fire_at, 1, now, False), [run], [], [], [])


def _may_end(cursor: Cursor, definition: Definition, following: int) -> bool:
    """Whether this fire could be the last one."""
    if definition.max_runs is not None and cursor.fired + 1 >= definition.max_runs:
        return True
    return definition.end_at is not None and following > definition.end_at


def _plan_backlog(draft: Draft, window: int, fire_at: int, limit: int, exclusions: Exclusions | None) -> Plan:
    """Deal with any number of windows, under all policies."""
    cursor, definition = draft.cursor, draft.definition
    first = within_end(definition, window)
    if cursor.window_at is not None and window <= cursor.window_at:
        # Written under a clock that lagged: that window was used, and the schedule moves on.
        first = next_window(definition, cursor.window_at)
    if first is None:
        return draft.close_at_end()
    windows = Windows(definition, first)
    prompt = first == window and _is_prompt(cursor, fire_at, fire_instant(definition, first))
    if prompt and fire_at > draft.now:
        return unmoved(cursor, first, fire_at)
    if not draft.spent:
        if prompt:
            _deal_with_prompt(draft, windows, fire_at, limit, exclusions)
        else:
            _deal(draft, windows, limit, exclusions)
    return draft.close(windows)


def _is_prompt(cursor: Cursor, fire_at: int, natural: int) -> bool:
    """Whether a window of the past was made due on purpose: its cursor then asks for a later instant than it does.

    So does a cursor that was set aside with an error; that one is as late as it is, unless it is the first of all.
    """
    return fire_at > natural and (cursor.error is None or cursor.window_at is None)


def _deal_with_prompt(draft: Draft, windows: Windows, due_at: int, limit: int, exclusions: Exclusions | None) -> None:
    """Deal first with a window that is due since ``due_at``, however old it is."""
    first = windows.first
    by = None if exclusions is None else exclusions.excludes(first)
    if by is None:
        draft.offer(first, due_at)
    else:
        draft.drop(excluded_window(first, by))
    rest = windows.following(first)
    if rest is not None and not draft.spent:
        _deal(draft, Windows(draft.definition, rest), limit - 1, exclusions)


def _deal(draft: Draft, windows: Windows, limit: int, exclusions: Exclusions | None) -> None:
    """Hand the windows whose instant has come to the draft, oldest first."""
    definition, now, grace_ms = draft.definition, draft.now, draft.rules.grace_ms
    if exclusions is None:
        steps = sort_out(windows, definition, now=now, grace_ms=grace_ms, limit=limit).steps
    else:
        steps = steps_excluding(windows, definition, exclusions, now=now, grace_ms=grace_ms, limit=limit)
    in_line = definition.catch_up.policy is Missed.ALL
    for step in steps:
        if draft.spent:
            return
        if isinstance(step, Dropped):
            draft.drop(step)
        elif in_line and (step.missed or draft.is_of_the_line(step.window)):
            draft.fire_in_line(step.window)
        else:
            draft.offer(step.window, fire_instant(definition, step.window))
