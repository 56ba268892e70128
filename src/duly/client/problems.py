"""Replies become answers, and problem documents the errors that an app on the store would raise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from duly.core.errors import (
    ConfigurationError,
    Conflict,
    DulyError,
    Invalid,
    NotAuthorised,
    NotFound,
    ServerError,
    ServerUnreachable,
    StoreUnavailable,
    ValidationFailed,
)

from .calls import Answer, Call, Failure, Reply

NO_SUCH_PATH = "NOT_FOUND"
"""What a server says where none of its routes is meant; of an id that is not there it says what kind of thing."""

_MEMBERS = frozenset({"type", "title", "status", "detail", "code", "instance"})
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BY_STATUS: dict[int, type[DulyError]] = {
    400: ValidationFailed, 401: NotAuthorised, 403: NotAuthorised, 404: NotFound, 409: Conflict, 412: Conflict,
    413: ValidationFailed, 415: ValidationFailed, 422: ValidationFailed, 428: Conflict, 503: StoreUnavailable,
}  # fmt: skip


def read_reply(call: Call, reply: Reply | Failure, place: str) -> Answer:
    """The answer, or the error that the reply tells of."""
    if isinstance(reply, Failure):
        told = "" if not reply.sent or call.repeatable else "; it may have been done or not: look before trying again"
        raise ServerUnreachable(f"no answer from {place}: {reply.reason}{told}", place=place)
    if reply.status == 204:
        return {}
    value = _json(reply)
    if 200 <= reply.status < 300:
        if isinstance(value, dict):
            return value
        raise ServerError(_strange(reply, place), status=reply.status)
    if not _is_problem(value):
        raise _foreign(reply, place)
    # With a slash in it, a name that is nobody's looks to the server like a path that it does not have.
    if value["code"] == NO_SUCH_PATH and "%2F" not in call.path:
        raise ConfigurationError(
            f"{place} is a server of duly, but {call.path} is not there: is the URL right, and the server not older?",
            place=place,
        )
    raise error_of(reply.status, value)


def problem_code(reply: Reply) -> str | None:
    """The stable code of a problem, if the reply is one of ours."""
    value = _json(reply)
    return value["code"] if _is_problem(value) else None


def error_of(status: int, problem: dict[str, Any]) -> DulyError:
    """The error of a problem document, of the class that has its code."""
    code = problem["code"]
    kind = _kinds().get(code) or _BY_STATUS.get(status, ServerError)
    details = {_snake(name): value for name, value in problem.items() if name not in _MEMBERS}
    # Past the constructors: some compose a message, and the server has done that.
    error = kind.__new__(kind)
    DulyError.__init__(error, str(problem.get("detail") or problem.get("title") or code), **details)
    attributes = {
        "code": code,
        **({"field": None, "got": None, "expected": None} if isinstance(error, Invalid) else {}),
    }
    for name, value in (attributes | details).items():
        if name in attributes or name == "existing_id":
            setattr(error, name, value)
    return error


def _foreign(reply: Reply, place: str) -> DulyError:
    if reply.status in (401, 403):
        return NotAuthorised(f"{place} answered {reply.status}: it wants a key, or does not take this one")
    if reply.status in (502, 503, 504):
        return ServerUnreachable(f"{place} answered {reply.status}: the server behind it does not answer", place=place)
    return ServerError(_strange(reply, place), status=reply.status)


def _strange(reply: Reply, place: str) -> str:
    kind = reply.headers.get("content-type", "no content type").partition(";")[0]
    where = f" and points to {reply.headers['location']}" if "location" in reply.headers else ""
    return f"{place} answered {reply.status} with {kind}{where}; expected the JSON of duly's API: is the URL right?"


def _json(reply: Reply) -> Any:
    try:
        return msgspec.json.decode(reply.content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _is_problem(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("code"), str)


def _kinds() -> dict[str, type[DulyError]]:
    return {kind.code: kind for kind in _family(DulyError) if kind is not Invalid}


def _family(kind: type[DulyError]) -> Iterator[type[DulyError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _family(child)


def _snake(name: str) -> str:
    return _CAPITAL.sub("_", name).lower()
