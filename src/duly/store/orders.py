"""What an operation is told to do: stored as JSON, one shape per kind. Instants in epoch ms."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from duly.core.operation import OperationKind
from duly.core.switch import Backlog

from .values import ScheduleFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseOrder:
    """Of the schedules that match, or of those with these ids; so with the four that follow."""

    where: ScheduleFilter
    ids: tuple[str, ...] | None = None
    reason: str | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeOrder:
    """``reason`` picks those that were paused for exactly this one."""

    where: ScheduleFilter
    ids: tuple[str, ...] | None = None
    reason: str | None = None
    catch_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelOrder:
    where: ScheduleFilter
    ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOrder:
    where: ScheduleFilter
    ids: tuple[str, ...] | None = None
    cancel_running: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerOrder:
    """``force`` ignores the overlap policy."""

    where: ScheduleFilter
    ids: tuple[str, ...] | None = None
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeOrder:
    """``schedule_id``, and ``ref`` as it was asked for, are filled in when it begins."""

    cancel_running: bool = False
    schedule_id: str | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillOrder:
    """``schedule_id`` and ``windows`` are filled in when it begins. ``force`` ignores the overlap policy."""

    since: int
    until: int
    rate_per_second: float | None = None
    force: bool = False
    schedule_id: str | None = None
    windows: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseAllOrder:
    """``epoch`` is the one that a restore began."""

    reason: str | None = None
    epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeAllOrder:
    backlog: Backlog


BulkOrder = PauseOrder | ResumeOrder | CancelOrder | DeleteOrder | TriggerOrder
Order = BulkOrder | PurgeOrder | BackfillOrder | PauseAllOrder | ResumeAllOrder

_KINDS: dict[type[Order], OperationKind] = {
    PauseOrder: OperationKind.PAUSE,
    ResumeOrder: OperationKind.RESUME,
    CancelOrder: OperationKind.CANCEL,
    DeleteOrder: OperationKind.DELETE,
    TriggerOrder: OperationKind.TRIGGER,
    PurgeOrder: OperationKind.PURGE,
    BackfillOrder: OperationKind.BACKFILL,
    PauseAllOrder: OperationKind.PAUSE_ALL,
    ResumeAllOrder: OperationKind.RESUME_ALL,
}
_ORDERS = {kind: order for order, kind in _KINDS.items()}
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOperation:
    """An operation to be stored; its id is fixed before the first try, so that asking twice makes one.

    ``missing`` was named, and is nobody's: the operation tells of it, and has nothing to do.
    """

    id: str
    order: Order
    by: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def kind(self) -> OperationKind:
        return _KINDS[type(self.order)]


def encode_order(order: Order) -> str:
    return _encode(order).decode()


def decode_order(kind: str, body: str) -> Order:
    return msgspec.json.decode(body, type=_ORDERS[OperationKind(kind)])
