"""``duly db``: set up, upgrade and look at the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .failing import Refused
from .grouping import Group
from .options import choices_of, common_options, output_options
from .printing import Sheet, printer
from .reach import OnServer, OnStore, find_reach, load_config

if TYPE_CHECKING:
    from duly.store.inspection import Inspection


@click.group(cls=Group)
def command() -> None:
    """Set up, upgrade and look at the database."""


@command.command()
@output_options
@common_options
def migrate() -> None:
    """Set up an empty database, or upgrade an older schema. Safe to repeat, and while others do the same."""
    import asyncio

    from duly.app.stores import inspect_store, open_store
    from duly.config.masking import mask_url
    from duly.runtime.clock import SystemClock

    reach = database()
    url = reach.url
    before = inspect_store(url)

    async def upgrade() -> None:
        store = open_store(url, SystemClock(), migrate=True, keys=reach.settings.payload_keys)
        try:
            await store.open()
        finally:
            await store.close()

    if before.pending or not before.exists:
        asyncio.run(upgrade())
    after = inspect_store(url)
    out = printer()
    place = mask_url(url)
    if after.schema == before.schema:
        out.say(f"{place} is up to date, at schema {after.schema}")
    elif before.schema == 0:
        out.say(f"set up {place} with schema {after.schema}")
    else:
        out.say(f"upgraded {place} from schema {before.schema} to {after.schema}")
    if out.output != "table":
        _show(url, after)


@command.command()
@output_options
@common_options
def status() -> None:
    """Say which schema the database has, what is to be upgraded, and how big it is. Changes nothing."""
    from duly.app.stores import inspect_store

    url = database_url()
    _show(url, inspect_store(url))


@command.command()
@click.option("--dialect", type=click.Choice(["sqlite", "postgres"]), help="That of the database in use unless said.")
@click.option(
    "--since", type=click.IntRange(0), default=0, metavar="N", help="What a database at this schema still needs."
)
@common_options
def sql(dialect: str | None, since: int) -> None:
    """Print what makes or upgrades the schema, as one transaction, for whoever must run or read it by hand."""
    from duly.app.stores import upgrade_text
    from duly.core.database_schema import schema_of

    configured = load_config(choices_of(click.get_current_context()))
    url = configured.database_url if dialect else database_url()
    is_sqlite = url.startswith("sqlite:")
    schema = configured["database.schema"] if is_sqlite else schema_of(url)
    click.echo(upgrade_text(dialect or ("sqlite" if is_sqlite else "postgres"), since, schema), nl=False)


@command.command()
@click.option("--reason", metavar="TEXT", help="Which backup, for those who will wonder.")
@output_options
@common_options
def restored(reason: str | None) -> None:
    """Say that the database was restored from a backup: nothing fires until `duly resume --all --backlog …`.

    Most restores are noticed without being told. A copy of a disk that was taken back in time cannot always be.
    """
    from .backend import backend
    from .switch import show_firing

    with backend() as reach:
        state = reach.mark_restored({} if reason is None else {"reason": reason})
    show_firing(state, "nothing fires until you choose: `duly resume --all --backlog fire|skip|latest`")


@command.command()
@output_options
@common_options
def reseal() -> None:
    """Encrypt anew, with the first of `payload_keys`, all that is not; then the other keys can go. Safe to repeat.

    Every instance must have that key first by now. Nothing waits while it works.
    """
    import asyncio

    from duly.app.stores import reseal_store

    reach = database()
    done = asyncio.run(reseal_store(reach.url, reach.settings.payload_keys))
    out = printer()
    value = {"written": done.written, "unreadable": done.unreadable}
    out.show(value, lambda: Sheet([("written", str(done.written)), ("unreadable", str(done.unreadable))]), names=[])
    if done.unreadable:
        raise Refused(f"{done.unreadable} values are sealed with a key that is not in payload_keys", "keep all keys")


@command.command()
@click.argument("name")
@common_options
def key(name: str) -> None:
    """Print a new key for `payload_keys`, under this NAME. Nothing is stored."""
    from base64 import b64encode

    from duly.core.sealed import KEY_BYTES, read_keys
    from duly.runtime.chance import Chance

    made = f"{name}:{b64encode(Chance().entropy(KEY_BYTES)).decode()}"
    try:
        read_keys([made])
    except ValueError:
        raise Refused(
            f"the name is {name!r}", "expected up to 32 letters, digits, dots, dashes and underscores"
        ) from None
    click.echo(made)


def database() -> OnStore:
    """The database that this command line means; a server's is the server's own business."""
    reach = find_reach(choices_of(click.get_current_context()))
    if isinstance(reach, OnServer):
        raise Refused("this command works on a database, not on a server", "--database-url says which")
    return reach


def database_url() -> str:
    return database().url


def _show(url: str, found: Inspection) -> None:
    from duly.config.masking import mask_url

    value: dict[str, Any] = {
        "url": mask_url(url),
        "kind": found.kind,
        "version": found.version,
        "exists": found.exists,
        "schema": found.schema,
        "newestSchema": found.newest,
        "pending": found.pending,
        "sizeBytes": found.size_bytes,
        "rows": dict(found.rows),
        "rowsEstimated": found.estimated,
    }
    about = "about " if found.estimated else ""
    rows = [("database", value["url"]), ("software", found.version), ("schema", _schema(found))]
    if found.exists:
        rows.append(("size", _bytes(found.size_bytes)))
    rows += [(name, f"{about}{count}") for name, count in found.rows.items()]
    printer().show(value, lambda: Sheet(rows), names=[str(found.schema)])


def _schema(found: Inspection) -> str:
    if not found.schema:
        what = "an empty database" if found.exists else "no database yet"
        return f"none: {what}; `duly db migrate`, or the first start of duly, sets it up"
    if found.pending:
        return f"{found.schema}, {found.pending} behind {found.newest}; `duly db migrate` upgrades it"
    return f"{found.schema}, up to date"


def _bytes(size: int) -> str:
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"
