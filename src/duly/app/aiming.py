"""Where a run is to go: exactly one of a job, a workflow, a topic and an outside target."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from duly.core.errors import TopicInvalid, ValidationFailed
from duly.core.policy import choose
from duly.core.schedule import Target, TargetKind
from duly.engine.registry import check_job_name

from .checking import check_kind

TOPIC = re.compile(r"[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*){0,2}", re.ASCII)
OUTSIDE_WORDS = frozenset({"kind", "name", "url", "secret", "format", "expect", "headers"})
TARGET_WORDS = frozenset({"job", "workflow", "topic", "target"})


def check_target(
    job: str | None = None,
    workflow: str | None = None,
    topic: str | None = None,
    target: Mapping[str, Any] | None = None,
) -> Target:
    """The one target that was given; a topic may stand beside an outside target and then names its messages."""
    if job is not None and workflow is None and topic is None and target is None:
        return Target(TargetKind.JOB, check_job_name(job))
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
    if workflow is not None:
        return Target(TargetKind.WORKFLOW, check_job_name(workflow))
    return _outside(target or {}, None if topic is None else check_topic(topic))


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


def check_topic_payload(target: Target, payload: str) -> None:
    """A topic's listeners are given an object; refuse anything else before it is stored."""
    if target.kind is TargetKind.TOPIC and not payload.startswith("{"):
        shown = payload if len(payload) <= 60 else payload[:57] + "..."
        raise ValidationFailed(
            f"payload is {shown}; expected an object, since topic {target.name!r} tells it to listeners",
            field="payload",
            expected="an object",
        )


def _outside(target: Mapping[str, Any], topic: str | None) -> Target:
    check_kind(target, Mapping, "target")
    kind = choose(TargetKind, target.get("kind"), "target.kind")
    name = target.get("name") if kind is TargetKind.QUEUE else target.get("url")
    if kind not in (TargetKind.QUEUE, TargetKind.WEBHOOK) or not isinstance(name, str) or not name:
        raise ValidationFailed(
            f'target is {dict(target)!r}; expected {{"kind": "queue", "name": ...}} or'
            ' {"kind": "webhook", "url": ...}',
            field="target",
        )
    unknown = sorted(set(target) - OUTSIDE_WORDS)
    if unknown:
        raise ValidationFailed(
            f"target has {unknown[0]!r}, which is not known; expected {', '.join(sorted(OUTSIDE_WORDS))}",
            field=f"target.{unknown[0]}",
        )
    return Target(kind, name, msgspec.json.encode(dict(target)).decode(), topic)
