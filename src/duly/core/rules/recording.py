"""What a change of a schedule is remembered by: the fields that are different, as people know them.

It looks at the schedule before and after, not at what was asked for, so no way of changing a schedule can forget it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from duly.core.change import Action, FieldChange, Recorded
from duly.core.instants import to_datetime
from duly.core.schedule import Definition, Schedule, ScheduleStatus, TargetKind
from duly.core.sealed import read_json
from duly.core.timing import Cron, Every, Once, Timing, describe

LARGEST_SHOWN = 1000
"""Characters of a payload beyond which the trail says that it changed, and not what it was."""

_PAUSE = frozenset({"enabled", "paused_reason", "paused_until", "resumed_from"})
_PLAIN = ("max_queued", "max_concurrent", "max_runs", "queue", "priority", "pause_after_failures", "fairness_key")


def _instant(at: int | None) -> str | None:
    return None if at is None else to_datetime(at).isoformat().replace("+00:00", "Z")


def _as_it_is(value: Any) -> Any:
    return value


_FACTS: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("key", "key", _as_it_is),
    ("name", "name", _as_it_is),
    ("description", "description", _as_it_is),
    ("owner_id", "owner", _as_it_is),
    ("correlation_id", "correlation_id", _as_it_is),
    ("tags", "tags", list),
    ("app", "app", _as_it_is),
    ("paused_reason", "pause_reason", _as_it_is),
    ("paused_until", "paused_until", _instant),
    ("replaced_by", "replaced_by", _as_it_is),
)
"""What the trail calls it, what it is called in the facts, and how it is shown."""


def record(before: Schedule, after: Schedule) -> Recorded | None:
    """The trail of a change, or None when nothing is different that people care about."""
    fields = _changed_facts(before, after)
    if after.definition is not before.definition:
        old, new = _definition(before.definition), _definition(after.definition)
        names = [name for name in old | new if old.get(name) != new.get(name)]
        fields += [FieldChange(name, old.get(name), new.get(name)) for name in names]
        fields += _hidden(before.definition, after.definition)
    action = _action(before, after, {change.field for change in fields})
    return Recorded(action, tuple(fields)) if fields or action is Action.DELETE else None


def pause_fields(reason: str | None, until: int | None) -> list[FieldChange]:
    """What ``record`` finds in the pause of a schedule that was not paused."""
    fields = []
    if reason is not None:
        fields.append(FieldChange("paused_reason", None, reason))
    if until is not None:
        fields.append(FieldChange("paused_until", None, _instant(until)))
    return [*fields, FieldChange("enabled", True, False)]


def _action(before: Schedule, after: Schedule, changed: set[str]) -> Action:
    if after.facts.deleted_at is not None and before.facts.deleted_at is None:
        return Action.DELETE
    if after.facts.replaced_by is not None and before.facts.replaced_by is None:
        return Action.RESCHEDULE
    if after.status is ScheduleStatus.CANCELLED and before.status is not ScheduleStatus.CANCELLED:
        return Action.CANCEL
    if changed - _PAUSE - {"status"}:
        return Action.EDIT
    return Action.RESUME if after.enabled else Action.PAUSE


def _changed_facts(before: Schedule, after: Schedule) -> list[FieldChange]:
    old, new = before.facts, after.facts
    changed = []
    for name, attribute, shown in _FACTS:
        was, now = getattr(old, attribute), getattr(new, attribute)
        if was != now:
            changed.append(FieldChange(name, shown(was), shown(now)))
    if before.status is not after.status:
        changed.append(FieldChange("status", before.status.value, after.status.value))
    if before.enabled != after.enabled:
        changed.append(FieldChange("enabled", before.enabled, after.enabled))
        if after.enabled and _goes_back(after):
            changed.append(FieldChange("resumed_from", None, _instant(after.cursor.next_window_at)))
    return changed


def _goes_back(after: Schedule) -> bool:
    """Whether a resume goes on from a window that had come before it: an audit must know which ones are to fire."""
    window = after.cursor.next_window_at
    return window is not None and window <= after.facts.updated_at


def _definition(definition: Definition) -> dict[str, Any]:
    d = definition
    retry, catch_up = d.retry, d.catch_up
    words = _timing(d.timing) | {
        str(d.target.kind): d.target.name,
        "overlap": d.overlap.value,
        "timeout": None if d.timeout_ms is None else _number(d.timeout_ms / 1000),
        "catch_up": {
            "policy": str(catch_up.policy),
            "max_lateness": None if (late := catch_up.max_lateness_ms) is None else _number(late / 1000),
            "max_runs": catch_up.max_runs,
        },
        "jitter": d.jitter and {"min_ms": d.jitter.min_ms, "max_ms": d.jitter.max_ms},
        "start_at": _instant(d.start_at),
        "end_at": _instant(d.end_at),
        "calendars": list(d.calendars),
        "exclude_dates": [day.isoformat() for day in d.exclude_dates],
    }
    if d.target.kind is not TargetKind.TOPIC and d.target.topic is not None:
        words["topic"] = d.target.topic
    if retry is not None:
        words |= {
            "max_attempts": retry.max_attempts,
            "retry": {
                "backoff": str(retry.backoff),
                "delay": _number(retry.delay),
                "max_delay": _number(retry.max_delay),
                "jitter": _number(retry.jitter),
            },
        }
    return words | {name: getattr(d, name) for name in _PLAIN}


def _timing(timing: Timing) -> dict[str, Any]:
    words = describe(timing)
    del words["kind"]
    match timing:
        case Cron():
            return {"cron_expression": words.pop("expr")} | words
        case Every():
            anchor = words.pop("anchor_ms")
            return words | {"anchor": words["anchor"] if words["anchor"] == "epoch" else _instant(anchor)}
        case Once():
            return {"once_at": _instant(words.pop("at_ms"))} | words
        case unknown:
            assert_never(unknown)


def _hidden(old: Definition, new: Definition) -> list[FieldChange]:
    """Payloads, in words only while they are small; and an outside target's settings, which may hold a secret."""
    found: list[FieldChange] = []
    if old.payload != new.payload:
        if max(len(old.payload), len(new.payload)) <= LARGEST_SHOWN:
            found.append(FieldChange("payload", read_json(old.payload), read_json(new.payload)))
        else:
            found.append(FieldChange("payload", shown=False))
    if old.target.spec != new.target.spec:
        found.append(FieldChange("target", shown=False))
    return found


def _number(value: float) -> float:
    """The number without a fraction where it has none, so that 5 and 5.0 leave the same text."""
    return int(value) if value == int(value) else value
