"""What may be sent to workflows."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from .bodies import Base, RunKey, told


class StartBody(Base):
    """One run of a workflow."""

    input: Annotated[Any, told("Any JSON value, up to 256 KiB; null if absent.")] = UNSET
    id: Annotated[RunKey | UnsetType | None, told("Your own name for it: started again, it is the same run.")] = UNSET
    version: Annotated[
        Annotated[str, Meta(min_length=1, max_length=50)] | UnsetType | None, told("The newest if absent.")
    ] = UNSET


class SignalBody(Base):
    """What the run is told."""

    payload: Annotated[Any, told("Any JSON value, up to 256 KiB; null if absent.")] = UNSET


class CancelRunBody(Base):
    """How a run is to be cancelled."""

    compensate: Annotated[
        bool | UnsetType | None, told("Of a workflow: undo first what its steps did; it is `cancelling` meanwhile.")
    ] = UNSET


class ResultBody(Base):
    """What came of a task."""

    result: Annotated[Any, told("Any JSON value, up to 256 KiB; null if absent.")] = UNSET


class TaskFailBody(Base):
    """Why nothing came of a task."""

    error: Annotated[str, Meta(min_length=1, max_length=4000)]
