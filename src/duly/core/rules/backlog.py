"""What an operator decides about windows that fell due while nothing fired, instead of each schedule's own policy."""

from __future__ import annotations

from dataclasses import replace

from duly.core.policy import CatchUp, Missed
from duly.core.rules.plans import FireRules
from duly.core.rules.windows import fire_instant
from duly.core.schedule import Cursor, Definition
from duly.core.switch import Backlog

_POLICIES = {
    Backlog.SKIP: CatchUp(Missed.SKIP, max_runs=1),
    Backlog.LATEST: CatchUp(Missed.LATEST, max_runs=1),
}


def under(choice: Backlog, definition: Definition) -> Definition:
    """The definition with the operator's choice for its catch-up policy, however late a window is."""
    return definition if choice is Backlog.FIRE else replace(definition, catch_up=_POLICIES[choice])


def all_missed(rules: FireRules) -> FireRules:
    """The rules without a grace: whatever is due was missed."""
    return replace(rules, grace_ms=0)


def not_prompt(cursor: Cursor, definition: Definition) -> Cursor:
    """The cursor without the mark by which ``plan`` fires a window of the past whatever the policy says."""
    window, fire_at = cursor.next_window_at, cursor.fire_at
    if window is None or fire_at is None:
        return cursor
    natural = fire_instant(definition, window)
    return cursor if fire_at <= natural else replace(cursor, fire_at=natural)
