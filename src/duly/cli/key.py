"""``duly key``: who may call the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from .backend import Answer, backend
from .each import say_each
from .grouping import Group
from .inputs import confirm, later, length_of
from .options import common_options, output_options
from .printing import Sheet, Table, printer
from .tables import Cell
from .times import instant_ms, moment_cell, relative, system_now

ONCE = "this key is shown now and never again; keep it where secrets are kept"
_QUOTAS = {
    "max_schedules": "schedules",
    "min_interval_ms": "minIntervalMs",
    "max_payload_bytes": "payloadBytes",
    "requests_per_minute": "requestsPerMinute",
}
_expires = click.option("--expires", metavar="90d|INSTANT", help="When it ends: in a while, or at an instant.")


@click.group(cls=Group)
def command() -> None:
    """Make, rotate and revoke the keys that callers of the API send.

    While no key was ever made, an API on this machine is open. With the first one it asks everybody, for ever.
    """


@command.command()
@click.option("--name", required=True, metavar="TEXT", help="What it is for; the audit trail says key:NAME.")
@click.option("--owner", metavar="ID", help="Whose what it creates is; else the name, or with admin nobody's.")
@click.option("--tenant", metavar="ID", help="The tenant of what it creates.")
@click.option(
    "--scopes", metavar="LIST", help="Some of read,write,trigger,admin, or worker alone; the first three if none."
)
@click.option("--queues", metavar="LIST", help="The queues that a worker's key may claim from; all if not said.")
@_expires
@click.option("--max-schedules", type=int, metavar="N", help="How many schedules the owner may have.")
@click.option("--min-interval-ms", type=int, metavar="N", help="The least time between two fires.")
@click.option("--max-payload-bytes", type=int, metavar="N", help="The largest payload.")
@click.option("--requests-per-minute", type=int, metavar="N", help="How often it may ask.")
@output_options
@common_options
def create(
    name: str,
    owner: str | None,
    tenant: str | None,
    scopes: str | None,
    queues: str | None,
    expires: str | None,
    **quotas: int | None,
) -> None:
    """Make a key, and print it once.

    \b
    duly key create --name ops --scopes admin
    duly key create --name u42-app --owner user-42 --expires 365d
    duly key create --name remote-worker --scopes worker --queues mail,reports
    """
    body: dict[str, Any] = {
        "name": name,
        "owner": owner,
        "tenant": tenant,
        "expiresAt": None if expires is None else later("--expires", expires),
    }
    for word, given in (("scopes", scopes), ("queues", queues)):
        if given is not None:
            body[word] = [part.strip() for part in given.split(",") if part.strip()]
    bounds = {_QUOTAS[word]: value for word, value in quotas.items() if value is not None}
    if bounds:
        body["quotas"] = bounds
    with backend(creates=True) as reach:
        made = reach.create_key({word: value for word, value in body.items() if value is not None})
    _show_made(made)


@command.command(name="list")
@output_options
@common_options
def list_() -> None:
    """List keys, oldest first, also those that are not good any more."""
    with backend() as reach:
        found = reach.list_keys()
    items = found["items"]
    printer().show(found, lambda: _table(items), names=[item["id"] for item in items])


@command.command()
@click.argument("id")
@click.option("--keep", default="1d", metavar="LENGTH", help="How long the old one goes on. One day unless said.")
@_expires
@output_options
@common_options
def rotate(id: str, keep: str, expires: str | None) -> None:
    """Make another key with the rights of the key ID, and print it once; the old one goes on for a while."""
    body: dict[str, Any] = {"keepSeconds": round(length_of("--keep", keep) / 1000)}
    end = _end(expires)
    if end is not None:
        body["expiresAt"] = end
    with backend() as reach:
        made = reach.rotate_key(id, body)
    _show_made(made)


@command.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@output_options
@common_options
def revoke(ids: tuple[str, ...], yes: bool) -> None:
    """End keys at once. Whoever still sends one is refused from now on."""
    confirm(f"Revoke key {', '.join(ids)}?", yes=yes)
    with backend() as reach:

        def act(id: str) -> str:
            reach.revoke_key(id)
            return f"revoked key {id}"

        say_each(ids, act)


def _show_made(made: Answer) -> None:
    out = printer()
    whose = f", owner {made['owner']}" if made["owner"] else ""
    only = f", queues {', '.join(made['queues'])}" if made["queues"] else ""
    out.say(f"made key {made['id']} ({made['name']}), scopes {', '.join(made['scopes'])}{only}{whose}")
    out.say(ONCE)
    out.show(made, lambda: Sheet([], [made["key"]]), names=[made["key"]])


def _end(expires: str | None) -> str | None:
    return None if expires is None else later("--expires", expires)


def _table(keys: Sequence[Answer]) -> Table:
    now = system_now()
    rows = [
        [
            item["id"],
            item["name"],
            item["owner"] or "",
            item["tenant"] or "",
            ",".join(item["scopes"]),
            _state(item, now),
            moment_cell(item["lastUsedAt"], "UTC", now) if item["lastUsedAt"] else "never",
        ]
        for item in keys
    ]
    head = ["ID", "NAME", "OWNER", "TENANT", "SCOPES", "STATE", Cell("LAST USED (UTC)", "LAST USED")]
    return Table(head, rows, empty="no keys", spare=(2, 3))


def _state(key: Answer, now: int) -> str:
    if key["revokedAt"] is not None:
        return "revoked"
    if key["expiresAt"] is None:
        return "good"
    end = instant_ms(key["expiresAt"])
    return f"{'good, ends' if end > now else 'expired'} {relative(end, now)}"
