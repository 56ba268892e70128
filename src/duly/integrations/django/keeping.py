"""The project's one ``Duly``, made when it is first asked for and kept by Django's registry of apps."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from threading import Lock
from typing import Any

from asgiref.sync import sync_to_async
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db import close_old_connections

from duly.app import Duly
from duly.app.jobs import Jobs
from duly.integrations.hosting import surround

from .databases import url_of
from .options import Options, read_options

LABEL = "duly"


def scheduler() -> Duly:
    """The project's ``Duly``: ``scheduler().sync`` for views and commands, ``await scheduler()...`` for async jobs."""
    if not apps.is_installed("duly.integrations.django"):
        raise ImproperlyConfigured("scheduler() needs 'duly.integrations.django' in INSTALLED_APPS")
    keeper: Keeper = apps.get_app_config(LABEL).keeper
    return keeper.app()


class Keeper:
    """Makes the app, and another one when the settings name another database, as those of tests do."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: tuple[str, Options, Duly] | None = None

    def app(self) -> Duly:
        with self._lock:
            if self._made is not None and self._made[2]._life.is_open:
                return self._made[2]  # it runs: whatever the settings say by now, jobs mean the one that called them
            options = read_options()
            url = url_of(options)
            if self._made is None or self._made[:2] != (url, options):
                if self._made is not None:
                    self._made[2].sync.close()
                self._made = (url, options, make(url, options))
            return self._made[2]


def make(url: str, options: Options) -> Duly:
    """An app with the jobs of all of the project's apps, called as Django needs it."""
    app = Duly(url, name=options.name, targets=dict(options.targets), settings=options.settings)
    for jobs in found_jobs(options.jobs):
        app.include(jobs)
    surround(app, in_thread=in_thread, on_loop=on_loop, in_process=set_up_django)
    return app


def found_jobs(module: str) -> Iterator[Jobs]:
    """What the modules of that name declare, each once; they were imported when Django started."""
    seen: set[int] = set()
    for config in apps.get_app_configs():
        found = sys.modules.get(f"{config.name}.{module}")
        for value in vars(found).values() if found is not None else ():
            if isinstance(value, Jobs) and id(value) not in seen:
                seen.add(id(value))
                yield value


def in_thread(call: Callable[[], Any]) -> Any:
    """Call a job as Django serves a request: with connections that still work, and none left open too long."""
    close_old_connections()
    try:
        return call()
    finally:
        close_old_connections()


@asynccontextmanager
async def on_loop() -> AsyncIterator[None]:
    """The same for an async job, whose queries run in the thread that asgiref keeps for them."""
    tidy = sync_to_async(close_old_connections)
    await tidy()
    try:
        yield
    finally:
        await tidy()


def set_up_django() -> None:
    """In a job's own process: no module with models can be imported before this."""
    import django

    django.setup()
