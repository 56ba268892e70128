"""One leader fires, the others stand by; who led before fires nothing more."""

from duly import Every
from duly.config import Settings
from duly.engine.instance import Instance
from duly.store.values import Term
from tests.acceptance.rules import rule
from tests.engine.lab import Lab, Recorder
from tests.store_choice import postgres_too

pytestmark = postgres_too("several instances compete")

ELECTION = Settings(lease=15, heartbeat=5, poll=1, concurrency=10, election="database")


async def start(lab: Lab, name: str) -> tuple[Instance, Recorder]:
    recorder = Recorder()
    return await lab.start(settings=ELECTION, recorder=recorder, name=name, store=lab.faulty()), recorder


def fired(recorder: Recorder) -> int:
    return sum(values[0] for values in recorder.all("windows_fired"))


@rule("S3.8", "S3.41")
async def test_s3_8_one_leads_and_fires_and_the_others_stand_by(lab: Lab) -> None:
    (_, first), (_, second) = await start(lab, "a"), await start(lab, "b")
    await lab.create("tick", Every(seconds=1), job="nobody", overlap="allow")
    await lab.clock.advance(seconds=60)
    assert (fired(first), fired(second)) == (60, 0)
    assert first.all("leadership_gained") == [("a", 1)]
    assert second.count("leadership_gained") == 0


@rule("S3.36")
async def test_s3_36_a_leader_that_is_gone_is_followed_within_its_lease(lab: Lab) -> None:
    first, _ = await start(lab, "a")
    _, second = await start(lab, "b")
    schedule = await lab.create("tick", Every(seconds=1), job="nobody", overlap="allow")
    await lab.clock.advance(seconds=8)
    lab.crash(first)
    renewed_at = lab.clock.now() - 3000
    await lab.clock.advance(seconds=20)
    assert second.all("leadership_gained") == [("b", 2)]
    runs = await lab.runs(schedule)
    gap = max(
        run.fired_at.timestamp() * 1000 for run in runs if run.scheduled_at.timestamp() * 1000 < renewed_at + 15_000
    )
    assert gap <= renewed_at + 15_000 + 1000, "the first fire of the new leader"


@rule("S3.39")
async def test_s3_39_a_leader_that_stops_hands_over_at_once(lab: Lab) -> None:
    first, seen = await start(lab, "a")
    _, second = await start(lab, "b")
    await lab.create("tick", Every(seconds=1), job="nobody", overlap="allow")
    await lab.clock.advance(seconds=7)
    await lab.stop(first)
    assert seen.all("leadership_lost") == [("a", 1)]
    await lab.clock.advance(seconds=5)
    assert second.all("leadership_gained") == [("b", 2)]


@rule("S3.37")
async def test_a_leader_that_cannot_renew_stops_before_another_begins(lab: Lab) -> None:
    """It fires until its lease is no longer to be trusted, and not a second longer; nothing fires twice."""
    cut_off = lab.faulty()
    one, other = Recorder(), Recorder()
    await lab.start(settings=ELECTION, recorder=one, name="a", store=cut_off)
    await lab.start(settings=ELECTION, recorder=other, name="b", store=lab.faulty())
    schedule = await lab.create("tick", Every(seconds=1), job="nobody", overlap="allow")
    await lab.clock.advance(seconds=6)
    cut_off.down("take_lease")
    await lab.clock.advance(seconds=30)
    assert one.all("leadership_lost") == [("a", 1)]
    assert other.all("leadership_gained") == [("b", 2)]
    runs = [run for run in await lab.runs(schedule) if run.status.value != "skipped"]
    assert len({run.scheduled_at for run in runs}) == len(runs)
    cut_off.up()
    before = fired(one)
    await lab.clock.advance(seconds=20)
    assert fired(one) == before, "it stands by now"


async def test_a_leader_whose_renewal_hangs_does_not_believe_in_its_lease_for_ever(lab: Lab) -> None:
    slow = lab.faulty()
    first = await lab.start(settings=ELECTION, name="a", store=slow)
    await lab.clock.advance(seconds=2)
    election = first._election
    assert election is not None
    assert election.term is not None
    answer = slow.gate("take_lease")
    await lab.clock.advance(seconds=60)
    assert election.term is None, "no answer for longer than the lease"
    answer.set()
    await lab.clock.advance(seconds=20)
    assert election.term is not None, "and it leads again, since nobody else came"


async def test_an_ex_leader_that_wakes_up_is_refused_by_the_store_and_learns_of_it(lab: Lab) -> None:
    first, seen = await start(lab, "a")
    await lab.create("tick", Every(seconds=1), job="nobody", overlap="allow")
    await lab.clock.advance(seconds=2)
    election = first._election
    assert election is not None
    session = first.session
    assert session is not None
    assert election.term == Term(session, 1)
    await lab.plain.take_lease("scheduler", 99, lease_ms=60_000, seize=True)  # while it slept
    before = fired(seen)
    await lab.clock.advance(seconds=2)
    assert fired(seen) == before, "its fires carry the old term"
    assert seen.all("leadership_lost") == [("a", 1)]
    assert election.term is None


async def test_without_an_election_no_lease_is_asked_for(lab: Lab) -> None:
    await lab.start()
    await lab.clock.advance(seconds=20)
    assert await lab.plain.read_lease("scheduler") is None
