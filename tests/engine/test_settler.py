"""The settler: ends of attempts become batches by themselves, and each of them is written."""

from collections.abc import Sequence

from duly.core.policy import Retry
from duly.core.run import Claim, Completed
from duly.engine.settler import LARGEST_BATCH, Settler
from duly.runtime.chance import Chance
from duly.store.values import Settled, Settlement
from duly.testing import ManualClock
from tests.engine.lab import Recorder


class Shelf:
    """Keeps the ids of what is settled, batch by batch."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    async def settle(self, settlements: Sequence[Settlement]) -> Settled:
        self.batches.append([settlement.claim.id for settlement in settlements])
        return Settled(0)


def ending(id: str) -> Settlement:
    claim = Claim(
        id=id, job="work", kind="direct", queue="default", attempt=1, max_attempts=3, fence=1, payload=None,
        schedule_id=None, revision=None, window_at=None, due_at=0, fired_at=0, lane=None, timeout_ms=None, tenant="",
    )  # fmt: skip
    return Settlement(claim, 1, Completed(None), Retry())


async def test_what_is_more_than_a_batch_is_written_in_the_next_ones(clock: ManualClock) -> None:
    shelf, written = Shelf(), list[str]()

    def note(settlements: Sequence[Settlement]) -> None:
        written.extend(settlement.claim.id for settlement in settlements)

    settler = Settler(
        shelf,  # type: ignore[arg-type]  # it quacks
        clock,
        Chance(1),
        Recorder(),
        on_ended=lambda ended: None,
        on_released=lambda: None,
        on_written=note,
    )
    ids = [f"run-{number}" for number in range(2 * LARGEST_BATCH + 1)]
    for id in ids:
        settler.add(ending(id))
    assert await settler.drain(60)
    assert [len(batch) for batch in shelf.batches] == [LARGEST_BATCH, LARGEST_BATCH, 1]
    assert [id for batch in shelf.batches for id in batch] == written == ids
    assert settler.backlog == 0
