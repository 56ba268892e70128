"""What is answered about keys, as types."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from .shapes import Instant


class QuotasAnswer(TypedDict):
    """Null is what the server says for all."""

    schedules: int | None
    minIntervalMs: int | None
    payloadBytes: int | None
    requestsPerMinute: int | None


class KeyAnswer(TypedDict):
    """A key, without the key itself."""

    id: Annotated[str, Meta(description="the first 8 characters after `duly_live_`")]
    name: str
    owner: str | None
    tenant: str | None
    scopes: list[Literal["read", "write", "trigger", "admin", "worker"]]
    queues: Annotated[list[str] | None, Meta(description="what a worker's key may claim from; null is every queue")]
    quotas: QuotasAnswer
    createdAt: Instant | None
    createdBy: str | None
    expiresAt: Instant | None
    revokedAt: Instant | None
    lastUsedAt: Annotated[Instant | None, Meta(description="to ten minutes")]
    replaces: Annotated[str | None, Meta(description="the key that it stands in for")]


class MadeKeyAnswer(KeyAnswer):
    """A new key. It is shown now and never again."""

    key: Annotated[str, Meta(description="send it as `Authorization: Bearer`")]


class KeyPage(TypedDict):
    """All keys on one page."""

    items: list[KeyAnswer]
    nextCursor: None
