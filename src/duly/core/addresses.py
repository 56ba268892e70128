"""Which addresses a webhook may be sent to: those of the public internet, and what the operator has allowed.

The list is our own. ``ipaddress`` says ``is_global`` of the NAT64 form of 127.0.0.1, of multicast and of others that
lead inside; and what is new there changes with the version of Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_REFUSED_4: tuple[tuple[IPv4Network, str], ...] = tuple(
    (IPv4Network(network), what)
    for network, what in (
        ("0.0.0.0/8", "this host"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "the inside of a cloud"),
        ("169.254.0.0/16", "link-local, where clouds keep credentials"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.31.196.0/24", "reserved"),
        ("192.52.193.0/24", "reserved"),
        ("192.88.99.0/24", "a relay of 6to4"),
        ("192.168.0.0/16", "private"),
        ("192.175.48.0/24", "reserved"),
        ("198.18.0.0/15", "benchmarks"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_REFUSED_6: tuple[tuple[IPv6Network, str], ...] = tuple(
    (IPv6Network(network), what)
    for network, what in (
        ("2001::/23", "reserved, among it Teredo"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("2620:4f:8000::/48", "reserved"),
        ("3ffe::/16", "reserved"),
        ("3fff::/20", "documentation"),
    )
)
_PUBLIC_6 = IPv6Network("2000::/3")
_HOLDS_4 = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
"""Forms of an IPv4 address whose last 32 bits are where a packet goes in the end: mapped, and NAT64."""

_NAME = re.compile(r"(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)


def refusal_of(address: Address) -> str | None:
    """What is wrong with an address, in a word or two; None if it is one of the public internet."""
    if isinstance(address, IPv6Address):
        inner = _inside(address)
        if inner is None:
            if address not in _PUBLIC_6:
                return "loopback" if address.is_loopback else "not public"
            return next((what for network, what in _REFUSED_6 if address in network), None)
        address = inner
    return next((what for network, what in _REFUSED_4 if address in network), None)


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the operator lets webhooks reach besides the public internet: hosts by name, addresses by network."""

    names: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    def host(self, name: str) -> bool:
        """Whether a host may be reached wherever its name leads, and without TLS."""
        return name in self.names or any(f"*.{parent}" in self.names for parent in _parents(name))

    def address(self, address: Address) -> bool:
        """Whether an address is in an allowed network; an IPv4 address also in the forms that IPv6 has for it."""
        inner = _inside(address) if isinstance(address, IPv6Address) else None
        return any(
            one in network for network in self.networks for one in (address, inner) if one is not None
        )  # fmt: skip


NOTHING_MORE = Allowed()


def read_allowed(entries: Iterable[str]) -> Allowed:
    """Read names (``hooks.internal``, ``*.corp.example``) and networks (``10.1.0.0/16``, ``::1``); else ValueError."""
    names: set[str] = set()
    networks: list[Network] = []
    for entry in entries:
        try:
            networks.append(ip_network(entry.strip("[]")))
            continue
        except ValueError:
            name = entry.lower().removesuffix(".")
        if not _NAME.fullmatch(name) or len(name) > 253 or name.replace(".", "").isdecimal():
            raise ValueError(entry)
        names.add(name)
    return Allowed(frozenset(names), tuple(networks))


def _inside(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for."""
    if any(address in network for network in _HOLDS_4):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return None


def _parents(name: str) -> Iterable[str]:
    while "." in name:
        _, _, name = name.partition(".")
        yield name
