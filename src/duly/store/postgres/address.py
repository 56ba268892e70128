"""Where to connect: the URL, with what every connection of ours needs, and without its secrets where people look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import psycopg
from psycopg import conninfo

from duly.core.database_schema import DEFAULT_SCHEMA, PARAMETER, schema_of
from duly.core.errors import ConfigurationError
from duly.store.postgres.limits import Limits

_OURS = ("prepare", PARAMETER)
_WORDS = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
_UNREADABLE = (
    "the PostgreSQL URL cannot be read; expected postgresql://user:password@host:5432/database, with special "
    "characters of the password percent-encoded"
)


@dataclass(frozen=True, slots=True)
class Address:
    """The parameters of a connection, and what the URL says beside them.

    ``prepare`` tells whether to prepare statements, if the URL does; ``schema`` holds the tables.
    """

    parameters: dict[str, Any]
    prepare: bool | None
    schema: str = DEFAULT_SCHEMA

    def __repr__(self) -> str:
        return f"Address({self.name!r})"

    @property
    def name(self) -> str:
        """The place in words, without user and password."""
        given = self.parameters
        return f"{given.get('host', 'localhost')}:{given.get('port', 5432)}/{given.get('dbname', '')}"

    def redact(self, text: str) -> str:
        """A text of the driver or the server without the password."""
        password = self.parameters.get("password")
        return text.replace(password, "***") if password else text


def read_address(url: str, limits: Limits) -> Address:
    """Read a URL of libpq's that may also have ``schema=…`` and ``prepare=false``. It wins over our defaults."""
    try:
        parts = urlsplit(url)
        asked = parse_qsl(parts.query, keep_blank_values=True)
        ours = dict(pair for pair in asked if pair[0] in _OURS)
        # As it was written: libpq reads a plus as a plus, and the words of others as they are.
        theirs = "&".join(word for word in parts.query.split("&") if word.partition("=")[0] not in _OURS)
        given = conninfo.conninfo_to_dict(urlunsplit(parts._replace(query=theirs)) if ours else url)
    except (ValueError, psycopg.Error):
        # The error quotes the URL, and with it a password.
        raise ConfigurationError(_UNREADABLE) from None
    if _looks_torn(given):
        raise ConfigurationError(_UNREADABLE)
    word = ours.get("prepare", "").lower()
    if "prepare" in ours and word not in _WORDS:
        raise ConfigurationError(f"prepare in the PostgreSQL URL is {word!r}; expected true or false")
    return Address(_defaults(limits) | given, _WORDS.get(word), schema_of(url))


def connect_plainly(url: str) -> psycopg.Connection[Any]:
    """Connect for a transaction of a caller's own; ``with`` commits it."""
    address = read_address(url, Limits())
    connection = psycopg.connect(**address.parameters)
    if address.prepare is False:
        connection.prepare_threshold = None
    return connection


def _looks_torn(given: dict[str, Any]) -> bool:
    """Whether a part of a password stands where host or port should: libpq would name it in its error."""
    ports = str(given.get("port") or "").split(",")
    return "@" in str(given.get("host", "")) or any(port and not port.isdigit() for port in ports)


def _defaults(limits: Limits) -> dict[str, Any]:
    silent_ms = round(limits.operation * 1000)
    return {
        "application_name": "duly",
        "client_encoding": "UTF8",
        # libpq waits at least two seconds, whatever it is told.
        "connect_timeout": max(2, round(min(limits.connect, limits.operation))),
        "keepalives": 1,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": silent_ms,
    }
