"""Brokers that speak only TLS, under a certificate of one's own, to those who have the password."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import nats
import pytest
from nats.js.api import StreamConfig

from duly.core.errors import ConfigurationError
from duly.targets.registering import make_target
from duly.targets.target import Confirmed, TryAgain
from duly.testing.contract.target import message
from tests.broker_servers import RabbitServer, secure_nats, secure_redis
from tests.conftest import need
from tests.targets.limits import PATIENCE

pytestmark = pytest.mark.timeout(300)  # whoever comes first waits for RabbitMQ to start


@dataclass
class Secure:
    """A URL, and the words that a target of it wants besides."""

    url: str
    words: str


@pytest.fixture(scope="module")
def redis() -> Iterator[Secure]:
    with need("redis"), secure_redis() as server:
        yield Secure(server.url, "&stream=reports")


@pytest.fixture(scope="module")
def nats_place() -> Iterator[Secure]:
    with need("nats"), secure_nats() as server:
        yield Secure(server.url, "&subject=reports")


@pytest.fixture(scope="module")
def rabbit(rabbitmq: RabbitServer) -> Secure:
    return Secure(rabbitmq.secure_url, "&queue=secure&declare=classic")


@pytest.fixture(scope="module")
def redis_of_known() -> Iterator[Secure]:
    with need("redis"), secure_redis(known=True) as server:
        yield Secure(server.url, "&stream=reports")


@pytest.fixture(scope="module")
def nats_of_known() -> Iterator[Secure]:
    with need("nats"), secure_nats(known=True) as server:
        yield Secure(server.url, "&subject=reports")


PLACES = ["redis", "nats_place", "rabbit"]


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


async def send(url: str) -> Any:
    target = make_target("reports", url)
    await target.open()
    try:
        (verdict,) = await target.send([message(1)])
    finally:
        await target.close()
    return verdict


async def make_stream(url: str) -> None:
    """What holds the subject, where the URL is that of a NATS."""
    if url.startswith("tls"):
        context = make_target("reports", url)._address.trust("tls")  # type: ignore[attr-defined]
        async with await nats.connect(url.partition("?")[0], tls=context) as client:
            await client.jetstream(timeout=PATIENCE).add_stream(StreamConfig("REPORTS", subjects=["reports"]))


@pytest.mark.server
async def test_whom_the_file_names_is_trusted(place: Secure) -> None:
    await make_stream(place.url)
    assert await send(place.url + place.words) == Confirmed()


@pytest.mark.parametrize("name", ["redis_of_known", "nats_of_known"])
@pytest.mark.server
async def test_who_has_no_certificate_is_not_let_in(name: str, request: pytest.FixtureRequest) -> None:
    place: Secure = request.getfixturevalue(name)
    known = f"{place.url}&certfile={place.url.partition('?cafile=')[2]}"
    await make_stream(known)
    assert await send(known + place.words) == Confirmed()
    verdict = await send(place.url + place.words)
    assert isinstance(verdict, TryAgain)
    assert verdict.away
    assert "hunter2" not in verdict.reason


@pytest.mark.server
async def test_a_certificate_that_nobody_vouches_for_is_not_trusted(place: Secure) -> None:
    bare = place.url.partition("?cafile=")[0]
    verdict = await send(f"{bare}?{place.words.removeprefix('&')}")
    assert isinstance(verdict, TryAgain)
    assert verdict.away
    assert "hunter2" not in verdict.reason


@pytest.mark.parametrize("name", ["redis", "nats_place"])
@pytest.mark.server
async def test_a_wrong_password_is_tried_again_and_not_told(name: str, request: pytest.FixtureRequest) -> None:
    place: Secure = request.getfixturevalue(name)
    verdict = await send(place.url.replace("hunter2", "secret77") + place.words)
    assert isinstance(verdict, TryAgain)
    assert "secret77" not in verdict.reason


@pytest.mark.parametrize(
    "url, told",
    [
        ("redis://localhost?cafile=/x.pem", "cafile is for rediss:// only"),
        ("nats://localhost?keyfile=/x.pem", "keyfile is for tls:// only"),
        ("kafka://localhost?certfile=/x.pem", "certfile is for kafkas:// only"),
        ("rediss://localhost?cafile=/not/there.pem", "a file of certificates cannot be read"),
        ("tls://localhost?cafile=/not/there.pem", "a file of certificates cannot be read"),
        ("kafkas://localhost?cafile=/not/there.pem", "a file of certificates cannot be read"),
    ],
)
def test_files_that_cannot_be_meant_are_refused(url: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        make_target("reports", url)


@pytest.mark.server
async def test_a_certificate_of_another_host_is_not_trusted(redis: Secure) -> None:
    verdict = await send(redis.url.replace("@localhost", "@127.0.0.1") + redis.words)
    assert isinstance(verdict, TryAgain)
    assert verdict.away


def test_redis_compares_the_host_whatever_its_client_does_by_itself() -> None:
    """Before its version 6 the client does not."""
    for url, compared in (("rediss://there", True), ("rediss://there?ssl_check_hostname=false", False)):
        options = make_target("reports", url)._connect().connection_pool.connection_kwargs  # type: ignore[attr-defined]
        assert options["ssl_check_hostname"] is compared
