"""What may be sent about webhooks."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from .bodies import Base, Id, told

Url = Annotated[str, Meta(min_length=1, max_length=2048)]
EventName = Literal[
    "run.cancelled",
    "run.completed",
    "run.failed",
    "run.retrying",
    "run.skipped",
    "schedule.cancelled",
    "schedule.created",
    "schedule.deleted",
    "schedule.missed",
    "schedule.overdue",
    "schedule.paused",
    "schedule.recovered",
    "schedule.resumed",
    "schedule.updated",
]
EventNames = Annotated[list[EventName], Meta(min_length=1, max_length=14)]
Prose = Annotated[str, Meta(max_length=1000)]
Tag = Annotated[str, Meta(min_length=1, max_length=50)]
JobType = Annotated[str, Meta(min_length=1, max_length=100)]
SecretText = Annotated[str, Meta(min_length=1, max_length=100)]


class WebhookBody(Base):
    """Somebody who is to be told of what happens."""

    url: Annotated[Url, told("An https URL of a public host; it is POSTed to.")]
    events: Annotated[EventNames | UnsetType, told("What it is told of; a heartbeat needs none.")] = UNSET
    kind: Annotated[
        Literal["events", "heartbeat"], told("A heartbeat is pinged at `url` for what completes, at `url/fail` else.")
    ] = "events"
    schedule: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType | None,
        told("Only of this schedule, by its id or key."),
    ] = UNSET
    tag: Annotated[Tag | UnsetType | None, told("Only of schedules with this tag.")] = UNSET
    job_type: Annotated[JobType | UnsetType | None, told("Only of this job.")] = UNSET
    description: Annotated[Prose | UnsetType | None, told("For people.")] = UNSET
    secret: Annotated[
        SecretText | UnsetType | None, told("`whsec_` and 24 to 64 bytes in base64; one is made unless it is given.")
    ] = UNSET
    enabled: Annotated[bool, told("Whether it is told anything.")] = True
    owner: Annotated[Id | UnsetType | None, told("Whose it is; it hears of what is theirs.")] = UNSET
    tenant: Annotated[Id | UnsetType | None, told("Of which tenant; of all unless said, for an admin.")] = UNSET


class WebhookPatch(Base):
    """What is to be another; what is left out stays, null takes away."""

    url: Annotated[Url | UnsetType, told("Where it is told.")] = UNSET
    events: Annotated[EventNames | UnsetType, told("What it is told of.")] = UNSET
    tag: Annotated[Tag | UnsetType | None, told("Only of schedules with this tag.")] = UNSET
    job_type: Annotated[JobType | UnsetType | None, told("Only of this job.")] = UNSET
    description: Annotated[Prose | UnsetType | None, told("For people.")] = UNSET
    enabled: Annotated[bool | UnsetType, told("False: told nothing. True also forgets why it was disabled.")] = UNSET


class RotateSecretBody(Base):
    """A secret that is to be replaced."""

    keep_seconds: Annotated[
        Annotated[int, Meta(ge=0, le=366 * 86_400)], told("How long messages are signed with the old one too.")
    ] = 86_400
    secret: Annotated[SecretText | UnsetType | None, told("The new one; one is made unless it is given.")] = UNSET
