"""Bytes become a JSON value, and a JSON value one of the structs of ``bodies``. Nothing is guessed or converted."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Struct, UnsetType

from duly.core.errors import Invalid
from duly.core.timing.refusal import shortened

from .expecting import expected, owned
from .findings import Findings, escaped

Body = TypeVar("Body", bound=Struct)

DEPTH_LIMIT = 64 + 8
"""How deep a body may be nested: the payload's own limit, and room for what it stands in."""

MEMBERS_LIMIT = 64 * 1024
"""More than any payload of 256 KiB can have; to look at more would hold up the requests of others."""

ADVISED = 5
"""How many unknown names of one object are compared with the known ones."""

ADVISED_LENGTH = 40
_INTEGERS = range(-(2**63), 2**64)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLACE = re.compile(r" - at `\$.*`\Z", re.DOTALL)
"""What a message ends with that is about something inside of the value, and not about the value itself."""


class BodyUnreadable(Invalid):
    """The bytes are not JSON that means one thing only."""

    code = "INVALID_JSON"


def json_value(raw: bytes) -> Any:
    """Read JSON strictly: UTF-8, no NaN, no number beyond what can be kept, no name twice in one object."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BodyUnreadable(f"the body is not JSON: {_reason(error)}; send one JSON value in UTF-8") from None
    # Every member has one colon outside of strings; where the value has fewer members, a name stood there twice.
    if _count_members(value, DEPTH_LIMIT) != _STRING.sub(b"", raw).count(b":"):
        name = _doubled_name(raw)
        raise BodyUnreadable(f"the body has the name {shortened(name)} twice in one object; give each name once")
    return value


def read(kind: type[Body], body: object) -> Body:
    """Turn a JSON value into a struct, or raise with every field that is wrong."""
    try:
        return msgspec.convert(body, kind, strict=True)
    except msgspec.ValidationError as error:
        findings = Findings()
        _look_closer(kind, body, "", findings, str(error))
        findings.check()
        raise Invalid(str(error)) from None


def _look_closer(kind: Any, value: object, at: str, findings: Findings, message: str) -> None:
    struct = _struct_in(kind)
    if struct is None:
        inside = _kind_inside(kind) if _PLACE.search(message) else None
        if inside is not None and isinstance(value, dict | list):
            _look_inside(inside, value, at, findings)
            return
        quoted = isinstance(value, str) and "`int" in message and value.strip().lstrip("-").isdecimal()
        hint = "; send it without quotes" if quoted else ""
        findings.add(f"{_named(at)} is {_shown(value)}; expected {expected(kind)}{hint}", pointer=at)
        return
    if not isinstance(value, dict):
        name = f"{_named(at)} is" if at else "the body is"
        findings.add(f"{name} {_shown(value)}; expected an object", pointer=at)
        return
    fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
    _note_unknown(sorted(value.keys() - fields.keys()), fields, at, findings)
    for name, field in fields.items():
        if name not in value:
            if field.default is NODEFAULT and field.default_factory is NODEFAULT:
                findings.add(f"{name} is missing; expected {expected(field.type)}", pointer=f"{at}/{name}")
            continue
        try:
            msgspec.convert(value[name], field.type, strict=True)
        except msgspec.ValidationError as error:
            _look_closer(field.type, value[name], f"{at}/{name}", findings, str(error))


def _look_inside(kind: Any, values: dict[str, Any] | list[Any], at: str, findings: Findings) -> None:
    """Note every item of a list, or member of an object with names of its own, that is not of its kind."""
    for place, value in values.items() if isinstance(values, dict) else enumerate(values):
        try:
            msgspec.convert(value, kind, strict=True)
        except msgspec.ValidationError as error:
            if findings.room:
                _look_closer(kind, value, f"{at}/{escaped(str(place))}", findings, str(error))
            else:
                findings.count(1)


def _note_unknown(unknown: list[str], fields: Iterable[str], at: str, findings: Findings) -> None:
    told = unknown[: findings.room]
    for place, name in enumerate(told):
        # To look for what was meant takes long, and who has misspelt more names than these did not misspell them.
        seek = place < ADVISED and len(name) <= ADVISED_LENGTH
        said = owned(name, fields) or f"{shortened(name)} is not known here; {_advice(name, fields, seek=seek)}"
        findings.add(said, pointer=f"{at}/{escaped(name)}")
    findings.count(len(unknown) - len(told))


def _advice(name: str, fields: Iterable[str], *, seek: bool) -> str:
    near = (get_close_matches(name, fields, 1) or _begun(name, fields)) if seek else []
    if near:
        return f"did you mean {near[0]}?"
    names = list(fields)
    return f"expected {', '.join(names) or 'nothing'}" if len(names) < 10 else "leave it out"


def _begun(name: str, fields: Iterable[str]) -> list[str]:
    """Fields that are the name and more, as cronExpression is cron."""
    return [field for field in fields if len(name) > 2 and field.casefold().startswith(name.casefold())]


def _named(at: str) -> str:
    """A field as people name it: ``/tags/1`` is tags[1]."""
    name, *steps = [step for step in at.split("/") if step][-2:] or [""]
    for step in steps:
        name = f"{name}[{step}]" if step.isdigit() else step
    return name


@lru_cache(maxsize=512)
def _struct_in(kind: Any) -> type[Struct] | None:
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    options = getattr(kind, "__args__", (kind,)) if not isinstance(kind, type) else (kind,)
    found = [option for option in options if isinstance(option, type) and issubclass(option, Struct)]
    return found[0] if found and all(option in (*found, type(None), UnsetType) for option in options) else None


@lru_cache(maxsize=512)
def _kind_inside(kind: Any) -> Any:
    """The type of what is inside a list, or of the members of an object with names of its own; None for others."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is list or origin is dict:
        return arguments[-1]
    options = arguments[:1] if origin is Annotated else arguments
    return next((inside for option in options if (inside := _kind_inside(option)) is not None), None)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return shortened(value)


def _count_members(value: object, depth: int) -> int:
    """How many members all objects of a value have; refuses what is too deep, too much or too big."""
    if isinstance(value, int):
        if value not in _INTEGERS:
            raise BodyUnreadable(
                f"the body has the number {shortened(value)}; expected at most 64 bits, send it as text"
            )
        return 0
    if not isinstance(value, dict | list):
        return 0
    if depth == 0:
        raise BodyUnreadable(f"the body is nested deeper than {DEPTH_LIMIT} levels")
    count = len(value) if isinstance(value, dict) else 0
    for item in value.values() if isinstance(value, dict) else value:
        if type(item) is not str:
            count += _count_members(item, depth - 1)
    if count > MEMBERS_LIMIT:
        raise BodyUnreadable(f"the body has more than {MEMBERS_LIMIT} members; send less, or a reference to it")
    return count


def _doubled_name(raw: bytes) -> str:
    doubled: list[str] = []

    def look(pairs: list[tuple[str, object]]) -> None:
        doubled.extend(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)

    json.loads(raw, object_pairs_hook=look)
    return doubled[0] if doubled else ""


def _reason(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return str(error).replace("JSON is malformed: ", "").lower()
