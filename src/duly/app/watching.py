"""An app as others watch it: whether it can do its work now, how much there is to do, and what happens."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from duly.core.errors import DulyError
from duly.runtime.events import Observer
from duly.runtime.tracing import Tracing
from duly.store.load import Load
from duly.store.methods.surveying import unknown_jobs
from duly.store.values import LEADER, Instance, Lease
from duly.workflow.definition import Workflow

from .duly import Duly

PATIENCE = 2.0
"""Seconds after which a store that does not answer counts as lost."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, and what was seen."""

    name: str
    ok: bool
    seen: str


def observe(app: Duly, observer: Observer) -> None:
    """Tell ``observer`` what the engine does from now on."""
    app._observers.add(observer)


def tracing_of(app: Duly) -> Tracing | None:
    """What traces the app, if anything does."""
    return app._tracing


def store_name(app: Duly) -> str:
    return app._store.name


async def live_instances(app: Duly) -> list[Instance]:
    """Every process on this store whose lease holds."""
    return await app._store.list_instances()


async def jobs_nobody_knows(app: Duly) -> dict[str, int]:
    """How many runs wait for each job that no live worker knows."""
    return await app._store.driver.read(unknown_jobs)


async def leader_lease(app: Duly) -> Lease | None:
    """Who fires, where one leader does; None while nobody leads."""
    lease = await app._store.read_lease(LEADER)
    return None if lease is None or lease.expires_at < await app._store.now() else lease


def own_jobs(app: Duly) -> frozenset[str]:
    """The jobs that this app has itself."""
    return app._registry.names


def carry_on(app: Duly, id: str) -> None:
    """Let this process go on with an operation that somebody began, beside its other work."""
    app._driving.start(id)


async def count_load(app: Duly) -> Load | None:
    """How much there is to do, or None while the store cannot say."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await app._store.count_load()
    except (TimeoutError, DulyError):
        return None


async def look(app: Duly) -> list[Check]:
    """Ask the store, and see whether this instance's session is alive; never raises, never takes long."""
    return [*await _store(app), _session(app)]


async def _store(app: Duly) -> list[Check]:
    try:
        async with asyncio.timeout(PATIENCE):
            version = await app._store.schema_version()
            state = await app._store.firing_state()
    except TimeoutError:
        return [Check("store", False, f"no answer within {PATIENCE:g} s")]
    except DulyError as error:
        return [Check("store", False, error.code)]
    return [
        Check("store", True, app._store.name),
        Check("schema", True, str(version)),
        Check("firing", True, "paused" if state.paused else "on"),
    ]


def _session(app: Duly) -> Check:
    if app._instance is None:
        return Check("session", False, "not started")
    alive = app._instance.session is not None
    return Check("session", alive, "alive" if alive else "lost; a new one is being opened")


def own_workflows(app: Duly) -> list[Workflow]:
    """Every version of every workflow that this app has itself."""
    return app._workflows.all()
