"""Transactional steps: the user's writes and the step's row in one commit, and what is true when nobody heard of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duly.core.errors import LeaseLost
from duly.core.steps import Step
from duly.store.journal import Record

from .world import World

Keep = Callable[[Step], None]
Both = Callable[[Any, Keep], Step]
"""Is given a connection and what keeps a row on it; does a step, and answers the row of its end."""


class NotConfirmed(Exception):
    """A commit was asked for and nobody said that it was done. It may have been: only the record knows."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def transact(world: World, record_of: Callable[[Step], Record], both: Both) -> Step:
    """Do a step inside a transaction and commit it; NotConfirmed for an error that came when it was done."""
    end: Step | None = None
    try:
        with world.transaction() as connection:

            def keep(step: Step) -> None:
                record = record_of(step)
                recorded = world.record_on(connection, record)
                if recorded is None or recorded.cancelled:
                    raise LeaseLost(f"run {record.run_id} is cancelled, or belongs to a newer attempt")

            end = both(connection, keep)
    except Exception as error:
        if end is None:
            raise
        raise NotConfirmed(error) from error
    return end
