"""A receiver of webhooks: a real HTTP server that keeps what came in and answers as it is told."""

import asyncio
import datetime
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from duly.core.signing import check_signature


@dataclass(frozen=True)
class Came:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def signed_by(self, *secrets: str) -> bool:
        check_signature(secrets, self.headers, self.body, now_s=int(self.headers["webhook-timestamp"]))
        return True


Say = bytes | None
"""A whole answer as bytes; None is never to answer."""


def answer(status: int, body: bytes = b"", **headers: str) -> bytes:
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {status} x\r\n{lines}content-length: {len(body)}\r\n\r\n"
    return head.encode() + body


@dataclass
class Receiver:
    """Listens on a port of its own; ``say`` gives the answer to each request."""

    tls: ssl.SSLContext | None = None
    host: str = "127.0.0.1"
    say: Callable[[Came], Say] = lambda came: answer(200)
    came: list[Came] = field(default_factory=list)
    connections: int = 0
    on_came: asyncio.Event = field(default_factory=asyncio.Event)
    _server: asyncio.Server | None = None
    _port: int = 0
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _serving: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"{'http' if self.tls is None else 'https'}://{self.host}:{self._port}/hook"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port, ssl=self.tls)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            for writer in list(self._writers):
                writer.close()
            await self._server.wait_closed()
            if self._serving:  # before Python 3.12 nobody waits for the connections
                await asyncio.wait(self._serving, timeout=30)
            self._server = None

    async def until(self, count: int) -> list[Came]:
        """Wait until so many have come in."""
        async with asyncio.timeout(60):
            while len(self.came) < count:
                self.on_came.clear()
                await self.on_came.wait()
        return self.came

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:] if line)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                came = Came(head[0].split(" ")[1], headers, body)
                self.came.append(came)
                self.on_came.set()
                said = self.say(came)
                if said is None:
                    await reader.read()  # until the other side gives up
                    return
                writer.write(said)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            self._writers.discard(writer)
            writer.close()


def make_certificate(folder: Path, *names: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's side with a certificate for these names, and a client's side that trusts who signed it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    today = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / f"{names[0]}.pem"
    file.write_bytes(secret + pem)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(file)
    trusting = ssl.create_default_context(cadata=pem.decode())
    return serving, trusting
