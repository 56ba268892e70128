"""``duly webhook``: who is told of what happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from .backend import Answer, backend, take
from .each import say_each
from .grouping import Group
from .inputs import confirm
from .options import common_options, output_options
from .printing import Sheet, Table, printer
from .times import instant_ms, relative, system_now

ONCE = "this secret is shown now and never again; give it to whoever checks the signatures"
_event = click.option("--event", "-e", "events", multiple=True, metavar="NAME", help="What it is told of. Repeat it.")
_tag = click.option("--tag", metavar="TAG", help="Only of schedules with this tag.")
_job = click.option("--job", metavar="NAME", help="Only of this job.")
_description = click.option("--description", metavar="TEXT", help="For people.")


@click.group(cls=Group)
def command() -> None:
    """Tell URLs of what happens, signed, and ping one for as long as a schedule is well."""


@command.command()
@click.argument("url")
@_event
@click.option("--heartbeat", is_flag=True, help="Ping URL for what completes, and URL/fail for what fails.")
@click.option("--schedule", metavar="ID|KEY", help="Only of this schedule.")
@_tag
@_job
@_description
@click.option("--owner", metavar="ID", help="Whose it is; it hears of what is theirs.")
@click.option("--tenant", metavar="ID", help="Of which tenant.")
@output_options
@common_options
def create(url: str, events: tuple[str, ...], heartbeat: bool, job: str | None, **words: str | None) -> None:
    """Tell URL of what happens, and print its secret once.

    \b
    duly webhook create https://example.com/duly -e run.failed -e schedule.missed
    duly webhook create https://hc-ping.com/5f1c7a3e --heartbeat --schedule nightly-report
    """
    body: dict[str, Any] = {"url": url, "jobType": job, **words}
    if events:
        body["events"] = list(events)
    if heartbeat:
        body["kind"] = "heartbeat"
    with backend(creates=True) as reach:
        made = reach.create_webhook({word: value for word, value in body.items() if value is not None})
    out = printer()
    out.say(f"made webhook {made['id']}, told of {', '.join(made['events'])}")
    _show_secret(made)


@command.command(name="list")
@click.option("--tenant", metavar="ID", help="Of one tenant.")
@output_options
@common_options
def list_(tenant: str | None) -> None:
    """List webhooks, oldest first."""
    with backend() as reach:
        found = take(reach.list_webhooks, {} if tenant is None else {"tenant": tenant}, None)
    items = found["items"]
    printer().show(found, lambda: _table(items), names=[item["id"] for item in items])


@command.command()
@click.argument("id")
@output_options
@common_options
def get(id: str) -> None:
    """Show the webhook ID, without its secrets."""
    with backend() as reach:
        found = reach.get_webhook(id)
    _show(found)


@command.command()
@click.argument("id")
@click.option("--url", metavar="URL", help="Where it is told.")
@_event
@_tag
@_job
@_description
@click.option("--enable/--disable", "enabled", default=None, help="Whether it is told anything.")
@output_options
@common_options
def update(
    id: str,
    url: str | None,
    events: tuple[str, ...],
    tag: str | None,
    job: str | None,
    description: str | None,
    enabled: bool | None,
) -> None:
    """Change the webhook ID; an empty text takes a filter away."""
    body: dict[str, Any] = {"url": url, "enabled": enabled, "events": list(events) or None}
    changes = {word: value for word, value in body.items() if value is not None}
    for word, value in (("tag", tag), ("jobType", job), ("description", description)):
        if value is not None:
            changes[word] = value or None
    with backend() as reach:
        changed = reach.update_webhook(id, changes)
    printer().say(f"changed webhook {id}")
    _show(changed)


@command.command()
@click.argument("id")
@click.option("--keep-seconds", type=int, default=86_400, metavar="N", help="How long the old one is used too: a day.")
@output_options
@common_options
def rotate(id: str, keep_seconds: int) -> None:
    """Make another secret for the webhook ID, and print it once."""
    with backend() as reach:
        made = reach.rotate_webhook(id, {"keepSeconds": keep_seconds})
    printer().say(f"made another secret for webhook {id}")
    _show_secret(made)


@command.command()
@click.argument("id")
@output_options
@common_options
def test(id: str) -> None:
    """Send the webhook ID a test message; a worker does it, and `duly run get` shows what came of it."""
    with backend() as reach:
        run = reach.test_webhook(id)
    out = printer()
    out.say(f"run {run['id']} sends it")
    out.show(run, lambda: Sheet([], [run["id"]]), names=[run["id"]])


@command.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@output_options
@common_options
def delete(ids: tuple[str, ...], yes: bool) -> None:
    """End webhooks; what was to be told already is not sent."""
    confirm(f"Delete webhook {', '.join(ids)}?", yes=yes)
    with backend() as reach:

        def act(id: str) -> str:
            reach.delete_webhook(id)
            return f"deleted webhook {id}"

        say_each(ids, act)


def _show_secret(made: Answer) -> None:
    out = printer()
    out.say(ONCE)
    out.show(made, lambda: Sheet([], [made["secret"]]), names=[made["secret"]])


def _show(webhook: Answer) -> None:
    words = (
        "id", "url", "kind", "scheduleId", "tag", "jobType", "owner", "tenant", "description", "createdAt",
        "createdBy", "updatedAt",
    )  # fmt: skip
    rows = [("state", _state(webhook, system_now())), ("events", ", ".join(webhook["events"]))]
    rows += [(word, str(webhook[word])) for word in words if webhook[word] is not None]
    printer().show(webhook, lambda: Sheet(rows, []), names=[webhook["id"]])


def _table(webhooks: Sequence[Answer]) -> Table:
    now = system_now()
    rows = [
        [item["id"], item["url"], item["kind"], ",".join(item["events"]), item["owner"] or "", _state(item, now)]
        for item in webhooks
    ]
    return Table(["ID", "URL", "KIND", "EVENTS", "OWNER", "STATE"], rows, empty="no webhooks")


def _state(webhook: Answer, now: int) -> str:
    if not webhook["enabled"]:
        return f"disabled: {webhook['disabledReason']}" if webhook["disabledReason"] else "disabled"
    if webhook["failingSince"] is None:
        return "good"
    return f"failing since {relative(instant_ms(webhook['failingSince']), now)}"
