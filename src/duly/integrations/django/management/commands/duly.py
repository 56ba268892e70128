"""``manage.py duly ...``: duly's own command line, on the project's app."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

OF_DJANGO = ("--settings", "--pythonpath")


class Command(BaseCommand):
    """Hands everything over; ``manage.py duly --help`` is duly's own help."""

    help = "Serve, work and look after schedules: duly's command line on this project's database and jobs."
    requires_system_checks = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """Take the words as they are: Django's parser would read duly's options as its own."""
        self._run(without_django_s(argv[2:]))

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("words", nargs="*")

    def handle(self, *_: Any, words: list[str], **options: Any) -> None:
        """For ``call_command("duly", "schedule", "list")``; ends as a command of its own would, by SystemExit."""
        self._run(words)

    def _run(self, words: list[str]) -> None:
        from duly.integrations.django import scheduler
        from duly.integrations.hosting import run_command

        run_command(scheduler, words, "manage.py duly")


def without_django_s(words: list[str]) -> list[str]:
    """The words without the options that ``manage.py`` has read before."""
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in OF_DJANGO:
            skip = True
        elif not word.startswith(tuple(f"{option}=" for option in OF_DJANGO)):
            kept.append(word)
    return kept
