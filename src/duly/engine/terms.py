"""A job's own retry and timeout, where nobody chose others for a run."""

from __future__ import annotations

from duly.core.policy import LEFT_RETRY, LEFT_TIMEOUT, Retry
from duly.core.run import Claim

from .registry import Handler

_RETRY = Retry()


def take_own_terms(claim: Claim, handler: Handler) -> None:
    """Give a claim what its handler declares, in the place of what the store could only guess.

    Only a shorter timeout: a run is taken from a worker that goes on past the one that the store has for it.
    """
    left = claim.left_to_job
    if left & LEFT_RETRY and handler.retry is not None:
        claim.allow(handler.retry.max_attempts)
    own = handler.timeout_ms
    if left & LEFT_TIMEOUT and own is not None and (claim.timeout_ms is None or own < claim.timeout_ms):
        claim.timeout_ms = own


def retry_of(claim: Claim, handler: Handler) -> Retry:
    """How long a run waits between its attempts: what was chosen for its schedule, else its job's own."""
    chosen = None if claim.definition is None else claim.definition.retry
    if claim.left_to_job & LEFT_RETRY:
        return handler.retry or chosen or _RETRY
    return chosen or handler.retry or _RETRY
