"""A laboratory for the engine: real store, real loops, a clock that moves when told, and faults on request."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from duly.app.building import Builder
from duly.app.runs import Runs
from duly.config import Settings
from duly.core.errors import OutcomeUnknown, StoreError, StoreUnavailable
from duly.core.run import Run
from duly.core.schedule import Schedule
from duly.core.timing import Timing
from duly.engine.election import Ballot
from duly.engine.instance import Instance, World
from duly.engine.registry import Registry, make_handler
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.runtime.events import Observer, Observers
from duly.store.sql import SqlStore
from duly.store.values import NewRequest, RunFilter
from duly.testing import ManualClock, Watched

SETTINGS = Settings(lease=15, heartbeat=5, poll=1, concurrency=10)


class Recorder(Observer):
    """Keeps everything the engine tells, as (method, values)."""

    def __init__(self) -> None:
        self.told: list[tuple[str, tuple[Any, ...]]] = []

    def all(self, method: str) -> list[tuple[Any, ...]]:
        return [values for name, values in self.told if name == method]

    def count(self, method: str) -> int:
        return len(self.all(method))


def _telling(method: str) -> Callable[..., None]:
    def tell(self: Recorder, *values: Any) -> None:
        self.told.append((method, values))

    return tell


for _name in [name for name in vars(Observer) if not name.startswith("_")]:
    setattr(Recorder, _name, _telling(_name))


class Faulty:
    """A store that fails when told: before the call (nothing was done), or after it (it was done, nobody knows)."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._before: dict[str, list[Exception | None]] = defaultdict(list)
        self._after: dict[str, list[Exception | None]] = defaultdict(list)
        self._down: set[str] = set()
        self._gates: dict[str, asyncio.Event] = {}
        self._refuse: dict[str, Callable[..., bool]] = {}
        self.calls: Counter[str] = Counter()
        self.answers: dict[str, list[Any]] = defaultdict(list)

    def fail(self, method: str, *errors: Exception | None) -> None:
        """Fail the next calls before they do anything; None lets one through."""
        self._before[method] += errors or [StoreUnavailable("injected: nothing was done")]

    def lose_answer(self, method: str, *errors: Exception | None) -> None:
        """Do the next calls, then say that nobody knows whether they were done."""
        self._after[method] += errors or [OutcomeUnknown("injected: it was done")]

    def down(self, *methods: str) -> None:
        """Fail every call of these methods (all methods if none is named) until ``up``."""
        self._down |= set(methods) or {"*"}

    def up(self) -> None:
        self._down.clear()

    def gate(self, method: str) -> asyncio.Event:
        """Hold the calls of a method after they were done, until the event is set."""
        self._gates[method] = asyncio.Event()
        return self._gates[method]

    def refuse(self, method: str, when: Callable[..., bool]) -> None:
        """Refuse, as a database does with bad data, the calls for which ``when`` (given the arguments) is true."""
        self._refuse[method] = when

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._store, name)
        if not asyncio.iscoroutinefunction(attribute):
            return attribute

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await self._call(name, attribute, *args, **kwargs)

        return call

    async def _call(self, name: str, method: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        self.calls[name] += 1
        if self._down & {name, "*"}:
            raise StoreUnavailable("injected: the store is down")
        if self._before[name] and (error := self._before[name].pop(0)) is not None:
            raise error
        if name in self._refuse and self._refuse[name](*args, **kwargs):
            raise StoreError("injected: the database refused the data")
        answer = await method(*args, **kwargs)
        self.answers[name].append(answer)
        if name in self._gates:
            await self._gates[name].wait()
        if self._after[name] and (error := self._after[name].pop(0)) is not None:
            raise error
        return answer


class Lab:
    """One store, one clock, any number of instances."""

    def __init__(self, store: SqlStore, clock: ManualClock) -> None:
        self.clock = clock
        self.plain = store
        self.store = Faulty(Watched(store, clock))
        self.chance = Chance(42)
        self.registry = Registry()
        self.recorder = Recorder()
        self.settings = SETTINGS
        self.instances: list[Instance] = []

    def job(self, name: str, *, into: Registry | None = None, **options: Any) -> Callable[[Any], Any]:
        def register(function: Any) -> Any:
            (into or self.registry).add(make_handler(name, function, **options))
            return function

        return register

    def faulty(self) -> Faulty:
        """Another way to the same store, with faults of its own: the view of one instance."""
        return Faulty(Watched(self.plain, self.clock))

    async def start(
        self,
        *,
        roles: Sequence[str] = ("scheduler", "worker"),
        settings: Settings | None = None,
        registry: Registry | None = None,
        store: Faulty | None = None,
        recorder: Recorder | None = None,
        name: str | None = None,
        clock: Clock | None = None,
        ballot: Ballot | None = None,
    ) -> Instance:
        world = World(
            store=store or self.store,  # type: ignore[arg-type]  # it quacks
            settings=settings or self.settings,
            clock=clock or self.clock,
            chance=self.chance,
            observers=Observers([recorder or self.recorder]),
            heartbeat_thread=False,
            ballot=None if ballot is None else Watched(ballot, self.clock),
        )
        instance = Instance(
            world, registry or self.registry, roles=roles, name=name or f"i{len(self.instances)}", version="test"
        )
        self.instances.append(instance)
        await instance.start()
        await self.clock.settle()
        return instance

    async def stop(self, instance: Instance, grace: float = 0) -> None:
        self.instances.remove(instance)
        await self.finish(instance.stop(grace))

    async def finish(self, work: Awaitable[Any], *, seconds: float = 120) -> Any:
        """Let time pass until something has ended."""
        task = asyncio.ensure_future(work)
        await self.clock.settle()
        for _ in range(round(seconds * 10)):
            if task.done():
                break
            await self.clock.advance(milliseconds=100)
        assert task.done(), f"not done after {seconds} s"
        return task.result()

    def crash(self, instance: Instance) -> None:
        """What SIGKILL leaves: no loop turns, nothing is written any more."""
        self.instances.remove(instance)
        for task in [*instance._tasks, *(a.task for a in instance._worker._active.values() if a.task is not None)]:
            task.cancel()
        instance._settler.add = lambda settlement: None  # type: ignore[method-assign]

    async def create(
        self, key: str, timing: Timing, *, job: str | None = "work", wake: bool = True, **options: Any
    ) -> Schedule:
        builder = Builder(self.settings, self.registry, self.clock, self.chance)
        (put,) = await self.plain.put_schedules([builder.schedule(key, timing, job=job, **options)])
        if not isinstance(put, Schedule):
            raise put
        if wake:
            for instance in self.instances:
                instance.wake_scheduler()
        await self.clock.settle()
        return put

    def request(self, job: str, payload: Any, **options: Any) -> NewRequest:
        runs = Runs(
            self.plain, self.settings, self.registry, self.clock, self.chance, on_runs=_nothing, on_cancel=_nothing
        )
        return runs.request(job, payload, **options)

    async def enqueue(self, job: str = "work", payload: Any = None, **options: Any) -> Run:
        (run,) = await self.plain.enqueue([self.request(job, {} if payload is None else payload, **options)])
        for instance in self.instances:
            instance.wake_worker()
        await self.clock.settle()
        return run

    async def run(self, id: str) -> Run:
        run = await self.plain.get_run(id)
        assert run is not None, f"run {id} has disappeared"
        return run

    async def runs(self, schedule: Schedule | None = None) -> list[Run]:
        """All runs, oldest first."""
        where = RunFilter(schedule_id=schedule.id if schedule else None)
        found: list[Run] = []
        cursor: str | None = None
        while True:
            page = await self.plain.list_runs(where, limit=200, after=cursor)
            found += page.items
            cursor = page.next_cursor
            if cursor is None:
                return found[::-1]

    async def nap(self, seconds: float) -> None:
        """What a handler does for ``seconds`` of the manual clock."""
        await self.clock.wait(asyncio.Event(), seconds)


def _nothing() -> None:
    """Nobody to wake."""
