"""T: cron expressions evaluated per second, by ``bench/timing.py``."""

from __future__ import annotations

import re
import subprocess
import sys

from bench.bench import Bench
from bench.processes import ROOT, ChildFailed

MEAN = re.compile(r"^(?P<what>.+?)\s+geometric mean\s+(?P<mean>[\d.]+)x, least\s+(?P<least>[\d.]+)x$", re.MULTILINE)


def run(bench: Bench) -> None:
    command = [sys.executable, "bench/timing.py"]
    command += ["--calls", "400", "--rounds", "2"] if bench.options.quick else []
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ChildFailed(done.stderr[-2000:])
    for found in MEAN.finditer(done.stdout):
        answer = {"times_cronsim": float(found["mean"]), "least": float(found["least"])}
        bench.report.add("T", "duly/cron", found["what"], [answer], "times_cronsim", "least")
