"""Derives the event types, where each can be received, and the fields of an event in a process and in a stream."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime

from duly.api.streaming import event_bytes
from duly.app.telling import Telling
from duly.core.event import NAMES, RESET, Event
from duly.core.webhook import EVENTS, HEARTBEAT_EVENTS, TEST
from tests.surface.diff import Tree

EVENT = Event(
    name="run.failed", at=datetime(2026, 3, 8, 18, tzinfo=UTC), number=7, schedule_id="s1", schedule_key="report",
    run_id="r1", job="send-report", attempt=3, reason="out of attempts", error="no route", owner="ann", tenant="acme",
)  # fmt: skip


def derive() -> Tree:
    """Return each type with its channels, the attributes of ``duly.Event`` and the fields of a server-sent event."""
    channels = {
        "app.on": Telling.NAMES,
        "stream": {*NAMES, RESET},
        "webhook": {*EVENTS, TEST},
        "heartbeat": HEARTBEAT_EVENTS,
    }
    types = sorted({name for names in channels.values() for name in names})
    tree: Tree = {
        f"type {name}": {"channels": [channel for channel, names in channels.items() if name in names]}
        for name in types
    }
    tree["duly.Event"] = {"attribute": {field.name: {"type": str(field.type)} for field in fields(Event)}}
    lines = dict(line.split(": ", 1) for line in event_bytes(EVENT).decode().splitlines() if line)
    tree["stream"] = {"line": sorted(lines), "data": json.loads(lines["data"])}
    return tree
