"""The PostgreSQL schema that holds the tables of a store: its name, and how a URL names it."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from .errors import ValidationFailed

DEFAULT_SCHEMA = "duly"
PARAMETER = "schema"
"""The URL parameter: ``postgresql://host/database?schema=shop``."""

EXPECTED = "1 to 63 characters of a-z, 0-9 and _, not beginning with a digit or with pg_, and not information_schema"
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_RESERVED = re.compile(r"pg_.*|information_schema")
_SCHEMES = ("postgresql", "postgres")


def check_schema_name(name: object, path: str = PARAMETER) -> str:
    """Return the name if it can be a schema of duly's own; else raise ValidationFailed for ``path``.

    The rule is stricter than PostgreSQL's: a name that passes means the same quoted and unquoted.
    """
    if isinstance(name, str) and _NAME.fullmatch(name) and not _RESERVED.fullmatch(name):
        return name
    hint = f"choose a name such as {DEFAULT_SCHEMA!r} or 'shop_jobs'"
    raise ValidationFailed(
        f"{path} is {name!r}; expected {EXPECTED}: {hint}", path=path, got=name, expected=EXPECTED, hint=hint
    )


def schema_of(url: str) -> str:
    """Return the schema that the URL of a PostgreSQL database names, or the default; check its name."""
    given = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
    return check_schema_name(given.get(PARAMETER, DEFAULT_SCHEMA), f"{PARAMETER} in the database URL")


def with_schema(url: str, schema: str | None) -> str:
    """Return the URL with that schema, unless there is none, the URL names one itself, or it is not PostgreSQL's."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url  # whoever opens it says what is wrong
    named = PARAMETER in dict(parse_qsl(parts.query, keep_blank_values=True))
    if schema is None or named or parts.scheme not in _SCHEMES:
        return url
    return f"{url}{'&' if parts.query else '?'}{PARAMETER}={schema}"
