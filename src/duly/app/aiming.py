"""Where a run is to go: exactly one of a job, a workflow, a topic and an outside target."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from duly.core.errors import TopicInvalid, ValidationFailed
from duly.core.outside import EXPECT_ANSWER, QUEUES
from duly.core.policy import Overlap, choose
from duly.core.schedule import DEFAULT_QUEUE, Definition, Target, TargetKind
from duly.core.timing.refusal import shortened
from duly.engine.registry import check_job_name
from duly.targets.delivering import DELIVERY_RETRY
from duly.targets.envelope import Format

from .checking import check_kind, check_truth

TOPIC = re.compile(r"[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*){0,2}", re.ASCII)
OUTSIDE = {TargetKind.QUEUE: "name", TargetKind.WEBHOOK: "url"}
"""The kinds of outside targets, and the word that says where each of them is."""

_WORDS = frozenset({"kind", "format", "expect", "headers", "ordered"})
OUTSIDE_WORDS = {TargetKind.QUEUE: _WORDS | {"name"}, TargetKind.WEBHOOK: _WORDS | {"url", "secret"}}
_EXAMPLES = {
    TargetKind.QUEUE: '{"kind": "queue", "name": "notification-queue"}',
    TargetKind.WEBHOOK: '{"kind": "webhook", "url": "https://example.com/hook"}',
}
_PLACES = {TargetKind.QUEUE: "the name of a target", TargetKind.WEBHOOK: "a URL"}
HEADER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", re.ASCII)
HEADER_LIMIT = 1000

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
    if not isinstance(target, Mapping):
        raise ValidationFailed(
            f"target is {shortened(target)}; expected {' or '.join(_EXAMPLES.values())}", field="target", got=target
        )
    kind = next((kind for kind in OUTSIDE if kind == target.get("kind")), None)
    if kind is None:
        raise ValidationFailed(
            f"target.kind is {shortened(target.get('kind'))}; expected queue | webhook", field="target.kind"
        )
    place = target.get(OUTSIDE[kind])
    if not isinstance(place, str) or not place:
        raise ValidationFailed(
            f"target.{OUTSIDE[kind]} is {shortened(place)}; expected {_PLACES[kind]}, as in {_EXAMPLES[kind]}",
            field=f"target.{OUTSIDE[kind]}",
        )
    _check_words(target, kind)
    return Target(kind, place, msgspec.json.encode(dict(target)).decode(), topic)


def _check_words(target: Mapping[str, Any], kind: TargetKind) -> None:
    unknown = sorted(set(target) - OUTSIDE_WORDS[kind])
    if unknown:
        raise ValidationFailed(
            f"target has {shortened(unknown[0])}, which a {kind} does not know; expected"
            f" {', '.join(sorted(OUTSIDE_WORDS[kind]))}",
            field=f"target.{unknown[0]}",
        )
    if target.get("format") is not None:
        choose(Format, target["format"], "target.format")
    if target.get("expect") not in (None, EXPECT_ANSWER):
        raise ValidationFailed(
            f"target.expect is {shortened(target['expect'])}; expected {EXPECT_ANSWER!r}, or leave it out",
            field="target.expect",
            got=target["expect"],
            expected=EXPECT_ANSWER,
        )
    if target.get("ordered") is not None:
        check_truth(target["ordered"], "target.ordered")
    if target.get("headers") is not None:
        _check_headers(target["headers"])


def _check_headers(headers: Any) -> None:
    """Headers are words that a protocol can carry; our own cannot be forged."""
    check_kind(headers, Mapping, "target.headers", "a mapping of texts, or None")
    for name, value in headers.items():
        fits = isinstance(name, str) and HEADER_NAME.fullmatch(name) and isinstance(value, str) and value.isprintable()
        if not fits or len(value) > HEADER_LIMIT or name.lower().startswith("duly-"):
            raise ValidationFailed(
                f"target.headers has {shortened(name)}; expected names of letters, digits and dashes that do not begin"
                f" with duly-, and printable texts of at most {HEADER_LIMIT} characters",
                field=f"target.headers.{name}",
                expected="a header",
            )


def aimed(definition: Definition, given: Mapping[str, Any]) -> Definition:
    """The definition with what its target asks for: a queue of its own, patience, and order where it is wanted.

    ``given`` are the words that were said just now, under the names of a definition.
    """
    target = definition.target
    if not target.outside:
        if definition.queue.startswith(QUEUES):
            if "queue" in given:
                raise _wrong_queue(definition.queue, "a name that does not begin with target:")
            definition.queue = DEFAULT_QUEUE
        return definition
    if given.get("queue") not in (None, DEFAULT_QUEUE, target.queue):
        raise _wrong_queue(given["queue"], f"{target.queue}, where the runs of this target wait, or leave it out")
    definition.queue = target.queue
    if definition.retry is None:
        definition.retry = DELIVERY_RETRY
    if target.spec is not None and msgspec.json.decode(target.spec).get("ordered"):
        _keep_in_order(definition, given)
    return definition


def _keep_in_order(definition: Definition, given: Mapping[str, Any]) -> None:
    """One run after the other, and a long line, unless another policy was chosen: each of them keeps the order."""
    if "overlap" not in given and definition.overlap is Overlap.SKIP:
        definition.overlap = Overlap.ALLOW
    if definition.overlap is Overlap.ALLOW:
        if definition.max_concurrent not in (None, 1):
            raise ValidationFailed(
                f"target.ordered is true and max_concurrent is {definition.max_concurrent}; expected 1",
                field="max_concurrent",
                got=definition.max_concurrent,
                expected="1",
            )
        definition.max_concurrent = 1


def _wrong_queue(queue: str, expected: str) -> ValidationFailed:
    return ValidationFailed(
        f"queue is {shortened(queue)}; expected {expected}", field="queue", got=queue, expected=expected
    )
