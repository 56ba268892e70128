"""A TCP proxy before PostgreSQL that can lose what matters: the commit, the reply to it, or everything from now on."""

import socket
import threading
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


class Proxy:
    """Passes bytes on, until a word of the client meets the fault that is set; a fault happens ``times`` times."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._behind = (parts.hostname or "127.0.0.1", parts.port or 5432)
        self._listening = socket.create_server(("127.0.0.1", 0))
        port = self._listening.getsockname()[1]
        self.url = urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}"))
        self.fault = Fault.NONE
        self.times = 0
        self._word = b"COMMIT\x00"
        self._open: list[socket.socket] = []
        self._lost_replies: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def set(self, fault: Fault, *, at: bytes = b"COMMIT\x00", times: int = 1) -> None:
        self.fault, self._word, self.times = fault, at, times

    def close(self) -> None:
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
            server = socket.create_connection(self._behind)
            self._open += [client, server]
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
                with suppress(OSError):
                    server.sendall(data)
        _end(server)

    def _to_client(self, client: socket.socket, server: socket.socket) -> None:
        for data in _bytes_from(server):
            if client in self._lost_replies:
                _end(client)
                _end(server)
            elif self.fault is not Fault.SWALLOW_ALL:
                with suppress(OSError):
                    client.sendall(data)
        _end(client)

    def _meets(self, data: bytes) -> Fault:
        if self.fault is Fault.SWALLOW_ALL:
            return self.fault
        if self._word not in data or not self.times:
            return Fault.NONE
        self.times -= 1
        return self.fault


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
