"""One POST to a host that somebody else chose: to a checked address, without redirects, within bounds.

A name is looked up when a connection is made; every address that it leads to is checked, and the connection goes to one
of those that were checked. So it does not matter what the name leads to a moment later. The name stays what the
certificate is checked against, and what the Host header says.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import httpcore2

from duly.core.addresses import NOTHING_MORE, Address, Allowed
from duly.core.endpoint import check_addresses, read_endpoint

Resolve = Callable[[str, int], Awaitable[list[Address]]]
MOST_READ = 64 * 1024
MOST_ADDRESSES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a POST may take, in seconds, and how many connections are kept for the next one."""

    connect: float = 5.0
    total: float = 15.0
    kept: int = 100
    kept_for: float = 30.0


USUAL = Limits()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back; its body is read to its end or to a bound, and dropped."""

    status: int
    retry_after: str | None


class NotReached(Exception):
    """Nobody answered; ``str`` says why, in words that may be shown."""


async def look_up(host: str, port: int) -> list[Address]:
    """Every address that a name leads to."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [ip_address(str(place[0]).partition("%")[0]) for *_, place in found]
    return list(dict.fromkeys(addresses))


class Poster:
    """Sends to hosts of others. One object serves one event loop."""

    def __init__(
        self,
        allowed: Allowed = NOTHING_MORE,
        limits: Limits = USUAL,
        *,
        resolve: Resolve = look_up,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._allowed = allowed
        self._limits = limits
        self._resolve = resolve
        self._trust = trust
        self._pool: httpcore2.AsyncConnectionPool | None = None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """POST, and answer what came back; DestinationNotAllowed where nothing may go, NotReached where nobody is."""
        read_endpoint(url, self._allowed)  # the rules may have changed since it was stored
        try:
            async with asyncio.timeout(self._limits.total):
                return await self._post(url, headers, body)
        except TimeoutError:
            raise NotReached(f"no answer within {self._limits.total:g} s") from None
        except socket.gaierror:
            raise NotReached("its name leads nowhere") from None
        except httpcore2.TimeoutException:
            raise NotReached("it could not be reached in time") from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            raise NotReached(_why(error)) from None

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.aclose()

    async def _post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        timeout = {"connect": self._limits.connect, "read": None, "write": None, "pool": None}
        given = {"accept": "*/*", "accept-encoding": "identity", **headers}
        async with self._opened().stream(
            "POST", url, headers=list(given.items()), content=body, extensions={"timeout": timeout}
        ) as response:
            size = 0
            async for chunk in response.aiter_stream():
                size += len(chunk)
                if size > MOST_READ:
                    break  # what is not read to its end closes its connection
            told = {name.lower(): value for name, value in response.headers}
            return Reply(response.status, told.get(b"retry-after", b"").decode("ascii", "replace") or None)

    def _opened(self) -> httpcore2.AsyncConnectionPool:
        if self._pool is None:
            self._pool = httpcore2.AsyncConnectionPool(
                ssl_context=self._trust or ssl.create_default_context(),
                max_connections=None,
                max_keepalive_connections=self._limits.kept,
                keepalive_expiry=self._limits.kept_for,
                network_backend=_Checked(self._allowed, self._resolve),
            )
        return self._pool


class _Checked(httpcore2.AsyncNetworkBackend):
    """Connects to addresses that were checked, and to no others."""

    def __init__(self, allowed: Allowed, resolve: Resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = await self._resolve(host, port)
        check_addresses(host, addresses, self._allowed)
        for address in addresses[: MOST_ADDRESSES - 1]:
            try:
                return await self._connect(address, port, timeout, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if address == addresses[-1]:
                    raise
        if not addresses:
            raise httpcore2.ConnectError("its name leads nowhere")
        return await self._connect(addresses[-1], port, timeout, socket_options)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise httpcore2.ConnectError("a webhook is sent over the network")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)

    async def _connect(
        self,
        address: Address,
        port: int,
        timeout: float | None,
        options: Iterable[Any] | None,
    ) -> httpcore2.AsyncNetworkStream:
        return await self._inner.connect_tcp(str(address), port, timeout=timeout, socket_options=options)


def _why(error: Exception) -> str:
    """What went wrong, in words of ours: the library's may name addresses inside."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not good: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return "it does not speak TLS as expected"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpcore2.ConnectError):
        return "it does not take connections"
    if isinstance(error, httpcore2.ProtocolError):
        return "it answered what is no HTTP"
    return "the connection broke"
