"""Starts the child processes and reads their answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 1800.0


class ChildFailed(Exception):
    """A child process ended without an answer; the message ends with what it said."""


class Child:
    """One running child; ``answer`` waits for it."""

    def __init__(self, inside: str, arguments: dict[str, Any]) -> None:
        self.name = inside
        command = [sys.executable, "-m", "bench.child", json.dumps({"inside": inside, **arguments})]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def answer(self) -> dict[str, float]:
        try:
            out, err = self._process.communicate(timeout=LONGEST)
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        if self._process.returncode or not out.strip():
            raise ChildFailed(f"{self.name} ended with {self._process.returncode}\n{err[-3000:]}")
        if err.strip():
            print(f"{self.name}: {err.strip()[-2000:]}", file=sys.stderr)
        answer: dict[str, float] = json.loads(out.splitlines()[-1])
        return answer


class Children:
    """Starts children, under a profiler where a folder for profiles is given."""

    def __init__(self, profiles: Path | None = None) -> None:
        self._profiles = profiles
        self._started = 0

    def start(self, inside: str, **arguments: Any) -> Child:
        self._started += 1
        if self._profiles is not None and inside in ("serve", "store_loop", "create", "enqueue"):
            arguments["profile"] = str(self._profiles / f"{self._started:03}-{inside}.prof")
        return Child(inside, arguments)

    def run(self, inside: str, **arguments: Any) -> dict[str, float]:
        return self.start(inside, **arguments).answer()
