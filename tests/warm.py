"""Processes at a tenth of the price of a start: ``duly`` as a program for scripts, and modules.

A process imports duly once and waits. Whoever wants a process hands it arguments, folder, environment and open files,
and it forks: what runs is a process of its own with everything duly asks of one, except that half a second of imports
is done. Tests of the start itself, of signals and of the environment start the real thing.
"""

import ctypes
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

HOME = Path(__file__).parent.parent
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG

# Without the site's packages: this starts in a hundredth of a second.
_PROGRAM = """#!{python} -IS
import json, os, socket, struct, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    told = json.dumps(["", sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [struct.pack("!i", len(told))], [0, 1, 2])
    server.sendall(told)
    told = server.recv(8, socket.MSG_WAITALL)
pid, status = struct.unpack("!ii", told) if len(told) == 8 else (0, 70)
sys.exit(status if status >= 0 else 128 - status)
"""


class WarmProcess:
    """What a test needs of a ``Popen``."""

    def __init__(self, way: socket.socket) -> None:
        self._way = way
        self.returncode: int | None = None
        self.pid = self._number(None)

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            try:
                self.returncode = self._number(timeout)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired("a warm process", timeout or 0) from None
            self._way.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _number(self, timeout: float | None) -> int:
        self._way.settimeout(timeout)
        told = self._way.recv(4, socket.MSG_WAITALL)
        assert len(told) == 4, "the process that forks has died"
        return int(struct.unpack("!i", told)[0])


class Warm:
    """The process that forks; it ends when whoever started it does."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="duly-warm-")
        self.address = str(Path(self._folder.name) / "way")
        command = [sys.executable, "-m", "tests.warm", self.address]
        environment = {**os.environ, "PYTHONPATH": f"{HOME / 'src'}:{HOME}"}
        self._process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def start(self, module: str, folder: Path, environment: Mapping[str, str], output: IO[bytes]) -> WarmProcess:
        """Start a module as ``python -m`` would; what it says goes to a file."""
        way = socket.socket(socket.AF_UNIX)
        way.connect(self.address)
        told = json.dumps([module, [], str(folder), dict(environment)]).encode()
        with open(os.devnull) as nothing:
            files = [nothing.fileno(), output.fileno(), output.fileno()]
            socket.send_fds(way, [struct.pack("!i", len(told))], files)
        way.sendall(told)
        return WarmProcess(way)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()


@contextmanager
def warm_program(folder: Path) -> Iterator[Path]:
    """The folder to put in front of PATH for a script that calls ``duly``."""
    warm, program = Warm(), folder / "warm-bin" / "duly"
    program.parent.mkdir()
    program.write_text(_PROGRAM.format(python=sys.executable, address=warm.address))
    program.chmod(0o755)
    try:
        yield program.parent
    finally:
        warm.close()


def _serve(address: str) -> None:
    import duly.app
    import duly.cli.on_server
    import duly.cli.on_store
    import duly.store.postgres
    import duly.store.sqlite  # noqa: F401  # what most of them need

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        os.write(1, b"ready\n")
        while True:
            _wait_for(listener)
            caller, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _keep(caller)
                os._exit(0)
            caller.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _wait_for(listener: socket.socket) -> None:
    """Wait for a caller, or for the end of whoever started this: then its pipe ends."""
    ready, _, _ = select.select([listener.fileno(), 0], [], [])
    if 0 in ready:
        sys.exit()


def _keep(caller: socket.socket) -> None:
    """Let a child do what the caller asks, and tell the caller who it is and how it ended."""
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)  # a caller that was killed leaves nobody behind
    size, files, *_ = socket.recv_fds(caller, 4, 3)
    told = caller.recv(struct.unpack("!i", size)[0], socket.MSG_WAITALL)
    child = os.fork()
    if child == 0:
        caller.close()
        _become(files, *json.loads(told))
    for file in (0, 1, *files):
        os.close(file)
    with suppress(OSError):  # a caller that no longer listens
        caller.sendall(struct.pack("!i", child))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):
        caller.sendall(struct.pack("!i", status))


def _become(files: list[int], module: str, arguments: list[str], folder: str, environment: dict[str, str]) -> Any:
    status = 70
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        sys.stdin = os.fdopen(0, closefd=False)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["duly", *arguments]
        sys.path[0] = folder  # as `python -m` has it
        if module:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            from duly.cli import main

            main(arguments, prog_name="duly")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:  # noqa: BLE001 - as an interpreter does at its end
        traceback.print_exc()
        status = 1
    finally:
        with suppress(OSError):
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve(sys.argv[1])
