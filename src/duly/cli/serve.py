"""``duly serve``, and its short forms by role: ``duly worker``, ``duly scheduler``, ``duly api``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

import click

from duly.core.errors import ConfigurationError

from .failing import UNREACHABLE, Refused
from .options import Choices, choices_of
from .reach import named_app, names_app
from .streams import is_terminal

if TYPE_CHECKING:
    import socket

    from duly.api.limits import Limits
    from duly.app import Duly
    from duly.config import Loaded

    from .serving import Callers

Command = TypeVar("Command", bound=Callable[..., Any])

_EVERYWHERE = (
    click.option("--app", metavar="MODULE:APP", help="The app whose jobs run: a Duly, or a function that makes one."),
    click.option("--database-url", metavar="URL", help="The store; else the app's own, DULY_DATABASE_URL or duly.db."),
    click.option("--config", metavar="FILE", help="The file of settings; else duly.toml here, if there is one."),
    click.option("--log-level", type=click.Choice(("debug", "info", "warning", "error")), help="info unless said."),
    click.option("--log-format", type=click.Choice(("auto", "console", "json")), help="auto: JSON without a terminal."),
)
_WITH_PORT = (
    click.option("--host", metavar="ADDRESS", help="Where to listen; 127.0.0.1 unless said."),
    click.option("--port", type=int, metavar="NUMBER", help="8080 unless said; 0 lets the system choose."),
    click.option(
        "--insecure", is_flag=True, help="Serve other machines without authentication until the first key is created."
    ),
)


def _options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@click.command("serve", help="Serve: fire schedules, run jobs, answer the REST API.")
@_options(
    *_EVERYWHERE,
    *_WITH_PORT,
    click.option("--roles", metavar="LIST", help="Some of api,scheduler,worker; all unless said."),
    click.option("--demo", is_flag=True, help="Add a few lively schedules, to look around."),
)
@click.pass_context
def command(ctx: click.Context, /, **flags: Any) -> int:
    return _serve(choices_of(ctx), flags)


@click.command("worker", help="Run jobs, without firing schedules or serving; on a store, or for a server.")
@_options(
    *_EVERYWHERE,
    click.option("--server", metavar="URL", help="Work for this server, without a database."),
    click.option("--token", metavar="KEY", help="The key for the server; DULY_API_KEY unless said."),
)
@click.pass_context
def worker(ctx: click.Context, /, **flags: Any) -> int:
    choices = choices_of(ctx)
    choices.server = flags.pop("server") or choices.server
    choices.token = flags.pop("token") or choices.token
    if choices.server is not None:
        return _work_for(choices, flags)
    return _serve(choices, {**flags, "roles": "worker"})


@click.command("scheduler", help="Fire schedules, without running jobs or serving.")
@_options(*_EVERYWHERE)
@click.pass_context
def scheduler(ctx: click.Context, /, **flags: Any) -> int:
    return _serve(choices_of(ctx), {**flags, "roles": "scheduler"})


@click.command("api", help="Serve the REST API, without firing or running anything.")
@_options(*_EVERYWHERE, *_WITH_PORT)
@click.pass_context
def api(ctx: click.Context, /, **flags: Any) -> int:
    return _serve(choices_of(ctx), {**flags, "roles": "api"})


def _log(loaded: Loaded) -> None:
    from duly.config import wants_colour
    from duly.engine.instance import own_name
    from duly.telemetry.logs import configure

    colour = wants_colour(is_terminal(sys.stderr))
    configure(loaded["log.level"], loaded["log.format"], colour=colour, worker_id=own_name())


def _work_for(choices: Choices, flags: dict[str, Any]) -> int:
    """Work for a server until a signal; the app's own store is never opened."""
    from duly.app.remote_worker import RemoteWorker
    from duly.config import load

    from .operating import operated

    if flags["database_url"] or choices.database_url:
        raise Refused("--server and --database-url were both given; expected one place to work for")
    if not flags["app"] and not names_app(choices):
        raise Refused("--server needs --app MODULE:APP: the jobs that are to run here")
    named = {"log.level": flags["log_level"], "log.format": flags["log_format"], "api.key": choices.token}
    read = partial(load, {**named, "api.url": choices.server}, config=flags["config"] or choices.config)
    loaded = read()
    _log(loaded)
    for warning in loaded.warnings:
        click.echo(f"duly: {warning}", err=True)
    app = named_app(choices, flags["app"])
    settings = app._given_settings or loaded.settings
    with operated(read, loaded, None):
        RemoteWorker(loaded["api.url"], app, key=loaded["api.key"], settings=settings).run()
    return 0


def _serve(choices: Choices, flags: dict[str, Any]) -> int:
    """Read the configuration, refuse what cannot work, then serve; answers the exit code."""
    from duly.app.demo import add_demo
    from duly.app.serving import make_app, prepare
    from duly.config import load

    from .operating import operated
    from .serving import Plan, run

    named = {
        "database.url": flags["database_url"] or choices.database_url,
        "api.host": flags.get("host"),
        "api.port": flags.get("port"),
        "log.level": flags["log_level"],
        "log.format": flags["log_format"],
        "roles": flags["roles"],
    }
    read = partial(load, named, config=flags["config"] or choices.config)
    loaded = read()
    _log(loaded)
    for warning in loaded.warnings:
        click.echo(f"duly: {warning}", err=True)
    roles = loaded["roles"]
    insecure = flags.get("insecure", False)
    has_app = bool(flags["app"]) or names_app(choices)

    @cache
    def made() -> Duly:
        return prepare(named_app(choices, flags["app"]), loaded) if has_app else make_app(loaded)

    listener, url = _listen(loaded, made, insecure=insecure) if "api" in roles else (None, None)
    app = made()
    if flags.get("demo"):
        add_demo(app)
    plan = Plan(
        app=app,
        roles=roles,
        log_format=loaded["log.format"],
        listener=listener,
        url=url,
        demo=flags.get("demo", False),
        hosts=_hosts(loaded, insecure=insecure),
        limits=_limits(loaded) if listener is not None else None,
        callers=_callers(loaded, app) if listener is not None else None,
        insecure=insecure,
    )
    with operated(read, loaded, app):
        return run(plan)


def _callers(loaded: Loaded, app: Duly) -> Callers:
    """Who may call the API; refuses settings that could not be safe."""
    from duly.api.auth.policies import read_policy

    from .serving import Callers

    return Callers(
        read_policy(loaded.values, app.clock),
        loaded["api.cors_origins"],
        loaded["api.open_metrics"],
        loaded["api.dashboard"],
        loaded["api.session_secret"],
    )


def _limits(loaded: Loaded) -> Limits:
    """How long the API waits for its clients, and how many it has at once."""
    from duly.api.limits import Limits, connections_for

    return Limits(
        header_timeout=loaded["api.header_timeout"],
        body_timeout=loaded["api.body_timeout"],
        send_timeout=loaded["api.send_timeout"],
        keep_alive_timeout=loaded["api.keep_alive_timeout"],
        max_connections=connections_for(loaded["api.max_connections"]),
    )


def _hosts(loaded: Loaded, *, insecure: bool) -> tuple[str, ...] | None:
    """The names that the API answers to; one that other machines reach with a credential answers to any by default.

    A web page that points its own name at this address has no credential to send along.
    """
    from duly.api.binding import is_public

    named: tuple[str, ...] = loaded["api.allowed_hosts"]
    if not named and not insecure and "api" in loaded["roles"] and is_public(loaded["api.host"]):
        return None
    return (loaded["api.host"], *named)


def _has_callers(loaded: Loaded, made: Callable[[], Duly]) -> bool:
    """Whether callers have to say who they are: there is an issuer, or a key in the store."""
    if loaded["auth.jwt.issuer"] is not None:
        return True
    with made().sync as sync:
        return sync.keys.any()


def _listen(loaded: Loaded, made: Callable[[], Duly], *, insecure: bool) -> tuple[socket.socket, str]:
    """Bind before anything is started: whoever cannot, need not wait for a database to learn it."""
    from duly.api.binding import PortTaken, bind, url_of

    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise ConfigurationError(
            f"the API needs {', '.join(missing)}; install with pip install 'duly[server]', or leave out the role api"
        )
    host = loaded["api.host"]
    try:
        guarded = partial(_has_callers, loaded, made)
        listener = bind(host, loaded["api.port"], insecure=insecure, guarded=guarded)
    except PortTaken as taken:
        # Not 78: the same configuration may work in a moment, when the other process has gone.
        raise Refused(taken.message, code=UNREACHABLE) from taken
    if insecure:
        click.echo(
            "duly: serving without authentication (--insecure): until the first key is created, everybody who reaches"
            " the port may do anything but create that key",
            err=True,
        )
    return listener, url_of(listener, host)
