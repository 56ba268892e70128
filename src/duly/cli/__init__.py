"""The command line: ``duly``. One file per noun, each imported only when its command is asked for.

What a command does, it asks of a *backend* (``backend.py``): a store, opened here, or a server, reached by HTTP. Both
answer what the REST API answers, so a command neither knows nor cares which of the two it talks to. What it prints
goes through the *printer* (``printing.py``): data on stdout, words on stderr. What goes wrong becomes one line and an
exit code in one place (``failing.py``).
"""

from __future__ import annotations

import click

from duly.core.version import VERSION

from .grouping import Root
from .options import common_options, display_options

__all__ = ["main"]

SECTIONS = {
    "Commands": {
        "schedule": ("schedule:command", "Create, look at, change and trigger schedules."),
        "run": ("run:command", "Look at runs, cancel them, redrive those that died."),
        "workflow": ("workflow:command", "Start workflows, send them signals, look at their steps."),
        "queue": ("queue:command", "Limit, pause and look at queues."),
        "calendar": ("calendar:command", "Keep named dates on which nothing fires."),
        "webhook": ("webhook:command", "Tell URLs of what happens, and ping them while all is well."),
        "upcoming": ("overview:upcoming", "Show what fires next of all schedules."),
        "late": ("overview:late", "Show which schedules should have fired and did not."),
        "events": ("events:command", "Follow what happens, as it happens."),
        "stats": ("overview:stats", "Show how it all fares."),
        "operation": ("operation:command", "See how far work in many steps has come."),
        "pause": ("switch:pause", "Stop all firing, with --all."),
        "resume": ("switch:resume", "Let all schedules fire again, with --all."),
    },
    "To serve": {
        "serve": ("serve:command", "Serve: fire schedules, run jobs, answer the REST API."),
        "worker": ("serve:worker", "Run jobs, on a store or for a server; without firing or serving."),
        "scheduler": ("serve:scheduler", "Fire schedules, without running jobs or serving."),
        "api": ("serve:api", "Serve the REST API, without firing or running anything."),
    },
    "To check": {
        "doctor": ("doctor:command", "Check everything that a healthy duly rests on."),
        "audit": ("audit:command", "Check that no window was missed, doubled or late."),
        "health": ("health:command", "Ask a server whether it is ready; for the checks of containers."),
        "cron": ("cron:command", "Ask a cron expression when it fires, and what it means."),
    },
    "To set up": {
        "db": ("db:command", "Set up, upgrade and look at the database."),
        "config": ("config:command", "Show and check the settings, and where each came from."),
        "key": ("key:command", "Make, rotate and revoke keys of the API."),
        "import": ("importing:command", "Bring schedules over from cron, Celery or APScheduler."),
        "completion": ("completion:command", "Print the completion script of a shell."),
        "bench": ("bench:command", "Measure duly, the machine's own limit and the peers."),
    },
}
"""Each command, as the help shows them: where its code is (file and name, below ``duly.cli``) and what it does."""

COMMANDS = {name: told for section in SECTIONS.values() for name, told in section.items()}


@click.group(cls=Root, lazy=COMMANDS, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, "-V", "--version", prog_name="duly")
@common_options
@display_options
def main() -> None:
    """A durable job scheduler: every window fires exactly once, on time, whatever crashes.

    Commands work on a store (--database-url, or DULY_DATABASE_URL; else duly.db in this folder) or on a server
    (--server, or DULY_API_URL). Data goes to stdout, words to stderr.
    """
