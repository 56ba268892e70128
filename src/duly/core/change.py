"""The audit trail of a schedule: who changed what of it, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Action(StrEnum):
    CREATE = "create"
    EDIT = "edit"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    DELETE = "delete"
    RESCHEDULE = "reschedule"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field, before and after, as JSON values. ``shown`` is False where the values are too large, or secret."""

    field: str
    old: Any = None
    new: Any = None
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a change is to be remembered by."""

    action: Action
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleChange:
    """One entry of the trail. Number 0 is the creation, which changes no field."""

    schedule_id: str
    number: int
    at: datetime
    by: str | None
    action: Action
    revision: int
    fields: tuple[FieldChange, ...] = ()
