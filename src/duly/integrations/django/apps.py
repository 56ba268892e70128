"""What Django knows of duly."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.module_loading import autodiscover_modules

from .databases import shares_connection, url_of
from .keeping import LABEL, Keeper, scheduler
from .options import read_options


class DulyConfig(AppConfig):
    """Imports the jobs of all apps, and has duly's tables made by ``manage.py migrate``."""

    name = "duly.integrations.django"
    label = LABEL
    verbose_name = "Scheduler"
    default_auto_field = "django.db.models.BigAutoField"

    def __init__(self, app_name: str, app_module: Any) -> None:
        super().__init__(app_name, app_module)
        self.keeper = Keeper()

    def ready(self) -> None:
        """Read the settings once, so that a wrong one stops the start and not the first request."""
        options = read_options()
        autodiscover_modules(options.jobs)
        post_migrate.connect(set_up_tables, sender=self, dispatch_uid="duly.set_up_tables")


def set_up_tables(using: str, verbosity: int = 1, **_: Any) -> None:
    """Make or upgrade duly's tables in the database that was migrated, if they belong there; a file makes its own."""
    from duly.integrations.hosting import set_up

    options = read_options()
    if not shares_connection(options, using):
        return
    if set_up(url_of(options), scheduler().settings.payload_keys) and verbosity:
        import sys

        sys.stdout.write(f"  Set up duly's tables in {using!r}\n")
