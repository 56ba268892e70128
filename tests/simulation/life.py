"""A fleet in one process on virtual time: the real engine and the real SQL, every fault drawn from a seed.

``simulate(seed)`` runs some minutes of a fleet's life in a fraction of a second: instances crash, freeze and lose the
store, and some commits have an unknown outcome; then everything heals and must come to rest. An oracle that shares no
code with the engine works out what the store must hold in the end. The same seed gives the same life, to the last call:
a failure is reproduced by its number.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from typing import Any

from duly.app.building import Builder
from duly.app.operations import Operations
from duly.app.runs import Runs
from duly.app.schedules import Schedules
from duly.config import Settings
from duly.core.errors import Conflict, NotFound
from duly.core.run import Run, RunStatus
from duly.core.timing import Cron, Every, Timing
from duly.engine.context import RunContext
from duly.engine.registry import Registry, make_handler
from duly.runtime.chance import Chance
from duly.store.sql import SqlStore
from duly.store.sqlite.driver import SqliteDriver
from tests.simulation.flows import Ledger, add_flows, is_flow, judge_flows, new_flow
from tests.simulation.loop import VirtualLoop
from tests.simulation.node import Faults, Node, StoreClock, whose
from tests.simulation.oracle import Expected, Rule, judge_calm, judge_ends, judge_runs, judge_windows
from tests.simulation.record import Record

START = 1_767_571_200_000
SETTINGS = Settings(lease=9, heartbeat=3, poll=3, concurrency=8)
POINTS = ("settle", "settle", "fire_due", "claim_runs", "beat", "take_lost", *["record_steps"] * 4)
"""Where fate likes to strike."""
OPEN = (RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SUSPENDED)
REST = 400.0
"""Virtual seconds within which a healed fleet must have come to rest."""


@dataclass(slots=True)
class Report:
    """What came of one life."""

    seed: int
    findings: list[str]
    windows: int = 0
    runs: int = 0
    steps: int = 0
    crashes: int = 0
    freezes: int = 0
    cuts: int = 0
    leaps: int = 0
    digest: str = ""
    timeline: str = ""

    def __str__(self) -> str:
        wrong = "\n".join(self.findings) or "nothing is wrong"
        return f"seed {self.seed}: {wrong}\nthe end of its timeline:\n{self.timeline}"


class Life:
    """The fleet, the people who use it, and the fate that troubles it. All draws come from the seed."""

    def __init__(self, seed: int, span: float) -> None:
        self.seed = seed
        self.span = span
        self.record = Record()
        self.ledger = Ledger(seed)
        self.flows: list[str] = []
        self.nodes: list[Node] = []
        self.expected: dict[str, Expected] = {}
        self.counts = dict.fromkeys(("crashes", "freezes", "cuts", "leaps"), 0)
        self.fate = random.Random(f"fate {seed}")
        self.people = random.Random(f"people {seed}")
        self.clock = StoreClock(START + self.fate.randrange(60_000))
        self.calm = self.fate.random() < 0.15
        rates = [0.0] if self.calm else [0.0, 0.01, 0.05]
        self.faults = Faults(self.fate.choice(rates), self.fate.choice(rates))
        self.leapt_back = False
        self.healed = False
        self.latest = START
        self.born = 0

    async def live(self) -> Report:
        """Trouble, then healing, then rest, then judgement."""
        self.driver = SqliteDriver(":memory:", clock=self.clock, inline=True)
        await self.driver.open()
        self.store = SqlStore(self.driver)
        self._equip_people()
        try:
            for _ in range(self.fate.randint(2, 3)):
                await self._bear()
            for _ in range(self.people.randint(2, 5)):
                await self._create()
            await self._trouble()
            await self._heal()
            rested = await self._rest()
            return await self._judge(rested)
        finally:
            for node in self.nodes:
                node.kill()
            await asyncio.sleep(0)
            await self.driver.close()

    # The people.

    def _equip_people(self) -> None:
        chance = self.chance = Chance(self.people.getrandbits(32))
        registry = Registry()
        builder = Builder(SETTINGS, registry, self.clock, chance)
        operations = Operations(self.store, SETTINGS, self.clock, chance, on_step=_nothing)
        self.schedules = Schedules(
            self.store,
            SETTINGS,
            builder,
            self.clock,
            chance,
            operations,
            on_schedules=self._wake,
            on_pause=lambda end: None,
            on_runs=self._wake,
            on_cancel=_nothing,
            tell=lambda name, schedule: None,
            expected_now=lambda: None,
        )
        self.runs = Runs(self.store, SETTINGS, registry, self.clock, chance, on_runs=self._wake, on_cancel=_nothing)

    def _wake(self) -> None:
        for node in self.nodes:
            if node.listener is not None and not node.dead and self.people.random() < 0.5:
                node.listener("schedules")
                node.listener("runs")

    async def _create(self) -> None:
        key, rule = f"s{len(self.expected)}", self._rule()
        await self.schedules.create(
            key,
            _timing(rule),
            job="work",
            overlap=self.people.choice(["skip", "queue", "cancel_previous", "allow"]),
            catch_up=self.people.choice(["latest", "skip", "all"]),
            jitter=self.people.choice([None, None, (0, 900)]),
        )
        self.expected[key] = Expected(key)
        self._begin(key, rule)

    def _rule(self) -> Rule:
        return Rule(self.people.choice([1, 2, 3, 5, 7, 10, 30]), self.people.random() < 0.5)

    def _begin(self, key: str, rule: Rule) -> None:
        self.latest = max(self.latest, self.clock.now())
        self.expected[key].begin(self.latest, rule)

    async def _do_something(self) -> None:
        """What people do, at any moment: their calls succeed, so that it is known when they took effect."""
        key = self.people.choice(sorted(self.expected))
        expected = self.expected[key]
        self.latest = max(self.latest, self.clock.now())
        what = self.people.choice(
            ["create", "pause", "resume", "edit", "trigger", "enqueue", "flow", "flow", "signal", "delete"]
        )
        self.record.note(f"people {what} {key}")
        try:
            match what:
                case "create" if len(self.expected) < 10:
                    await self._create()
                case "pause" if expected.open:
                    await self.schedules.pause(key)
                    expected.end(self.clock.now())
                case "resume" if not expected.open:
                    await self.schedules.resume(key)
                    self._begin(key, expected.rule)
                case "edit":
                    rule = self._rule()
                    await self.schedules.update(key, timing=_timing(rule))
                    if expected.spans and rule == expected.rule:
                        pass  # an edit that changes nothing deals with nothing that is due
                    elif expected.open:
                        expected.end(self.clock.now())
                        self._begin(key, rule)
                    elif expected.spans:
                        after, until, _ = expected.spans[-1]
                        expected.spans += [(until or after, until or after, rule)]
                case "trigger":
                    await self.schedules.trigger(key, force=self.people.random() < 0.5)
                case "enqueue":
                    await self.runs.enqueue("work", {})
                case "flow":
                    for _ in range(3):
                        await self._start_flow()
                case "signal" if self.flows:
                    await self.store.signal_run(self.people.choice(self.flows), "go", str(self.people.randrange(9)))
                    self._wake()
                case "delete" if self.people.random() < 0.2:
                    await self.schedules.delete(key)
                    expected.end(self.clock.now())
        except (Conflict, NotFound) as refusal:
            self.record.note(f"people were refused: {refusal.code}")

    async def _start_flow(self) -> None:
        number = len(self.flows)
        self.flows.append(self.chance.id(self.clock))
        await self.store.enqueue([new_flow(self.flows[-1], number, SETTINGS)])
        self._wake()

    # Fate.

    async def _bear(self) -> Node:
        self.born += 1
        name = f"n{self.born}"
        node = Node(
            name,
            self.driver,
            self.clock,
            SETTINGS,
            self._registry,
            self.record,
            self.faults,
            f"{self.seed} {name}",
            self.nodes,
        )
        self.nodes.append(node)
        asyncio.get_running_loop().create_task(node.start())
        return node

    def _registry(self, node: Node) -> Registry:
        async def work(run: RunContext) -> int | None:
            self.record.started(node.name, run.id, run.fence)
            luck = random.Random(f"{self.seed} {run.id} {run.fence}")
            await node.clock.wait(asyncio.Event(), luck.choice([0, 0, 0.01, 0.5, 2, 12]))
            if luck.random() < 0.15:
                self.record.failed(run.id)
                raise ValueError("bad luck")
            self.record.done(node.name, run.id, run.fence)
            return run.fence

        registry = Registry()
        registry.add(make_handler("work", work))
        add_flows(registry, node, SETTINGS, self.ledger)
        return registry

    async def _trouble(self) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self.span
        while loop.time() < until:
            await asyncio.sleep(self.fate.expovariate(0.5))
            if self.calm or self.fate.random() < 0.5:
                await self._do_something()
            else:
                await self._strike()

    async def _strike(self) -> None:
        living = [node for node in self.nodes if not node.dead]
        if not living:
            return
        node = self.fate.choice(living)
        how_long = self.fate.choice([0.3, 2, 6, 12, 25])
        point = f"{self.fate.choice(['before', 'after'])} {self.fate.choice(POINTS)}"
        match self.fate.choice(["crash", "crash at", "freeze", "freeze at", "freeze at", "cut", "leap"]):
            case "crash":
                self._kill(node)
            case "crash at":
                node.lie_in_wait(point, lambda: self._kill(node, point))
            case "freeze":
                self._freeze(node, how_long)
            case "freeze at":
                node.lie_in_wait(point, lambda: self._freeze(node, how_long, point))
            case "cut":
                self._note("cuts", f"{node.name} is cut off for {how_long} s")
                node.cut_off = True
                self._later(how_long, lambda: setattr(node, "cut_off", False))
            case "leap" if self.fate.random() < 0.3:
                leap = self.fate.choice([-2_000, -30_000, 40_000, 3_600_000])
                self._note("leaps", f"the store's clock leaps by {leap} ms")
                self.latest = max(self.latest, self.clock.now())
                self.clock.leap_ms += leap
                self.leapt_back |= leap < 0

    def _kill(self, node: Node, at: str = "") -> None:
        if self.healed:
            return
        self._note("crashes", f"{node.name} is killed {at}")
        node.kill()
        self._later(self.fate.choice([0, 0.5, 5, 15]), self._bear)

    def _freeze(self, node: Node, how_long: float, at: str = "") -> None:
        if self.healed:
            return
        self._note("freezes", f"{node.name} is frozen {at} for {how_long} s")
        node.freeze()
        self._later(how_long, node.thaw)

    def _note(self, kind: str, what: str) -> None:
        self.counts[kind] += 1
        self.record.note(what)

    def _later(self, seconds: float, call: Callable[[], Any]) -> None:
        async def do() -> None:
            await asyncio.sleep(seconds)
            answer = call()
            if asyncio.iscoroutine(answer):
                await answer

        asyncio.get_running_loop().create_task(do())

    async def _heal(self) -> None:
        self.record.note("everything heals")
        self.faults.before = self.faults.after = 0.0
        self.healed = True
        for node in self.nodes:
            node.cut_off = False
            node.thaw()
        if all(node.dead for node in self.nodes):
            await self._bear()
        await asyncio.sleep(2 * SETTINGS.lease)
        for key, expected in sorted(self.expected.items()):
            # Deleted, not paused: a window that its jitter still delays waits for the end of a pause.
            if await self.schedules.get(key) is not None:
                await self.schedules.delete(key)
            expected.end(self.clock.now())

    async def _rest(self) -> bool:
        """Whether everything has ended in time."""
        loop = asyncio.get_running_loop()
        until = loop.time() + REST
        while loop.time() < until:
            if not any([await self._some(status) for status in OPEN]):
                return True
            await asyncio.sleep(5)
        return False

    async def _some(self, status: RunStatus) -> bool:
        return bool((await self.runs.list(status=status, limit=1)).items)

    # The judgement.

    async def _judge(self, rested: bool) -> Report:
        runs = [run async for run in self.runs.iterate()]
        by_key: dict[str | None, list[Run]] = {}
        for run in runs:
            by_key.setdefault(run.schedule_key, []).append(run)
        findings = [] if rested else [f"not everything had ended {REST:g} s after the healing"]
        for key, expected in sorted(self.expected.items()):
            findings += judge_windows(expected, by_key.get(key, []), leapt_back=self.leapt_back)
        jobs = [run for run in runs if not is_flow(run)]
        ended = [await self.store.get_run(run.id) or run for run in jobs if run.status is RunStatus.COMPLETED]
        findings += judge_runs(jobs, self.record.starts, SETTINGS.default_max_attempts) + judge_ends(ended)
        flows = [await self.store.get_run(run.id) or run for run in runs if is_flow(run)]
        journals = {run.id: (await self.store.read_journal(run.id)).steps for run in flows}
        findings += judge_flows(flows, journals, self.ledger)
        if self.calm:
            findings += judge_calm(self.record)
        lived = repr((self.record.timeline, sorted((run.id, run.status, run.fence, run.reason) for run in runs)))
        return Report(
            seed=self.seed,
            findings=findings,
            windows=sum(len(expected.windows()) for expected in self.expected.values()),
            runs=len(runs),
            steps=sum(len(steps) for steps in journals.values()),
            digest=blake2b(lived.encode(), digest_size=8).hexdigest(),
            timeline=self.record.tail(),
            **self.counts,
        )


def simulate(seed: int, span: float = 20.0, kind: type[Life] = Life) -> Report:
    """Live through one seed."""
    loop = VirtualLoop(whose, lambda node, task: _belongs(node, task))
    try:
        return loop.run_until_complete(kind(seed, span).live())
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(_turns(20))
        loop.close()


def _belongs(node: Node | None, task: asyncio.Task[Any]) -> None:
    if node is not None:
        node.tasks[task] = None
        task.add_done_callback(lambda done: node.tasks.pop(done, None))
        if node.dead:
            task.cancel()


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def _timing(rule: Rule) -> Timing:
    return Cron(rule.cron) if rule.of_minute else Every(timedelta(seconds=rule.step))


def _nothing() -> None:
    """Nobody to wake."""
