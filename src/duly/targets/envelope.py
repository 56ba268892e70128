"""What a message says: CloudEvents 1.0 in one JSON or with its attributes beside the data, raw, or merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from duly.core.outside import EXPECT_ANSWER

from .target import Message

STRUCTURED = "application/cloudevents+json"
JSON = "application/json"
PLAIN_TYPE = "duly.run"
"""The type of a message whose schedule has no topic."""

EXPECT_HEADER = "duly-expect"
"""Beside a message whose receiver is to answer: the same id with another fence is another question then."""

_ENVELOPE_WORDS = frozenset({"kind", "name", "format", "expect", "headers", "ordered"})
_encode = msgspec.json.Encoder().encode


class Format(StrEnum):
    """How a message carries the payload."""

    CLOUDEVENTS = "cloudevents"
    CLOUDEVENTS_BINARY = "cloudevents-binary"
    RAW = "raw"
    MERGED = "merged"


@dataclass(slots=True, kw_only=True)
class Departure:
    """A run as a message tells of it. ``payload`` is the JSON as stored; ``spec`` the words of the schedule's target.

    ``fired_at`` is when the run was made, so that it says the same on every attempt. Like a message it is not frozen:
    one of each is made for every delivery, and that would cost more than all that is in them.
    """

    run_id: str
    payload: str
    scheduled_at: datetime
    fired_at: datetime
    schedule_id: str | None = None
    key: str | None = None
    window_key: str | None = None
    topic: str | None = None
    timezone: str = "UTC"
    metadata: Mapping[str, str | None] = field(default_factory=dict)
    attempt: int = 1
    max_attempts: int = 1
    fence: int = 1
    spec: Mapping[str, Any] = field(default_factory=dict)
    trace: str | None = None

    @property
    def expects_answer(self) -> bool:
        """Whether the run ends when its receiver says so, and not when it is delivered."""
        return self.spec.get("expect") == EXPECT_ANSWER


def message_of(departure: Departure) -> Message:
    """The message of a run, in the format that its schedule asks for."""
    spec = departure.spec
    format = Format(spec.get("format") or Format.CLOUDEVENTS)
    attributes = _attributes(departure)
    body, content_type = _body(departure, format, attributes)
    return Message(
        id=departure.run_id,
        type=attributes["type"],
        source=attributes["source"],
        time=departure.scheduled_at,
        body=body,
        content_type=content_type,
        payload=departure.payload,
        topic=departure.topic,
        key=departure.key,
        headers={**_ids(departure, attributes), **_trace(departure), **(spec.get("headers") or {})},
        attributes=attributes if format is Format.CLOUDEVENTS_BINARY else {},
        attempt=departure.attempt,
        fence=departure.fence,
        expects_answer=departure.expects_answer,
        options={word: value for word, value in spec.items() if word not in _ENVELOPE_WORDS},
    )


def _trace(departure: Departure) -> dict[str, str]:
    """W3C's header, where the attempt is traced."""
    return {} if departure.trace is None else {"traceparent": departure.trace}


def prefixed(attributes: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The attributes as a protocol writes them beside the data, e.g. ``ce-`` for HTTP and ``ce_`` for Kafka."""
    return {prefix + name: value for name, value in attributes.items()}


def type_of(topic: str | None) -> str:
    """The type of the messages of a topic."""
    return PLAIN_TYPE if topic is None else f"schedule.{topic}.arrived"


def _body(departure: Departure, format: Format, attributes: Mapping[str, str]) -> tuple[bytes, str]:
    if format is Format.RAW:
        return departure.payload.encode(), JSON
    if format is Format.MERGED:
        return _merged(departure), JSON
    data = _data(departure, attributes["time"])
    if format is Format.CLOUDEVENTS_BINARY:
        return _encode(data), JSON
    event: dict[str, Any] = {**attributes, "datacontenttype": JSON, "data": data}
    if "fence" in event:
        event["fence"] = departure.fence
    return _encode(event), STRUCTURED


def _attributes(departure: Departure) -> dict[str, str]:
    attributes = {
        "specversion": "1.0",
        "id": departure.run_id,
        "source": f"/duly/schedules/{departure.key}" if departure.key else "/duly/runs",
        "type": type_of(departure.topic),
        "time": _instant(departure.scheduled_at),
    }
    if departure.window_key is not None:
        attributes["windowkey"] = departure.window_key
    if departure.expects_answer:
        attributes["fence"] = str(departure.fence)
    return attributes


def _data(departure: Departure, time: str) -> dict[str, Any]:
    metadata = departure.metadata
    return {
        "scheduledJobId": departure.schedule_id or departure.run_id,
        "topic": departure.topic,
        "userPayload": msgspec.Raw(departure.payload.encode()),
        "metadata": {
            "ownerId": metadata.get("owner_id"),
            "tenantId": metadata.get("tenant_id"),
            "correlationId": metadata.get("correlation_id"),
            "clientRequestId": metadata.get("client_request_id"),
        },
        "timezone": departure.timezone,
        "originalScheduledAt": time,
        "firedAt": _instant(departure.fired_at),
        # The work's, not the delivery's: one that is sent again must be the same to the byte.
        "attempt": departure.attempt if departure.expects_answer else 1,
        "maxAttempts": departure.max_attempts,
    }


def _merged(departure: Departure) -> bytes:
    """The payload with our words in it; one that is no object becomes the word ``payload``."""
    payload = msgspec.json.decode(departure.payload)
    ours = {
        "_schedulerId": departure.schedule_id,
        "_executionId": departure.run_id,
        "_scheduledAt": _instant(departure.scheduled_at),
    }
    return _encode({**payload, **ours} if isinstance(payload, dict) else {"payload": payload, **ours})


def _ids(departure: Departure, attributes: Mapping[str, str]) -> dict[str, str]:
    """What a receiver may want to know that does not read the body."""
    ids = {
        "duly-run-id": departure.run_id,
        "duly-schedule-id": departure.schedule_id,
        "duly-schedule-key": departure.key,
        "duly-window-key": departure.window_key,
        "duly-type": attributes["type"],
        "duly-scheduled-at": attributes["time"],
        "duly-attempt": str(departure.attempt),
        "duly-fence": str(departure.fence),
        EXPECT_HEADER: EXPECT_ANSWER if departure.expects_answer else None,
    }
    return {name: value for name, value in ids.items() if value is not None}


def _instant(at: datetime) -> str:
    """RFC 3339 in UTC, in milliseconds only where there are any."""
    return at.isoformat(timespec="milliseconds" if at.microsecond else "seconds").replace("+00:00", "Z")
