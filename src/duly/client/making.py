"""Calls in the making: paths, queries and bodies as the API has them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from .calls import NOTHING, Call

UNSET: Any = NOTHING
API = "/api/v1"


def path_of(noun: str, ref: str, action: str | None = None) -> str:
    """The path of one thing, or of something done to it."""
    path = f"{API}/{noun}/{quote(ref, safe='')}"
    return path if action is None else f"{path}/{action}"


def get(path: str, query: Mapping[str, Any] | None = None) -> Call:
    return Call(method="GET", path=path, query=_texts(query or {}), repeatable=True)


def post(path: str, body: Any = UNSET, *, if_revision: int | None = None, repeatable: bool = False) -> Call:
    return Call(
        method="POST", path=path, body=body, headers=_match(if_revision), repeatable=repeatable and if_revision is None
    )


def write(method: str, path: str, body: Any, if_revision: int | None, query: Mapping[str, Any] | None = None) -> Call:
    # With a revision, the second of two would be refused as stale although the first was done.
    return Call(
        method=method,
        path=path,
        query=_texts(query or {}),
        body=body,
        headers=_match(if_revision),
        repeatable=if_revision is None,
    )


def given(**values: Any) -> dict[str, Any]:
    """What was given, instants as text; None was not."""
    return {name: instant(value) for name, value in values.items() if value is not None}


def instant(value: Any) -> Any:
    """An aware datetime as RFC 3339; anything else as it is, for the server to judge."""
    return value.isoformat() if isinstance(value, datetime) else value


def _match(if_revision: int | None) -> dict[str, str]:
    return {} if if_revision is None else {"If-Match": f'"{if_revision}"'}


def _texts(query: Mapping[str, Any]) -> dict[str, str]:
    """Values as a query string has them; None was not given."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value is not None
    }
