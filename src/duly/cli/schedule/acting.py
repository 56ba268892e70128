"""What can be done to schedules: pause, resume, trigger, cancel, delete; to those named, or to all that match."""

from __future__ import annotations

from typing import Any

import click

from duly.cli.backend import Answer, backend
from duly.cli.each import say_each, show_each
from duly.cli.failing import Refused
from duly.cli.flags import named_as
from duly.cli.inputs import confirm, later, read_json
from duly.cli.options import common_options, output_options
from duly.cli.runs import show_run

from .many import change_many, is_named, which
from .views import show_schedule

_YES = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


@click.command()
@which
@click.option("--reason", metavar="TEXT", help="Why; shown to whoever looks.")
@click.option("--until", metavar="TIME", help="Resume by itself at this instant, or after this long, as 2h.")
@_YES
@output_options
@common_options
def pause(
    refs: tuple[str, ...],
    matching: bool,
    everything: bool,
    reason: str | None,
    until: str | None,
    yes: bool,
    **flags: Any,
) -> None:
    """Stop firing the schedules REF, or all that match. Paused time is not missed time.

    \b
    duly schedule pause nightly --reason 'year-end closing' --until 2h
    duly schedule pause --all-matching --tag mail --reason 'provider down' --until 2027-01-04T00:00:00Z
    """
    until = None if until is None else later("--until", until)
    if not is_named(refs, flags, matching=matching, everything=everything):
        options = {name: value for name, value in (("reason", reason), ("until", until)) if value is not None}
        change_many("pause", flags, options, everything=everything, yes=yes)
        return
    with named_as(until="--until", reason="--reason"), backend() as reach:

        def act(ref: str) -> tuple[Answer, str]:
            paused = reach.pause_schedule(ref, reason=reason, until=until)
            return paused, f"paused schedule {paused['key']}"

        show_each(refs, act, show_schedule)


@click.command()
@which
@click.option("--catch-up", is_flag=True, help="Windows that passed while paused count as missed.")
@click.option("--reason", metavar="TEXT", help="With --all-matching: only those paused for exactly this.")
@_YES
@output_options
@common_options
def resume(
    refs: tuple[str, ...],
    matching: bool,
    everything: bool,
    catch_up: bool,
    reason: str | None,
    yes: bool,
    **flags: Any,
) -> None:
    """Fire the schedules REF again, or all that match, from now on."""
    if not is_named(refs, flags, matching=matching, everything=everything):
        options = {"catchUp": catch_up} | ({} if reason is None else {"reason": reason})
        change_many("resume", flags, options, everything=everything, yes=yes)
        return
    if reason is not None:
        raise Refused("--reason narrows --all-matching; a schedule that is named is resumed whatever it was paused for")
    with backend() as reach:

        def act(ref: str) -> tuple[Answer, str]:
            resumed = reach.resume_schedule(ref, catch_up=catch_up)
            return resumed, f"resumed schedule {resumed['key']}"

        show_each(refs, act, show_schedule)


@click.command()
@which
@click.option("--payload", metavar="JSON|@FILE|-", help="Instead of the schedule's own.")
@click.option("--force", is_flag=True, help="Whatever the overlap policy says.")
@_YES
@output_options
@common_options
def trigger(
    refs: tuple[str, ...],
    matching: bool,
    everything: bool,
    payload: str | None,
    force: bool,
    yes: bool,
    **flags: Any,
) -> None:
    """Make a run of the schedules REF now, or of all that match, also while they are paused, without moving them."""
    if not is_named(refs, flags, matching=matching, everything=everything):
        if payload is not None:
            raise Refused("--payload is for schedules that are named; those that match have each their own")
        change_many("trigger", flags, {"force": force}, everything=everything, yes=yes)
        return
    body = {"force": force} | ({} if payload is None else {"payload": read_json("--payload", payload)})
    with named_as(payload="--payload"), backend() as reach:

        def act(ref: str) -> tuple[Answer, str]:
            run = reach.trigger_schedule(ref, body)
            return run, f"triggered run {run['id']}"

        show_each(refs, act, show_run)


@click.command()
@which
@_YES
@output_options
@common_options
def cancel(refs: tuple[str, ...], matching: bool, everything: bool, yes: bool, **flags: Any) -> None:
    """End the schedules REF, or all that match, and their waiting runs, for good.

    A running run gets no further attempt.
    """
    if not is_named(refs, flags, matching=matching, everything=everything):
        change_many("cancel", flags, {}, everything=everything, yes=yes)
        return
    confirm(f"Cancel schedule {', '.join(refs)} for good?", yes=yes)
    with backend() as reach:

        def act(ref: str) -> tuple[Answer, str]:
            cancelled = reach.cancel_schedule(ref)
            return cancelled, f"cancelled schedule {cancelled['key']}"

        show_each(refs, act, show_schedule)


@click.command()
@which
@click.option("--cancel-running", is_flag=True, help="Stop its running runs too.")
@click.option("--purge", is_flag=True, help="Remove its runs too, and all that was kept of it.")
@_YES
@output_options
@common_options
def delete(
    refs: tuple[str, ...],
    matching: bool,
    everything: bool,
    cancel_running: bool,
    purge: bool,
    yes: bool,
    **flags: Any,
) -> None:
    """Remove the schedules REF, or all that match. Their keys are free again, their runs stay in the history."""
    if not is_named(refs, flags, matching=matching, everything=everything):
        if purge:
            raise Refused("--purge is for schedules that are named", "delete those that match, and purge by name")
        change_many("delete", flags, {"cancelRunning": cancel_running}, everything=everything, yes=yes)
        return
    confirm(f"{'Purge' if purge else 'Delete'} schedule {', '.join(refs)}?", yes=yes)
    with backend() as reach:

        def act(ref: str) -> str:
            # A person who names what is gone is told, though the API is fine with it; the trail knows deleted ones too.
            found = reach.list_changes(ref, {"limit": "1"}) if purge else reach.get_schedule(ref)
            left = reach.delete_schedule(ref if purge else found["id"], cancel_running=cancel_running, purge=purge)
            name = ref if purge else found["key"]
            if left is not None:
                return f"deleted schedule {name}; its runs go when none is open: `duly operation get {left['id']}`"
            return f"{'purged' if purge else 'deleted'} schedule {name}"

        say_each(refs, act)
