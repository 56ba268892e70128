"""What can be done to a schedule: pause, resume, trigger, cancel, delete."""

from __future__ import annotations

import click

from duly.cli.backend import backend
from duly.cli.inputs import confirm, read_json
from duly.cli.options import common_options, output_options
from duly.cli.printing import printer
from duly.cli.runs import show_run

from .views import show_schedule


@click.command()
@click.argument("ref")
@click.option("--reason", metavar="TEXT", help="Why; shown to whoever looks.")
@click.option("--until", metavar="TIME", help="Resume by itself at this instant.")
@output_options
@common_options
def pause(ref: str, reason: str | None, until: str | None) -> None:
    """Stop firing the schedule REF. Paused time is not missed time."""
    with backend() as reach:
        paused = reach.pause_schedule(ref, reason=reason, until=until)
    show_schedule(paused, f"paused schedule {paused['key']}")


@click.command()
@click.argument("ref")
@click.option("--catch-up", is_flag=True, help="Windows that passed while paused count as missed.")
@output_options
@common_options
def resume(ref: str, catch_up: bool) -> None:
    """Fire the schedule REF again, from now on."""
    with backend() as reach:
        resumed = reach.resume_schedule(ref, catch_up=catch_up)
    show_schedule(resumed, f"resumed schedule {resumed['key']}")


@click.command()
@click.argument("ref")
@click.option("--payload", metavar="JSON|@FILE|-", help="Instead of the schedule's own.")
@click.option("--force", is_flag=True, help="Whatever the overlap policy says.")
@output_options
@common_options
def trigger(ref: str, payload: str | None, force: bool) -> None:
    """Make a run of the schedule REF now, also while it is paused, without moving it."""
    body = {"force": force} | ({} if payload is None else {"payload": read_json("--payload", payload)})
    with backend() as reach:
        run = reach.trigger_schedule(ref, body)
    show_run(run, f"triggered run {run['id']}")


@click.command()
@click.argument("ref")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@output_options
@common_options
def cancel(ref: str, yes: bool) -> None:
    """End the schedule REF and its waiting runs, for good. A running one gets no further attempt."""
    confirm(f"Cancel schedule {ref} for good?", yes=yes)
    with backend() as reach:
        cancelled = reach.cancel_schedule(ref)
    show_schedule(cancelled, f"cancelled schedule {cancelled['key']}")


@click.command()
@click.argument("refs", nargs=-1, required=True, metavar="REF...")
@click.option("--cancel-running", is_flag=True, help="Stop its running runs too.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@output_options
@common_options
def delete(refs: tuple[str, ...], cancel_running: bool, yes: bool) -> None:
    """Remove schedules. Their keys are free again, their runs stay in the history."""
    confirm(f"Delete schedule {', '.join(refs)}?", yes=yes)
    out = printer()
    with backend() as reach:
        for ref in refs:
            found = reach.get_schedule(ref)  # a person who mistypes is told, although the API takes it for done
            reach.delete_schedule(found["id"], cancel_running=cancel_running)
            out.say(f"deleted schedule {found['key']}")
