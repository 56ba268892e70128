"""``duly pause --all`` and ``duly resume --all``: the switch of the whole fleet."""

from __future__ import annotations

import click

from .backend import backend
from .control import Answer
from .failing import CONFLICT, Refused
from .operations import Teller, show_operation
from .options import common_options, output_options
from .printing import Sheet, printer
from .times import instant_ms, local, relative, system_now


@click.command()
@click.option("--all", "everything", is_flag=True, help="All schedules: nothing fires any more, on no instance.")
@click.option("--reason", metavar="TEXT", help="Why; shown to whoever looks.")
@output_options
@common_options
def pause(everything: bool, reason: str | None) -> None:
    """Stop all firing, on every instance at once.

    Windows stay due, runs that exist go on, and a trigger still makes one. `duly resume --all` lets it go on.
    """
    if not everything:
        raise Refused("say --all to stop all firing", "`duly schedule pause REF` pauses one schedule")
    with backend() as reach:
        state = reach.pause_firing({} if reason is None else {"reason": reason})
    show_firing(state, "nothing fires any more; `duly resume --all` lets it go on")


@click.command()
@click.option("--all", "everything", is_flag=True, help="All schedules that are not paused themselves.")
@click.option(
    "--backlog",
    type=click.Choice(["fire", "skip", "latest"]),
    help="What fell due meanwhile: by each schedule's catch-up policy, none, or the newest of each.",
)
@output_options
@common_options
def resume(everything: bool, backlog: str | None) -> None:
    """Let all schedules fire again, and say what becomes of the windows that fell due meanwhile.

    After a restore from a backup --backlog must be given: some of those windows may have fired before it.
    """
    if not everything:
        raise Refused("say --all to let all schedules fire", "`duly schedule resume REF` resumes one schedule")
    with backend() as reach:
        before = reach.firing()
        if before["restoredAt"] is not None and backlog is None:
            raise Refused(
                "the store was restored from a backup, and some of the windows since then may have fired before it",
                "choose what becomes of them: --backlog fire (each schedule's catch-up policy), skip or latest",
                code=CONFLICT,
            )
        done = reach.resume_firing({} if backlog is None else {"backlog": backlog}, Teller(printer(), "dealt with"))
    words = "firing goes on" if before["paused"] else "nothing was paused; schedules fire"
    show_operation(done, words)


def show_firing(state: Answer, words: str | None = None) -> None:
    """Print whether anything fires."""
    out = printer()
    if words is not None:
        out.say(words)
    out.show(state, lambda: firing_sheet(state), names=["paused" if state["paused"] else "on"])


def firing_sheet(state: Answer) -> Sheet:
    now = system_now()

    def at(name: str) -> str | None:
        if state[name] is None:
            return None
        ms = instant_ms(state[name])
        return f"{local(ms, 'UTC', offset=False)} UTC ({relative(ms, now)})"

    rows = [
        ("firing", "paused" if state["paused"] else "on"),
        ("since", at("pausedAt")),
        ("by", state["by"]),
        ("reason", state["reason"]),
        ("restored", at("restoredAt")),
        ("epoch", str(state["epoch"]) if state["epoch"] > 1 else None),
    ]
    return Sheet([(name, value) for name, value in rows if value])
