"""The ledger: a process of its own that appends what others tell it, each line synced, and survives all of them.

It knows nothing of duly. Datagrams of a Unix socket come whole and in one order, whoever sent them and whether the
sender still lives; the ledger dates them by its own clock, since those of the senders may be wrong on purpose.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

READY_WITHIN = 120.0


class Ledger:
    """The driver's side: starts the process, reads its file as it grows, and writes lines of its own."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "ledger"
        self.socket = folder / "ledger.socket"
        self.lines: list[dict[str, Any]] = []
        self._read_to = 0
        root = Path(__file__).parents[2]
        command = [sys.executable, "-m", "tests.chaos.ledger", str(self.path), str(self.socket)]
        self._process = subprocess.Popen(command, cwd=root, start_new_session=True)
        give_up_at = time.monotonic() + READY_WITHIN
        while not self.path.exists():
            assert time.monotonic() < give_up_at, "the ledger did not start"
            time.sleep(0.01)

    def note(self, event: str, **values: Any) -> None:
        """Write a line as the driver."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as way:
            way.sendto(
                json.dumps({"event": event, "instance": "driver", "pid": 0, **values}).encode(), str(self.socket)
            )

    def read(self) -> list[dict[str, Any]]:
        """Every line so far."""
        with self.path.open("rb") as file:
            file.seek(self._read_to)
            fresh = file.read()
        whole = fresh[: fresh.rfind(b"\n") + 1]
        self._read_to += len(whole)
        self.lines += [json.loads(line) for line in whole.splitlines()]
        return self.lines

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def main(path: str, place: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it outlives an interrupted driver by the last lines
    way = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    way.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 2**20)
    way.bind(place)
    way.settimeout(5)
    parent = os.getppid()
    with Path(path).open("ab", buffering=0) as file:
        while os.getppid() == parent:
            try:
                line = json.loads(way.recv(65536))
            except TimeoutError:
                continue
            file.write(json.dumps({**line, "at": time.time()}).encode() + b"\n")
            os.fsync(file.fileno())


if __name__ == "__main__":
    main(*sys.argv[1:])
