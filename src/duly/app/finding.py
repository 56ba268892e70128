"""``--app module:app``: imports a user's app from the working directory, and says in one line what went wrong."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from duly.core.errors import ConfigurationError, DulyError

from .duly import Duly

EXPECTED = "MODULE:APP, such as shop:app or shop.jobs:make_app"


def find_app(spec: str, folder: Path | None = None) -> Duly:
    """The app that ``spec`` names: a ``Duly``, or a function without parameters that makes one.

    Modules are looked for in ``folder`` first (the working directory if None). Without ``:APP`` it is the module's
    ``app``, or its only ``Duly``.
    """
    place = str((folder or Path.cwd()).resolve())
    name, colon, attribute = spec.partition(":")
    is_file = name.endswith(".py")
    if is_file or not all(part.isidentifier() for part in name.split(".")) or (colon and not attribute):
        hint = f"; for the file {name} write {Path(name).stem}:{attribute or 'app'}" if is_file else ""
        raise ConfigurationError(f"--app is {spec!r}; expected {EXPECTED}{hint}")
    if place not in sys.path:
        sys.path.insert(0, place)
    module = _import(name, spec, place)
    found = _attribute(module, attribute) if attribute else _only(module, spec)
    if callable(found) and not isinstance(found, Duly | type):
        found = _guarded(spec, place, "cannot be made", found)
    if not isinstance(found, Duly):
        raise ConfigurationError(
            f"--app {spec} is {_article(found)}; expected a Duly, or a function that makes one;"
            f" {_what_there_is(module)}"
        )
    return found


def _import(name: str, spec: str, place: str) -> ModuleType:
    try:
        module: ModuleType = _guarded(spec, place, "cannot be imported", lambda: import_module(name))
    except ConfigurationError as error:
        cause = error.__cause__
        if isinstance(cause, ModuleNotFoundError) and cause.name and f"{name}.".startswith(f"{cause.name}."):
            raise ConfigurationError(
                f"--app {spec}: there is no module {cause.name!r} in {place}, nor is one installed;"
                f" start in the folder that holds it, and give {EXPECTED}"
            ) from cause
        raise
    return module


def _guarded(spec: str, place: str, what: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (Exception, SystemExit) as error:  # a user's own code: whatever it raises is told in one line
        told = str(error).partition("\n")[0] if not isinstance(error, SyntaxError) else error.msg
        kind = "" if isinstance(error, DulyError) else f"{type(error).__name__}: "
        raise ConfigurationError(f"--app {spec} {what}: {kind}{told} ({_where(error, place)})") from error


def _where(error: BaseException, place: str) -> str:
    """The line of the user's own code that is to blame: the innermost one below ``place``, else the innermost."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_short(error.filename, place)}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        frame for frame in frames if frame.filename.startswith(place + "/") and "site-packages" not in frame.filename
    ]
    frame = (own or frames)[-1]
    return f"{_short(frame.filename, place)}:{frame.lineno}"


def _short(filename: str, place: str) -> str:
    return filename.removeprefix(place + "/")


def _attribute(module: ModuleType, path: str) -> Any:
    found: Any = module
    for word in path.split("."):
        if not hasattr(found, word):
            raise ConfigurationError(f"module {module.__name__!r} has no {path!r}; {_what_there_is(module)}")
        found = getattr(found, word)
    return found


def _only(module: ModuleType, spec: str) -> Any:
    apps = _apps(module)
    if "app" in apps or len(apps) == 1:
        return apps.get("app") or next(iter(apps.values()))
    raise ConfigurationError(f"--app {spec} does not say which app; expected {EXPECTED}; {_what_there_is(module)}")


def _what_there_is(module: ModuleType) -> str:
    apps = ", ".join(f"{module.__name__}:{name}" for name in _apps(module))
    return f"its Duly objects are {apps}" if apps else "it has no Duly object: write app = duly.Duly() in it"


def _apps(module: ModuleType) -> dict[str, Duly]:
    return {name: value for name, value in vars(module).items() if isinstance(value, Duly)}


def _article(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"
