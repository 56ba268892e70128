"""Sets: schedules that are applied together, under a name.

The schedules of a set belong to it (``facts.app``, as ``set:NAME``), and only what belongs to it is pruned: paused as
an orphan, and nobody's from then on, so that a person who resumes it is not overruled; or deleted, where that was
asked for. What belongs to another set or to an app's code is left alone: to apply it is a conflict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from duly.core.errors import Conflict, ValidationFailed
from duly.core.rules import editing
from duly.core.rules.editing import Change
from duly.core.schedule import Schedule

from .declared import ORPHAN, SET
from .editing import Replacement, followed

DISABLED = "applied with enabled: false"
SET_EXPECTED = "1 to 100 of A-Z a-z 0-9 . _ - starting with a letter or a digit"
_SET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


class Prune(StrEnum):
    """What becomes of schedules that belong to the set and are not in it any more."""

    PAUSE = "pause"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpdate(Replacement):
    """Makes a stored schedule what was applied; ``switch`` is the ``enabled`` that was given, None for none."""

    switch: bool | None = None

    def __call__(self, schedule: Schedule, now: int) -> Change | None:
        check_owner(schedule, self.app)
        facts = schedule.facts
        change = Replacement.__call__(self, schedule, now) or Change(facts, schedule.cursor, by=self.by)
        reason = facts.pause_reason or ""
        orphan = reason.startswith(ORPHAN)
        if schedule.status.ended:
            pass
        elif self.switch is False:
            if schedule.enabled or orphan:
                change = followed(schedule, change, lambda s: editing.pause(s, now, reason=DISABLED, by=self.by))
        elif not schedule.enabled and (self.switch or orphan or reason == DISABLED):
            change = followed(schedule, change, lambda s: editing.resume(s, now, by=self.by, catch_up=orphan))
        return change if change.changed else None


@dataclass(frozen=True, slots=True)
class Leave:
    """Takes a schedule out of its set; None when it does not belong to it any more."""

    owner: str
    how: Prune
    by: str | None

    def __call__(self, schedule: Schedule, now: int) -> Change | None:
        if schedule.facts.app != self.owner:
            return None
        if self.how is Prune.DELETE:
            return editing.delete(schedule, now, self.by)
        freed = editing.edit(schedule, now, by=self.by, facts_changes={"app": None})
        if not schedule.enabled:
            return freed
        reason = f"{ORPHAN}no longer in set {self.owner.removeprefix(SET)!r}"
        return followed(schedule, freed, lambda after: editing.pause(after, now, reason=reason, by=self.by))


def check_set(name: object) -> str:
    """Answer the name of a set, or refuse it."""
    if not isinstance(name, str) or not _SET_NAME.fullmatch(name):
        raise ValidationFailed(f"set is {name!r}; expected {SET_EXPECTED}", field="set", got=name)
    return name


def check_owner(schedule: Schedule, owner: str | None) -> None:
    """Refuse to apply what somebody else decides about."""
    app = schedule.facts.app
    if app is None or app == owner:
        return
    theirs = (
        f"belongs to set {app.removeprefix(SET)!r}; apply it with that set, or take it out of it and prune that first"
        if app.startswith(SET)
        else f"is declared by app {app!r}; change it there, or choose another key"
    )
    raise Conflict(f"schedule {schedule.key!r} {theirs}", id=schedule.id, key=schedule.key)
