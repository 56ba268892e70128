"""What may be sent about keys."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from .bodies import Base, Id, Instant, RunKey, told

Much = Annotated[int, Meta(ge=1, le=2**53 - 1)]


class QuotasBody(Base):
    """How much the owner may have and ask for, where it is not what the server says for all."""

    schedules: Annotated[Much | UnsetType | None, told("Schedules that have not ended.")] = UNSET
    min_interval_ms: Annotated[Much | UnsetType | None, told("The least time between two fires.")] = UNSET
    payload_bytes: Annotated[Much | UnsetType | None, told("The largest payload.")] = UNSET
    requests_per_minute: Annotated[Much | UnsetType | None, told("Requests of this key.")] = UNSET


class KeyBody(Base):
    """A key to be made."""

    name: Annotated[
        Annotated[str, Meta(min_length=1, max_length=100)], told("What it is for; the audit trail says `key:` and it.")
    ]
    owner: Annotated[Id | UnsetType | None, told("Whose what it creates is; the name unless said, or admin.")] = UNSET
    tenant: Annotated[Id | UnsetType | None, told("The tenant of what it creates.")] = UNSET
    scopes: Annotated[
        Annotated[list[Literal["read", "write", "trigger", "admin", "worker"]], Meta(min_length=1, max_length=5)]
        | UnsetType,
        told("What it may do; read, write and trigger unless said. A worker's stands alone."),
    ] = UNSET
    expires_at: Annotated[Instant | UnsetType | None, told("From when on it is refused.")] = UNSET
    queues: Annotated[
        Annotated[list[RunKey], Meta(min_length=1, max_length=100)] | UnsetType | None,
        told("What a worker's key may claim from; every queue if absent."),
    ] = UNSET
    quotas: QuotasBody | UnsetType = UNSET


class RotateBody(Base):
    """A key that is to be replaced."""

    keep_seconds: Annotated[
        Annotated[int, Meta(ge=0, le=366 * 86_400)], told("How long the old one goes on beside the new one.")
    ] = 86_400
    expires_at: Annotated[Instant | UnsetType | None, told("When the new one ends.")] = UNSET
