"""Breaks copies of the source, one guard at a time, and reports which tests notice. Run by ``scripts/sabotage``."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.sabotage.campaign import CAUGHT, CAUGHT_BY, Campaign, Verdict, digest_source, read_log, write_log
from tests.sabotage.mutants import MUTANTS, RETIRED, Mutant
from tests.sabotage.targets import TOP
from tests.sabotage.working_copy import WorkingCopy

MAX_RECORDED = 2
"""Tests that are recorded for each mutant, those without a server first; one may go and the other still catches it."""


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def shard_of(text: str) -> tuple[int, int]:
    """Parse ``2/4``, the second of four parts."""
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a part; expected K/N, such as 1/4")
    return int(number), int(count)


def select(names: Sequence[str], shard: tuple[int, int]) -> list[Mutant]:
    """Return the mutants to try, in order of their names: the named ones or all, and of these every Nth."""
    number, count = shard
    chosen = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    return sorted(chosen, key=lambda mutant: mutant.name)[number - 1 :: count]


def read_recorded() -> dict[str, list[str]]:
    return dict(json.loads(CAUGHT_BY.read_text("utf-8")))


def record(verdicts: Mapping[str, Verdict], unsound: set[str]) -> None:
    """Write down which tests caught which mutant, for the next run."""
    recorded = {mutant.name: read_recorded().get(mutant.name, []) for mutant in MUTANTS}
    for verdict in verdicts.values():
        if verdict.result == CAUGHT:
            again = [test for test in recorded[verdict.name] if verdict.first and test not in verdict.by]
            proven = [test for test in [*verdict.by, *again] if test not in unsound]
            recorded[verdict.name] = sorted(proven, key=lambda test: test.count("postgres"))[:MAX_RECORDED]
    known = {name: tests for name, tests in sorted(recorded.items()) if tests}
    CAUGHT_BY.write_text(json.dumps(known, indent=1) + "\n", "utf-8")


def line_of(verdict: Verdict) -> str:
    what = f"caught by {', '.join(verdict.by[:2])}" if verdict.result == CAUGHT else verdict.result
    return f"{verdict.name}: {what} ({verdict.seconds:.0f} s)" + (f"\n{verdict.reason}" if verdict.reason else "")


def report(verdicts: Mapping[str, Verdict], seconds: float) -> bool:
    """Print the figures of a run, and return whether every mutant was caught."""
    ordered = [verdicts[name] for name in sorted(verdicts)]
    lost = [verdict for verdict in ordered if verdict.result != CAUGHT]
    first = sum(verdict.first for verdict in ordered)
    say("--- figures of sabotage")
    for verdict in ordered:
        say(line_of(verdict))
    for name, reason in RETIRED.items():
        say(f"{name}: retired: {reason}")
    tried = sum(verdict.seconds for verdict in ordered)
    say(
        f"{len(ordered)} mutants tried, {len(ordered) - len(lost)} caught ({first} by a recorded test),"
        f" {len(lost)} not caught, {len(RETIRED)} retired; {seconds:.0f} s, the mutants {tried:.0f} s"
    )
    breaks = {mutant.name: mutant.breaks for mutant in MUTANTS}
    for verdict in lost:
        say(f"not caught: {verdict.name}: {breaks[verdict.name]}")
    return not lost


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/sabotage", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these mutants")
    parser.add_argument("--shard", type=shard_of, default=(1, 1), metavar="K/N", help="only the Kth of N parts")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="mutants that are tried at once")
    parser.add_argument("--log", type=Path, default=TOP / ".sabotage.jsonl", help="where verdicts are kept")
    parser.add_argument("--resume", action="store_true", help="keep the verdicts of an interrupted run of this source")
    parser.add_argument("--record", action="store_true", help="write tests/sabotage/caught_by.json anew")
    options = parser.parse_args(arguments)
    known = [mutant.name for mutant in MUTANTS]
    if unknown := set(options.names) - set(known):
        parser.error(f"there is no mutant {', '.join(sorted(unknown))}; expected some of {', '.join(known)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    began = time.monotonic()
    mutants, source = select(options.names, options.shard), digest_source()
    if not options.resume:
        options.log.unlink(missing_ok=True)
    chosen = {mutant.name for mutant in mutants}
    before = [verdict for verdict in read_log(options.log, source) if verdict.name in chosen]

    def keep(verdict: Verdict) -> None:
        write_log(options.log, source, verdict)
        say(line_of(verdict))

    with ExitStack() as stack:
        folders = [
            stack.enter_context(tempfile.TemporaryDirectory(prefix="duly-sabotage-")) for _ in range(options.workers)
        ]
        campaign = Campaign([WorkingCopy(Path(folder)) for folder in folders], read_recorded(), keep)
        verdicts = campaign.run(mutants, before)
    if options.record:
        record(verdicts, campaign.unsound)
    return 0 if report(verdicts, time.monotonic() - began) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
