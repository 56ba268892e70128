"""The URL of a webhook: read strictly, so that what is checked is what is called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from .addresses import NOTHING_MORE, Address, Allowed, refusal_of
from .errors import DestinationNotAllowed

LONGEST = 2048
_PORTS = {"https": 443, "http": 80}
_LOW_PORTS = frozenset(_PORTS.values())
_CHARACTERS = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)", re.ASCII)
_INSIDE = ("localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa")
"""What the names of a house end in; they lead nowhere, or inside."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a webhook goes. ``host`` is in lower case; ``address`` is what the host is if it is no name."""

    scheme: str
    host: str
    port: int
    path: str
    address: Address | None

    @property
    def authority(self) -> str:
        """What the Host header says."""
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def read_endpoint(url: object, allowed: Allowed = NOTHING_MORE, *, field: str = "url") -> Endpoint:
    """Read the URL of a webhook, or refuse it with the reason; names are looked up only when it is sent to."""

    def refused(why: str) -> DestinationNotAllowed:
        return DestinationNotAllowed(
            f"{field} {why}; expected the https URL of a public host, such as https://example.com/hook",
            field=field,
            expected="an https URL",
        )

    if not isinstance(url, str) or not 1 <= len(url) <= LONGEST:
        raise refused(
            f"has {len(url)} characters, of which {LONGEST} are allowed" if isinstance(url, str) else "is no text"
        )
    if not _CHARACTERS.fullmatch(url):
        raise refused("has a blank, a control character or another that no URL has")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise refused("cannot be read") from None
    if parts.scheme not in _PORTS:
        raise refused(f"begins with {parts.scheme[:20]!r}" if parts.scheme else "has no scheme")
    if parts.username is not None or parts.password is not None:
        raise refused("has a user or a password in it, which would be seen in lists and logs")
    if "#" in url:
        raise refused("has a fragment, which is never sent")
    host = (parts.hostname or "").removesuffix(".")
    address = _address(host)
    if address is None and (why := _wrong_name(host)) is not None:
        raise refused(why)
    port = _PORTS[parts.scheme] if port is None else port
    endpoint = Endpoint(parts.scheme, host, port, _path(parts.path, parts.query, "?" in url), address)
    if allowed.host(host) or (address is not None and allowed.address(address)):
        return endpoint
    if parts.scheme != "https":
        raise refused("is http, which anybody on the way can read and change")
    if port not in _LOW_PORTS and not 1024 <= port <= 65535:
        raise refused(f"has port {port}, on which other services listen; 80, 443 and those from 1024 are allowed")
    if address is not None and (why := refusal_of(address)) is not None:
        raise refused(f"leads to {host}, which is {why}")
    if address is None and _is_inside(host):
        raise refused(f"leads to {host}, which is the name of a host inside")
    return endpoint


def check_addresses(host: str, found: list[Address], allowed: Allowed = NOTHING_MORE) -> None:
    """Refuse a host if any of the addresses that its name has just led to is not allowed."""
    if allowed.host(host):
        return
    for address in found:
        why = refusal_of(address)
        if why is not None and not allowed.address(address):
            raise DestinationNotAllowed(
                f"the name {host} leads to an address that is {why}; nothing was sent. An operator can allow it with"
                " the setting webhook_allow",
                field="url",
            )


def _address(host: str) -> Address | None:
    """The address that a host is written as, in the one way that every reader agrees on."""
    try:
        address: IPv4Address | IPv6Address = ip_address(host)
    except ValueError:
        return None
    return address


def _wrong_name(host: str) -> str | None:
    if not host:
        return "has no host"
    if "%" in host or ":" in host:
        return "has an address with a zone, or one that cannot be read"
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return f"has the host {host[:60]}, which is a number; write an address as 203.0.113.7"
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return f"has the host {host[:60]!r}, which is no name of a host"
    return None


def _is_inside(host: str) -> bool:
    return "." not in host or any(host == name or host.endswith(f".{name}") for name in _INSIDE)


def _path(path: str, query: str, asked: bool) -> str:
    return (path or "/") + (f"?{query}" if asked else "")
