"""An election by Redis: it says who leads, and the store's term stays what a fire is checked against."""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from duly import Duly, Every
from duly.config import Settings
from duly.core.errors import ConfigurationError
from duly.engine import redis_ballot
from duly.engine.instance import Instance
from duly.engine.redis_ballot import RedisBallot
from tests.acceptance.rules import rule
from tests.engine.lab import Lab, Recorder
from tests.servers import ServerAbsent, redis_server
from tests.store_choice import postgres_too

pytestmark = postgres_too("several instances compete")

ELECTION = Settings(lease=15, heartbeat=5, poll=1, election="redis", election_url="redis://localhost/0")
IN_REDIS = replace(ELECTION, lease=600)
"""Redis counts real seconds, whatever the manual clock says."""


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Redis that a busy machine keeps waiting is not away."""
    monkeypatch.setattr(redis_ballot, "ANSWER_WITHIN", 60.0)


@pytest.fixture
async def ballots(redis_url: str, request: pytest.FixtureRequest) -> AsyncIterator[list[RedisBallot]]:
    """Three of one store, as three instances have them."""

    async def name() -> str:
        return str(request.node.name)

    made = [RedisBallot(redis_url, name) for _ in range(3)]
    yield made
    for ballot in made:
        await ballot.close()


@rule("S3.38")
async def test_s3_38_the_key_is_its_owner_s_until_it_runs_out(ballots: list[RedisBallot]) -> None:
    one, two, _ = ballots
    assert await one.hold("1", 60_000) is True
    assert await two.hold("2", 60_000) is False
    assert await one.hold("1", 60_000) is True, "a renewal"
    await two.release("2")
    assert await two.hold("2", 60_000) is False, "only its owner releases it"
    await one.release("1")
    assert await two.hold("2", 50) is True
    async with asyncio.timeout(60):
        while not await one.hold("1", 60_000):  # Redis alone knows when it has run out
            pass


async def test_one_leads_by_redis_and_hands_over(ballots: list[RedisBallot], lab: Lab) -> None:
    recorders = [Recorder(), Recorder()]
    first, _ = [await start(lab, n, recorders[n], ballots[n], IN_REDIS) for n in range(2)]
    await lab.create("tick", Every(seconds=1), job="nobody", overlap="allow")
    await lab.clock.advance(seconds=10)
    assert [recorder.all("leadership_gained") for recorder in recorders] == [[("0", 1)], []]
    await lab.stop(first)
    await lab.clock.advance(seconds=6)
    assert recorders[1].all("leadership_gained") == [("1", 2)]
    assert (await lab.plain.read_lease("scheduler")).term == 2  # type: ignore[union-attr]


@pytest.mark.server
async def test_without_redis_the_lease_in_the_store_goes_on(lab: Lab) -> None:
    try:
        with redis_server() as server:

            async def name() -> str:
                return "store"

            ballot, recorder = RedisBallot(server.url, name), Recorder()
            instance = await start(lab, 0, recorder, ballot)
            await lab.create("tick", Every(seconds=1), job="nobody", overlap="allow")
            await lab.clock.advance(seconds=6)
            server.kill()
            await lab.clock.advance(seconds=40)
            lost = recorder.count("leadership_lost")
            await lab.stop(instance)
            await ballot.close()
    except ServerAbsent as absent:
        pytest.skip(f"server absent: {absent}")
    assert recorder.all("ballot_away") == [(True,)]
    assert lost == 0
    assert sum(values[0] for values in recorder.all("windows_fired")) in (46, 47)


async def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    app = Duly(f"sqlite:///{tmp_path}/x.db", settings=ELECTION)
    with pytest.raises(ConfigurationError, match=r"pip install 'duly\[redis\]'"):
        await app.start()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"election": "raft"}, "expected none | database | redis"),
        ({"election": "redis"}, "election_url does not say where Redis is"),
        ({"election": "redis", "election_url": "http://x"}, "expected a URL such as redis://"),
    ],
)
def test_a_wrong_setting_is_refused(words: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Settings(**words)  # type: ignore[arg-type]
    assert told in refused.value.message


async def start(
    lab: Lab, number: int, recorder: Recorder, ballot: RedisBallot, settings: Settings = ELECTION
) -> Instance:
    return await lab.start(settings=settings, recorder=recorder, name=str(number), store=lab.faulty(), ballot=ballot)
