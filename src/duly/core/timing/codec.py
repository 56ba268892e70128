"""Timings as plain dictionaries that JSON can hold, and back: what the stores keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from duly.core.errors import ValidationFailed
from duly.core.timing.cron import Cron
from duly.core.timing.every import Every, anchor_from, anchor_word
from duly.core.timing.once import Once
from duly.core.timing.refusal import refused
from duly.core.timing.union import Timing


def describe(timing: Timing) -> dict[str, Any]:
    """The definition of a timing; ``from_description`` gives back an equal one."""
    match timing:
        case Cron():
            return {
                "kind": "cron",
                "expr": timing.expr,
                "timezone": timing.timezone,
                "dst_gap": timing.dst_gap,
                "dst_fold": timing.dst_fold,
                "strict_fields": timing.strict_fields,
            }
        case Every():
            return {
                "kind": "every",
                "every_ms": timing.every_ms,
                "anchor": anchor_word(timing.anchor),
                "anchor_ms": timing.anchor_ms,
                "after_completion": timing.after_completion,
                **_shown_in(timing.timezone),
            }
        case Once():
            return {
                "kind": "once",
                "at_ms": timing.at_ms,
                "on_past": timing.on_past,
                **_shown_in(timing.timezone),
            }
        case _:
            assert_never(timing)


def from_description(description: Mapping[str, Any]) -> Timing:
    """The timing of a description; an unknown kind or key is refused, never guessed at.

    A newer version may have written what this one does not know, and half of a rule is another rule.
    """
    try:
        kind = description["kind"]
        if kind == "cron" and len(description) == 6:
            return Cron(
                description["expr"],
                description["timezone"],
                dst_gap=description["dst_gap"],
                dst_fold=description["dst_fold"],
                strict_fields=description["strict_fields"],
            )
        zone = description.get("timezone", "UTC")
        own = len(description) - ("timezone" in description)
        if kind == "every" and own == 5:
            anchor_ms = description["anchor_ms"]
            anchor = anchor_from(description["anchor"], anchor_ms)
            return Every.described(description["every_ms"], anchor, anchor_ms, description["after_completion"], zone)
        if kind == "once" and own == 3:
            return Once.at_instant(description["at_ms"], description["on_past"], zone)
    except KeyError as missing:
        raise _unknown(description, f"the key {missing}") from None
    raise _unknown(description, "a kind of cron, every or once with its own keys only")


def _shown_in(timezone: str) -> dict[str, str]:
    """The zone of a timing that does not count in it; most have none of their own."""
    return {} if timezone == "UTC" else {"timezone": timezone}


def _unknown(description: Mapping[str, Any], expected: str) -> ValidationFailed:
    return refused("timing", dict(description), expected)
