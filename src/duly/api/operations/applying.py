"""Applying many schedules at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from duly.api.answers import schedule_answer
from duly.api.arguments import create_arguments
from duly.api.bodies import ApplyBody, ScheduleBody
from duly.api.findings import Findings, telling
from duly.api.reading import read
from duly.api.shapes import AppliedAnswer, ApplyAnswer, ChangeAnswer
from duly.app import Duly
from duly.app.applying import Applied, Outcome
from duly.app.declared import SET
from duly.core.errors import Invalid
from duly.core.schedule import Schedule

_SAID_OTHERWISE = {"key", "maxRetries"}
_FIELDS = [
    field.encode_name for field in msgspec.structs.fields(ScheduleBody) if field.encode_name not in _SAID_OTHERWISE
]
_WHOLE = {"jobPayload", "target"}
"""Fields whose value is the user's own: a change shows all of it, where others show what is different inside."""


async def apply_schedules(app: Duly, body: object, *, by: str | None = None) -> ApplyAnswer:
    """Make schedules exactly what the body says; everything is checked before anything is changed."""
    given = read(ApplyBody, body)
    name = given.set if isinstance(given.set, str) else None
    findings = Findings()
    arguments = _arguments(app, given.schedules, findings)
    try:
        with telling():
            applied = await app.schedules.apply(
                list(arguments.values()),
                set=name,
                prune=given.prune or None,
                keep=given.keep or (),
                dry_run=given.dry_run or bool(findings),  # to find what else is wrong
                by=by,
            )
    except Invalid as error:
        refusals: Sequence[tuple[int, Exception]] = error.details.get("refusals", ())
        if not refusals:
            raise
        places = list(arguments)
        for place, refusal in refusals:
            if isinstance(refusal, Invalid):
                findings.take(refusal, f"/schedules/{places[place]}")
    findings.check()
    bodies = [*given.schedules, *({} for _ in applied[len(given.schedules) :])]  # what was pruned had none
    items = [_item(app, one, body, dry_run=given.dry_run) for one, body in zip(applied, bodies, strict=True)]
    return {"set": name, "dryRun": given.dry_run, "items": items}


async def check_schedules(app: Duly, schedules: Sequence[object]) -> None:
    """Raise what applying to an empty store would raise; the store is not asked."""
    findings = Findings()
    for place, arguments in _arguments(app, schedules, findings).items():
        with findings.under(f"/schedules/{place}"):
            await app.schedules.check(**arguments)
    findings.check()


def _arguments(app: Duly, schedules: Sequence[object], findings: Findings) -> dict[int, dict[str, Any]]:
    """The arguments of those that can be read, by their place; what is wrong with the others is noted."""
    found: dict[int, dict[str, Any]] = {}
    for place, entry in enumerate(schedules):
        if not findings.room:
            break
        with findings.under(f"/schedules/{place}"):
            found[place] = create_arguments(read(ScheduleBody, entry), app.settings)
    return found


def _item(app: Duly, applied: Applied, body: Mapping[str, Any], *, dry_run: bool) -> AppliedAnswer:
    before, after = applied.before, applied.after
    foretold = before is None and dry_run
    known = after or before
    return {
        "key": applied.key,
        "id": None if known is None or foretold else known.id,
        "outcome": applied.outcome.value,
        "changes": _changes(app, applied, body),
    }


def _changes(app: Duly, applied: Applied, body: Mapping[str, Any]) -> list[ChangeAnswer]:
    before, after = applied.before, applied.after
    if applied.outcome is Outcome.UNCHANGED or after is None:
        return []
    if before is None:
        shown = {"target": _fields(app, after)["target"]} if "target" in body else {}  # without its secret
        given = _flat({name: value for name, value in {**body, **shown}.items() if name != "key"})
        return [{"field": name, "old": None, "new": value} for name, value in given.items()]
    old, new = _fields(app, before), _fields(app, after)
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    changes: list[ChangeAnswer] = [{"field": name, "old": old.get(name), "new": new.get(name)} for name in names]
    if before.definition.target.spec != after.definition.target.spec and "target" not in names:
        changes.append({"field": "target.secret", "old": None, "new": None})  # the one part that is never shown
    return changes


def _fields(app: Duly, schedule: Schedule) -> dict[str, Any]:
    """What can be said of a schedule in a body, and the set that it belongs to."""
    answer: Mapping[str, Any] = schedule_answer(schedule, app.settings, app.clock.now())
    owner = schedule.facts.app or ""
    return _flat({name: answer[name] for name in _FIELDS if name in answer}) | {
        "set": owner.removeprefix(SET) if owner.startswith(SET) else None
    }


def _flat(fields: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, dict) and name not in _WHOLE:
            flat |= {f"{name}.{inner}": part for inner, part in value.items()}
        else:
            flat[name] = value
    return flat
