"""A TCP proxy before a server that can lose what matters: the commit, the reply to it, or everything from now on."""

import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from urllib.parse import urlsplit, urlunsplit


class Fault(Enum):
    NONE = "everything passes"
    LOSE = "the connection breaks before the word reaches the server"
    LOSE_REPLY = "the word reaches the server and the connection breaks before the answer gets back"
    SWALLOW = "the word vanishes and nothing is closed"
    SWALLOW_ALL = "nothing passes any more and nothing is closed"
    SWALLOW_REPLIES = "what the client says arrives, and no answer comes back"
    HOLD = "nothing passes for now; what was sent meanwhile arrives late"
    REFUSE = "new connections are broken off"


_LOOK_AGAIN = 0.02
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER of no time: a close is a reset, not a farewell


class Proxy:
    """Passes bytes on, until a word of the client meets the fault that is set; a fault happens ``times`` times.

    ``last_words`` are told to a client whose replies are lost, or that is hung up on.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._behind = (parts.hostname or "127.0.0.1", parts.port or 5432)
        self._listening = socket.create_server(("127.0.0.1", 0))
        port = self._listening.getsockname()[1]
        self.url = urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}"))
        self.fault = Fault.NONE
        self.times = 0
        self.met = 0
        self.delay = 0.0
        self.bytes_per_second = 0.0
        self.last_words = b""
        self._closed = False
        self._word = b"COMMIT\x00"
        self._open: list[socket.socket] = []
        self._clients: set[socket.socket] = set()
        self._lost_replies: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def set(self, fault: Fault, *, at: bytes = b"COMMIT\x00", times: int = 1) -> None:
        self.fault, self._word, self.times = fault, at, times

    def cut(self) -> None:
        """Reset every connection that is open now."""
        for wire in list(self._open):
            with suppress(OSError):
                wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            _end(wire)

    def hang_up(self) -> None:
        """Say the last words to every client, and close in an orderly way."""
        for wire in list(self._open):
            if wire in self._clients:
                self._say_last_words(wire)
            _end(wire)

    def heal(self) -> None:
        """Let everything pass again; connections that lost bytes are cut, as no network would mend them."""
        lossy = self.fault in (Fault.SWALLOW, Fault.SWALLOW_ALL, Fault.SWALLOW_REPLIES)
        self.fault, self.times, self.delay, self.bytes_per_second = Fault.NONE, 0, 0.0, 0.0
        if lossy:
            self.cut()

    def close(self) -> None:
        self._closed = True
        for wire in [self._listening, *self._open]:
            _end(wire)
        for thread in list(self._threads):
            thread.join()
        for wire in [self._listening, *self._open]:
            wire.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                if self.fault is Fault.REFUSE:
                    raise ConnectionRefusedError
                server = socket.create_connection(self._behind)
            except OSError:
                client.close()
                continue
            self._open += [client, server]
            self._clients.add(client)
            for work in (self._to_server, self._to_client):
                thread = threading.Thread(target=work, args=(client, server))
                self._threads.append(thread)
                thread.start()

    def _to_server(self, client: socket.socket, server: socket.socket) -> None:
        for data in _bytes_from(client):
            met = self._meets(data)
            if met is Fault.LOSE:
                _end(client)
                _end(server)
            if met is Fault.LOSE_REPLY:
                self._lost_replies.add(client)
            if met in (Fault.NONE, Fault.LOSE_REPLY):
                self._pass_on(server, data)
        _end(server)

    def _to_client(self, client: socket.socket, server: socket.socket) -> None:
        for data in _bytes_from(server):
            if client in self._lost_replies:
                self._say_last_words(client)
                _end(client)
                _end(server)
            elif self.fault not in (Fault.SWALLOW_ALL, Fault.SWALLOW_REPLIES):
                self._pass_on(client, data)
        _end(client)

    def _say_last_words(self, client: socket.socket) -> None:
        with suppress(OSError):
            client.sendall(self.last_words)

    def _pass_on(self, wire: socket.socket, data: bytes) -> None:
        if self.delay:
            time.sleep(random.uniform(0, 2 * self.delay))
        if self.bytes_per_second:
            time.sleep(len(data) / self.bytes_per_second)
        while self.fault is Fault.HOLD and not self._closed:
            time.sleep(_LOOK_AGAIN)
        with suppress(OSError):
            wire.sendall(data)

    def _meets(self, data: bytes) -> Fault:
        if self.fault is Fault.SWALLOW_ALL:
            return self.fault
        if self._word not in data or not self.times:
            return Fault.NONE
        self.times -= 1
        self.met += 1
        return self.fault


def message(kind: bytes, severity: str, code: str, text: str) -> bytes:
    """An error (``b"E"``) or a notice (``b"N"``) as PostgreSQL sends it."""
    fields = f"S{severity}\0V{severity}\0C{code}\0M{text}\0\0".encode()
    return kind + struct.pack("!i", len(fields) + 4) + fields


@contextmanager
def proxy_before(url: str) -> Iterator[Proxy]:
    proxy = Proxy(url)
    try:
        yield proxy
    finally:
        proxy.close()


def _bytes_from(wire: socket.socket) -> Iterator[bytes]:
    while True:
        try:
            data = wire.recv(65536)
        except OSError:
            return
        if not data:
            return
        yield data


def _end(wire: socket.socket) -> None:
    with suppress(OSError):
        wire.shutdown(socket.SHUT_RDWR)
