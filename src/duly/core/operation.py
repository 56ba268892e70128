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
    PURGE = "purge"
    BACKFILL = "backfill"
    PAUSE_ALL = "pause_all"
    RESUME_ALL = "resume_all"


class OperationStatus(StrEnum):
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What was asked for, and how far it has come.

    ``matched`` have been looked at (of a backfill: its windows), ``changed`` were changed (its runs that have ended),
    ``refused`` could not be.
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

    @property
    def finished(self) -> bool:
        return self.status is not OperationStatus.RUNNING
