"""What is asked and answered about dead letters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadFilter:
    """Which dead letters; ``error`` is a part of the error's text, as it is written.

    ``error_type`` and ``error_location`` are those of the last attempt, as a group has them.
    """

    tenant: str | None = None
    schedule_id: str | None = None
    job: str | None = None
    queue: str | None = None
    error: str | None = None
    error_type: str | None = None
    error_location: str | None = None


class DeadRef(NamedTuple):
    """One death of a run; without a fence, its present one."""

    run_id: str
    fence: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Redrive:
    """A dead run that is to go again; with a payload, as a new run that is linked to it.

    It waits for other open runs of its schedule where they must not overlap, unless ``force`` is set.
    """

    dead: DeadRef
    payload: str | None = None
    force: bool = False
    by: str | None = None


class Done(StrEnum):
    """What became of a dead letter that somebody wanted to redrive or to acknowledge."""

    DONE = "done"
    REPEATED = "repeated"
    NOT_DEAD = "not_dead"
    NOT_FOUND = "not_found"
    NO_PAYLOAD = "no_payload"
    LANE_FULL = "lane_full"


@dataclass(frozen=True, slots=True)
class Handled:
    """The answer for one dead letter; ``goes_as`` is the run that goes again, by this call or by an earlier one."""

    run_id: str
    outcome: Done
    goes_as: str | None = None
