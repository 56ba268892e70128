"""What is answered about webhooks, as types."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from .bodies_webhooks import EventName
from .shapes import Instant


class WebhookAnswer(TypedDict):
    """A webhook, without its secrets."""

    id: str
    url: Annotated[str, Meta(description="where it is told")]
    kind: Annotated[Literal["events", "heartbeat"], Meta(description="what it is told, and how")]
    events: Annotated[list[EventName], Meta(description="what it is told of")]
    scheduleId: Annotated[str | None, Meta(description="only of this schedule")]
    tag: Annotated[str | None, Meta(description="only of schedules with this tag")]
    jobType: Annotated[str | None, Meta(description="only of this job")]
    description: Annotated[str | None, Meta(description="for people")]
    owner: Annotated[str | None, Meta(description="whose it is; it hears of what is theirs")]
    tenant: Annotated[str | None, Meta(description="of which tenant; null is of all")]
    enabled: Annotated[bool, Meta(description="whether it is told anything")]
    disabledReason: Annotated[str | None, Meta(description="why it was disabled, if no person did it")]
    failingSince: Annotated[Instant | None, Meta(description="since when it has taken nothing")]
    secrets: Annotated[int, Meta(description="with how many secrets messages are signed now")]
    createdAt: Instant
    createdBy: str | None
    updatedAt: Instant


class MadeWebhookAnswer(WebhookAnswer):
    """A webhook with a new secret. It is shown now and never again."""

    secret: Annotated[str, Meta(description="check signatures with it")]


class WebhookPage(TypedDict):
    """One page, oldest first."""

    items: list[WebhookAnswer]
    nextCursor: str | None
