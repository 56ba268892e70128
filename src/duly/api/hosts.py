"""Which names a server answers to.

A page can give its own name the address of this machine (DNS rebinding); whoever asks under that name is not who the
server was opened for.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address

from .http import Scope

LOCAL = "localhost"


class Hosts:
    """Loopback addresses, ``localhost``, and the names that are given."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = {LOCAL, *(name.strip("[]").lower() for name in names)}

    def refuses_host(self, scope: Scope) -> bool:
        """Whether the request came under a name that is not ours; one without a name comes from no browser."""
        host = _header(scope, b"host")
        return host is not None and not self._is_ours(_name(host))

    def refuses_origin(self, scope: Scope) -> bool:
        """Whether a page of somewhere else sent it, from a browser that does not say so otherwise."""
        origin = _header(scope, b"origin")
        if origin is None or _header(scope, b"sec-fetch-site") is not None:
            return False
        return not self._is_ours(_name(origin.partition("://")[2]))

    def _is_ours(self, name: str) -> bool:
        if name in self._names:
            return True
        try:
            return ip_address(name).is_loopback
        except ValueError:
            return False


def is_local(scope: Scope) -> bool:
    """Whether a request came from this machine under one of its own names, and not through a proxy."""
    client = (scope.get("client") or ("",))[0]
    forwarded = any(name in (b"forwarded", b"x-forwarded-for") for name, _ in scope["headers"])
    return not forwarded and Hosts()._is_ours(client) and not Hosts().refuses_host(scope)


def _header(scope: Scope, wanted: bytes) -> str | None:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted), None)


def _name(host: str) -> str:
    """``[::1]:8080`` and ``localhost:8080`` without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].removesuffix(".").lower()
