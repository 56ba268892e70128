"""Real ``duly`` processes for tests: started, asked over HTTP, signalled, and gone when the test is."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "duly")
Found = TypeVar("Found")
PATIENCE = 60.0
"""Seconds that only something which hangs takes, also on a machine that is busy with other things."""


def environment(**variables: str) -> dict[str, str]:
    """A clean environment: what the tester has set must not matter."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
    return {**kept, "PYTHONPATH": str(ROOT / "src"), "XDG_CONFIG_HOME": "/nonexistent", **variables}


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.err.splitlines()


def duly(*arguments: str, folder: Path, **variables: str) -> Said:
    """Run a command to its end."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Served:
    """One ``duly serve`` (or another command that stays)."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        command: str = "serve",
        port: int | None = None,
        stdin: int = subprocess.DEVNULL,
        program: tuple[str, ...] = COMMAND,
        **variables: str,
    ):
        self.log = folder / f"serve-{time.monotonic_ns()}.log"
        flags = ["--port", str(port or 0)] if command in ("serve", "api") else []
        flags += [] if "--log-format" in arguments else ["--log-format", "console"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*program, command, *flags, *arguments],
                cwd=folder,
                env=environment(**variables),
                stdout=log,
                stderr=log,
                stdin=stdin,
            )
        self.url = f"http://127.0.0.1:{port}" if port else ""

    def ready(self, within: float = PATIENCE) -> "Served":
        """Wait for the line that says so, and learn the address from it."""
        line = self.until(lambda: re.search(r"is ready: (.*)\n", self.said()), "the ready line", within)
        assert line is not None
        address = re.match(r"http://[^ ]+", line[1])
        self.url = address[0] if address else ""
        return self

    def said(self) -> str:
        return self.log.read_text("utf-8", "replace")  # it may be read in the middle of a letter

    def until(self, condition: Callable[[], Found], what: str, within: float = PATIENCE) -> Found:
        give_up_at = time.monotonic() + within
        while not (found := condition()):
            assert self.process.poll() is None, f"it ended with {self.process.returncode}\n{self.said()}"
            assert time.monotonic() < give_up_at, f"waited {within} s for {what}\n{self.said()[-3000:]}"
            time.sleep(0.05)
        return found

    def let_pass(self, seconds: float) -> None:
        """Let time pass, to show that nothing happens meanwhile."""
        over_at = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > over_at, "time to pass", within=seconds + PATIENCE)

    def ask(self, path: str, body: object = None, *, method: str | None = None) -> Answer:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"} if data is not None else {}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return Answer(answer.status, answer.read(), dict(answer.headers.items()))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read(), dict(error.headers.items()))

    def status_of(self, path: str) -> int:
        """The status, 0 while nobody answers."""
        try:
            return self.ask(path).status
        except (OSError, http.client.HTTPException):
            return 0

    def runs(self, **query: str) -> list[dict[str, Any]]:
        words = "&".join(f"{name}={value}" for name, value in query.items())
        answer = self.ask(f"/api/v1/runs?limit=200&{words}")
        assert answer.status == 200, answer.body
        items: list[dict[str, Any]] = answer.json["items"]
        return items

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM, within: float = PATIENCE) -> int:
        """Signal it and wait for its end; answers the exit code."""
        self.send(number)
        return self.wait(within)

    def wait(self, within: float = PATIENCE) -> int:
        try:
            return self.process.wait(within)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it did not end within {within} s\n{self.said()[-3000:]}") from None

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@contextmanager
def own_port() -> Iterator[int]:
    """A port of 127.0.0.1 that is kept for the test: nobody else is given it before a server listens, or between two.

    It is bound and nobody listens; a server may listen there too, since servers set SO_REUSEADDR.
    """
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        port: int = kept.getsockname()[1]
        yield port
