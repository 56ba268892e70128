"""A relay before a server, which can be cut and joined again: the server is away, and need not be started anew."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit, urlunsplit


class Relay:
    """Passes bytes on while it is up."""

    def __init__(self, url: str) -> None:
        self._behind = urlsplit(url)
        self._server: asyncio.Server | None = None
        self._wires: set[asyncio.StreamWriter] = set()
        self._port = 0

    @property
    def url(self) -> str:
        place = self._behind
        user, at, _ = place.netloc.rpartition("@")
        return urlunsplit(place._replace(netloc=f"{user}{at}127.0.0.1:{self._port}"))

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._join, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        wires = list(self._wires)
        for wire in wires:
            wire.transport.abort()
        await asyncio.gather(*(wire.wait_closed() for wire in wires), return_exceptions=True)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server = self._server
        try:
            inner_reader, inner_writer = await asyncio.open_connection(self._behind.hostname, self._behind.port)
        except OSError:
            writer.close()
            return
        self._wires |= {writer, inner_writer}
        if self._server is not server:  # it was cut while we connected
            for wire in (writer, inner_writer):
                wire.transport.abort()
        with suppress(OSError):
            await asyncio.gather(self._pass_on(reader, inner_writer), self._pass_on(inner_reader, writer))
        self._wires -= {writer, inner_writer}

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()
