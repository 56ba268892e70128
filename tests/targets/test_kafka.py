"""Kafka as a target: the contract, on the mock cluster that speaks its protocol."""

import itertools
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, ConsumerRecord

from duly.core.errors import ConfigurationError
from duly.targets import kafka
from duly.targets.kafka import KafkaTarget
from duly.targets.registering import make_target
from duly.targets.target import Confirmed, Refused, TryAgain
from duly.testing.contract.target import Received, TestTarget, TestTargetAway, message
from tests.broker_servers import KafkaCluster
from tests.targets.limits import be_as_shipped, be_patient

__all__ = ["TestTarget", "TestTargetAway"]

_numbers = itertools.count(1)


class KafkaPlace:
    """One topic of a Kafka."""

    def __init__(self, cluster: KafkaCluster) -> None:
        self.cluster = cluster
        self.topic = f"reports-{next(_numbers)}"

    def make(self) -> KafkaTarget:
        return KafkaTarget("reports", f"kafka://{self.cluster.address}?topic={self.topic}")

    async def received(self) -> list[Received]:
        return [Received(_header(one, "duly-run-id"), _header(one, "duly-type"), one.value) for one in await self.all()]

    async def all(self) -> list[ConsumerRecord]:
        """In the order of each partition; the tests of one key see the order of all."""
        consumer = AIOKafkaConsumer(self.topic, bootstrap_servers=self.cluster.address, auto_offset_reset="earliest")
        await consumer.start()
        try:
            ends = await consumer.end_offsets(consumer.assignment())
            found: list[ConsumerRecord] = []
            while len(found) < sum(ends.values()):
                for records in (await consumer.getmany(timeout_ms=1000)).values():
                    found += records
            return found
        finally:
            await consumer.stop()

    async def stop(self) -> None:
        be_as_shipped()
        # A frozen server is found out by waiting; less of that is enough here.
        for name, seconds in (("CONFIRM_WITHIN", 2.0), ("CONNECT_WITHIN", 1.0)):
            setattr(kafka, name, seconds)
        self.cluster.pause()

    async def start(self) -> None:
        self.cluster.resume()
        be_patient()


def _header(record: ConsumerRecord, name: str) -> str:
    return str(dict(record.headers)[name], "utf-8")


@pytest.fixture
def place(kafka: KafkaCluster) -> KafkaPlace:
    return KafkaPlace(kafka)


async def test_a_message_has_the_schedules_key_and_carries_its_ids(place: KafkaPlace):
    target = place.make()
    assert await target.send([message(format="cloudevents-binary")]) == [Confirmed()]
    await target.close()
    [one] = await place.all()
    assert one.key == b"report"
    assert _header(one, "ce_id") == _header(one, "duly-run-id") == message().id
    assert _header(one, "ce_source") == "/duly/schedules/report"
    assert _header(one, "content-type") == "application/json"


async def test_messages_of_one_key_share_a_partition(place: KafkaPlace):
    target = place.make()
    await target.send([message(number, key=f"key-{number % 5}") for number in range(1, 41)])
    await target.close()
    homes: dict[bytes, set[int]] = {}
    for one in await place.all():
        homes.setdefault(one.key, set()).add(one.partition)
    assert len(homes) == 5
    assert all(len(partitions) == 1 for partitions in homes.values())


async def test_a_message_that_is_too_large_is_refused_and_the_others_are_not(place: KafkaPlace):
    target = place.make()
    large = message(2, payload=f'"{"x" * 1_100_000}"')
    verdicts = await target.send([message(1), large, message(3)])
    await target.close()
    assert [type(verdict) for verdict in verdicts] == [Confirmed, Refused, Confirmed]
    assert "bytes are more than the topic" in str(verdicts[1])


@pytest.mark.parametrize(
    "words, said",
    [
        ("topic=a/b", "topic is 'a/b'; expected 1 to 249 letters"),
        ("largest=many", "largest is 'many'; expected a whole number"),
        ("sasl=MAGIC", "sasl is 'MAGIC'; expected one of PLAIN"),
        ("colour=red", "'colour', which is not known"),
    ],
)
def test_words_that_are_not_known_are_refused(words: str, said: str):
    with pytest.raises(ConfigurationError, match=said):
        make_target("reports", f"kafka://localhost:9092?{words}")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("kafka://a,b:9093", ("PLAINTEXT", None, None, False)),
        ("kafkas://a,b:9093", ("SSL", None, None, True)),
        ("kafka://us%40er:p%3Aw@a,b:9093", ("SASL_PLAINTEXT", "us@er", "p:w", False)),
        ("kafkas://us%40er:p%3Aw@a,b:9093?sasl=SCRAM-SHA-512", ("SASL_SSL", "us@er", "p:w", True)),
    ],
)
async def test_the_driver_is_told_who_we_are_and_how_to_speak(
    url: str, told: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No Kafka here speaks TLS or SASL: what the driver is given is as far as it can be followed."""
    given: dict[str, Any] = {}

    def producer(**options: Any) -> None:
        given.update(options)
        raise OSError("us@er and p:w are not let in")

    monkeypatch.setattr(kafka, "AIOKafkaProducer", producer)
    target = make_target("reports", url)
    (verdict,) = await target.send([message(1)])
    await target.close()
    words = ("security_protocol", "sasl_plain_username", "sasl_plain_password")
    assert (*(given[word] for word in words), given["ssl_context"] is not None) == told
    assert given["bootstrap_servers"] == ["a:9092", "b:9093"]
    assert given["sasl_mechanism"] == ("SCRAM-SHA-512" if "SCRAM" in url else "PLAIN")
    assert isinstance(verdict, TryAgain)
    assert told[2] is None or told[2] not in verdict.reason
