"""What ``duly serve`` makes of configuration: an app of its own, or a user's app where and as what it is to run."""

from __future__ import annotations

from duly.config import Loaded
from duly.core.database_schema import with_schema
from duly.engine.instance import Instance

from .duly import Duly

SERVER = "duly serve"


def make_app(loaded: Loaded) -> Duly:
    """An app without jobs, as configured: it fires and serves, and works for whoever adds jobs."""
    app = Duly(loaded.database_url, roles=loaded["roles"], settings=loaded.settings)
    app._declared.known_as(SERVER)  # what apps declared on this database are not orphans of ours
    _configure(app, loaded)
    return app


def check(loaded: Loaded) -> None:
    """Raise what a server with this configuration would refuse at its start; nothing is opened."""
    app = make_app(loaded)
    app._outside.check_all()
    app._declared.build()


def prepare(app: Duly, loaded: Loaded) -> Duly:
    """Give a user's app its roles and what was configured, before it starts; answers the app.

    What the app's own code chose holds: its URL unless the flag names another, and its settings. Configuration counts
    where the code chose nothing: of targets, for the names that the code does not have.
    """
    flag = loaded.origins["database.url"].startswith("flag")
    url = app._given_url if app._given_url is not None and not flag else loaded.database_url
    declared = app._declared
    url = with_schema(url, loaded.chosen_schema)
    app._assemble(url, app._given_settings or loaded.settings, loaded["roles"])
    app._declared.take_over(declared)
    _configure(app, loaded)
    return app


async def redeclare(app: Duly, before: Loaded, now: Loaded) -> bool:
    """Declare the schedules of the files as they are now, in an app that runs; False if it does not.

    What is wrong with one of them changes nothing, unless the store fails in the middle: then the next call mends it.
    """
    if app._instance is None:
        return False
    placed = [(arguments, now.places[arguments["key"]]) for arguments in now.schedules]
    declared = app._declared.instead({arguments["key"] for arguments in before.schedules}, placed)
    await declared.sync()
    app._declared = declared
    app._life.tell(Instance.many_changed)
    return True


def _configure(app: Duly, loaded: Loaded) -> None:
    """Give an app the targets and schedules of the configuration; what is wrong with one says where it stands."""
    for name, target in loaded.targets.items():
        given = {"url": target.url, "owners": target.grant.owners, "tenants": target.grant.tenants}
        app._outside.add({name: given}, place=target.origin)
    for arguments in loaded.schedules:
        app._declared.add(arguments, place=loaded.places[arguments["key"]])
