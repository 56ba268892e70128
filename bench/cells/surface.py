"""S: what the REST API itself costs, by ``bench/surface.py``."""

from __future__ import annotations

import json
import subprocess
import sys

from bench.bench import Bench
from bench.processes import ROOT, ChildFailed
from bench.surface import CASES, FIGURES

Figures = dict[str, dict[str, float]]


def run(bench: Bench) -> None:
    answers = bench.repeat(lambda: measure(rounds=10 if bench.options.quick else 100))
    for case in CASES:
        bench.report.add("S", "duly/api", case.name, [answer[case.name] for answer in answers], *FIGURES)


def measure(*, rounds: int) -> Figures:
    command = [sys.executable, "-m", "bench.surface", "--json", "--rounds", str(rounds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ChildFailed(f"surface ended with {done.returncode}\n{done.stderr[-2000:]}")
    figures: Figures = json.loads(done.stdout)
    return figures
