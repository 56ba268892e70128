"""Webhooks against a real HTTP server: the contract of targets, and the rows of bad receivers."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import pytest
import pytest_asyncio

from duly.core.addresses import Address, read_allowed
from duly.core.signing import write_secret
from duly.runtime.clock import SystemClock
from duly.targets.gates import AT_ONCE, Gate
from duly.targets.posting import Limits, Poster, Reply
from duly.targets.target import Confirmed, Refused, Stopped, Target, TryAgain, Verdict
from duly.targets.webhook import Busy, Sender, WebhookTarget, verdict_of
from duly.testing import ManualClock
from duly.testing.contract.target import Received, TestTarget, TestTargetAway, message
from tests.targets.receiving import Receiver, answer, make_certificate

__all__ = ["TestTarget", "TestTargetAway"]

SECRET = write_secret(b"s" * 32)
HERE = read_allowed(["127.0.0.1"])
CLOCK = SystemClock()
SHORT = Limits(total=0.3)
PATIENT = Limits(connect=60, total=60)


@dataclass
class WebhookPlace:
    receiver: Receiver

    def make(self) -> Target:
        return WebhookTarget(self.receiver.url, [SECRET], Sender(Poster(HERE, PATIENT), CLOCK))

    async def received(self) -> Sequence[Received]:
        return [Received(c.id, c.headers["duly-type"], c.body) for c in self.receiver.came if c.signed_by(SECRET)]

    async def stop(self) -> None:
        await self.receiver.stop()

    async def start(self) -> None:
        await self.receiver.start()


@pytest_asyncio.fixture
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    await receiver.start()
    yield receiver
    await receiver.stop()


@pytest.fixture
def place(receiver: Receiver) -> WebhookPlace:
    return WebhookPlace(receiver)


async def send(url: str, poster: Poster | None = None, *secrets: str) -> Verdict | Busy:
    sender = Sender(poster or Poster(HERE, PATIENT), CLOCK)
    try:
        return await sender.send(url, secrets or (SECRET,), message())
    finally:
        await sender.close()


async def test_a_message_says_who_sent_it_and_is_signed_with_every_secret(receiver: Receiver) -> None:
    other = write_secret(b"t" * 24)
    assert await send(receiver.url, None, other, SECRET) == Confirmed()
    [came] = receiver.came
    assert came.path == "/hook"
    assert came.headers["webhook-id"] == came.headers["idempotency-key"] == message().id
    assert came.headers["user-agent"].startswith("duly/")
    assert came.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert came.signed_by(other)
    assert came.signed_by(SECRET)


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (200, Confirmed()),
        (204, Confirmed()),
        (299, Confirmed()),
        (400, TryAgain("it answered 400")),
        (404, TryAgain("it answered 404")),
        (410, Stopped("it answered 410: it wants nothing more")),
        (500, TryAgain("it answered 500")),
        (503, TryAgain("it answered 503")),
    ],
)
def test_what_an_answer_means(status: int, verdict: Verdict) -> None:
    assert verdict_of(Reply(status, None), now_s=0) == verdict


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("99999999", 3600.0),
        ("9" * 4000, 3600.0),
        ("Thu, 01 Jan 1970 00:16:40 GMT", 900.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
        (None, None),
    ],
)
def test_w38_retry_after_is_honoured_within_bounds(text: str | None, seconds: float | None) -> None:
    assert verdict_of(Reply(429, text), now_s=100) == TryAgain("it answered 429", retry_after=seconds)


async def test_w32_a_redirect_is_not_followed(receiver: Receiver) -> None:
    elsewhere = Receiver()
    await elsewhere.start()
    receiver.say = lambda came: answer(302, location=elsewhere.url)
    verdict = await send(receiver.url)
    await elsewhere.stop()
    assert isinstance(verdict, TryAgain)
    assert "redirects are not followed" in verdict.reason
    assert elsewhere.came == []


async def test_w33_one_that_never_answers_is_given_up(receiver: Receiver) -> None:
    receiver.say = lambda came: None
    verdict = await send(receiver.url, Poster(HERE, SHORT))
    assert verdict == TryAgain(f"127.0.0.1:{receiver.port}: no answer within 0.3 s", away=True)


@pytest.mark.parametrize("said", [b"HTTP/1.1 200 x\r\n", b"\0\xff\r\n\r\n", b"220 smtp ready\r\n", b"x" * 300_000])
async def test_one_that_speaks_no_http_is_given_up(receiver: Receiver, said: bytes) -> None:
    receiver.say = lambda came: said
    verdict = await send(receiver.url, Poster(HERE, SHORT))
    assert isinstance(verdict, TryAgain)
    assert verdict.away


async def test_w36_a_large_or_packed_answer_is_neither_read_whole_nor_unpacked(receiver: Receiver) -> None:
    endless = b"HTTP/1.1 200 x\r\ncontent-encoding: gzip\r\ncontent-length: 100000000\r\n\r\n" + b"\x1f\x8b" * 200_000
    receiver.say = lambda came: endless
    assert await send(receiver.url) == Confirmed()
    assert receiver.came[0].headers["accept-encoding"] == "identity"


async def test_connections_are_used_again(receiver: Receiver) -> None:
    sender = Sender(Poster(HERE, PATIENT), CLOCK)
    for number in range(5):
        assert await sender.send(receiver.url, [SECRET], message(number)) == Confirmed()
    await sender.close()
    assert receiver.connections == 1


async def test_what_is_not_allowed_is_not_sent(receiver: Receiver) -> None:
    verdict = await send(receiver.url, Poster())
    assert isinstance(verdict, Refused)
    assert receiver.connections == 0


async def test_a_name_that_leads_nowhere() -> None:
    async def nowhere(host: str, port: int) -> list[Address]:
        raise socket.gaierror

    async def nothing(host: str, port: int) -> list[Address]:
        return []

    for resolve in (nowhere, nothing):
        verdict = await send("https://gone.test/", Poster(resolve=resolve))
        assert isinstance(verdict, TryAgain)
        assert verdict.away


class Resolver:
    """Answers one list of addresses after another."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[Address]:
        self.asked.append(host)
        return [ip_address(text) for text in self.answers.pop(0)]


async def test_w30_the_address_that_was_checked_is_the_one_that_is_called(tmp_path: Path) -> None:
    """The name is asked for once; what it would lead to the next moment does not matter."""
    serving, trusting = make_certificate(tmp_path, "rebind.test")
    receiver = Receiver(tls=serving, host="rebind.test")
    await receiver.start()
    resolve = Resolver(["127.0.0.1"], ["10.0.0.1"])
    poster = Poster(HERE, PATIENT, resolve=resolve, trust=trusting)
    sender = Sender(poster, CLOCK)
    assert await sender.send(receiver.url, [SECRET], message()) == Confirmed()
    assert resolve.asked == ["rebind.test"]
    assert receiver.came[0].headers["host"] == f"rebind.test:{receiver.port}"
    await poster.close()  # so that it has to connect again
    verdict = await sender.send(receiver.url, [SECRET], message())
    await sender.close()
    await receiver.stop()
    assert isinstance(verdict, Refused)
    assert "private" in verdict.reason


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["93.184.216.34", "10.0.0.5"], ["::1"], ["::ffff:169.254.169.254"]]
)
async def test_w31_any_address_inside_blocks_the_name(addresses: list[str]) -> None:
    verdict = await send("https://mixed.test/", Poster(resolve=Resolver(addresses)))
    assert isinstance(verdict, Refused)
    assert "nothing was sent" in verdict.reason


async def test_w40_a_certificate_that_is_not_good_is_refused(tmp_path: Path) -> None:
    serving, trusting = make_certificate(tmp_path, "right.test")
    receiver = Receiver(tls=serving, host="right.test")
    await receiver.start()
    other = Receiver(tls=serving, host="wrong.test", _port=0)
    await other.start()
    for url, poster in (
        (receiver.url, Poster(HERE, PATIENT, resolve=Resolver(["127.0.0.1"]))),  # signed by nobody known
        (other.url, Poster(HERE, PATIENT, resolve=Resolver(["127.0.0.1"]), trust=trusting)),  # for another name
    ):
        verdict = await send(url, poster)
        assert isinstance(verdict, TryAgain)
        assert "its certificate is not good" in verdict.reason
    await receiver.stop()
    await other.stop()
    assert receiver.came == other.came == []


async def test_the_second_address_is_tried_where_the_first_is_dead(receiver: Receiver) -> None:
    url = f"http://two.test:{receiver.port}/"
    allowed = read_allowed(["two.test"])
    assert await send(url, Poster(allowed, PATIENT, resolve=Resolver(["127.0.0.9", "127.0.0.1"]))) == Confirmed()


async def test_a_slow_host_keeps_its_own_messages_waiting_and_nobody_elses(receiver: Receiver) -> None:
    slow = Receiver(say=lambda came: None)
    await slow.start()
    sender = Sender(Poster(HERE, PATIENT), CLOCK)
    on_their_way = [asyncio.create_task(sender.send(slow.url, [SECRET], message(n))) for n in range(AT_ONCE)]
    await slow.until(AT_ONCE)
    assert isinstance(await sender.send(slow.url, [SECRET], message(99)), Busy)
    assert await sender.send(receiver.url, [SECRET], message()) == Confirmed()
    assert not any(task.done() for task in on_their_way)
    for task in on_their_way:
        task.cancel()
    await asyncio.gather(*on_their_way, return_exceptions=True)
    slow.say = lambda came: answer(200)
    assert await sender.send(slow.url, [SECRET], message()) == Confirmed()
    await sender.close()
    await slow.stop()


def test_what_finds_a_host_busy_comes_again_one_after_another() -> None:
    clock = ManualClock()
    gate = Gate(clock)
    for _ in range(AT_ONCE):
        assert gate.enter() is None
    for _ in range(5):
        gate.leave(10.0, reached=False)
        gate.enter()
    waits = [gate.enter() for _ in range(20)]
    assert waits == sorted(waits, key=float)  # type: ignore[arg-type]  # none is None
    assert len(set(waits)) == 20
    assert all(wait is not None and wait <= 300 for wait in waits)


def test_where_nobody_is_one_at_a_time_goes_to_see() -> None:
    gate = Gate(ManualClock())
    for _ in range(5):
        assert gate.enter() is None
        gate.leave(1.0, reached=False)
    assert gate.enter() is None
    assert gate.enter() is not None
    gate.leave(1.0, reached=True)
    assert [gate.enter() for _ in range(AT_ONCE)] == [None] * AT_ONCE
