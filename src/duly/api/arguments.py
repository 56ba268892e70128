"""Bodies become the words of the Python interface. Everything that is wrong is found before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from msgspec import UNSET

from duly.config import Settings
from duly.core.errors import Invalid, RetryPolicyInvalid, ValidationFailed
from duly.core.instants import to_ms
from duly.core.policy import MAX_ATTEMPTS, CatchUp, Retry
from duly.core.schedule import DEFAULT_MAX_QUEUED, DEFAULT_QUEUE, Schedule, TargetKind
from duly.core.timing import Cron, Every, Jitter, Once, Timing, check_zone, timing_from
from duly.core.timing.epoch import not_an_instant, parse_datetime

from .bodies import CatchUpBody, JitterBody, Metadata, PatchBody, RetryPolicy, ScheduleBody, TimingBody
from .findings import Findings
from .merging import merged_aim

# The seven ways to say when, and the word that ``timing_from`` has for each.
WAYS: Mapping[str, str] = {
    "cron_expression": "cron",
    "every_ms": "every_ms",
    "interval_minutes": "interval_minutes",
    "daily_time": "daily",
    "weekly_time": "weekly",
    "monthly_time": "monthly",
    "once_at": "once",
}
_POINTERS = {
    "cron_expression": "/cronExpression",
    "every_ms": "/everyMs",
    "interval_minutes": "/intervalMinutes",
    "daily_time": "/dailyTime",
    "weekly_time": "/weeklyTime",
    "monthly_time": "/monthlyTime",
    "once_at": "/onceAt",
}
_CRON_OPTIONS = ("dst", "strict_fields")
_OPTIONS_OF = {
    "cron_expression": _CRON_OPTIONS,
    "daily_time": _CRON_OPTIONS,
    "weekly_time": _CRON_OPTIONS,
    "monthly_time": _CRON_OPTIONS,
    "every_ms": ("anchor", "after_completion"),
    "interval_minutes": ("anchor", "after_completion"),
    "once_at": ("on_past",),
}
TARGETS = {"job_type": "job", "workflow": "workflow", "topic": "topic", "target": "target"}

_AIMS = {TargetKind.JOB: "job_type", TargetKind.WORKFLOW: "workflow", TargetKind.TOPIC: "topic"}

# Fields that are the app's words under another name, with what null puts back.
_PLAIN: Mapping[str, tuple[str, Any]] = {
    "description": ("description", None),
    "overlap_policy": ("overlap", "skip"),
    "max_queued": ("max_queued", DEFAULT_MAX_QUEUED),
    "max_concurrent": ("max_concurrent", None),
    "max_runs": ("max_runs", None),
    "pause_after_failures": ("pause_after_failures", None),
    "queue": ("queue", DEFAULT_QUEUE),
    "priority": ("priority", 0),
    "fairness_key": ("fairness_key", None),
    "tags": ("tags", ()),
    "calendars": ("calendars", ()),
    "exclude_dates": ("exclude_dates", ()),
    "timeout_seconds": ("timeout", None),
    "name": ("name", None),
    "enabled": ("enabled", True),
    "fire_current_window": ("fire_current_window", False),
}


def create_arguments(
    body: ScheduleBody, settings: Settings, key: str | None = None, tenant: str | None = None
) -> dict[str, Any]:
    """The arguments of ``app.schedules.create``; ``key`` and ``tenant`` are those of the path, where there are any."""
    findings = Findings()
    words = _common(body, settings, findings)
    given = body.key if isinstance(body.key, str) else None
    if key is not None and given is not None and given != key:
        findings.add(f"key is {given!r} in the body and {key!r} in the path; leave it out of the body", pointer="/key")
    words["key"] = key if key is not None else given
    if words["key"] is None and body.name is UNSET:
        findings.add("name is missing; expected text, or a key to be named after", pointer="/name")
    words["timing"] = _timing(_timing_fields(body), settings, findings)
    words |= _target(body, findings, needed=True)
    if body.metadata:
        words["metadata"] = _metadata(body.metadata)
    if tenant is not None:
        metadata = words.setdefault("metadata", {})
        if (metadata.get("tenant_id") or tenant) != tenant:
            findings.add(
                f"metadata.tenantId is {metadata['tenant_id']!r}; the schedule of this path belongs to"
                f" {repr(tenant) if tenant else 'no tenant'}: leave it out of the body",
                pointer="/metadata/tenantId",
            )
        metadata["tenant_id"] = tenant or None
    findings.check()
    return words


def update_changes(body: PatchBody, schedule: Schedule, settings: Settings) -> dict[str, Any]:
    """The changes of ``app.schedules.update``: what the body says, merged with what the schedule has."""
    findings = Findings()
    words = _common(body, settings, findings, schedule)
    merged = merged_timing(_timing_fields(body), schedule)
    if merged is not None:
        words["timing"] = _timing(merged, settings, findings)
    given = _target(body, findings, needed=False)
    aim = _AIMS.get(schedule.definition.target.kind, "target")
    if getattr(body, aim) is None and not given:
        expected = "an object" if aim == "target" else "a name"
        findings.add(
            f"{_json([aim])[0]} is null; expected {expected}, because a schedule has a target",
            pointer=f"/{_json([aim])[0]}",
        )
    else:
        words |= merged_aim(body, given, schedule.definition.target)
    if body.metadata is not UNSET:
        words["metadata"] = _metadata(body.metadata or Metadata(owner_id=None, correlation_id=None))
    findings.check()
    return words


def other_timing(body: TimingBody, schedule: Schedule, settings: Settings) -> Timing:
    """The timing that is to replace a schedule's: what the body says, merged with what the schedule has."""
    findings = Findings()
    timing = _timing(merged_timing(_timing_fields(body), schedule) or {}, settings, findings)
    findings.check()
    assert timing is not None
    return timing


def new_timing(body: TimingBody, settings: Settings, findings: Findings) -> Timing:
    """The timing of a body that has to have one; raises with everything found so far."""
    timing = _timing(_timing_fields(body), settings, findings)
    findings.check()
    assert timing is not None
    return timing


def _timing(fields: Mapping[str, Any], settings: Settings, findings: Findings) -> Timing | None:
    given = [name for name in WAYS if fields.get(name) is not None]
    if len(given) != 1:
        told = f"{' and '.join(_json(given))} were given" if given else "no timing was given"
        findings.add(f"{told}; expected exactly one of {', '.join(_json(WAYS))}", pointer="")
        return None
    zone = "UTC"
    with findings.at("/timezone"):
        given_zone = fields.get("timezone")
        zone = check_zone("UTC" if given_zone is None else given_zone)
    dst = fields.get("dst") or {}
    places = {"dst_gap": "/dst/gap", "dst_fold": "/dst/fold", "strict_fields": "/strictFields", "anchor": "/anchor",
              "after_completion": "/afterCompletion", "on_past": "/onPast"}  # fmt: skip
    if given[0] != "once_at":
        places["instant"] = "/anchor"
    with findings.at(_POINTERS[given[0]], **places):
        return timing_from(
            **{WAYS[given[0]]: fields[given[0]]},
            timezone=zone,
            dst_gap=dst.get("gap"),
            dst_fold=dst.get("fold"),
            strict_fields=fields.get("strict_fields"),
            anchor=fields.get("anchor"),
            after_completion=fields.get("after_completion"),
            on_past=fields.get("on_past"),
            minimum_ms=settings.min_interval_ms,
        )
    return None


def merged_timing(given: Mapping[str, Any], schedule: Schedule) -> dict[str, Any] | None:
    """The schedule's timing with these fields changed; None where they change nothing."""
    if not given:
        return None
    before = timing_fields(schedule.timing)
    named = [name for name in WAYS if given.get(name) is not None]
    if named:
        # A new way to say when: of the old one only the zone and the options that go with both are kept.
        keep = {"timezone", *(_OPTIONS_OF[named[0]])}
        before = {name: value for name, value in before.items() if name in keep}
    dst = given.get("dst")
    merged = {**before, **given}
    if dst is not None and before.get("dst"):
        merged["dst"] = {**before["dst"], **dst}
    return merged


def timing_fields(timing: Timing) -> dict[str, Any]:
    """A timing in the fields of a body."""
    match timing:
        case Cron():
            dst = {"gap": timing.dst_gap, "fold": timing.dst_fold}
            return {
                "cron_expression": timing.expr,
                "timezone": timing.timezone,
                "dst": dst,
                "strict_fields": timing.strict_fields,
            }
        case Every():
            anchor = timing.anchor.isoformat() if isinstance(timing.anchor, datetime) else timing.anchor
            return {
                "every_ms": timing.every_ms,
                "timezone": timing.timezone,
                "anchor": anchor,
                "after_completion": timing.after_completion,
            }
        case Once():
            return {"once_at": timing.at.isoformat(), "timezone": timing.timezone, "on_past": timing.on_past}


def instant(value: Any, field: str) -> datetime | None:
    """An instant of a body: RFC 3339 with an offset. ``field`` is its name in Python."""
    if value is None or value is UNSET:
        return None
    try:
        moment = parse_datetime(value)
        if moment.tzinfo is None:
            raise not_an_instant(value)
        to_ms(moment)
        return moment
    except Invalid as error:
        raise ValidationFailed(error.message.replace("instant", field, 1), field=field, got=value) from None


def jitter_of(body: JitterBody | None, old: Jitter | None = None) -> Jitter | None:
    """The jitter of a body, merged with the one that was there; without either it begins at none, and must end."""
    if body is None:
        return None
    if body.max_ms is UNSET and old is None:
        raise ValidationFailed("maxMs is missing; expected whole milliseconds", field="max_ms")
    least, most = (0, 0) if old is None else (old.min_ms, old.max_ms)
    return Jitter(least if body.min_ms is UNSET else body.min_ms, most if body.max_ms is UNSET else body.max_ms)


def _common(body: PatchBody, settings: Settings, findings: Findings, old: Schedule | None = None) -> dict[str, Any]:
    words: dict[str, Any] = {}
    for field, (word, default) in _PLAIN.items():
        value = getattr(body, field)
        if value is not UNSET:
            words[word] = default if value is None else value
    if body.job_payload is not UNSET:
        words["payload"] = body.job_payload
    for field, pointer in (("start_at", "/startAt"), ("end_at", "/endAt")):
        if getattr(body, field) is not UNSET:
            with findings.at(pointer):
                words[field] = instant(getattr(body, field), field)
    with findings.at(jitter="/retryPolicy/jitter"):
        words |= _retry(body, settings, None if old is None else old.retry)
    if body.catch_up is not UNSET:
        with findings.at("/catchUp"):
            words["catch_up"] = _catch_up(body.catch_up, None if old is None else old.catch_up, settings)
    if body.jitter is not UNSET:
        with findings.at("/jitter", max_ms="/jitter/maxMs"):
            words["jitter"] = jitter_of(body.jitter, None if old is None else old.jitter)
    return words


def _retry(body: PatchBody, settings: Settings, old: Retry | None) -> dict[str, Retry | None]:
    attempts, retries, policy = body.max_attempts, body.max_retries, body.retry_policy
    if attempts is UNSET and retries is UNSET and policy is UNSET:
        return {}
    if isinstance(attempts, int) and isinstance(retries, int):
        raise ValidationFailed(
            f"maxAttempts is {attempts} and maxRetries is {retries}; leave one of them out", field="max_retries"
        )
    if isinstance(retries, int) and not 0 <= retries < MAX_ATTEMPTS:
        raise RetryPolicyInvalid(
            f"maxRetries is {retries}; expected a whole number from 0 to {MAX_ATTEMPTS - 1}", field="max_retries"
        )
    wanted = attempts if isinstance(attempts, int) else retries + 1 if isinstance(retries, int) else None
    if policy is None and attempts is UNSET and retries is UNSET and old is not None:
        return {"retry": Retry(max_attempts=old.max_attempts)}  # how often is not part of the policy
    if policy is None and old is None and wanted == settings.default_max_attempts and not body.target:
        return {"retry": None}  # as an answer shows a schedule whose retries are the server's
    if wanted is None and (policy is None or policy is UNSET) and (old is None or policy is None):
        return {"retry": None}
    retry = old if old is not None and policy is not None else Retry(max_attempts=settings.default_max_attempts)
    if isinstance(policy, RetryPolicy):
        changes = _renamed(policy, {"delay_seconds": "delay", "max_delay_seconds": "max_delay"})
        if retry.max_delay == Retry(delay=retry.delay).max_delay:
            changes.setdefault("max_delay", None)  # nobody chose it: it follows the delay
        retry = replace(retry, **changes)
    if wanted is not None:
        retry = replace(retry, max_attempts=wanted)
    elif attempts is None or retries is None:
        retry = replace(retry, max_attempts=settings.default_max_attempts)
    return {"retry": retry}


def _catch_up(body: CatchUpBody | None, old: CatchUp | None, settings: Settings) -> CatchUp:
    default = settings.default_catch_up
    if body is None:
        return default
    changes = _renamed(body, {"max_lateness_seconds": "max_lateness"})
    return replace(old or default, **changes)


def _target(body: PatchBody, findings: Findings, *, needed: bool) -> dict[str, Any]:
    given = {word: getattr(body, field) for field, word in TARGETS.items() if getattr(body, field) not in (None, UNSET)}
    named = set(given) - ({"topic"} if "target" in given else set())
    if len(named) > 1 or (needed and not named):
        names = [field for field, word in TARGETS.items() if word in given]
        told = f"{' and '.join(_json(names))} were given" if names else "no target was given"
        findings.add(f"{told}; expected exactly one of {', '.join(_json(TARGETS))}", pointer="")
    return given


def _metadata(body: Metadata) -> dict[str, str | None]:
    return _renamed(body, {})


def _renamed(body: Any, names: Mapping[str, str]) -> dict[str, Any]:
    given = {name: getattr(body, name) for name in body.__struct_fields__}
    return {names.get(name, name): value for name, value in given.items() if value is not UNSET}


def _timing_fields(body: TimingBody) -> dict[str, Any]:
    given = {name: getattr(body, name) for name in TimingBody.__struct_fields__}
    return {name: _plain(value) for name, value in given.items() if value is not UNSET}


def _plain(value: Any) -> Any:
    """A friendly time or the dst knobs as the dictionary that ``timing_from`` takes."""
    fields = getattr(value, "__struct_fields__", None)
    return value if fields is None else _renamed(value, {})


def _json(names: Any) -> list[str]:
    return [_POINTERS.get(name, "/" + {"job_type": "jobType"}.get(name, name))[1:] for name in names]
