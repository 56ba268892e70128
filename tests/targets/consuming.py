"""What a consumer promises, whatever broker its messages come from: each broker's tests collect this class."""

from collections.abc import Callable
from dataclasses import replace

from duly.consuming import Consumer, Delivery, Source
from duly.targets.target import Confirmed, Message
from duly.testing.contract.target import message
from tests.acceptance.rules import rule

TYPE = "schedule.reports.nightly.arrived"

MakeSource = Callable[[], Source]


class TestConsumer:
    """``place`` is the one of the target's contract; ``make_source`` reads what it was sent, soon after it was left."""

    async def test_each_message_is_handled_once_and_acknowledged(self, place, make_source: MakeSource) -> None:
        await _send(place, 1, 2, 3)
        handled = await _consume(make_source(), 3)
        assert [(one.id, one.body) for one in handled] == [(message(n).id, message(n).body) for n in (1, 2, 3)]
        await _send(place, 4)
        assert [one.id for one in await _consume(make_source(), 1)] == [message(4).id]

    @rule("S4.40")
    async def test_a_consumer_that_dies_before_it_acknowledges_is_followed_by_another(
        self, place, make_source: MakeSource
    ) -> None:
        """B03: the same message comes again, with the same id and body."""
        await _send(place, 1)
        dying = make_source()
        await dying.open()
        while not (taken := await dying.take()):
            pass
        await dying.close()
        [again] = await _consume(make_source(), 1)
        assert (taken[0].id, taken[0].body) == (again.id, again.body) == (message(1).id, message(1).body)

    async def test_what_was_handled_is_not_handled_again(self, place, make_source: MakeSource) -> None:
        await _send(place, 1)
        source = make_source()
        consumer = Consumer(source)
        handled: list[str] = []

        @consumer.on(TYPE)
        async def handle(delivery: Delivery) -> None:
            handled.append(delivery.id)

        await source.open()
        finish, source.finish = source.finish, _forget  # type: ignore[method-assign]
        while not handled:
            await consumer.run_once()
        await source.close()
        source.finish = finish  # type: ignore[method-assign]
        await source.open()
        while not await consumer.run_once():
            pass
        await source.close()
        assert handled == [message(1).id]

    async def test_a_question_that_is_asked_anew_is_handled_and_its_repeat_is_not(
        self, place, make_source: MakeSource
    ) -> None:
        """Each attempt that expects an answer is a question of its own, under the run's id and with another fence."""
        source = make_source()
        consumer = Consumer(source)
        handled: list[tuple[str, str]] = []

        @consumer.on(TYPE)
        async def handle(delivery: Delivery) -> None:
            handled.append((delivery.id, delivery.headers["duly-fence"]))
            if delivery.id == message(2).id:
                consumer.stop()

        target = place.make()
        await target.open()
        asked = [question(1, fence=1), question(1, fence=2), question(1, fence=2), question(2, fence=1)]
        assert [await target.send([one]) for one in asked] == [[Confirmed()]] * 4
        await target.close()
        await consumer.run()
        assert handled == [(message(1).id, "1"), (message(1).id, "2"), (message(2).id, "1")]


def question(number: int, *, fence: int) -> Message:
    """An attempt at a run that expects an answer."""
    asked = message(number)
    headers = {**asked.headers, "duly-fence": str(fence), "duly-expect": "ack"}
    return replace(asked, fence=fence, expects_answer=True, headers=headers)


async def _forget(delivery: Delivery) -> None:
    """An acknowledgement that is lost."""


async def _send(place, *numbers: int) -> None:
    target = place.make()
    await target.open()
    assert await target.send([message(number) for number in numbers]) == [Confirmed()] * len(numbers)
    await target.close()


async def _consume(source: Source, count: int) -> list[Delivery]:
    consumer = Consumer(source)
    handled: list[Delivery] = []

    @consumer.on(TYPE)
    async def handle(delivery: Delivery) -> None:
        handled.append(delivery)
        if len(handled) == count:
            consumer.stop()

    await consumer.run()
    return handled
