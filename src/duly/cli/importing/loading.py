"""Where an import reads from: a file of text or JSON, or an object of a program of the user's own."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from duly.cli.failing import CONFIGURATION, Refused
from duly.cli.formats import Unreadable, read_documents
from duly.cli.inputs import read_text

LOCALTIME = Path("/etc/localtime")
TIMEZONE = Path("/etc/timezone")


def is_object(source: str) -> bool:
    """Whether a source names an object, as ``shop.tasks:app``; anything else is a file."""
    module, colon, _ = source.partition(":")
    return bool(colon) and all(part.isidentifier() for part in module.split("."))


def load_object(source: str, package: str) -> Any:
    """The object that ``MODULE:NAME`` names; it is imported, so the program's own code runs."""
    module, _, path = source.partition(":")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] == package:
            raise Refused(
                f"{source} needs {package}, which is not installed here",
                f"run this where the program runs, or `pip install {package}` beside duly",
                code=CONFIGURATION,
            ) from error
        raise Refused(f"{source} cannot be imported: {error}", "start in the folder that holds it") from error
    except (Exception, SystemExit) as error:  # a user's own code: whatever it raises is told in one line
        told = str(error).partition("\n")[0]
        raise Refused(f"{source} cannot be imported: {type(error).__name__}: {told}", code=CONFIGURATION) from error
    for word in path.split("."):
        if not hasattr(found, word):
            raise Refused(f"module {module!r} has no {path!r}", "give MODULE:NAME, such as shop.tasks:app")
        found = getattr(found, word)
    return found


def load_json(source: str) -> Any:
    """The one value of a JSON file, or of stdin for ``-``."""
    text = read_text("SOURCE", source)
    try:
        (value,) = read_documents(text, "stdin.json")
    except Unreadable as error:
        raise Refused(f"{source}: {error}", "give MODULE:NAME, or a file of JSON") from error
    return value


def local_zone() -> str | None:
    """The zone that this machine's clock shows, by its IANA name."""
    _, found, name = str(LOCALTIME.resolve()).partition("/zoneinfo/")
    if found:
        return name.removeprefix("posix/").removeprefix("right/")
    try:
        return TIMEZONE.read_text("utf-8").strip() or None
    except OSError:
        return None
