"""Whose rows a statement finds: the one place that narrows what people ask for to what is theirs.

A program looks things up with ``owned`` statements, which take a tenant and an owner and mind neither while both are
None. A store that is narrowed to somebody fills them in, whatever program runs on it: no method can forget it, and a
row of somebody else is found by the same statements as one that is not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duly.core.credential import Whose

from .statements import Batch, Group, Program, Query, Step, Steps, T, Transaction


@dataclass(slots=True)
class Owned(Query):
    """A statement that finds what belongs to somebody."""


@dataclass(slots=True)
class Made(Query):
    """A statement that writes down to whom what it makes belongs."""


def owned(name: str, /, **params: Any) -> Owned:
    """A look-up of what belongs to somebody: of anybody's, unless the store is narrowed."""
    return Owned(name, {"tenant": None, "owner": None, **params})


def made(name: str, /, **params: Any) -> Made:
    """A write of what is to belong to somebody: to nobody, unless the store is narrowed."""
    return Made(name, {"tenant": None, "owner": None, **params})


def narrowed(transaction: Transaction[T], whose: Whose) -> Transaction[T]:
    """The same transaction, finding only what belongs to one owner, and giving them what it makes."""

    def begin(now: int) -> Program[T]:
        return _narrow(transaction(now), whose)

    return begin


def _narrow(program: Program[T], whose: Whose) -> Program[T]:
    for step in (steps := Steps(program)):
        nothing_to_see = isinstance(step, Owned) and _asks_for_others(step, whose)
        steps.answer = [] if nothing_to_see else (yield _step(step, whose))
    return steps.value


def _step(step: Step, whose: Whose) -> Step:
    if isinstance(step, Owned | Made):
        return type(step)(step.name, {**step.params, "tenant": whose.tenant, "owner": whose.owner})
    if isinstance(step, Group):
        return Group([_one(one, whose) for one in step.steps], step.last)
    return step


def _one(step: Query | Batch, whose: Whose) -> Query | Batch:
    narrow = _step(step, whose)
    assert not isinstance(narrow, Group)
    return narrow


def _asks_for_others(step: Query, whose: Whose) -> bool:
    """Whether a filter names another tenant or owner; there is nothing of theirs to be seen."""
    return any(
        step.params[name] not in (None, mine) for name, mine in (("tenant", whose.tenant), ("owner", whose.owner))
    )
