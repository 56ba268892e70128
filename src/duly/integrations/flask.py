"""duly in a Flask app: ``scheduler = DulyFlask(app)``, or ``scheduler.init_app(app)`` in a factory.

Jobs are declared on the extension, and run inside the app's context. Views ask with ``scheduler.sync``, and
``flask duly serve`` fires and runs; no web process does, so any number of them, a reloader and forks are safe.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import click
from flask import Flask, current_app

from duly.app import Duly
from duly.app.jobs import Jobs
from duly.app.sync import Sync
from duly.config import Settings
from duly.core.errors import ConfigurationError, DulyError
from duly.integrations.hosting import run_command, surround

__all__ = ["DulyFlask"]

EXTENSION = "duly"


class DulyFlask(Jobs):
    """The extension: ``@scheduler.job()``, ``@scheduler.cron(...)``, ``@scheduler.every(...)`` declare jobs on it.

    It reads ``DULY_DATABASE_URL`` (else the environment's, else duly.db in this folder), ``DULY_NAME``,
    ``DULY_TARGETS`` and ``DULY_SETTINGS`` from the app's configuration. One extension may serve several apps.
    """

    def __init__(self, app: Flask | None = None) -> None:
        super().__init__()
        self._others: list[Jobs] = []
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Make the ``Duly`` of a Flask app, and give the app the command ``flask duly``."""
        if EXTENSION in app.extensions:
            raise ConfigurationError(f"Flask app {app.name!r} has a DulyFlask already; call init_app once for each app")
        made = _make(app)
        for jobs in (self, *self._others):
            made.include(jobs)
        app.extensions[EXTENSION] = made
        app.cli.add_command(_command(made))

    def include(self, jobs: Jobs) -> None:
        """Bring in jobs that a blueprint declares on a ``duly.Jobs()`` of its own; before ``init_app``."""
        self._others.append(jobs)

    @property
    def app(self) -> Duly:
        """The ``Duly`` of the current Flask app."""
        made = current_app.extensions.get(EXTENSION)
        if made is None:
            raise ConfigurationError(
                f"Flask app {current_app.name!r} has no DulyFlask; call init_app(app) when it is made"
            )
        assert isinstance(made, Duly)
        return made

    @property
    def sync(self) -> Sync:
        """What views use: every method of the app without ``await``."""
        return self.app.sync


def _make(app: Flask) -> Duly:
    url = _text(app, "DULY_DATABASE_URL")
    settings = _mapping(app, "DULY_SETTINGS")
    try:
        made = Duly(
            url,
            name=_text(app, "DULY_NAME"),
            targets=_mapping(app, "DULY_TARGETS"),
            settings=Settings(**settings) if settings else None,
        )
    except (TypeError, DulyError) as error:
        keys = "DULY_DATABASE_URL, DULY_NAME, DULY_TARGETS or DULY_SETTINGS"
        raise ConfigurationError(f"Flask app {app.name!r}, {keys}: {error}") from error

    def in_thread(call: Callable[[], Any]) -> Any:
        with app.app_context():
            return call()

    @asynccontextmanager
    async def on_loop() -> AsyncIterator[None]:
        with app.app_context():
            yield

    surround(made, in_thread=in_thread, on_loop=on_loop)
    return made


def _text(app: Flask, key: str) -> str | None:
    value = app.config.get(key)
    if value is not None and (not isinstance(value, str) or not value):
        raise ConfigurationError(f"{key} of Flask app {app.name!r} is {value!r}; expected text")
    return value


def _mapping(app: Flask, key: str) -> dict[str, Any]:
    value = app.config.get(key)
    if value is not None and not isinstance(value, Mapping):
        raise ConfigurationError(f"{key} of Flask app {app.name!r} is {value!r}; expected a dictionary")
    return dict(value or {})


def _command(made: Duly) -> click.Command:
    """``flask duly ...``: duly's own command line, all its words left as they are."""

    @click.command(
        "duly",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
        help="Serve, work and look after schedules: duly's command line on this app's database and jobs.",
    )
    @click.argument("words", nargs=-1, type=click.UNPROCESSED)
    def command(words: tuple[str, ...]) -> None:
        run_command(lambda: made, words, "flask duly")

    return command
