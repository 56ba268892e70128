"""Examples: what ``--help`` shows of commands whose own text has none. Read only when a command is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Final

import click

EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "api": ("duly api --port 8080 --database-url postgresql://duly@db/duly",),
    "audit": ("duly audit --since 24h", "duly audit --since 7d --schedule nightly --late 5m -o json"),
    "calendar delete": ("duly calendar delete br-holidays --yes",),
    "calendar get": ("duly calendar get br-holidays",),
    "calendar list": ("duly calendar list",),
    "cron explain": ("duly cron explain '*/15 9-17 * * 1-5' -z America/Sao_Paulo",),
    "cron next": (
        "duly cron next '0 9 * * MON-FRI' -z Europe/London --count 3",
        "duly cron next '30 2 * * *' -z Europe/Berlin --after 2027-03-27T00:00",
    ),
    "cron prev": ("duly cron prev '0 0 1 * *' -n 3",),
    "db key": ("duly db key 2026a",),
    "db migrate": ("duly db migrate --database-url postgresql://duly@db/duly",),
    "db reseal": ("duly db reseal",),
    "db restored": ("duly db restored --reason 'backup of 04:00'",),
    "db sql": ("duly db sql --dialect postgres > duly.sql",),
    "db status": ("duly db status", "duly db status -o json"),
    "doctor": ("duly doctor", "duly doctor --server http://127.0.0.1:8080"),
    "key list": ("duly key list",),
    "key revoke": ("duly key revoke 019a8a3c-5d1e-7c3b-9d57-2f1c60b1a001",),
    "key rotate": ("duly key rotate 019a8a3c-5d1e-7c3b-9d57-2f1c60b1a001 --keep 1h",),
    "late": ("duly late", "duly late --owner ann -o json"),
    "operation get": ("duly operation get 019a8a3c-5d1e-7c3b-9d57-2f1c60b1a001",),
    "operation list": ("duly operation list --limit 5",),
    "pause": ("duly pause --all --reason 'the database is being moved'",),
    "queue get": ("duly queue get mail",),
    "queue list": ("duly queue list",),
    "queue pause": ("duly queue pause mail --reason 'the provider is down'",),
    "queue resume": ("duly queue resume mail",),
    "queue set": ("duly queue set mail --max-running 5 --rate 100/m --fair", "duly queue set mail --rate none"),
    "resume": ("duly resume --all --backlog latest",),
    "run acknowledge": (
        "duly run acknowledge 019a8a3c-5d1e-7c3b-9d57-2f1c60b1a001",
        "duly run acknowledge --job report --yes",
    ),
    "run cancel": ("duly run cancel 019a8a3c-5d1e-7c3b-9d57-2f1c60b1a001",),
    "run get": (
        "duly run get 019a8a3c-5d1e-7c3b-9d57-2f1c60b1a001",
        "duly run get sched:nightly:1794963600000 -o json",
    ),
    "run list": (
        "duly run list --schedule nightly --status failed",
        "duly run list --dead --error 'connection refused'",
        "duly run list --job report --limit 1 -o name",
    ),
    "run redrive": (
        "duly run redrive 019a8a3c-5d1e-7c3b-9d57-2f1c60b1a001",
        "duly run redrive --job report --error 'connection refused' --yes",
    ),
    "schedule cancel": ("duly schedule cancel nightly", "duly schedule cancel --all-matching --tag trial --yes"),
    "schedule changes": ("duly schedule changes nightly",),
    "schedule delete": ("duly schedule delete nightly monday --yes", "duly schedule delete nightly --purge"),
    "schedule diff": ("duly schedule diff -f schedules/ --prune",),
    "schedule get": ("duly schedule get nightly", "duly schedule get nightly -o yaml"),
    "schedule list": ("duly schedule list --tag finance", "duly schedule list --status failed --all -o name"),
    "schedule reschedule": ("duly schedule reschedule tax --at 2099-03-16T14:00:00Z",),
    "schedule resume": ("duly schedule resume nightly", "duly schedule resume --all-matching --reason 'audit' --yes"),
    "schedule trigger": (
        "duly schedule trigger nightly",
        'duly schedule trigger nightly --payload \'{"day": "2026-11-15"}\'',
    ),
    "schedule upcoming": ("duly schedule upcoming --limit 5",),
    "schedule update": (
        "duly schedule update nightly --cron '30 2 * * *' --if-revision 1",
        "duly schedule update nightly --timeout 10m --max-attempts 5",
    ),
    "scheduler": ("duly scheduler --database-url postgresql://duly@db/duly",),
    "serve": (
        "duly serve --demo",
        "duly serve --app shop.jobs:app --port 8080",
        "duly serve --roles api,scheduler --database-url postgresql://duly@db/duly",
    ),
    "stats": ("duly stats", "duly stats -o json"),
    "upcoming": ("duly upcoming --limit 5",),
    "webhook delete": ("duly webhook delete 019a8a3c-5d1e-7c3b-9d57-2f1c60b1a001 --yes",),
    "webhook get": ("duly webhook get 019a8a3c-5d1e-7c3b-9d57-2f1c60b1a001",),
    "webhook list": ("duly webhook list",),
    "webhook rotate": ("duly webhook rotate 019a8a3c-5d1e-7c3b-9d57-2f1c60b1a001 --keep-seconds 3600",),
    "webhook test": ("duly webhook test 019a8a3c-5d1e-7c3b-9d57-2f1c60b1a001",),
    "webhook update": ("duly webhook update 019a8a3c-5d1e-7c3b-9d57-2f1c60b1a001 -e run.failed --tag finance",),
    "worker": (
        "duly worker --app shop.jobs:app",
        "duly worker --app shop.jobs:app --server https://duly.example.com --token duly_live_…",
    ),
    "workflow cancel": ("duly workflow cancel order-7 --compensate",),
    "workflow check": ("duly workflow check shop.flows:app",),
    "workflow events": ("duly workflow events",),
    "workflow publish": ("duly workflow publish order.made --payload '{\"n\": 8}' --id made-8",),
    "workflow query": ("duly workflow query order-7 state",),
    "workflow signal": ('duly workflow signal order-7 paid --payload \'{"by": "card"}\'',),
    "workflow start": ("duly workflow start order --input '{\"n\": 7}' --id order-7",),
    "workflow steps": ("duly workflow steps order-7",),
    "workflow update": ('duly workflow update order-7 address --payload \'{"city": "Porto"}\'',),
}


def with_examples(path: str, command: click.Command) -> click.Command:
    """The command with its examples at the end of its help; ``path`` is how it is called, without ``duly``."""
    if path not in EXAMPLES:
        return command
    told = copy(command)  # the same command may stand in two groups
    # \b keeps click from filling the lines into one paragraph.
    told.help = "\n".join([(command.help or "").rstrip(), "", "\b", *EXAMPLES[path]])
    return told
