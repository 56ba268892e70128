"""One instance of the fleet, its clock, and its view of the store with all that can go wrong between them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import Any

from duly.config import Settings
from duly.core.errors import OutcomeUnknown, StoreUnavailable
from duly.engine.instance import Instance, World
from duly.engine.registry import Registry
from duly.runtime.chance import Chance
from duly.runtime.events import Observers
from duly.store.driver import Driver
from duly.store.presence import NoPresence, Presence
from duly.store.remembering import Remembered
from duly.store.sql import SqlStore
from duly.store.statements import T, Transaction
from tests.simulation.record import Record

whose: ContextVar[Node | None] = ContextVar("duly_node", default=None)
CALL_LIMIT = 4.0
"""Seconds after which a call that gets no answer is given up."""


class StoreClock:
    """The store's time, which an operator may set forward or back."""

    slack = 0.0

    def __init__(self, start: int) -> None:
        self._start = start
        self.leap_ms = 0

    def now(self) -> int:
        return self._start + self.leap_ms + round(asyncio.get_running_loop().time() * 1000)

    def steady(self) -> float:
        return asyncio.get_running_loop().time()

    def until(self, instant: int) -> float:
        return (instant - self.now()) / 1000

    async def wait(self, event: asyncio.Event, timeout: float | None) -> bool:
        return await _wait(event, timeout)


class NodeClock:
    """The clock of one instance: it may go wrong, and whoever waits for it in a frozen one waits longer."""

    slack = 0.0

    def __init__(self, node: Node, store_clock: StoreClock, skew_ms: int) -> None:
        self._node = node
        self._store_clock = store_clock
        self.skew_ms = skew_ms

    def now(self) -> int:
        return self._store_clock.now() - self._store_clock.leap_ms + self.skew_ms

    def steady(self) -> float:
        return asyncio.get_running_loop().time()

    def until(self, instant: int) -> float:
        return (instant - self.now()) / 1000

    async def wait(self, event: asyncio.Event, timeout: float | None) -> bool:
        came = await _wait(event, timeout)
        await self._node.thawed()
        return came or event.is_set()


class NodeDriver:
    """The way of one instance to the store. A transaction may be late, fail, or be done without anybody knowing."""

    def __init__(self, node: Node, driver: Driver) -> None:
        self._node = node
        self._driver = driver
        self.name = driver.name
        self.fires_at_once = driver.fires_at_once
        self.presence: Presence = NoPresence()

    async def read(self, transaction: Transaction[T], *, engine: bool = False) -> T:
        return await self._run(self._driver.read, transaction)

    async def write(self, transaction: Transaction[T], *, due: int | None = None, engine: bool = False) -> T:
        return await self._run(self._driver.write, transaction)

    async def _run(self, run: Callable[[Transaction[T]], Awaitable[T]], transaction: Transaction[T]) -> T:
        node, name = self._node, _name(transaction)
        await node.travel()
        if node.cut_off:
            await asyncio.sleep(CALL_LIMIT)
            raise StoreUnavailable("simulated: the store cannot be reached")
        if node.chance.random() < node.faults.before:
            raise StoreUnavailable("simulated: nothing was done")
        await node.reach(f"before {name}")
        node.record.note(f"{node.name} {name}")
        answer = await run(transaction)
        unknown = node.chance.random() < node.faults.after
        await node.reach(f"after {name}")
        await node.travel()
        if unknown or node.cut_off:
            node.record.note(f"{node.name} {name}: done, and nobody knows")
            raise OutcomeUnknown("simulated: it was done, the answer was lost")
        return answer

    def hint(self, topic: str) -> None:
        """Let the others hear of a change, mostly: a hint may be lost."""
        node = self._node
        for other in node.neighbours:
            if other is not node and not other.dead and other.listener and node.chance.random() < 0.5:
                other.listener(topic)

    def on_hint(self, listener: Callable[[str], None]) -> None:
        self._node.listener = listener

    def remembered(self) -> Remembered | None:
        return None

    def remember(self, seen: Remembered) -> None:
        """What is kept beside a database file; this one is in memory."""


def _name(transaction: Transaction[Any]) -> str:
    """What a transaction does, for the timeline."""
    inner: Any = transaction
    while not hasattr(inner, "__name__"):
        inner = getattr(inner, "_transaction", None) or getattr(inner, "func", None) or type(inner)
    return str(inner.__name__)


class Faults:
    """How often a call fails before and after it is done."""

    def __init__(self, before: float = 0.0, after: float = 0.0) -> None:
        self.before = before
        self.after = after


class Node:
    """One instance that can be killed, frozen and cut off."""

    def __init__(
        self,
        name: str,
        driver: Driver,
        store_clock: StoreClock,
        settings: Settings,
        registry: Callable[[Node], Registry],
        record: Record,
        faults: Faults,
        seed: str,
        neighbours: Sequence[Node],
    ) -> None:
        self.name = name
        self.record = record
        self.faults = faults
        self.chance = random.Random(seed)
        self.clock = NodeClock(self, store_clock, self.chance.choice([0, 0, -5_000, 5_000, 60_000]))
        self.cut_off = False
        self.dead = False
        self.listener: Callable[[str], None] | None = None
        self.tasks: dict[asyncio.Task[Any], None] = {}  # in the order of their births, which is the same each time
        self._ambush: dict[str, Callable[[], None]] = {}
        self.neighbours = neighbours
        self._thawed = asyncio.Event()
        self._thawed.set()
        self.store = SqlStore(NodeDriver(self, driver))  # type: ignore[arg-type]  # what is asynchronous of a driver
        world = World(
            store=self.store,
            settings=settings,
            clock=self.clock,
            chance=Chance(self.chance.getrandbits(32)),
            observers=Observers([]),
            heartbeat_thread=False,
        )
        self.instance = Instance(world, registry(self), roles=("scheduler", "worker"), name=name, version="simulated")

    async def start(self) -> None:
        """Start it, again and again until the store lets it."""
        whose.set(self)
        while not self.dead:
            try:
                await self.instance.start()
                return
            except (StoreUnavailable, OutcomeUnknown):
                await asyncio.sleep(0.5)

    def wake(self) -> None:
        """Tell its worker that there is something to do."""
        self.instance.wake_worker()

    def kill(self) -> None:
        """What SIGKILL leaves: nothing of it runs any more, nothing is written any more."""
        self.dead = True
        for task in list(self.tasks):
            task.cancel()

    def lie_in_wait(self, point: str, strike: Callable[[], None]) -> None:
        """Strike when it next comes to a point: ``before settle``, ``after fire_due``."""
        self._ambush[point] = strike

    async def reach(self, point: str) -> None:
        """It has come to a point in its way."""
        strike = self._ambush.pop(point, None)
        if strike is not None:
            strike()
            await self.thawed()

    def freeze(self) -> None:
        self._thawed.clear()

    def thaw(self) -> None:
        self._thawed.set()

    async def thawed(self) -> None:
        """Wait while it is frozen; a dead one goes no further."""
        if not self._thawed.is_set():
            await self._thawed.wait()
        if self.dead:
            raise asyncio.CancelledError

    async def travel(self) -> None:
        """The way to the store, or back."""
        await self.thawed()
        if self.chance.random() < 0.3:
            await asyncio.sleep(self.chance.choice([0.0, 0.001, 0.02, 0.2]))
            await self.thawed()


async def _wait(event: asyncio.Event, timeout: float | None) -> bool:
    if event.is_set():
        return True
    try:
        async with asyncio.timeout(timeout):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True
