"""How long a failed run waits before its next attempt."""

from __future__ import annotations

from hashlib import blake2b

from duly.core.policy import Backoff, Retry

_DOUBLINGS = 100  # as many as there can be attempts: no float overflows


def delay_ms(retry: Retry, attempt: int, seed: str) -> int:
    """The wait after attempt number ``attempt`` (from 1), the same whenever and wherever it is asked for.

    The cap comes first, then the jitter: the answer lies within ``jitter`` of the delay and never above
    ``max_delay``. It is spread evenly below the cap, so that runs that failed together do not return together.
    """
    delay = min(retry.delay * 1000, retry.max_delay * 1000)
    if retry.backoff is Backoff.EXPONENTIAL:
        delay = min(retry.delay * 1000 * 2.0 ** min(attempt - 1, _DOUBLINGS), retry.max_delay * 1000)
    if not retry.jitter:
        return round(delay)
    low = delay * (1 - retry.jitter)
    high = min(delay * (1 + retry.jitter), retry.max_delay * 1000)
    digest = blake2b(f"{seed}/{attempt}".encode(), digest_size=8).digest()
    return round(low + (high - low) * (int.from_bytes(digest, "big") / 2**64))
