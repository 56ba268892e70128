"""Turns the arguments of ``create`` into a schedule to be stored, or says what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from inspect import signature
from typing import Any

import msgspec

from duly.config import Settings
from duly.core.errors import TopicInvalid, ValidationFailed
from duly.core.ids import check_key
from duly.core.instants import to_ms
from duly.core.policy import CatchUp, Missed, Overlap, Retry, choose
from duly.core.schedule import DEFAULT_QUEUE, DEFAULT_TIMEOUT_MS, Definition, Facts, Target, TargetKind
from duly.core.timing import Cron, Every, Jitter, Once, Timing
from duly.engine.registry import Registry, check_job_name
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.values import NewSchedule

from .payload import encode_payload

UNSET: Any = msgspec.UNSET
TOPIC = re.compile(r"[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*){0,2}", re.ASCII)
METADATA = ("owner_id", "tenant_id", "correlation_id", "client_request_id")
_CATCH_UPS = {policy: CatchUp(policy) for policy in Missed}


class Builder:
    """Knows the defaults, the registered jobs and where new ids come from."""

    def __init__(self, settings: Settings, registry: Registry, clock: Clock, chance: Chance) -> None:
        self._settings = settings
        self._registry = registry
        self._clock = clock
        self._chance = chance

    def schedule(
        self,
        key: str | None = None,
        timing: Timing | None = None,
        *,
        name: str | None = None,
        description: str | None = None,
        job: str | None = None,
        workflow: str | None = None,
        topic: str | None = None,
        target: Mapping[str, Any] | None = None,
        payload: Any = UNSET,
        retry: Retry | None = None,
        timeout: float | None = UNSET,
        overlap: str = Overlap.SKIP,
        catch_up: str | CatchUp = Missed.LATEST,
        jitter: Jitter | tuple[int, int] | None = None,
        start_at: datetime | None = None,
        end_at: datetime | None = None,
        max_runs: int | None = None,
        enabled: bool = True,
        queue: str = DEFAULT_QUEUE,
        priority: int = 0,
        max_queued: int = 1,
        max_concurrent: int | None = None,
        pause_after_failures: int | None = None,
        fire_current_window: bool = False,
        tags: Sequence[str] = (),
        metadata: Mapping[str, str | None] | None = None,
        app: str | None = None,
        created_by: str | None = None,
    ) -> NewSchedule:
        """Check every argument; the answer is ready to be stored."""
        id = self._chance.id(self._clock)
        key = id if key is None else check_key(key)
        aim = _target(job, workflow, topic, target)
        handler = self._registry.get(aim.handler)
        text = encode_payload({} if payload is UNSET else payload, self._settings.payload_limit)
        if handler is not None:
            handler.arguments.check(text)
            retry = retry or handler.retry
        if timeout is UNSET:
            timeout_ms = handler.timeout_ms if handler and handler.has_timeout else DEFAULT_TIMEOUT_MS
        else:
            timeout_ms = timeout_in_ms(timeout)
        starts = None if start_at is None else to_ms(start_at, "start_at")
        ends = None if end_at is None else to_ms(end_at, "end_at")
        if starts is not None and ends is not None and ends <= starts:
            raise ValidationFailed(
                f"end_at is {end_at}; expected an instant after start_at, {start_at}", field="end_at"
            )
        definition = Definition(
            key=key,
            timing=self._timing(timing, starts),
            target=aim,
            payload=text,
            retry=_is(retry, Retry, "retry"),
            timeout_ms=timeout_ms,
            overlap=choose(Overlap, overlap, "overlap"),
            catch_up=_catch_up(catch_up),
            jitter=_jitter(jitter),
            start_at=starts,
            end_at=ends,
            max_runs=_count(max_runs, "max_runs"),
            queue=check_queue(queue),
            priority=check_priority(priority),
            max_queued=_number(max_queued, "max_queued", 0, 10_000),
            max_concurrent=_count(max_concurrent, "max_concurrent"),
            pause_after_failures=_count(pause_after_failures, "pause_after_failures"),
            fire_current_window=_truth(fire_current_window, "fire_current_window"),
        )
        meta = _metadata(metadata)
        facts = Facts(
            id=id,
            key=key,
            name=check_text(name, "name", 200) or key,
            tenant=meta["tenant_id"] or "",
            description=check_text(description, "description", 10_000),
            owner=meta["owner_id"],
            correlation_id=meta["correlation_id"],
            client_request_id=meta["client_request_id"],
            tags=_tags(tags),
            app=app,
            paused_at=None if _truth(enabled, "enabled") else self._clock.now(),
            created_by=check_text(created_by, "created_by", 100),
        )
        return NewSchedule(facts=facts, definition=definition)

    def _timing(self, timing: Timing | None, start_at: int | None) -> Timing:
        if not isinstance(timing, Cron | Every | Once):
            raise ValidationFailed(
                f"timing is {timing!r}; expected Cron(...), Every(...) or Once(...)", field="timing", got=timing
            )
        if isinstance(timing, Every):
            timing.check_minimum(self._settings.min_interval_ms)
            if timing.anchor == "start":
                return timing.anchored_at(self._clock.now() if start_at is None else start_at)
        return timing


def check_words(call: str, given: Mapping[str, Any], known: frozenset[str]) -> None:
    """Refuse options that do not exist, by name."""
    unknown = sorted(given.keys() - known)
    if unknown:
        hint = "; a timing is given as timing=Cron(...), Every(...) or Once(...)" if unknown[0] in _TIMINGS else ""
        raise ValidationFailed(
            f"{call} has no option {unknown[0]!r}; expected some of {', '.join(sorted(known))}{hint}",
            field=unknown[0],
            got=unknown,
            expected="a known option",
        )


def timeout_in_ms(timeout: float | None) -> int | None:
    """Seconds to milliseconds; None is no limit."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= 31_536_000:
        raise ValidationFailed(
            f"timeout is {timeout!r}; expected seconds above 0 and up to a year, or None for no limit",
            field="timeout",
            got=timeout,
            expected="seconds or None",
        )
    return max(1, round(timeout * 1000))


def check_topic(topic: str) -> str:
    """Answer the topic, or refuse it by name."""
    if not isinstance(topic, str) or not TOPIC.fullmatch(topic):
        raise TopicInvalid(
            f"topic is {topic!r}; expected 1 to 3 lower-case words joined by dots, e.g. notifications.task-reminder",
            field="topic",
            got=topic,
            expected=TOPIC.pattern,
        )
    return topic


def _target(job: str | None, workflow: str | None, topic: str | None, target: Mapping[str, Any] | None) -> Target:
    given = [name for name, value in (("job", job), ("workflow", workflow), ("target", target)) if value is not None]
    if topic is not None and not given:
        return Target(TargetKind.TOPIC, check_topic(topic))
    if len(given) != 1 or (topic is not None and target is None):
        given += ["topic"] if topic is not None else []
        raise ValidationFailed(
            f"the target is {' and '.join(given) or 'missing'}; expected exactly one of job, workflow, topic, target",
            field="target",
            got=given,
            expected="one target",
        )
    if job is not None:
        return Target(TargetKind.JOB, check_job_name(job))
    if workflow is not None:
        return Target(TargetKind.WORKFLOW, check_job_name(workflow))
    return _outside(target or {}, None if topic is None else check_topic(topic))


def _outside(target: Mapping[str, Any], topic: str | None) -> Target:
    _is(target, Mapping, "target")
    kind = choose(TargetKind, target.get("kind"), "target.kind")
    name = target.get("name") if kind is TargetKind.QUEUE else target.get("url")
    if kind not in (TargetKind.QUEUE, TargetKind.WEBHOOK) or not isinstance(name, str) or not name:
        raise ValidationFailed(
            f'target is {dict(target)!r}; expected {{"kind": "queue", "name": ...}} or'
            ' {"kind": "webhook", "url": ...}',
            field="target",
        )
    return Target(kind, name, msgspec.json.encode(dict(target)).decode(), topic)


def _metadata(given: Mapping[str, str | None] | None) -> dict[str, str | None]:
    values: dict[str, str | None] = dict.fromkeys(METADATA)
    if given is None:
        return values
    _is(given, Mapping, "metadata")
    for name, value in given.items():
        if name not in values:
            raise ValidationFailed(
                f"metadata has {name!r}; expected {', '.join(METADATA)}", field=f"metadata.{name}", got=name
            )
        values[name] = check_text(value, f"metadata.{name}", 128)
    return values


def _tags(tags: Sequence[str]) -> tuple[str, ...]:
    if type(tags) is tuple and not tags:
        return ()
    if isinstance(tags, str) or not isinstance(tags, Sequence) or len(tags) > 50 or None in tags:
        raise ValidationFailed(f"tags is {tags!r}; expected a list of at most 50 words", field="tags", got=tags)
    return tuple(dict.fromkeys(check_text(tag, "tags", 100) or "" for tag in tags))


def _catch_up(given: str | CatchUp) -> CatchUp:
    return given if isinstance(given, CatchUp) else _CATCH_UPS[choose(Missed, given, "catch_up")]


def _jitter(given: Jitter | tuple[int, int] | None) -> Jitter | None:
    if isinstance(given, tuple | list) and len(given) == 2:
        return Jitter(*given)
    return _is(given, Jitter, "jitter")  # type: ignore[no-any-return]


def check_queue(queue: str) -> str:
    """Answer the queue's name, or refuse it."""
    name = check_text(queue, "queue", 200)
    if not name:
        raise ValidationFailed(f"queue is {queue!r}; expected a name", field="queue", got=queue)
    return name


def check_priority(priority: int) -> int:
    """Answer the priority, or refuse it."""
    return _number(priority, "priority", -32_768, 32_767)


def check_text(value: str | None, field: str, most: int) -> str | None:
    """Answer a text that any store can keep, or refuse it."""
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > most or "\x00" in value or not _encodes(value):
        raise ValidationFailed(
            f"{field} is {str(value)[:60]!r}; expected text of at most {most} whole characters without NUL",
            field=field,
            expected=f"at most {most} characters",
        )
    return value


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _truth(value: bool, field: str) -> bool:
    if not isinstance(value, bool):
        raise ValidationFailed(f"{field} is {value!r}; expected True or False", field=field, got=value)
    return value


def _count(value: int | None, field: str) -> int | None:
    return None if value is None else _number(value, field, 1, 2**31 - 1)


def _number(value: int, field: str, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValidationFailed(
            f"{field} is {value!r}; expected a whole number from {least} to {most}",
            field=field,
            got=value,
            expected=f"{least}-{most}",
        )
    return value


def _is(value: Any, kind: Any, field: str) -> Any:
    if value is not None and not isinstance(value, kind):
        raise ValidationFailed(f"{field} is {value!r}; expected {kind.__name__}(...) or None", field=field, got=value)
    return value


_TIMINGS = frozenset({"cron", "every", "at", "daily", "weekly", "monthly", "once"})
SCHEDULE_WORDS = frozenset(signature(Builder.schedule).parameters) - {"self", "app", "created_by"}
