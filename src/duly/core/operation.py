"""An operation: work on many schedules, or of many runs, that takes more than one transaction.

It is stored before it begins and says how far it has come, so whoever started it may die: another goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class OperationKind(StrEnum):
    """What is done. The last two are about the fleet: they stop all firing, and let it begin again."""

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    DELETE = "delete"
    TRIGGER = "trigger"
    PURGE = "purge"
    BACKFILL = "backfill"
    PAUSE_ALL = "pause_all"
    RESUME_ALL = "resume_all"


class Became(StrEnum):
    """What became of one schedule among many."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True)
class Item:
    """One schedule of an operation, by its id, or by what was given where there is none."""

    id: str
    became: Became
    detail: str | None = None


class OperationStatus(StrEnum):
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What was asked for, and how far it has come.

    ``matched`` have been looked at (of a backfill: its windows; of a purge: its runs), ``changed`` were changed (of a
    backfill: its runs that have ended), ``refused`` could not be. ``items`` tells of each that was asked for by name;
    where a filter was asked for, of the first that were refused.
    """

    id: str
    kind: OperationKind
    status: OperationStatus
    arguments: Mapping[str, Any]
    made_at: datetime
    by: str | None
    matched: int = 0
    changed: int = 0
    refused: int = 0
    error: str | None = None
    updated_at: datetime
    finished_at: datetime | None = None
    items: tuple[Item, ...] = ()

    @property
    def finished(self) -> bool:
        return self.status is not OperationStatus.RUNNING
