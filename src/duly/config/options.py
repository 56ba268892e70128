"""Every value that can be chosen: its name, what it may be, and what it is when nobody chose."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Final

from duly.core.database_schema import DEFAULT_SCHEMA, check_schema_name, schema_of
from duly.core.database_schema import EXPECTED as SCHEMA_EXPECTED
from duly.core.errors import DulyError, ValidationFailed
from duly.core.policy import Missed
from duly.core.sealed import EXPECTED
from duly.core.timing.duration import parse_duration

from .settings import ELECTIONS, Settings
from .sources import DEFAULT_DATABASE_URL

LOG_LEVELS: Final = ("debug", "info", "warning", "error")
LOG_FORMATS: Final = ("auto", "console", "json")
ROLES: Final = ("api", "scheduler", "worker")


class Refused(Exception):
    """A value is not what an option may be; carries what was expected, a hint, and the error if it is always one."""

    def __init__(self, expected: str, *, hint: str | None = None, error: type[DulyError] | None = None) -> None:
        super().__init__(expected)
        self.hint = hint
        self.error = error


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value may be: ``read`` takes a TOML value or a flag, ``parse`` the text of an environment variable."""

    read: Callable[[object], Any]
    parse: Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Option:
    """One value by its section and name. ``also`` are variables of other tools that stand in for our own.

    ``called`` is its flag on a command line, if not its name.
    """

    section: str
    name: str
    kind: Kind
    default: Any
    secret: bool = False
    also: tuple[str, ...] = ()
    called: str | None = None

    @property
    def flag(self) -> str:
        return self.called or f"--{self.name.replace('_', '-')}"

    @property
    def path(self) -> str:
        return f"{self.section}.{self.name}" if self.section else self.name

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that set it, ours first."""
        words = [word.upper() for word in (*self.section.split("."), self.name) if word]
        return tuple(dict.fromkeys(("DULY_" + "_".join(words), "DULY_" + "__".join(words)))) + self.also

    @property
    def shown(self) -> str:
        """How a TOML file spells it."""
        return f"[{self.section}] {self.name}" if self.section else self.name


def text(expected: str) -> Kind:
    def read(value: object) -> str:
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise Refused(expected)
        return value.strip()

    return Kind(read, read)


def _secret(expected: str) -> Kind:
    def read(value: object) -> str:
        if not isinstance(value, str) or len(value.strip()) < 32:
            raise Refused(expected)
        return value.strip()

    return Kind(read, read)


def header(expected: str) -> Kind:
    """Text that goes into a header of HTTP as it is."""

    def read(value: object) -> str:
        if not isinstance(value, str) or not (key := value.strip()).isascii() or not key.isprintable() or not key:
            raise Refused(expected)
        return key

    return Kind(read, read)


def whole(low: int, high: int | None = None, *, expected: str | None = None) -> Kind:
    expected = expected or f"a whole number, {low} or more"

    def read(value: object) -> int:
        if type(value) is not int or value < low or (high is not None and value > high):
            raise Refused(expected)
        return value

    def parse(given: str) -> int:
        if not given.removeprefix("-").isdecimal():
            raise Refused(expected)
        return read(int(given))

    return Kind(read, parse)


def names(expected: str) -> Kind:
    def read(value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            value = value.split(",")
        if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
            raise Refused(expected)
        return tuple(name.strip() for name in value if name.strip())

    return Kind(read, read)


def one_of(words: tuple[str, ...]) -> Kind:
    def read(value: object) -> str:
        if not isinstance(value, str) or value.lower() not in words:
            raise Refused(" | ".join(words))
        return value.lower()

    return Kind(read, read)


def some_of(words: tuple[str, ...]) -> Kind:
    expected = f"some of {', '.join(words)}"

    def read(value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            value = [word.strip() for word in value.split(",") if word.strip()]
        if not isinstance(value, list | tuple) or not value or any(word not in words for word in value):
            raise Refused(expected)
        return tuple(word for word in words if word in value)

    return Kind(read, read)


def _seconds() -> Kind:
    expected = "seconds, 0 or more, or a duration such as '30s' or '5m'"

    def read(value: object) -> float:
        if isinstance(value, str):
            try:
                return parse_duration(value) / 1000
            except DulyError:
                raise Refused(expected) from None
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value) or value < 0:
            raise Refused(expected)
        return float(value)

    def parse(given: str) -> float:
        try:
            return read(float(given))
        except ValueError:
            return read(given)

    return Kind(read, parse)


def _database_url() -> Kind:
    url = text("a URL such as sqlite:///duly.db or postgresql://user@host/database")

    def read(value: object) -> str:
        found: str = url.read(value)
        if found.startswith("postgres"):
            with suppress(ValueError):  # what else is wrong with it is found where it is opened
                schema_of(found)
        return found

    return Kind(read, read)


def _schema_name() -> Kind:
    def read(value: object) -> str:
        try:
            return check_schema_name(value)
        except ValidationFailed as error:
            raise Refused(SCHEMA_EXPECTED, hint=error.hint, error=ValidationFailed) from None

    return Kind(read, read)


def _truth() -> Kind:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

    def read(value: object) -> bool:
        if not isinstance(value, bool):
            raise Refused("true | false")
        return value

    def parse(given: str) -> bool:
        if given.strip().lower() not in words:
            raise Refused("true | false")
        return words[given.strip().lower()]

    return Kind(read, parse)


def _settings() -> list[Option]:
    """Each field of ``Settings``, at the top of the file and as ``DULY_<NAME>``."""
    kinds = {
        "int": whole(0),
        "int | None": whole(0),
        "float": _seconds(),
        "float | None": _seconds(),
        "bool": _truth(),
    }
    words = {
        "catchup_default": one_of(tuple(Missed)),
        "election": one_of(ELECTIONS),
        "public_url": text("a URL such as https://duly.example.com"),
        "election_url": text("a URL such as redis://localhost:6379/0"),
        "payload_keys": names(EXPECTED),
        "webhook_allow": names("hosts and networks such as hooks.internal or 10.1.0.0/16, joined by commas"),
    }
    return [
        Option(
            "",
            field.name,
            words.get(field.name) or kinds[str(field.type)],
            field.default,
            secret=field.name in ("election_url", "payload_keys"),
        )
        for field in fields(Settings)
    ]


OPTIONS: Final[Mapping[str, Option]] = {
    option.path: option
    for option in [
        Option(
            "database",
            "url",
            _database_url(),
            DEFAULT_DATABASE_URL,
            secret=True,
            also=("DATABASE_URL",),
            called="--database-url",
        ),
        Option("database", "schema", _schema_name(), DEFAULT_SCHEMA),
        Option("api", "host", text("an address such as 127.0.0.1"), "127.0.0.1"),
        Option("api", "port", whole(0, 65535, expected="a whole number 0-65535"), 8080, also=("PORT",)),
        Option("api", "allowed_hosts", names("names such as duly.example, joined by commas"), ()),
        Option("api", "header_timeout", _seconds(), 10.0),
        Option("api", "body_timeout", _seconds(), 20.0),
        Option("api", "send_timeout", _seconds(), 30.0),
        Option("api", "keep_alive_timeout", _seconds(), 65.0),
        Option("api", "max_connections", whole(1), 1000),
        Option("api", "url", text("the URL of a server such as http://127.0.0.1:8080"), None, called="--server"),
        Option("api", "key", header("a key such as duly_live_…, on one line"), None, secret=True, called="--token"),
        Option("api", "cors_origins", names("origins such as https://app.example, joined by commas"), ()),
        Option("api", "open_metrics", _truth(), True),
        Option("api", "require_if_match", _truth(), False, also=("DULY_REQUIRE_IF_MATCH",)),
        Option("api", "dashboard", _truth(), True),
        Option("api", "session_secret", _secret("32 or more characters that nobody can guess"), None, secret=True),
        Option("auth.jwt", "issuer", text("who issues the tokens, such as https://issuer.example"), None),
        Option("auth.jwt", "audience", names("whom the tokens are for, such as duly"), ()),
        Option("auth.jwt", "algorithms", names("some of HS256, RS256, ES256, EdDSA and their like"), ()),
        Option("auth.jwt", "secret", text("a secret of 32 bytes or more, for HS*"), None, secret=True),
        Option("auth.jwt", "jwks", text("a file or an https URL with the issuer's keys"), None),
        Option("auth.jwt", "max_lifetime", _seconds(), 86_400.0),
        Option("quotas", "schedules", whole(1), None),
        Option("quotas", "min_interval_ms", whole(1), None),
        Option("quotas", "payload_bytes", whole(1), None),
        Option("quotas", "requests_per_minute", whole(1), None),
        Option("quotas", "requests_per_address", whole(1), None),
        Option("log", "level", one_of(LOG_LEVELS), "info"),
        Option("log", "format", one_of(LOG_FORMATS), "auto"),
        Option("", "roles", some_of(ROLES), ROLES),
        *_settings(),
    ]
}
