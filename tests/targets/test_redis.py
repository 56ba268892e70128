"""Redis and Valkey streams and lists, on the real server."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from duly.core.errors import ConfigurationError
from duly.targets.registering import make_target
from duly.targets.target import Confirmed, Refused, TryAgain
from duly.testing.contract.target import TestTarget, TestTargetAway, message
from tests.servers import Server
from tests.targets.redis_place import RedisPlace

__all__ = ["TestTarget", "TestTargetAway"]


@pytest_asyncio.fixture
async def place(durable_redis: Server) -> AsyncIterator[RedisPlace]:
    place = RedisPlace(durable_redis)
    await place.empty()
    yield place


async def _send(place: RedisPlace, url: str, *numbers: int) -> list:
    target = make_target("events", url)
    await target.open()
    try:
        return list(await target.send([message(number) for number in numbers]))
    finally:
        await target.close()


async def test_an_entry_has_exactly_the_fields_that_are_promised(place: RedisPlace) -> None:
    await _send(place, place.url, 1)
    one = message(1)
    assert await place.entries() == [{"id": one.id.encode(), "type": one.type.encode(), "data": one.body}]


async def test_who_is_to_answer_is_told_the_fence(place: RedisPlace) -> None:
    target = place.make()
    await target.send([replace(message(1), fence=7, expects_answer=True)])
    await target.close()
    assert [fields["fence"] for fields in await place.entries()] == [b"7"]


async def test_the_stream_is_named_like_the_target_unless_told(place: RedisPlace) -> None:
    target = make_target("mine", place.server.url)
    await target.send([message(1)])
    await target.close()
    async with place.client() as redis:
        assert await redis.xlen("mine") == 1


async def test_a_stream_is_trimmed(place: RedisPlace) -> None:
    assert await _send(place, f"{place.url}&maxlen=10", *range(1, 501)) == [Confirmed()] * 500
    assert len(await place.entries()) < 300


async def test_a_list_holds_the_bodies_in_order(place: RedisPlace) -> None:
    assert await _send(place, f"{place.server.url}?list=jobs", 1, 2) == [Confirmed()] * 2
    async with place.client() as redis:
        assert await redis.lrange("jobs", 0, -1) == [message(1).body, message(2).body]


async def test_a_key_of_another_kind_is_refused_for_good(place: RedisPlace) -> None:
    async with place.client() as redis:
        await redis.set("events", "text")
    (verdict,) = await _send(place, place.url, 1)
    assert isinstance(verdict, Refused)
    assert "WRONGTYPE" in verdict.reason or "wrong kind" in verdict.reason


async def test_a_server_without_room_is_asked_again_later(place: RedisPlace) -> None:
    """B04: maxmemory. The message is not lost and not refused, and goes when there is room."""
    async with place.client() as redis:
        await redis.config_set("maxmemory", "1")
        try:
            (verdict,) = await _send(place, place.url, 1)
        finally:
            await redis.config_set("maxmemory", "0")
    assert isinstance(verdict, TryAgain)
    assert await _send(place, place.url, 1) == [Confirmed()]


async def test_a_wrong_password_is_tried_again_and_not_told(place: RedisPlace) -> None:
    url = place.url.replace("redis://", "redis://user:hunter2@")
    (verdict,) = await _send(place, url, 1)
    assert isinstance(verdict, TryAgain)
    assert "hunter2" not in verdict.reason


@pytest.mark.parametrize(
    "query",
    ["stream=a&list=b", "stream=", "list=", "maxlen=0", "maxlen=x", "list=a&maxlen=5", "nonsense=1"],
)
async def test_a_url_that_cannot_be_meant_is_refused(query: str) -> None:
    with pytest.raises(ConfigurationError, match="'events'"):
        await make_target("events", f"redis://:hunter2@host:6379/0?{query}").open()


async def test_valkey_is_another_name_for_it(place: RedisPlace) -> None:
    assert await _send(place, place.url.replace("redis://", "valkey://"), 1) == [Confirmed()]
