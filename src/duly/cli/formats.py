"""JSON, TOML and YAML as values: strict, and of one meaning. What JSON cannot say is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from typing import Any

from .failing import Refused

SUFFIXES = {".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}
ALIASES_UNFOLD_TO = 10_000
# The core schema of YAML 1.2: no `on` that means true, no 14:30 that means 870, no dates.
_YAML_TYPES = (
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
)


class Unreadable(Exception):
    """The text is not what its name says."""


def read_documents(text: str, name: str) -> list[Any]:
    """The values that a text holds, by its name's ending: one, or as many as a YAML file has documents.

    A text without such a name is JSON if it begins like JSON, else YAML.
    """
    kind = next((kind for suffix, kind in SUFFIXES.items() if name.endswith(suffix)), None)
    if kind is None:
        kind = "json" if text.lstrip()[:1] in ("{", "[") else "yaml"
    try:
        values = _READERS[kind](text)
        plain = _Plain(len(text))
        return [plain(value) for value in values]
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None


def _read_json(text: str) -> list[Any]:
    try:
        return [json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_number)]
    except json.JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None


def _read_toml(text: str) -> list[Any]:
    import tomllib

    try:
        return [tomllib.loads(text)]
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(f"not TOML: {error}") from None


def _read_yaml(text: str) -> list[Any]:
    try:
        import yaml
    except ImportError:
        raise Refused(
            "reading YAML needs PyYAML, which is not installed",
            "pip install 'duly[yaml]'; TOML and JSON need nothing",
        ) from None
    try:
        return [value for value in yaml.load_all(text, _yaml_loader()) if value is not None]
    except yaml.MarkedYAMLError as error:
        place = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise Unreadable(f"not YAML: {error.problem or error.context}{place}") from None
    except yaml.YAMLError as error:
        raise Unreadable(f"not YAML: {' '.join(str(error).split())}") from None


_READERS = {"json": _read_json, "toml": _read_toml, "yaml": _read_yaml}


def _yaml_loader() -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as PyYAML has it

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            names = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
            if doubled := _doubled(names):
                raise yaml.constructor.ConstructorError(None, None, f"{doubled!r} twice", node.start_mark)
            return super().construct_mapping(node, deep)

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            super().flatten_mapping(node)
            if len(node.value) > ALIASES_UNFOLD_TO:
                raise yaml.constructor.ConstructorError(None, None, "it merges too many names", node.start_mark)

        def construct_whole_number(self, node: yaml.ScalarNode) -> int:
            text = str(self.construct_scalar(node))
            return int(text, 0) if text[:2] in ("0o", "0x") else int(text)

    for name, pattern, first in _YAML_TYPES:
        firsts = [*first, ""] if name == "null" else list(first)
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", re.compile(rf"(?:{pattern})\Z"), firsts)
    Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_whole_number)
    return Loader


class _Plain:
    """Values in JSON's own types; instants become their text.

    An alias of YAML stands for a value as often as it is named, so few lines can hold more than there is memory for.
    """

    def __init__(self, length: int) -> None:
        self._left = ALIASES_UNFOLD_TO + 10 * length

    def __call__(self, value: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise Unreadable("its aliases stand for more values than any schedule has; write them out")
        match value:
            case None | bool() | int() | float() | str():
                return value
            case dict():
                return {_name(name): self(item) for name, item in value.items()}
            case list():
                return [self(item) for item in value]
            case datetime() | date() | time():
                return value.isoformat()
            case _:
                raise Unreadable(f"it holds a {type(value).__name__}, which JSON has not")


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise Unreadable(f"it has the name {name!r}; expected text: put it in quotes")
    return name


def _once_each(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if doubled := _doubled([name for name, _ in pairs]):
        raise Unreadable(f"it has {doubled!r} twice in one object")
    return dict(pairs)


def _no_number(word: str) -> float:
    raise Unreadable(f"not JSON: {word} is no number")


def _doubled(names: Sequence[Any]) -> Any:
    def again() -> Iterator[Any]:
        seen = set()
        for name in names:
            if isinstance(name, str) and name in seen:
                yield name
            seen.add(name if isinstance(name, str) else None)

    return next(again(), None)
