"""An instance notices that its store went back, before it fires anything of it again."""

from duly.core.errors import StoreUnavailable
from duly.core.switch import FiringState
from duly.engine.restores import RestoreWatch
from duly.store.sql import SqlStore
from duly.store.sqlite import open_store
from duly.testing import ManualClock
from tests.engine.lab import Recorder


async def ticking(ticks: int) -> SqlStore:
    store = open_store(":memory:", clock=ManualClock(), inline=True)
    await store.open()
    for _ in range(ticks):
        await store.take_lease("janitor", 1, lease_ms=1000)
    return store


class Swapped:
    """A store in whose place another one is put."""

    def __init__(self, store: SqlStore) -> None:
        self.store = store
        self.down = False

    async def firing_state(self) -> FiringState:
        if self.down:
            raise StoreUnavailable("it is being restored")
        return await self.store.firing_state()

    async def notice_restore(self, state: FiringState, seen: int) -> FiringState:
        return await self.store.notice_restore(state, seen)


async def test_a_store_that_goes_on_is_not_a_restored_one() -> None:
    store, heard = await ticking(2), Recorder()
    watch = RestoreWatch(store, heard)
    await watch.look()
    await store.take_lease("janitor", 1, lease_ms=1000)
    assert not (await watch.look()).paused
    assert heard.count("store_restored") == 0


async def test_an_older_one_is_stopped_and_told_once() -> None:
    swapped, heard = Swapped(await ticking(5)), Recorder()
    watch = RestoreWatch(swapped, heard)  # type: ignore[arg-type]
    await watch.look()
    swapped.store = await ticking(3)
    state = await watch.look()
    assert (state.paused, state.epoch) == (True, 2)
    assert heard.all("store_restored") == [(5, 3)]
    await watch.look()
    assert heard.count("store_restored") == 1
    assert [state.paused for (state,) in heard.all("firing_switched")] == [False, True]


async def test_after_an_outage_it_looks_before_it_fires() -> None:
    swapped, heard = Swapped(await ticking(5)), Recorder()
    watch = RestoreWatch(swapped, heard)  # type: ignore[arg-type]
    await watch.look()
    swapped.store = await ticking(3)
    await watch.look_if_doubted()
    assert heard.count("store_restored") == 0, "nothing was in doubt"
    watch.doubt()
    swapped.down = True
    try:
        await watch.look_if_doubted()
    except StoreUnavailable:
        swapped.down = False
    await watch.look_if_doubted()
    assert heard.count("store_restored") == 1
