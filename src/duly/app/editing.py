"""Edits of a stored schedule: a merge of what was given, or the replacement of everything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from duly.core.errors import ValidationFailed
from duly.core.rules import editing
from duly.core.rules.editing import Change
from duly.core.schedule import Definition, Schedule
from duly.core.timing import Timing
from duly.store.values import NewSchedule

from .building import Builder, anchored, still_left
from .words import Words

_FIXED = {"tenant": "metadata.tenant_id", "client_request_id": "metadata.client_request_id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Changes what was given and leaves the rest; a call answers None when nothing is different."""

    builder: Builder
    words: Words
    timing: Timing | None = None
    if_revision: int | None = None
    by: str | None = None

    def __call__(self, schedule: Schedule, now: int) -> Change | None:
        if self.enabled is False and schedule.enabled:
            editing.check_open(schedule, "paused")
        definition = self.builder.merged(schedule.definition, self.timing, self.words, now)
        facts = edited_facts(schedule, self.words.facts)
        if self.words.target is not None or "owner" in facts:
            self.builder.check_aim(definition.target, schedule.facts.tenant, facts.get("owner", schedule.facts.owner))
        return _edit(schedule, now, definition, facts, self)

    @property
    def enabled(self) -> bool | None:
        return self.words.enabled


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """Makes a schedule what a new one would be; only its history, and its pause unless told, stay."""

    wanted: NewSchedule
    app: str | None = None
    enabled: bool | None = None
    if_revision: int | None = None
    by: str | None = None

    def __call__(self, schedule: Schedule, now: int) -> Change | None:
        facts, definition = self.wanted.facts, self.wanted.definition
        words: dict[str, Any] = {
            "name": facts.name,
            "description": facts.description,
            "owner": facts.owner,
            "correlation_id": facts.correlation_id,
            "tags": facts.tags,
        }
        if self.app is not None:
            words["app"] = self.app
        old = schedule.definition
        left = definition.left_to_job | still_left(definition, old)
        definition = replace(definition, timing=anchored(definition, old, now), left_to_job=left)
        return _edit(schedule, now, definition, words, self)


def _edit(
    schedule: Schedule, now: int, definition: Definition, facts: dict[str, Any], edit: Merge | Replacement
) -> Change | None:
    change = editing.edit(
        schedule, now, by=edit.by, definition=definition, facts_changes=facts, expected_revision=edit.if_revision
    )
    change = _switch(schedule, now, change, edit)
    return change if change.changed else None


def _switch(schedule: Schedule, now: int, change: Change, edit: Merge | Replacement) -> Change:
    """Pause or resume besides the edit, if ``enabled`` says so and it is not so already."""
    if edit.enabled is None or edit.enabled == schedule.enabled:
        return change
    if edit.enabled:
        return followed(schedule, change, lambda edited: editing.resume(edited, now, by=edit.by))
    return followed(schedule, change, lambda edited: editing.pause(edited, now, reason=None, by=edit.by))


def followed(schedule: Schedule, change: Change, step: Callable[[Schedule], Change]) -> Change:
    """One change that does what two do after each other; the second one makes no revision."""
    then = step(Schedule(change.facts, change.definition or schedule.definition, change.cursor))
    changed, skips = change.changed + then.changed, [*change.skips, *then.skips]
    return replace(change, facts=then.facts, cursor=then.cursor, changed=changed, skips=skips)


def edited_facts(schedule: Schedule, given: dict[str, Any]) -> dict[str, Any]:
    """What may be edited of the facts that were given; another tenant or request id is refused."""
    facts = schedule.facts
    for name, field in _FIXED.items():
        if name in given and (given[name] or "") != (getattr(facts, name) or ""):
            raise ValidationFailed(
                f"schedule {facts.key!r}: {field} is fixed at creation; leave it out", field=field, id=facts.id
            )
    edits = {name: value for name, value in given.items() if name not in _FIXED}
    if "name" in edits:
        edits["name"] = edits["name"] or facts.key
    return edits
