"""Where a request comes from, and which names a server answers to.

A web page can point its own name at the address of this machine (DNS rebinding), so the name in ``Host`` counts. A
reverse proxy makes every request look as if it came from this machine, so forwarding headers count too.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

from .http import Scope

LOCAL = "localhost"
_FORWARDING = frozenset(
    {b"forwarded", b"via", b"x-real-ip", b"x-client-ip", b"x-cluster-client-ip", b"true-client-ip", b"client-ip"}
)
_FORWARDING_PREFIXES = (
    b"x-forwarded",
    b"x-original-",
    b"x-envoy-",
    b"x-amzn-",
    b"x-azure-",
    b"cf-",
    b"fastly-",
    b"fly-",
)
"""Prefixes of headers that reverse proxies and content delivery networks add and clients do not."""


class Hosts:
    """Accept loopback addresses, ``localhost``, the address that a connection came in on, and the given names."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = {LOCAL, *(name.strip("[]").lower() for name in names)}

    def refuses_host(self, scope: Scope) -> bool:
        """Return whether a ``Host`` header names another host. A request without one comes from no browser."""
        return not all(self._is_ours(_name(host), scope) for host in _headers(scope, b"host"))

    def refuses_origin(self, scope: Scope) -> bool:
        """Return whether a page of another host sent the request, from a browser without ``Sec-Fetch-Site``."""
        if _headers(scope, b"sec-fetch-site"):
            return False
        return not all(self._is_ours(_name(_netloc(origin)), scope) for origin in _headers(scope, b"origin"))

    def _is_ours(self, name: str, scope: Scope) -> bool:
        if name in self._names:
            return True
        address = _address(name)
        return address is not None and (address.is_loopback or address == _address((scope.get("server") or ("",))[0]))


def is_local(scope: Scope, hosts: Hosts) -> bool:
    """Return whether a request comes from this machine, under a name of the server, and through no proxy."""
    return is_from_loopback(scope) and not is_forwarded(scope) and not hosts.refuses_host(scope)


def is_from_loopback(scope: Scope) -> bool:
    """Return whether the peer has a loopback address; a UNIX socket and the clients of test tools have none."""
    address = _address((scope.get("client") or ("",))[0])
    return address is not None and address.is_loopback


def is_forwarded(scope: Scope) -> bool:
    """Return whether a proxy passed the request on."""
    return any(name in _FORWARDING or name.startswith(_FORWARDING_PREFIXES) for name, _ in scope["headers"])


def is_from_other_origin(scope: Scope) -> bool:
    """Return whether a page of another site, or of another port of the same host, sent the request."""
    sites = _headers(scope, b"sec-fetch-site")
    if sites:
        return any(site not in ("same-origin", "none") for site in sites)
    hosts = [host.lower() for host in _headers(scope, b"host")]
    return any([_netloc(origin)] != hosts for origin in _headers(scope, b"origin"))


def _headers(scope: Scope, wanted: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == wanted]


def _netloc(origin: str) -> str:
    return origin.partition("://")[2].lower()


def _name(host: str) -> str:
    """``[::1]:8080`` and ``localhost:8080`` without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].removesuffix(".").lower()


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
