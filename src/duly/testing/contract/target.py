"""The contract that every target keeps, as tests that run on its real server.

Give pytest a fixture ``place`` (see ``Place``) whose server is up and empty, and collect the classes::

    from duly.testing.contract.target import *

    @pytest_asyncio.fixture
    async def place(my_server):
        yield MyPlace(my_server)

A target that can do no more than this is a good one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest

from duly.targets.envelope import Departure, message_of
from duly.targets.target import SEND_WITHIN, Confirmed, Message, Target, TryAgain, Verdict

__all__ = ["Place", "Received", "TestTarget", "TestTargetAway", "message", "until_confirmed"]

MIDNIGHT = datetime(2026, 3, 8, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Received:
    """A message as it came out at the other side."""

    id: str
    type: str
    body: bytes


class Place(Protocol):
    """A server of the target's kind, and a reader of what came in."""

    def make(self) -> Target:
        """A new target on it, not yet opened."""
        ...

    async def received(self) -> Sequence[Received]:
        """All that came in since the beginning, in order."""
        ...

    async def stop(self) -> None:
        """Make the server unreachable; skip the test where that cannot be done."""
        ...

    async def start(self) -> None:
        """Make it reachable again, at the same address, with what it had."""
        ...


def message(number: int = 1, *, payload: str = '{"user": 42}', key: str = "report", format: str = "raw") -> Message:
    """A message as duly makes it; another number is another run of the same schedule."""
    at = MIDNIGHT + timedelta(minutes=number)
    return message_of(
        Departure(
            run_id=f"019cc9a0-0000-7000-8000-{number:012x}",
            payload=payload,
            scheduled_at=at,
            fired_at=at,
            schedule_id="019cc9a0-0000-7000-9000-000000000000",
            key=key,
            window_key=f"sched:{key}:{number}",
            topic="reports.nightly",
            attempt=1,
            max_attempts=3,
            spec={"kind": "queue", "name": "reports", "format": format},
        )
    )


class TestTarget:
    async def test_what_is_confirmed_has_arrived(self, place: Place) -> None:
        one = message()
        assert await _send(place, [one]) == [Confirmed()]
        assert await _ids(place) == [one.id]
        [received] = await place.received()
        assert (received.type, received.body) == ("schedule.reports.nightly.arrived", one.body)

    async def test_a_batch_is_answered_in_order_and_arrives_in_order(self, place: Place) -> None:
        many = [message(number, payload=f'{{"number": {number}}}') for number in range(1, 51)]
        assert await _send(place, many) == [Confirmed()] * 50
        received = await place.received()
        assert [(one.id, one.body) for one in received] == [(one.id, one.body) for one in many]

    async def test_no_messages_are_no_work(self, place: Place) -> None:
        assert await _send(place, []) == []
        assert await place.received() == []

    async def test_a_message_that_is_sent_again_has_the_same_id_and_body(self, place: Place) -> None:
        """A confirm that was lost: whether the server drops the second one or not, there is only one to be seen."""
        first = message()
        again = replace(first, attempt=2, fence=2)
        target = place.make()
        await target.open()
        assert await target.send([first]) == [Confirmed()]
        assert await target.send([again]) == [Confirmed()]
        await target.close()
        received = await place.received()
        assert {(one.id, one.body) for one in received} == {(first.id, first.body)}
        assert 1 <= len(received) <= 2

    @pytest.mark.parametrize(
        "payload",
        [
            '"Grüße, 世界 🌍"',
            "null",
            "[1, 2.5e10, true]",
            '{"nested": {"\\u2028": "\\n\\"\\\\"}}',
            f'"{"x" * 200_000}"',
        ],
        ids=["words", "null", "list", "escapes", "large"],
    )
    async def test_a_body_arrives_as_it_was_stored(self, place: Place, payload: str) -> None:
        assert await _send(place, [message(payload=payload)]) == [Confirmed()]
        [received] = await place.received()
        assert received.body == payload.encode()

    @pytest.mark.parametrize("format", ["cloudevents", "cloudevents-binary", "merged"])
    async def test_every_format_arrives(self, place: Place, format: str) -> None:
        one = message(format=format)
        assert await _send(place, [one]) == [Confirmed()]
        [received] = await place.received()
        assert (received.id, received.body) == (one.id, one.body)

    async def test_several_batches_at_once(self, place: Place) -> None:
        target = place.make()
        await target.open()
        batches = [[message(10 * batch + n, key=f"key-{batch}") for n in range(1, 6)] for batch in range(4)]
        answers = await asyncio.gather(*(target.send(batch) for batch in batches))
        await target.close()
        assert [list(one) for one in answers] == [[Confirmed()] * 5] * 4
        assert sorted(await _ids(place)) == sorted(one.id for batch in batches for one in batch)

    async def test_a_send_that_was_cancelled_leaves_the_target_usable(self, place: Place) -> None:
        target = place.make()
        await target.open()
        task = asyncio.ensure_future(target.send([message(1)]))
        await asyncio.sleep(0)  # noqa: TID251  # one turn of the loop, so that it has begun
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await target.send([message(2)]) == [Confirmed()]
        await target.close()
        assert message(2).id in await _ids(place)

    async def test_it_can_be_closed_twice_and_opened_again(self, place: Place) -> None:
        target = place.make()
        await target.close()
        await target.open()
        assert await target.send([message(1)]) == [Confirmed()]
        await target.close()
        await target.close()
        await target.open()
        assert await target.send([message(2)]) == [Confirmed()]
        await target.close()
        assert await _ids(place) == [message(1).id, message(2).id]


class TestTargetAway:
    async def test_a_server_that_is_down_is_told_and_found_again(self, place: Place) -> None:
        """The messages are not lost, because they are not confirmed; and nobody has to make a new target."""
        target = place.make()
        await target.open()
        assert await target.send([message(1)]) == [Confirmed()]
        await place.stop()
        try:
            verdicts = await asyncio.wait_for(target.send([message(2), message(3)]), SEND_WITHIN)
        finally:
            await place.start()
        assert [type(verdict) for verdict in verdicts] == [TryAgain, TryAgain]
        assert all(isinstance(verdict, TryAgain) and verdict.reason and verdict.away for verdict in verdicts)
        assert await until_confirmed(target, [message(2), message(3)])
        await target.close()
        assert set(await _ids(place)) == {message(number).id for number in (1, 2, 3)}

    async def test_it_can_be_opened_before_its_server(self, place: Place) -> None:
        await place.stop()
        try:
            target = place.make()
            await target.open()
            [verdict] = await asyncio.wait_for(target.send([message(1)]), SEND_WITHIN)
        finally:
            await place.start()
        assert isinstance(verdict, TryAgain)
        assert await until_confirmed(target, [message(1)])
        await target.close()
        assert set(await _ids(place)) == {message(1).id}


async def _send(place: Place, messages: Sequence[Message]) -> list[Verdict]:
    target = place.make()
    await target.open()
    try:
        return list(await target.send(messages))
    finally:
        await target.close()


async def until_confirmed(target: Target, messages: Sequence[Message], tries: int = 300) -> bool:
    """Send until it is confirmed: a server that has just started may want a moment."""
    for _ in range(tries):
        if list(await target.send(messages)) == [Confirmed()] * len(messages):
            return True
        await asyncio.sleep(0.2)  # noqa: TID251  # the server is a real one, and takes real time
    return False


async def _ids(place: Place) -> list[str]:
    return [one.id for one in await place.received()]
