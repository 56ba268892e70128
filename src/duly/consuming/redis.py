"""Messages from a stream of Redis or Valkey, read by a consumer group."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from .consumer import EXPECT, FENCE, Delivery

_log = logging.getLogger("duly.consuming")

TAKE_WITHIN = 1.0
BATCH = 100


class RedisSource:
    """A group's share of a stream. What its consumers left unacknowledged for ``idle_for`` seconds is taken over."""

    errors: tuple[type[BaseException], ...] = (RedisError, OSError)

    def __init__(self, url: str, stream: str, *, group: str, name: str, idle_for: float = 60.0) -> None:
        self._url = url
        self._stream = stream
        self._group = group
        self._name = name
        self._idle_ms = round(idle_for * 1000)
        self._redis: Any = None

    async def open(self) -> None:
        """Connect, and make the group where it is not there, from the stream's beginning."""
        self._redis = Redis.from_url(self._url, decode_responses=False)
        try:
            await self._redis.xgroup_create(self._stream, self._group, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    async def take(self) -> Sequence[Delivery]:
        """What others left lying, else what is new, else nothing after a second."""
        claimed = await self._redis.xautoclaim(
            self._stream, self._group, self._name, min_idle_time=self._idle_ms, count=BATCH
        )
        entries = claimed[1]
        if not entries:
            answer = await self._redis.xreadgroup(
                self._group, self._name, {self._stream: ">"}, count=BATCH, block=round(TAKE_WITHIN * 1000)
            )
            entries = _entries(answer)
        found = [(entry, fields, _delivery(entry, fields)) for entry, fields in entries if fields]
        for entry, fields, delivery in found:
            if delivery is None:
                _log.error("entry %s of stream %s is no message; it is refused", entry.decode(), self._stream)
                await self._set_aside(entry, fields)
        return [delivery for _, _, delivery in found if delivery is not None]

    async def finish(self, delivery: Delivery) -> None:
        await self._redis.xack(self._stream, self._group, delivery.receipt)

    async def give_back(self, delivery: Delivery) -> None:
        """Nothing to do: an entry that is not acknowledged is taken over after ``idle_for``."""

    async def refuse(self, delivery: Delivery) -> None:
        """Keep it beside the stream, as ``<stream>:refused``, and acknowledge it."""
        fields = {"id": delivery.id, "type": delivery.type, "data": delivery.body}
        if FENCE in delivery.headers:
            fields["fence"] = delivery.headers[FENCE]
        await self._set_aside(delivery.receipt, fields)

    async def _set_aside(self, entry: bytes, fields: Mapping[Any, Any]) -> None:
        await self._redis.xadd(f"{self._stream}:refused", fields)
        await self._redis.xack(self._stream, self._group, entry)

    async def close(self) -> None:
        if self._redis is not None:
            await self._redis.aclose()


def _entries(answer: Any) -> list[Any]:
    """The entries of an answer, which newer protocols give as a mapping."""
    if isinstance(answer, dict):
        return [entry for lists in answer.values() for part in lists for entry in part]
    return [entry for _, part in answer or () for entry in part]


def _delivery(entry: bytes, fields: dict[bytes, bytes]) -> Delivery | None:
    """An entry as a message; None for one of somebody else's that cannot be read as such."""
    try:
        id, type, data = fields[b"id"].decode(), fields[b"type"].decode(), fields[b"data"]
        # Only who is to answer is told the fence.
        headers = {FENCE: fields[b"fence"].decode(), EXPECT: "ack"} if b"fence" in fields else {}
    except (KeyError, UnicodeDecodeError):
        return None
    return Delivery(id, type, data, headers, entry)
