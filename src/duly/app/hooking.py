"""A webhook as the target of a schedule: what it may be, checked before it is stored."""

from __future__ import annotations

from typing import Any

import msgspec

from duly.core.addresses import Allowed
from duly.core.endpoint import read_endpoint
from duly.core.errors import ValidationFailed
from duly.core.schedule import Target, TargetKind
from duly.core.signing import check_secret
from duly.core.timing.refusal import shortened

RESERVED = frozenset(
    {
        "host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "keep-alive",
        "upgrade", "te", "trailer", "expect", "date", "user-agent", "authorization", "proxy-authorization", "cookie",
        "idempotency-key", "accept-encoding",
    }
)  # fmt: skip
"""Headers that are ours, or that would be secrets which everybody who may read the schedule sees."""


def check_webhook(target: Target, allowed: Allowed) -> None:
    """Refuse a webhook that leads where none may go, or whose secret or headers cannot be used."""
    if target.kind is not TargetKind.WEBHOOK:
        return
    read_endpoint(target.name, allowed, field="target.url")
    spec: dict[str, Any] = {} if target.spec is None else msgspec.json.decode(target.spec)
    if spec.get("secret") is not None:
        check_secret(spec["secret"], "target.secret")
    for name, value in (spec.get("headers") or {}).items():
        _check_header(name, value)


def _check_header(name: str, value: str) -> None:
    if name.lower() in RESERVED or name.lower().startswith(("webhook-", "ce-")):
        raise ValidationFailed(
            f"target.headers has {name[:60]!r}, which is not for a schedule to set; leave it out: messages are"
            " signed, which says who sends them",
            field=f"target.headers.{name}",
            got=name,
            expected="another header",
        )
    if not value.isascii() or value != value.strip():
        raise ValidationFailed(
            f"target.headers.{name[:60]} is {shortened(value)}; expected ASCII without blanks around it: HTTP carries"
            " nothing else in a header",
            field=f"target.headers.{name}",
            got=value,
            expected="ASCII",
        )
