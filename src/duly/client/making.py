"""Calls in the making: paths, queries and bodies as the API has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from duly.core.errors import NotFound, ValidationFailed

from .calls import NOTHING, Call

UNSET: Any = NOTHING
API = "/api/v1"


def path_of(noun: str, ref: str, action: str | None = None) -> str:
    """The path of one thing, or of something done to it."""
    path = f"{API}/{noun}/{segment(ref)}"
    return path if action is None else f"{path}/{action}"


def segment(name: str) -> str:
    """A name as a part of a path; one that no path can have is nobody's, as on a store."""
    # HTTP folds dots before it sends them, and would ask for something else.
    if name in ("", ".", "..") or not is_text(name):
        raise NotFound(f"there is nothing with id or key {name[:200]!r}", ref=name)
    return quote(name, safe="")


def is_text(value: str) -> bool:
    """Whether it can be sent: a shell may hand over bytes that are no text, which Python keeps as half characters."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


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


def many(values: Any, each: Callable[[Any], Any] = instant) -> Any:
    """What there are many of as a list; what is not many as it is, for the server to judge."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        return values
    return [each(value) for value in values]


def _match(if_revision: int | None) -> dict[str, str]:
    return {} if if_revision is None else {"If-Match": f'"{if_revision}"'}


def _texts(query: Mapping[str, Any]) -> dict[str, str]:
    """Values as a query string has them; None was not given."""
    texts = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value is not None
    }
    for name, text in texts.items():
        if not is_text(text):
            raise ValidationFailed(f"query parameter {name} is {text[:200]!r}; expected text", field=name, got=text)
    return texts
