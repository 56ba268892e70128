"""Where a command works: on a store or on a server, and which. Flags decide before the environment and files do."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .failing import CONFIGURATION, Refused
from .options import Choices

if TYPE_CHECKING:
    from duly.app import Duly
    from duly.config import Loaded


@dataclass(frozen=True, slots=True)
class OnStore:
    """Work on this database; ``app`` if one was named."""

    url: str
    app: Duly | None = None


@dataclass(frozen=True, slots=True)
class OnServer:
    """Work on this server."""

    url: str
    key: str | None


def find_reach(choices: Choices) -> OnStore | OnServer:
    """What the command line, the environment and the files say, in this order.

    Where the environment names both a server and a store, the server is meant: the store's URL is there for duly
    itself, the server's for its clients alone.
    """
    if choices.server is not None and (choices.database_url is not None or choices.app is not None):
        other = "--database-url" if choices.database_url is not None else "--app"
        raise Refused(f"--server and {other} were both given; expected one place to work on")
    loaded = load_config(choices)
    if choices.server is not None or (
        choices.database_url is None and choices.app is None and loaded.chosen("api.url")
    ):
        return OnServer(loaded["api.url"], loaded["api.key"])
    if choices.app is None:
        return OnStore(loaded.database_url)
    app = import_app(choices.app)
    return OnStore(choices.database_url or app.url, app)


def load_config(choices: Choices) -> Loaded:
    """Everything that was configured, with the flags of this command line on top."""
    from duly.config import load

    flags = {"database.url": choices.database_url, "api.url": choices.server, "api.key": choices.token}
    return load(flags, config=choices.config)


def import_app(path: str) -> Duly:
    """The app that ``module:name`` names, from this folder or from what is installed."""
    from duly.app import Duly

    module_name, _, name = path.partition(":")
    name = name or "app"
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = import_module(module_name)
    except ImportError as error:
        raise Refused(
            f"--app {path}: cannot import {module_name!r}: {error}",
            "give it as module:variable, and start from the folder that holds the module",
            code=CONFIGURATION,
        ) from error
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, Duly):
        raise Refused(
            f"--app {path}: {name!r} in {module_name!r} is {found!r}; expected a Duly",
            "name the variable, e.g. myapp:app for app = duly.Duly()",
            code=CONFIGURATION,
        )
    return found
