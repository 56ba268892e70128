"""Who leads, by a key in Redis: set if absent with a time to live, renewed and released by its owner alone.

Nothing that must be safe rests on it. It decides quickly, across many databases' worth of load; the term in the store
is what a fire is checked against.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from duly.core.errors import ConfigurationError

ANSWER_WITHIN = 2.0
"""Seconds; a Redis that does not answer by then is away."""

RENEW = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0
"""
RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
"""


class RedisBallot:
    """A ``Ballot`` in Redis; ``store_id`` tells apart databases that share one."""

    def __init__(self, url: str, store_id: Callable[[], Awaitable[str]]) -> None:
        self._redis: Any = _connect(url)
        self._store_id = store_id
        self._key: str | None = None

    async def hold(self, owner: str, ttl_ms: int) -> bool | None:
        key = await self._named()
        try:
            if await self._redis.set(key, owner, nx=True, px=ttl_ms):
                return True
            return bool(await self._redis.eval(RENEW, 1, key, owner, ttl_ms))
        except _errors():
            return None

    async def release(self, owner: str) -> None:
        try:
            await self._redis.eval(RELEASE, 1, await self._named(), owner)
        except _errors():
            return  # it runs out by itself

    async def close(self) -> None:
        await self._redis.aclose()

    async def _named(self) -> str:
        if self._key is None:
            self._key = f"duly:leader:{await self._store_id()}"
        return self._key


def _connect(url: str) -> Any:
    try:
        from redis.asyncio import Redis
    except ImportError:
        raise ConfigurationError(
            "setting election is 'redis', and the package redis is not installed: pip install 'duly[redis]'"
        ) from None
    return Redis.from_url(url, socket_timeout=ANSWER_WITHIN, socket_connect_timeout=ANSWER_WITHIN)


def _errors() -> tuple[type[Exception], ...]:
    from redis.exceptions import RedisError

    return (RedisError, OSError, TimeoutError)
