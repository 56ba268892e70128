"""Who decides which instance leads, where that is not the store itself."""

from __future__ import annotations

from contextlib import AsyncExitStack

from duly.config import Settings
from duly.engine.election import Ballot
from duly.store.sql import SqlStore


async def make_ballot(settings: Settings, store: SqlStore, stack: AsyncExitStack) -> Ballot | None:
    """The ballot of the settings, closed with the stack; None where the store's own lease decides."""
    if settings.election != "redis":
        return None
    from duly.engine.redis_ballot import RedisBallot

    async def store_id() -> str:
        return (await store.firing_state()).store_id

    ballot = RedisBallot(settings.election_url or "", store_id)
    stack.push_async_callback(ballot.close)
    return ballot
