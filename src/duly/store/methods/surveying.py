"""How a store fares, for whoever asks after it: what is overdue, and what nobody takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duly.core.instants import to_datetime
from duly.core.switch import FiringState
from duly.store.load import Waits
from duly.store.sealing import CANARY
from duly.store.statements import Program, query
from duly.store.values import LEADER, Instance, Lease

from .keys import list_keys
from .reading import longest_waits
from .sessions import list_instances, read_lease
from .switching import firing_state

MOST_COUNTED = 10_000


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
    waits: Waits
    leader: Lease | None = None
    seals: Sequence[str] = ()
    """The names of the keys that values are sealed with."""


def unknown_jobs(now: int) -> Program[dict[str, int]]:
    """How many runs wait for each job that no live worker knows."""
    return dict((yield query("unknown_jobs", now=now)))


def survey(now: int) -> Program[Survey]:
    """Look at all of it in one transaction."""
    fires = yield query("next_fire")
    unknown = yield from unknown_jobs(now)
    instances = yield from list_instances(now)
    state = yield from firing_state(now)
    keys = yield from list_keys(now)
    good = sum(key.is_good(to_datetime(now)) for key in keys)
    leader = yield from read_lease(now, LEADER)
    seals = yield query("read_seals")
    waits = yield from longest_waits(now, MOST_COUNTED)
    return Survey(
        now=now,
        next_fire_at=fires[0][0],
        unknown=unknown,
        instances=instances,
        firing=state,
        keys=good if keys else -1,
        leader=leader,
        seals=[name.removeprefix(CANARY) for name, _ in seals],
        waits=waits,
    )
