"""How a store fares, for whoever asks after it: what is overdue, and what nobody takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from duly.core.instants import to_datetime
from duly.core.switch import FiringState
from duly.store.statements import Program, query
from duly.store.values import LEADER, Instance, Lease

from .keys import list_keys
from .sessions import list_instances, read_lease
from .switching import firing_state


@dataclass(frozen=True, slots=True)
class Survey:
    """``next_fire_at`` in the past is how long a fire has been owed; ``unknown`` are runs by a job no worker knows."""

    now: int
    next_fire_at: int | None
    unknown: Mapping[str, int]
    instances: list[Instance]
    firing: FiringState
    keys: int
    """Keys of the API that are good now; -1 while none was ever made."""
    leader: Lease | None = None


def survey(now: int) -> Program[Survey]:
    """Look at all of it in one transaction."""
    fires = yield query("next_fire")
    unknown = yield query("unknown_jobs", now=now)
    instances = yield from list_instances(now)
    state = yield from firing_state(now)
    keys = yield from list_keys(now)
    good = sum(key.is_good(to_datetime(now)) for key in keys)
    leader = yield from read_lease(now, LEADER)
    return Survey(now, fires[0][0], {row[0]: row[1] for row in unknown}, instances, state, good if keys else -1, leader)
