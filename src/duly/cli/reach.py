"""Where a command works: on a store or on a server, and which. Flags decide before the environment and files do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .failing import Refused
from .options import Choices

if TYPE_CHECKING:
    from duly.app import Duly
    from duly.config import Loaded, Settings

PATIENCE = 20.0
"""Seconds after which a server that does not answer is not asked again: a person waits, or a script."""


@dataclass(frozen=True, slots=True)
class OnStore:
    """Work on this database, with these settings; ``app`` if one was named, which then is on it."""

    url: str
    settings: Settings
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
        choices.database_url is None and not names_app(choices) and loaded.chosen("api.url")
    ):
        return OnServer(loaded["api.url"], loaded["api.key"])
    if not names_app(choices):
        return OnStore(loaded.database_url, loaded.settings)
    from duly.app.serving import prepare

    app = prepare(named_app(choices), loaded)
    return OnStore(app.url, app.settings, app)


def names_app(choices: Choices) -> bool:
    """Whether there is an app to work with: one that ``--app`` names, or that of the program around."""
    return choices.app is not None or choices.own is not None


def named_app(choices: Choices, spec: str | None = None) -> Duly:
    """That app; ``spec`` is what the command's own ``--app`` says."""
    from duly.app.finding import find_app

    name = spec or choices.app
    if name is None:
        assert choices.own is not None
        return choices.own()
    return find_app(name)


def load_config(choices: Choices) -> Loaded:
    """Everything that was configured, with the flags of this command line on top."""
    from duly.config import load

    flags = {"database.url": choices.database_url, "api.url": choices.server, "api.key": choices.token}
    return load(flags, config=choices.config)
