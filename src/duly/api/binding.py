"""The socket of the API: bound before anything else is started, and never open to others without authentication."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from ipaddress import ip_address

from duly.core.errors import ConfigurationError

BACKLOG = 2048


class PortTaken(ConfigurationError):
    """Another process listens there."""

    code = "PORT_TAKEN"


def bind(host: str, port: int, *, insecure: bool = False, guarded: Callable[[], bool] = lambda: False) -> socket.socket:
    """Listen on an address; 0 lets the system choose the port.

    An address that others can reach is refused while nobody has to say who they are, unless ``insecure``; ``guarded``
    tells whether they have to, and is asked only where it matters.
    """
    family, address = _resolve(host, port)
    if not insecure and is_public(host) and not guarded():
        raise ConfigurationError(
            f"host is {host!r}, which other machines can reach, and no authentication is set up; make a key"
            " (duly key create --name admin --scopes admin) or set auth.jwt.issuer, serve on 127.0.0.1, or give"
            " --insecure to let everybody in"
        )
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _refusal(error, host, port) from error
    listener.setblocking(False)
    return listener


def is_public(host: str) -> bool:
    """Whether other machines can reach it."""
    _, address = _resolve(host, 0)
    return not ip_address(address[0].partition("%")[0]).is_loopback


def url_of(listener: socket.socket, host: str) -> str:
    """Where a browser finds it."""
    port = listener.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ConfigurationError(
            f"host is {host!r}, which has no address here; expected one such as 127.0.0.1"
        ) from error
    # A name such as localhost may have several; clients try IPv4 at the latest after the other.
    family, _, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    return family, address  # type: ignore[return-value]  # of these two families the first parts are host and port


def _refusal(error: OSError, host: str, port: int) -> ConfigurationError:
    if error.errno == errno.EADDRINUSE:
        return PortTaken(
            f"port {port} on {host} is taken by another process; stop that one, or choose another port with --port"
            f" (0 lets the system choose)",
            port=port,
        )
    if error.errno == errno.EACCES:
        return ConfigurationError(
            f"port {port} may not be opened by this user; ports from 1024 on may: choose one with --port"
        )
    return ConfigurationError(
        f"cannot listen on {host} port {port}: {error.strerror}; choose others with --host, --port"
    )
