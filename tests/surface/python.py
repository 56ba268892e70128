"""Derives the Python API: exported names, signatures and attributes, the methods of an app and a client, the errors.

Annotations are taken from the source text, so they are the same in every version of Python.
"""

from __future__ import annotations

import ast
import enum
import inspect
import sys
import textwrap
import typing
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from duly import Duly
from duly.client import AsyncClient, Client
from duly.core import errors
from duly.core.errors import DulyError
from tests.surface.diff import Tree
from tests.surface.imports import public

PROTOCOLS = ("__aenter__", "__aiter__", "__call__", "__enter__", "__getitem__", "__iter__", "__len__")
NO_DEFAULT = inspect.Parameter.empty


def derive() -> Tree:
    """Return each name by its import path, then ``app``, ``client``, what their methods return, and the errors."""
    surface = Surface()
    for module, names in sorted(public().items()):
        for name in sorted(names):
            surface.add(f"{module}.{name}", getattr(import_module(module), name))
    app, client, aclient = (
        Duly("sqlite:///never-opened.db"),
        Client("http://duly.test"),
        AsyncClient("http://duly.test"),
    )
    client.close()
    twins = _public_values(app.sync)
    for name, noun in _public_values(app).items():
        if name in twins:
            surface.add_members(f"app.{name}", type(noun))
    surface.add_twins("app.sync", app.sync, "app")
    for name, twin in twins.items():
        surface.add_twins(f"app.sync.{name}", twin, f"app.{name}")
    for name, noun in _public_values(client).items():
        surface.add_members(f"client.{name}", type(noun))
    surface.tree["async client"] = {
        name: f"as client.{name}"
        for name, noun in _public_values(aclient).items()
        if type(noun) is type(getattr(client, name))
    }
    surface.add_returned()
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, DulyError):
            surface.tree[f"error {kind.__name__}"] = {"code": kind.code, "base": kind.__mro__[1].__name__}
    return surface.tree


def _public_values(instance: object) -> dict[str, Any]:
    """Return the public attributes whose values are objects of duly, such as ``schedules``."""
    return {
        name: value
        for name, value in sorted(vars(instance).items())
        if not name.startswith("_") and type(value).__module__.startswith("duly.")
    }


class Surface:
    """Collects descriptions by import path, and the classes that public methods return."""

    def __init__(self) -> None:
        self.tree: Tree = {}
        self._described: dict[type, str] = {}
        self._returned: dict[str, type] = {}

    def add(self, path: str, value: Any) -> None:
        if isinstance(value, type):
            self.add_class(path, value)
        elif inspect.isroutine(value):
            self.tree[path] = self._signature(value)
        elif isinstance(value, str | int | float):
            self.tree[path] = {"kind": "value", "type": type(value).__name__}
        else:
            self.tree[path] = {"kind": "module" if inspect.ismodule(value) else "alias"}

    def add_class(self, path: str, kind: type) -> None:
        if kind in self._described:
            self.tree[path] = {"kind": "class", "same as": self._described[kind]}
            return
        if issubclass(kind, enum.Enum):
            self.tree[path] = {
                "kind": "enum",
                "member": {name: member.value for name, member in kind.__members__.items()},
            }
        elif issubclass(kind, DulyError):
            inherits = kind is not DulyError and kind.__init__ is DulyError.__init__
            signature = {} if inherits else self._signature(kind)
            self.tree[path] = {"kind": "error", "base": kind.__mro__[1].__name__, "code": kind.code, **signature}
        elif hasattr(kind, "__required_keys__"):
            self.tree[path] = {"kind": "dictionary", "key": dict(_typed_keys(kind))}
        else:
            self.tree[path] = {"kind": "class", **({} if _is_protocol(kind) else self._signature(kind))}
        self.add_members(path, kind)

    def add_members(self, path: str, kind: type) -> None:
        """Describe the methods, properties and attributes that classes of duly define."""
        for home in _own_classes(kind):
            for name, hint in inspect.get_annotations(home).items():
                self._add_attribute(f"{path}.{name}", _annotation(hint), home)
            for name in _set_on_self(home):
                self._add_attribute(f"{path}.{name}", "", home)
        for name in sorted({name for home in _own_classes(kind) for name in vars(home)}):
            member = inspect.getattr_static(kind, name)
            if name.startswith("_") and not (name in PROTOCOLS and name in vars(kind)):
                continue
            if isinstance(member, property):
                self.tree[f"{path}.{name}"] = {"kind": "property", "type": self._result(member.fget)}
            elif inspect.isroutine(getattr(kind, name)) and not inspect.isclass(member):
                is_method = inspect.isfunction(member)
                self.tree[f"{path}.{name}"] = self._signature(getattr(kind, name), skip_self=is_method)
                for number, overload in enumerate(_overloads(kind, name), 1):
                    self.tree[f"{path}.{name} {number}"] = self._signature(overload, skip_self=is_method)
        self._described[kind] = path

    def _add_attribute(self, path: str, hint: str, home: type) -> None:
        if path.rpartition(".")[2].startswith("_"):
            return
        self.tree.setdefault(path, {"kind": "attribute", **({"type": hint} if hint else {})})
        self._note(hint, vars(sys.modules[home.__module__]))

    def add_twins(self, path: str, twin: object, original: str) -> None:
        """Describe the methods of ``app.sync``: each names the method whose parameters it has."""
        for name in dir(type(twin)):
            same = f"{original}.{name}"
            if same not in self.tree:
                same = f"app.runs.{name}" if f"app.runs.{name}" in self.tree else f"duly.Duly.{name}"
            if not name.startswith("_"):
                self.tree[f"{path}.{name}"] = {"kind": "twin", "of": same}

    def add_returned(self) -> None:
        """Describe the returned classes that are not exported, and the classes that those refer to."""
        while missing := {name: kind for name, kind in self._returned.items() if kind not in self._described}:
            for name, kind in sorted(missing.items()):
                self.add_class(f"returned {name}", kind)

    def _signature(self, function: Any, *, skip_self: bool = False) -> Tree:
        try:
            signature = inspect.signature(function)
        except ValueError:  # an exception without a constructor of its own
            return {}
        parameters = list(signature.parameters.values())[1 if skip_self else 0 :]
        positional = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        tree: Tree = {"positional": ", ".join(positional)} if positional else {}
        found = {name: said for one in parameters for name, said in self._parameter(one, function)}
        tree |= {"parameter": found} if found else {}
        if inspect.isclass(function):
            return tree
        kind = "function"
        if inspect.iscoroutinefunction(function):
            kind = "coroutine"
        elif inspect.isasyncgenfunction(function):
            kind = "async iterator"
        return {"kind": kind, **tree, "returns": self._result(function)}

    def _parameter(self, one: inspect.Parameter, function: Any) -> Iterator[tuple[str, Tree]]:
        hint = "" if one.annotation is NO_DEFAULT else _annotation(one.annotation)
        if one.kind is one.VAR_KEYWORD and hint.startswith("Unpack["):
            options = _resolve(hint.removeprefix("Unpack[").removesuffix("]"), function)
            for name, inner in _typed_keys(options):
                yield name, {"type": inner, "optional": True}
            return
        star = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
        found: Tree = {"type": hint} if hint else {}
        if one.default is not NO_DEFAULT:
            found["default"] = _default(one.default)
        if one.kind is one.POSITIONAL_ONLY:
            found["positional only"] = True
        yield f"{star}{one.name}", found

    def _result(self, function: Any) -> str:
        hint = inspect.signature(function).return_annotation
        text = "" if hint is NO_DEFAULT else _annotation(hint)
        self._note(text, getattr(inspect.unwrap(function), "__globals__", {}))
        return text

    def _note(self, hint: str, names: dict[str, Any]) -> None:
        """Remember the classes of duly that an annotation names."""
        for node in ast.walk(ast.parse(hint or "None")):
            kind = names.get(node.id) if isinstance(node, ast.Name) else None
            if not isinstance(kind, type) or not kind.__module__.startswith("duly."):
                continue
            if self._returned.setdefault(kind.__name__, kind) is not kind:
                self._returned[f"{kind.__name__} of {kind.__module__}"] = kind


def _own_classes(kind: type) -> list[type]:
    """Return a class and its bases within duly. ``DulyError`` is described once, not again for each error."""
    ours = [home for home in kind.__mro__ if home.__module__.partition(".")[0] == "duly"]
    return [home for home in ours if home is kind or home is not DulyError]


def _overloads(kind: type, name: str) -> list[Any]:
    """Return the overloads of a method, looked up by name: a protocol replaces the method by a dummy."""
    home = next(home for home in kind.__mro__ if name in vars(home))
    method: Any = SimpleNamespace(__module__=home.__module__, __qualname__=f"{home.__qualname__}.{name}")
    return list(typing.get_overloads(method))


def _is_protocol(kind: type) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


def _set_on_self(kind: type) -> Iterator[str]:
    """Yield the names that the methods of a class assign on ``self``."""
    if is_dataclass(kind):
        return
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(kind)))):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name


def _typed_keys(kind: Any) -> Iterator[tuple[str, str]]:
    """Yield the keys of a ``TypedDict``, inherited ones included, with their types."""
    for name, hint in kind.__annotations__.items():
        yield name, _annotation(hint)


def _resolve(name: str, function: Any) -> Any:
    return inspect.unwrap(function).__globals__[name]


def _annotation(hint: Any) -> str:
    """Return the source text of an annotation, normalised."""
    hint = getattr(hint, "__forward_arg__", hint)
    text = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    return ast.unparse(ast.parse(text, mode="eval"))


def _default(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(_default(item) for item in value)})"
    if type(value).__module__ == "dataclasses":
        return "a new one"
    return getattr(value, "__qualname__", None) or f"<{type(value).__name__}>"
