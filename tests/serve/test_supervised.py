"""``duly serve`` under a service manager: it says that it is ready, that it lives, and that it stops."""

import os
import queue
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from duly.config import service_manager
from duly.runtime import supervisor
from duly.runtime.supervisor import Supervisor
from tests.serve.serving import PATIENCE, Served


class Manager:
    """Hears datagrams as systemd does: all the time, since ten that nobody takes would hold up who sends them."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._heard: queue.Queue[bytes] = queue.Queue()
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def hear(self) -> list[str]:
        return self._heard.get(timeout=PATIENCE).decode().splitlines()

    def hear_until(self, wanted: str) -> list[list[str]]:
        heard: list[list[str]] = []
        while not heard or wanted not in heard[-1]:
            heard.append(self.hear())
        return heard

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._listener.join()
        self._socket.close()

    def _listen(self) -> None:
        while said := self._socket.recv(4096):
            self._heard.put(said)


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    manager = Manager(str(tmp_path / "notify"))
    yield manager
    manager.close()


@pytest.mark.processes
@pytest.mark.timeout(180, func_only=True)
def test_it_tells_that_it_is_ready_alive_and_stopping(
    serve: Callable[..., Served], tmp_path: Path, manager: Manager
) -> None:
    served = serve(NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="200000")
    before = manager.hear_until("READY=1")
    assert "STATUS=roles api, scheduler, worker" in before[-1]
    assert before[0] == ["WATCHDOG=1"]  # a slow start is no death
    assert served.ready().ask("/readyz").status == 200
    assert manager.hear() == ["WATCHDOG=1"]
    served.process.terminate()
    manager.hear_until("STOPPING=1")
    assert served.wait() == 0


def test_a_manager_without_a_file_is_told_too() -> None:
    name = f"duly-test-manager-{os.getpid()}"  # another run of the tests may be on this machine
    manager = Manager(f"\0{name}")
    Supervisor(f"@{name}").tell("READY=1", "STATUS=here")
    assert manager.hear() == ["READY=1", "STATUS=here"]
    manager.close()


def test_nobody_is_told_where_there_is_no_manager_and_a_lost_one_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Supervisor().tell("READY=1")
    assert not caplog.records
    Supervisor(str(tmp_path / "gone")).tell("READY=1")
    assert "cannot be told READY=1" in caplog.text


def test_a_manager_that_does_not_read_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervisor, "HEARD_WITHIN", 0.01)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf:
        deaf.bind(str(tmp_path / "notify"))
        telling = Supervisor(str(tmp_path / "notify"))
        for _ in range(10_000):
            telling.tell("WATCHDOG=1")
            if caplog.messages:
                break
    assert caplog.messages == ["the service manager cannot be told WATCHDOG=1: timed out"]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, (None, None)),
        ({"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "30000000"}, ("/run/n", 30.0)),
        ({"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"}, ("/run/n", 30.0)),
        ({"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"}, ("/run/n", None)),
        ({"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "soon"}, ("/run/n", None)),
        ({"NOTIFY_SOCKET": "", "WATCHDOG_USEC": "0"}, (None, None)),
    ],
)
def test_the_manager_is_found_in_the_environment(
    variables: dict[str, str], expected: tuple[str | None, float | None]
) -> None:
    assert service_manager(7, variables) == expected
