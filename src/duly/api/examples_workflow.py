"""Examples of workflows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Example = tuple[str, Any]
LONG = (
    "it has recorded 8000 steps with 17 bytes; beyond 10000 steps or 67108864 bytes it fails: let it go on with"
    " ctx.continue_as_new"
)

BODIES: Mapping[str, Mapping[str, Example]] = {
    "startWorkflow": {
        "order": ("An order, once", {"input": {"order": 7}, "id": "order-7"}),
        "found": ("Found by its customer", {"input": {}, "tags": ["vip"], "attributes": {"customer": "ann"}}),
    },
    "signalRun": {"approval": ("With a payload", {"payload": {"approved": True}})},
    "updateRun": {"amount": ("With a payload", {"payload": {"amount": 5}})},
    "publishEvent": {"paid": ("An order that was paid", {"payload": {"order": 7}, "id": "paid-7"})},
    "completeTask": {"result": ("What came of it", {"result": {"label": "cat"}})},
    "receiveHook": {"paid": ("What came of it", {"paid": True})},
    "failTask": {"error": ("Why not", {"error": "nobody could read it"})},
}


def answers(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """What each route answers; ``run`` is the example of a run."""
    begun = {
        **run,
        "windowKey": None,
        "kind": "direct",
        "scheduleId": None,
        "scheduleKey": None,
        "jobType": None,
        "workflow": "fulfil-order",
        "version": "2",
        "status": "suspended",
        "completedAt": None,
        "durationMs": None,
        "instance": None,
        "result": None,
        "payload": {"order": 7},
    }
    step = {
        "id": f"{run['id']}:1",
        "position": 1,
        "kind": "step",
        "name": "charge",
        "status": "done",
        "attempt": 1,
        "dueAt": None,
        "result": {"charge": "ch_7"},
        "error": None,
        "log": [["info", "charged 5 EUR"]],
        "askedAt": "2026-11-16T12:00:00.011Z",
        "doneAt": "2026-11-16T12:00:00.523Z",
    }
    sleep = {
        **step,
        "id": f"{run['id']}:2",
        "position": 2,
        "kind": "sleep",
        "name": "sleep",
        "status": "asked",
        "attempt": 0,
        "dueAt": "2026-11-17T12:00:00.523Z",
        "result": None,
        "log": [],
        "askedAt": "2026-11-16T12:00:00.523Z",
        "doneAt": None,
    }
    handler = {
        "event": "order.paid",
        "workflow": "fulfil-order",
        "jobType": None,
        "queue": "default",
        "debounceMs": None,
        "batch": 100,
        "withinMs": 5000,
    }
    quiet = {
        **handler,
        "event": "page.edited",
        "workflow": "index",
        "debounceMs": 10_000,
        "batch": None,
        "withinMs": None,
    }
    return {
        "startWorkflow": {**begun, "givenId": "order-7"},
        "signalRun": begun,
        "listSteps": {"items": [step, sleep], "nextCursor": None, "bytes": 17, "warning": LONG},
        "updateRun": {"accepted": False, "reason": "the amount is below 1"},
        "getValue": {"name": "progress", "value": 0.5, "published": True},
        "publishEvent": {"told": 0, "runs": [run["id"]], "repeated": False},
        "listEventHandlers": {"items": [handler, quiet], "nextCursor": None},
        "completeTask": {"ended": True},
        "failTask": {"ended": True},
        "receiveHook": {"ended": True},
    }
