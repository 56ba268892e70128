"""``duly workflow``: start workflows, send them signals, look at what is recorded of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from .backend import backend
from .failing import NOT_FOUND, Refused
from .flags import named_as
from .grouping import Group
from .inputs import read_json
from .options import common_options, output_options
from .printing import Table, printer
from .run import cancel
from .runs import show_run
from .times import instant_ms, relative, system_now

Answer = dict[str, Any]
_VALUE = "JSON|@FILE|-"


@click.group(cls=Group)
def command() -> None:
    """Start workflows, send them signals and updates, ask what they show, look at their steps.

    A run is named by its id, its window key, or the name it was started under.
    """


command.add_command(cancel)


@command.command()
@click.argument("name")
@click.option("--input", "input_", metavar=_VALUE, help="What the body is given; null if absent.")
@click.option("--id", "id_", metavar="ID", help="Your own name for the run: started again, it is the same.")
@click.option("--version", metavar="VERSION", help="Which version; the newest if absent.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="What it can be found by; may be repeated.")
@click.option("--attributes", metavar=_VALUE, help="A JSON object of values that it can be found by.")
@click.option("--singleton", metavar="KEY", help="Of all runs with this key one is open at once; the others wait.")
@output_options
@common_options
def start(
    name: str,
    input_: str | None,
    id_: str | None,
    version: str | None,
    tags: tuple[str, ...],
    attributes: str | None,
    singleton: str | None,
) -> None:
    """Start the workflow NAME."""
    given = {
        "input": None if input_ is None else read_json("--input", input_),
        "id": id_,
        "version": version,
        "tags": list(tags) or None,
        "attributes": None if attributes is None else read_json("--attributes", attributes),
        "singleton": singleton,
    }
    body = {word: value for word, value in given.items() if value is not None}
    flags = {"tags": "--tag", **{word: f"--{word}" for word in ("input", "id", "version", "attributes", "singleton")}}
    with named_as(**flags), backend() as reach:
        run = reach.start_workflow(name, body)
    show_run(run, f"started run {run['id']}")


@command.command()
@click.argument("ref")
@click.argument("name")
@click.option("--payload", metavar=_VALUE, help="What the run is told; null if absent.")
@output_options
@common_options
def signal(ref: str, name: str, payload: str | None) -> None:
    """Send the signal NAME to the run REF; it is kept until the run waits for it."""
    with named_as(payload="--payload"), backend() as reach:
        run = reach.signal_run(ref, name, _said(payload))
    show_run(run, f"sent signal {name} to run {run['id']}")


@command.command()
@click.argument("ref")
@click.argument("name")
@click.option("--payload", metavar=_VALUE, help="What the run is told; null if absent.")
@output_options
@common_options
def update(ref: str, name: str, payload: str | None) -> None:
    """Send the update NAME to the run REF, if the workflow's validator lets it pass (exit 1 if not)."""
    with named_as(payload="--payload"), backend() as reach:
        done = reach.update_run(ref, name, _said(payload))
    out = printer()
    out.say(f"accepted update {name}" if done["accepted"] else f"refused update {name}: {done['reason']}")
    out.show(done, lambda: Table(["ACCEPTED", "WHY"], [[str(done["accepted"]).lower(), done["reason"] or ""]]))
    if not done["accepted"]:
        raise click.exceptions.Exit(1)


@command.command()
@click.argument("ref")
@click.argument("name")
@output_options
@common_options
def query(ref: str, name: str) -> None:
    """Ask what the run REF shows under NAME (exit 3 if it has shown nothing)."""
    with backend() as reach:
        found = reach.get_value(ref, name)
    if not found.get("published", True):  # a server of a former version does not tell
        raise Refused(f"run {ref} has published nothing under {name!r}", code=NOT_FOUND)
    printer().show(found, lambda: Table(["NAME", "VALUE"], [[found["name"], _json(found["value"])]]))


@command.command()
@click.argument("ref")
@output_options
@common_options
def steps(ref: str) -> None:
    """List what is recorded of the run REF, by position."""
    with backend() as reach:
        found = reach.list_steps(ref)
    items = found["items"]
    out = printer()
    if found["warning"]:
        out.say(f"warning: {found['warning']}")
    out.show(found, lambda: step_table(items), names=[item["id"] for item in items])


@command.command()
@click.argument("event")
@click.option("--payload", metavar=_VALUE, help="What is told; null if absent.")
@click.option("--id", "id_", metavar="ID", help="Your own id for it: published again, it is the same event.")
@output_options
@common_options
def publish(event: str, payload: str | None, id_: str | None) -> None:
    """Publish EVENT: tell the runs that wait for it, start what is declared for it."""
    body = _said(payload) | ({} if id_ is None else {"id": id_})
    with named_as(payload="--payload", id="--id"), backend() as reach:
        done = reach.publish_event(event, body)
    out = printer()
    found = f"told {done['told']}, started or added to {len(done['runs'])}"
    out.say(f"event {event}: {'published before, nothing was done' if done['repeated'] else found}")
    out.show(done, lambda: Table(["RUN"], [[run] for run in done["runs"]]), names=done["runs"])


@command.command()
@output_options
@common_options
def events() -> None:
    """List which jobs and workflows events start."""
    with backend() as reach:
        found = reach.list_on_event()
    rows = [[one["event"], one["workflow"] or one["jobType"], one["queue"], _gathers(one)] for one in found["items"]]
    head = ["EVENT", "STARTS", "QUEUE", "WHEN"]
    empty = "no event starts anything: no app has declared on_event"
    printer().show(found, lambda: Table(head, rows, empty=empty), names=[row[1] for row in rows])


@command.command()
@click.argument("program", metavar="MODULE:APP")
@output_options
@common_options
def check(program: str) -> None:
    """Find what would differ in a replay in the bodies of MODULE:APP's workflows (exit 1 if there is any)."""
    from duly.app.finding import find_app
    from duly.app.watching import own_workflows
    from duly.workflow.checking import check_body

    workflows = own_workflows(find_app(program))
    found = [finding for workflow in workflows for finding in check_body(workflow.name, workflow.function)]
    items = [asdict(finding) for finding in found]
    out = printer()
    rows = [[f"{one.file}:{one.line}", one.workflow, one.call, one.advice] for one in found]
    empty = f"nothing found in {len(workflows)} {'body' if len(workflows) == 1 else 'bodies'}"
    out.show({"items": items}, lambda: Table(["WHERE", "WORKFLOW", "CALLS", "INSTEAD"], rows, empty=empty))
    if found:
        raise click.exceptions.Exit(1)


def step_table(steps: list[Answer]) -> Table:
    now = system_now()
    rows = [
        [
            str(step["position"]),
            step["status"],
            step["kind"],
            step["name"],
            str(step["attempt"] or ""),
            relative(instant_ms(step["doneAt"] or step["dueAt"] or step["askedAt"]), now),
            step["error"] or ("" if step["result"] is None else _json(step["result"])),
        ]
        for step in sorted(steps, key=lambda step: (step["position"] < 0, step["position"]))  # undos come last
    ]
    head = ["AT", "STATUS", "KIND", "NAME", "TRY", "WHEN", "RESULT"]
    return Table(head, rows, marked=1, empty="nothing is recorded: no worker has begun it, or it is not of a workflow")


def _gathers(handler: Answer) -> str:
    if handler["debounceMs"] is not None:
        latest = f", or {handler['withinMs']} ms after the first" if handler["withinMs"] is not None else ""
        return f"when quiet for {handler['debounceMs']} ms{latest}"
    if handler["batch"] is not None:
        return f"{handler['batch']} at a time, or {handler['withinMs']} ms after the first"
    return "at once"


def _said(payload: str | None) -> Answer:
    return {} if payload is None else {"payload": read_json("--payload", payload)}


def _json(value: Any) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else text[:99] + "…"
