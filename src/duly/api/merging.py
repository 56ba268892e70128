"""A PATCH of where a schedule goes: an outside target is merged member by member, as RFC 7396 has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from duly.core.schedule import Target

from .bodies import PatchBody


def merged_aim(body: PatchBody, given: Mapping[str, Any], before: Target) -> dict[str, Any]:
    """The words of a target that an update needs: what was ``given``, and what the schedule has beside it.

    An outside target keeps what is not named, above all the secret, which no answer shows, and the topic that names
    its messages. One of another kind, a job or a workflow takes its place.
    """
    if before.spec is None or body.target is None or not given.keys() <= {"target", "topic"}:
        return {word: merge_patch({}, value) if word == "target" else value for word, value in given.items()}
    if body.target is UNSET and body.topic is UNSET:
        return {}
    spec: dict[str, Any] = msgspec.json.decode(before.spec)
    patch = given.get("target", {})
    if patch.get("kind", spec["kind"]) != spec["kind"]:
        spec = {}
    topic = before.topic if body.topic is UNSET else body.topic
    return {"target": merge_patch(spec, patch), **({} if topic is None else {"topic": topic})}


def merge_patch(before: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """What an object is after a patch: null takes a member away, an object is merged, all else is replaced."""
    merged = dict(before)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            inner = merged.get(name)
            merged[name] = merge_patch(inner if isinstance(inner, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged


def patch_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The patch that makes one object the other."""
    patch: dict[str, Any] = dict.fromkeys(name for name in before if name not in after)
    for name, value in after.items():
        old = before.get(name)
        if value == old:
            continue
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            patch[name] = patch_between(old, value)
        else:
            patch[name] = value
    return patch
