"""What may be sent to workflows."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from .bodies import Base, RunKey, told


class StartBody(Base):
    """One run of a workflow."""

    input: Annotated[Any, told("Any JSON value, up to 256 KiB; null if absent.")] = UNSET
    id: Annotated[RunKey | UnsetType | None, told("Your own name for it: started again, it is the same run.")] = UNSET
    version: Annotated[
        Annotated[str, Meta(min_length=1, max_length=50)] | UnsetType | None, told("The newest if absent.")
    ] = UNSET
    tags: Annotated[list[str] | UnsetType | None, told("What it can be found by.")] = UNSET
    attributes: Annotated[
        dict[str, str | int | float | bool] | UnsetType | None, told("Values that it can be found by.")
    ] = UNSET
    singleton: Annotated[RunKey | UnsetType | None, told("Of all runs with this key only so many go at once.")] = UNSET
    max_running: Annotated[int | UnsetType | None, told("How many, beside `singleton`; 1 if absent.")] = UNSET
    max_queued: Annotated[int | UnsetType | None, told("How many may wait, beside `singleton`.")] = UNSET


class SignalBody(Base):
    """What the run is told."""

    payload: Annotated[Any, told("Any JSON value, up to 256 KiB; null if absent.")] = UNSET


class PublishBody(Base):
    """An event."""

    payload: Annotated[Any, told("Any JSON value, up to 256 KiB; null if absent.")] = UNSET
    id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=80)] | UnsetType | None,
        told("Your own id for it: sent again within seven days, it is the same event, and nothing is done."),
    ] = UNSET


class CancelRunBody(Base):
    """How a run is to be cancelled."""

    compensate: Annotated[
        bool | UnsetType | None, told("Of a workflow: undo first what its steps did; it is `cancelling` meanwhile.")
    ] = UNSET


class ResultBody(Base):
    """What came of a task."""

    result: Annotated[Any, told("Any JSON value, up to 256 KiB; null if absent.")] = UNSET


class HookBody(Struct):
    """Whatever the workflow is to be told; any JSON value, up to 256 KiB."""


class TaskFailBody(Base):
    """Why nothing came of a task."""

    error: Annotated[str, Meta(min_length=1, max_length=4000)]
