"""SQS as a target: the contract on standard and FIFO queues, as moto plays them."""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

pytest.importorskip("aiobotocore", reason="server absent: sqs: its driver lives apart, run scripts/test-apart")

from aiobotocore.session import get_session

from duly.core.errors import ConfigurationError
from duly.targets.registering import make_target
from duly.targets.sqs import SqsTarget, _batches
from duly.targets.target import Confirmed, Refused, TryAgain
from duly.testing.contract.target import Received, TestTarget, TestTargetAway, message
from tests.targets.limits import be_as_shipped, be_patient
from tests.targets.relay import Relay

__all__ = ["TestTarget", "TestTargetAway"]

_numbers = itertools.count(1)


class SqsPlace:
    """One queue of SQS behind a relay."""

    def __init__(self, endpoint: str, ending: str) -> None:
        self.endpoint = endpoint
        self.relay = Relay(endpoint)
        self.queue = f"reports-{next(_numbers)}{ending}"
        self._seen: list[dict[str, Any]] = []

    def make(self) -> SqsTarget:
        return SqsTarget("reports", f"sqs://key:hunter2@eu-central-1/{self.queue}?endpoint={self.relay.url}")

    async def make_queue(self) -> None:
        kind = {"FifoQueue": "true"} if self.queue.endswith(".fifo") else {}
        async with self._client() as client:
            await client.create_queue(QueueName=self.queue, Attributes=kind)

    async def received(self) -> list[Received]:
        return [
            Received(_attribute(one, "duly-run-id"), _attribute(one, "duly-type"), one["Body"].encode())
            for one in await self.all()
        ]

    async def all(self) -> list[dict[str, Any]]:
        async with self._client() as client:
            url = (await client.get_queue_url(QueueName=self.queue))["QueueUrl"]
            while True:
                answer = await client.receive_message(
                    QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"], AttributeNames=["All"]
                )
                if not answer.get("Messages"):
                    return self._seen
                self._seen += answer["Messages"]
                for one in answer["Messages"]:
                    await client.delete_message(QueueUrl=url, ReceiptHandle=one["ReceiptHandle"])

    async def stop(self) -> None:
        be_as_shipped()
        await self.relay.stop()

    async def start(self) -> None:
        await self.relay.start()
        be_patient()

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Any]:
        async with get_session().create_client(
            "sqs",
            region_name="eu-central-1",
            endpoint_url=self.endpoint,
            aws_access_key_id="key",
            aws_secret_access_key="hunter2",
        ) as client:
            yield client


def _attribute(one: dict[str, Any], name: str) -> str:
    return str(one["MessageAttributes"][name]["StringValue"])


@pytest.fixture(params=["", ".fifo"], ids=["standard", "fifo"])
def ending(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest_asyncio.fixture
async def place(sqs: str, ending: str) -> AsyncIterator[SqsPlace]:
    place = SqsPlace(sqs, ending)
    await place.make_queue()
    await place.start()
    yield place
    await place.stop()


async def test_a_message_carries_its_ids_where_sqs_has_a_place_for_them(place: SqsPlace, ending: str):
    target = place.make()
    one = message(format="cloudevents-binary")
    assert await target.send([replace(one, headers={**one.headers, "x-team": "hr"})]) == [Confirmed()]
    await target.close()
    [got] = await place.all()
    assert len(got["MessageAttributes"]) == 10
    assert _attribute(got, "duly-run-id") == _attribute(got, "ce-id") == message().id
    assert _attribute(got, "ce-source") == "/duly/schedules/report"
    assert _attribute(got, "x-team") == "hr"
    if ending:
        assert got["Attributes"]["MessageDeduplicationId"] == message().id
        assert got["Attributes"]["MessageGroupId"] == "report"


async def test_a_fifo_queue_drops_what_it_has_had(sqs: str):
    place = SqsPlace(sqs, ".fifo")
    await place.make_queue()
    await place.start()
    target = place.make()
    for _ in range(3):
        assert await target.send([message(1)]) == [Confirmed()]
    await target.close()
    assert [one.id for one in await place.received()] == [message(1).id]
    await place.stop()


async def test_a_missing_queue_is_named(place: SqsPlace):
    target = SqsTarget("reports", f"sqs://key:hunter2@eu-central-1/not-there?endpoint={place.relay.url}")
    [verdict] = await target.send([message()])
    await target.close()
    assert isinstance(verdict, TryAgain)
    assert "queue 'not-there' cannot be used" in verdict.reason
    assert "NonExistent" in verdict.reason or "does not exist" in verdict.reason


async def test_one_bad_entry_does_not_hold_up_the_others(place: SqsPlace, monkeypatch: pytest.MonkeyPatch):
    """The answer of SQS for a batch of which it took only a part."""
    target = place.make()
    await target.open()
    good = target._client.send_message_batch

    async def partly(*, QueueUrl: str, Entries: list[dict[str, Any]]) -> Any:  # noqa: N803
        answer = await good(QueueUrl=QueueUrl, Entries=Entries[:1])
        failed = {"Message": "no", "SenderFault": True, "Code": "InvalidMessageContents", "Id": "1"}
        busy = {"Message": "later", "SenderFault": False, "Code": "InternalError", "Id": "2"}
        return {**answer, "Failed": [failed, busy]}

    monkeypatch.setattr(target._client, "send_message_batch", partly)
    verdicts = await target.send([message(1), message(2), message(3)])
    await target.close()
    assert verdicts == [Confirmed(), Refused("InvalidMessageContents: no"), TryAgain("InternalError: later")]
    assert [one.id for one in await place.received()] == [message(1).id]


@pytest.mark.parametrize(
    "sizes, expected",
    [
        ([10] * 25, [10, 10, 5]),
        ([200_000] * 3, [1, 1, 1]),
        ([100_000] * 4, [2, 2]),
        ([300_000, 10], [1, 1]),
        ([], []),
    ],
)
def test_batches_hold_ten_and_no_more_bytes_than_allowed(sizes: list[int], expected: list[int]):
    many = [message(number, payload="1" * size) for number, size in enumerate(sizes)]
    assert [len(batch) for batch in _batches(many)] == expected


@pytest.mark.parametrize("url", ["sqs://eu-central-1", "sqs:///reports", "sqs://eu-central-1/a/b"])
def test_a_url_without_region_and_queue_is_refused(url: str):
    with pytest.raises(ConfigurationError, match="expected sqs://REGION/QUEUE"):
        make_target("reports", url)
