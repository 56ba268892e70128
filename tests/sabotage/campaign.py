"""One run of many mutants: which are tried, in which order, by which tests, and what comes of each."""

from __future__ import annotations

import json
import queue
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from threading import Lock

from tests.sabotage.mutants import Mutant
from tests.sabotage.targets import TOP, OutOfDate, broken_files
from tests.sabotage.working_copy import COPIED, MAX_FAILED, PATIENCE, Hangs, StaleTests, Tests, WorkingCopy

CAUGHT_BY = Path(__file__).with_name("caught_by.json")
"""Tests that caught each mutant in an earlier run, by mutant. They are tried first."""
FIRST_PATIENCE = 600.0
"""Seconds that a few tests may take."""
CHAOS = "chaos "

CAUGHT, SURVIVED, OUT_OF_DATE = "caught", "SURVIVED", "OUT OF DATE"


@dataclass(frozen=True)
class Verdict:
    """What came of a mutant: ``by`` are the tests that failed when ``tests`` ran."""

    name: str
    result: str
    by: Tests = ()
    tests: Tests = ()
    first: bool = False
    """A test that was recorded earlier caught it."""
    seconds: float = 0.0
    reason: str = ""


class Campaign:
    """Tries mutants, on one copy per worker.

    A test that also fails where nothing is broken proves nothing: at the end, all tests that caught something run on a
    sound copy. A mutant that no other test caught is tried again without these.
    """

    def __init__(
        self, copies: Sequence[WorkingCopy], recorded: Mapping[str, Sequence[str]], say: Callable[[Verdict], None]
    ) -> None:
        self.unsound: set[str] = set()
        self._sound: set[str] = set()
        self._copies = copies
        self._recorded = recorded
        self._say = say
        self._lock = Lock()

    def run(self, mutants: Sequence[Mutant], known: Iterable[Verdict] = ()) -> dict[str, Verdict]:
        """Try the mutants that have no verdict yet, and return all verdicts by name."""
        verdicts = {verdict.name: verdict for verdict in known}
        left = [mutant for mutant in mutants if mutant.name not in verdicts]
        while True:
            for verdict in self._try_all(left):
                verdicts[verdict.name] = verdict
            before = len(self.unsound)
            self._check(verdicts.values())
            left = [mutant for mutant in mutants if self._is_unproven(verdicts[mutant.name])]
            if not left or len(self.unsound) == before:
                return verdicts

    def _is_unproven(self, verdict: Verdict) -> bool:
        return verdict.result == CAUGHT and self.unsound.issuperset(verdict.by)

    def _try_all(self, mutants: Iterable[Mutant]) -> list[Verdict]:
        waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
        for mutant in mutants:
            waiting.put(mutant)

        def work(copy: WorkingCopy) -> list[Verdict]:
            verdicts = []
            with suppress(queue.Empty):
                while True:
                    verdicts.append(self._try(waiting.get_nowait(), copy))
                    with self._lock:
                        self._say(verdicts[-1])
            return verdicts

        with ThreadPoolExecutor(len(self._copies)) as pool:
            try:
                return [verdict for verdicts in pool.map(work, self._copies) for verdict in verdicts]
            finally:  # after an error or an interruption nothing else starts, and what runs is ended
                with suppress(queue.Empty):
                    while True:
                        waiting.get_nowait()
                for copy in self._copies:
                    copy.end()

    def _try(self, mutant: Mutant, copy: WorkingCopy) -> Verdict:
        began = time.monotonic()
        verdict = Verdict(mutant.name, SURVIVED)
        try:
            with copy.broken(broken_files(mutant.edits)):
                for first, tests in self._plan(mutant):
                    if by := self._failing(copy, tests, first=first):
                        verdict = replace(verdict, result=CAUGHT, by=by, tests=tests, first=first)
                        break
        except (OutOfDate, StaleTests) as error:
            verdict = replace(verdict, result=OUT_OF_DATE, reason=str(error))
        return replace(verdict, seconds=round(time.monotonic() - began, 1))

    def _plan(self, mutant: Mutant) -> Iterator[tuple[bool, Tests]]:
        """Yield what to run, in this order: the tests that caught the mutant before, then all of its tests."""
        recorded = [test for test in self._recorded.get(mutant.name, ()) if test not in self.unsound]
        if tests := tuple(test for test in recorded if not test.startswith(CHAOS)):
            yield True, tests
        rows = {test.removeprefix(CHAOS) for test in recorded if test.startswith(CHAOS)}
        for first in (True, False):
            yield from ((first, tests) for tests in mutant.tests if rows.isdisjoint(tests) is not first)

    def _failing(self, copy: WorkingCopy, tests: Tests, *, first: bool) -> Tests:
        patience = FIRST_PATIENCE if first and tests[0] != "chaos" else PATIENCE
        without = () if tests[0] == "chaos" else tuple(f"--deselect={test}" for test in sorted(self.unsound))
        try:
            failed = copy.failing((*tests, *without), max_failed=1 if first else MAX_FAILED, patience=patience)
        except Hangs:
            failed = [_hang_of(tests)]
        except StaleTests:
            if not (first or without):  # all of them may fail anyway
                raise
            failed = []
        return tuple(test for test in failed if test not in self.unsound)

    def _check(self, verdicts: Iterable[Verdict]) -> None:
        """Run what caught something where nothing is broken, and remember what fails there too."""
        caught = [verdict for verdict in verdicts if not self._known.issuperset(verdict.by)]
        plain: set[str] = set()
        for verdict in caught:
            if verdict.tests[0] == "chaos" or verdict.by == (_hang_of(verdict.tests),):
                self._judge(verdict.tests, verdict.by)
            else:
                plain.update(verdict.by)
        if tests := tuple(sorted(plain - self._known)):
            self._judge(tests, tests)

    @property
    def _known(self) -> set[str]:
        return self._sound | self.unsound

    def _judge(self, tests: Tests, by: Tests) -> None:
        if self._known.issuperset(by):
            return
        try:
            failed = set(self._copies[0].failing(tests, max_failed=0, workers=len(self._copies)))
        except Hangs:
            failed = set(by)
        except StaleTests:  # one of them exists only where something is broken
            if len(tests) > 1 and tests == by:
                for half in (tests[::2], tests[1::2]):
                    self._judge(half, half)
                return
            failed = set(by)
        self.unsound |= failed
        self._sound |= set(by) - failed


def _hang_of(tests: Tests) -> str:
    return f"{' '.join(tests)} does not end"


def digest_source() -> str:
    """Return a digest of all that is copied. Verdicts hold for one source."""
    digest = blake2b(digest_size=16)
    for name in COPIED:
        top = TOP / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and "__pycache__" not in path.parts and path != CAUGHT_BY:
                digest.update(f"{path.relative_to(TOP)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def read_log(path: Path, source: str) -> list[Verdict]:
    """Read which mutants of this source were caught before an interruption."""
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    fields = [line["verdict"] for line in lines if line["source"] == source and line["verdict"]["result"] == CAUGHT]
    return [Verdict(**{**one, "by": tuple(one["by"]), "tests": tuple(one["tests"])}) for one in fields]


def write_log(path: Path, source: str, verdict: Verdict) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"source": source, "verdict": asdict(verdict)}) + "\n")
